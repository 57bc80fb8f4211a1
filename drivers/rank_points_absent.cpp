// Replaces rank_points_cuda.cu if the programs are built without a CUDA compiler. In such a build no solver is on CUDA.
#include "rank_points.hpp"

namespace driver {

template <class Real>
std::unique_ptr<RankPoints<Real>> make_cuda_points(const GridFunction &, int64_t, const std::vector<int64_t> &) {
    return nullptr;
}
void choose_device(int) {}

template std::unique_ptr<RankPoints<double>> make_cuda_points(const GridFunction &, int64_t,
                                                              const std::vector<int64_t> &);
template std::unique_ptr<RankPoints<float>> make_cuda_points(const GridFunction &, int64_t,
                                                             const std::vector<int64_t> &);

} // namespace driver
