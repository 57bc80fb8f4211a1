// The device memory in which a problem's sums are formed: made at its first evaluation on CUDA, freed with it.
#pragma once

#include <memory>

namespace cudaopt::testfuncs {

using DeviceScratch = std::shared_ptr<void>;

} // namespace cudaopt::testfuncs
