// Whole solves on a device: one thread block each, in which one thread does what solve.hpp does on the host.
#pragma once

#include <vector>

#include "solve.hpp"

namespace block_test {

// A job, and the block of memory that it runs in, which comes back as the device leaves it.
struct OnDevice {
    Job *job;
    std::vector<double> *block;
};

// All in one launch. Throws std::runtime_error with the runtime's sentence.
void run_on_device(const std::vector<OnDevice> &solves);

} // namespace block_test
