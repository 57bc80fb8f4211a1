// Between the library and the CUDA runtime: every call of the runtime that can fail is counted, and fails where it is
// told to. The linker puts it there (--wrap).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace seam {

enum class Fails { once, from_then_on };

// Counts from 1 again. The number-th call fails; 0: none.
void arm(int64_t number, Fails how);
// Calls since then, as far as they are repeatable: asking the same stream again is one call with the first time.
int64_t calls();
// Whether a call has failed, and which came first; "" if none.
bool fired();
const char *first_to_fail();
// Of all calls that can be made to fail.
std::vector<std::string> &names();

// The runtime itself, past the seam.
int devices();
void use(int device);
void leave_behind_an_error(); // which the runtime remembers: the caller's, who has not asked for it
void *allocate(std::size_t bytes);
void release(void *memory);
void copy(void *to, const void *from, std::size_t bytes);

} // namespace seam
