#include "testfuncs/search/rows.hpp"

#include <stdexcept>

namespace cudaopt::testfuncs::search {
namespace {

[[noreturn]] void refuse() { throw std::runtime_error("the functions were built without CUDA"); }

} // namespace

void evaluate_on_cuda(const Function &, const Rows<double> &, void *) { refuse(); }
void evaluate_on_cuda(const Function &, const Rows<float> &, void *) { refuse(); }

} // namespace cudaopt::testfuncs::search
