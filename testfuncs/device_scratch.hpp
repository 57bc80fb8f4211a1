/* The device memory in which a problem's sums are formed. Made at the first evaluation on CUDA, freed with the problem. */
#pragma once

#include <memory>

namespace cudaopt::testfuncs {

using DeviceScratch = std::shared_ptr<void>;

} // namespace cudaopt::testfuncs
