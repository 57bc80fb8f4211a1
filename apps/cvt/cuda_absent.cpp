// Replaces cuda.cu if the program is built without CUDA.
#include "apps/cvt/evaluator.hpp"

#include <stdexcept>

namespace cudaopt::cvt {

std::unique_ptr<Evaluator> make_cuda_evaluator(const Setup &) {
    throw std::runtime_error("the tessellation was built without CUDA");
}

} // namespace cudaopt::cvt
