// A malloc that fails on demand, for the whole process, and what it leaves behind; and children in which a failure may
// end everything without ending the test.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace failing {

enum class Mode { once, from_then_on };

// From here to calm(): the number-th allocation, from 0, fails; or it and all after it. Both counts begin anew.
void arm(int64_t number, Mode mode);
// The same for the creation of threads.
void arm_threads(int64_t number, Mode mode);
void calm();
// Whether something has failed.
bool failed();
// Blocks that were allocated between an arming and calm() and have not been freed, all armings together.
int64_t left_over();

// A body gets the number of the allocation that is to fail and says what was wrong: nothing, or a sentence.
using Body = std::function<std::string(int64_t number, Mode mode)>;

// The body in a child of its own, for the allocation 0, 1, ... in turn until none fails any more, once and from then
// on. What was wrong with each, one a line; the end of a child by a signal or by itself is wrong, too, and so is a body
// that allocates nothing, unless it may.
std::string each_in_turn(const Body &body, bool may_need_nothing = false);

} // namespace failing
