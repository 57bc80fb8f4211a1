// Device memory for the sums that an evaluation computes. It is allocated at a problem's first evaluation on CUDA and
// freed with the problem.
#pragma once

#include <memory>

namespace cudaopt::testfuncs {

using DeviceScratch = std::shared_ptr<void>;

} // namespace cudaopt::testfuncs
