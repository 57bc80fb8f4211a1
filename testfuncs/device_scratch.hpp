// Device memory for the sums of a problem. It is allocated at the first evaluation on CUDA and freed with the problem.
#pragma once

#include <memory>

namespace cudaopt::testfuncs {

using DeviceScratch = std::shared_ptr<void>;

} // namespace cudaopt::testfuncs
