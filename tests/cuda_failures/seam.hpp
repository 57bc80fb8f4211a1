// A layer between the library and the CUDA runtime. It counts each call of the runtime that can fail, and makes the
// selected one fail. The linker inserts it (--wrap).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace seam {

enum class Fails { once, from_then_on };

// Restarts the count, so that the next call has the number 1. The call with this number fails; with 0 none fails.
void arm(int64_t number, Fails how);
// Returns the number of calls since arm(). Consecutive calls of cudaStreamQuery count as one, because their number
// depends on time.
int64_t calls();
// Return whether a call has failed, and the name of the first one that failed, or "" if none has.
bool fired();
const char *first_to_fail();
// Returns the names of all calls that can be made to fail.
std::vector<std::string> &names();

// These functions call the runtime directly, so that they are not counted and do not fail.
int devices();
void use(int device);
void leave_behind_an_error(); // simulates an earlier error of the caller, which the runtime has stored
void *allocate(std::size_t bytes);
void release(void *memory);
void copy(void *to, const void *from, std::size_t bytes);

} // namespace seam
