// In place of rank_points_cuda.cu where the programs are built without a CUDA compiler: no handle is on CUDA.
#include "rank_points.hpp"

namespace driver {

template <class Real, class Function>
std::unique_ptr<RankPoints<Real>> make_cuda_points(const Function &, int64_t, const std::vector<int64_t> &) {
    return nullptr;
}
void choose_device(int) {}

using cudaopt::testfuncs::Bearing;
using cudaopt::testfuncs::Torsion;
using Segments = std::vector<int64_t>;
template std::unique_ptr<RankPoints<double>> make_cuda_points(const Torsion &, int64_t, const Segments &);
template std::unique_ptr<RankPoints<float>> make_cuda_points(const Torsion &, int64_t, const Segments &);
template std::unique_ptr<RankPoints<double>> make_cuda_points(const Bearing &, int64_t, const Segments &);
template std::unique_ptr<RankPoints<float>> make_cuda_points(const Bearing &, int64_t, const Segments &);

} // namespace driver
