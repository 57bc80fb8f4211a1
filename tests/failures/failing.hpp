// A malloc for the whole process that fails on demand and counts the blocks that are not freed. The tests run in child
// processes, so that a failure that ends a process does not end the test.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace failing {

enum class Mode { once, from_then_on };

// Until calm() is called, the allocation with this number, counted from 0, fails, or it and all later ones. The count
// restarts at each call.
void arm(int64_t number, Mode mode);
// Does the same for the creation of threads.
void arm_threads(int64_t number, Mode mode);
void calm();
// Returns whether an allocation or the creation of a thread has failed.
bool failed();
// Returns the number of blocks that were allocated between any arm() and the following calm() and have not been freed.
int64_t left_over();

// A body gets the number of the allocation that has to fail. It returns a description of the fault that it has found,
// or an empty string.
using Body = std::function<std::string(int64_t number, Mode mode)>;

// Runs the body in a child process for the allocations 0, 1, ... until no allocation fails any more, first in the mode
// `once` and then in the mode `from_then_on`. Returns the faults, one per line. It is also a fault if a child is ended
// by a signal or exits by itself, and, unless may_need_nothing is set, if the body allocates nothing.
std::string each_in_turn(const Body &body, bool may_need_nothing = false);

} // namespace failing
