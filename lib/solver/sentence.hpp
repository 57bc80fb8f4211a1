// Forms the message that describes an event of a solve.
#pragma once

#include "lbfgsb/event.hpp"
#include "boundary/message.hpp"

namespace cudaopt {

void describe(const Event &event, Message &message);

} // namespace cudaopt
