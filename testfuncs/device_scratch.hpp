/* The device memory in which a problem's sums are formed. Made at the first evaluation on CUDA, freed with the problem. */
#pragma once

#include <memory>

namespace cuda_opt::testfuncs {

using DeviceScratch = std::shared_ptr<void>;

} // namespace cuda_opt::testfuncs
