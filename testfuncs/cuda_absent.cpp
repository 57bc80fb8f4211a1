// Replaces the .cu files of the test functions in a build without CUDA. All functions here throw an exception.
#include "testfuncs/classical.hpp"
#include "testfuncs/minpack2.hpp"

#include <stdexcept>

namespace cudaopt::testfuncs {

[[noreturn]] static void refuse() { throw std::runtime_error("the test problems were built without CUDA"); }

void evaluate_cuda(const Classical &, const double *, double *, double *, DeviceScratch &, void *) { refuse(); }
void evaluate_cuda(const Classical &, const float *, double *, float *, DeviceScratch &, void *) { refuse(); }
void evaluate_cuda(const Minpack2 &, const double *, double *, double *, DeviceScratch &, void *) { refuse(); }
void evaluate_cuda(const Minpack2 &, const float *, double *, float *, DeviceScratch &, void *) { refuse(); }

} // namespace cudaopt::testfuncs
