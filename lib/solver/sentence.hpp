// Forms the message that describes the last event of a solve.
#pragma once

#include "lbfgsb/iteration.hpp"
#include "boundary/message.hpp"

namespace cudaopt {

void describe(const Iteration &it, Message &message);

} // namespace cudaopt
