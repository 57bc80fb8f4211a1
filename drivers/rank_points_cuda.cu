#include "rank_points.hpp"

#include "testfuncs/cuda_executor.cuh"

#include <stdexcept>
#include <string>
#include <type_traits>

namespace driver {
namespace {

void check(cudaError_t status, const char *what) {
    if (status != cudaSuccess)
        throw std::runtime_error(std::string("CUDA failed in ") + what + ": " + cudaGetErrorString(status));
}

template <class T> class DeviceArray {
  public:
    explicit DeviceArray(int64_t size) {
        check(cudaMalloc(&memory_, static_cast<std::size_t>(size) * sizeof(T)), "an allocation of points");
    }
    // An error of cudaFree is ignored, because a destructor cannot report it.
    ~DeviceArray() { cudaFree(memory_); }
    DeviceArray(const DeviceArray &) = delete;
    DeviceArray &operator=(const DeviceArray &) = delete;
    T *get() const { return static_cast<T *>(memory_); }

  private:
    void *memory_ = nullptr;
};

template <class Real, class Column> class CudaPoints final : public RankPoints<Real> {
  public:
    CudaPoints(const Grid &grid, const std::vector<Column> &columns, int64_t first, std::vector<int64_t> segments)
        : grid_(grid), first_(first), segments_(std::move(segments)), values_(own() + 2 * grid.nx),
          columns_(static_cast<int64_t>(columns.size())) {
        check(cudaMemcpy(columns_.get(), columns.data(), columns.size() * sizeof(Column), cudaMemcpyHostToDevice),
              "a copy of the columns");
    }
    // An error of cudaFreeHost is ignored, because a destructor cannot report it.
    ~CudaPoints() override { cudaFreeHost(staging_); }

    Real *values() override { return values_.get(); }
    void take(const Real *x) override { copy(values_.get() + grid_.nx, x, own(), cudaMemcpyDeviceToDevice); }
    void evaluate(double *f, Real *g) override {
        cudaopt::testfuncs::CudaExecutor on(scratch_, nullptr);
        for (std::size_t k = 0; k + 1 < segments_.size(); k++) {
            const int64_t begin = segments_[k];
            const PointEnergy<Real, Column> point{grid_,  columns_.get(), values_.get(),
                                                  first_, first_ + begin, g + begin};
            on.map_reduce<cudaopt::Sum>(segments_[k + 1] - begin, point, cudaopt::testfuncs::StoreSum{f + k});
        }
    }
    Real *staging(int64_t size) override {
        check(cudaMallocHost(&staging_, static_cast<std::size_t>(std::max<int64_t>(1, size)) * sizeof(Real)),
              "an allocation of pinned memory");
        return static_cast<Real *>(staging_);
    }
    void copy_out(Real *to, int64_t at, int64_t count) override {
        copy(to, values_.get() + at, count, cudaMemcpyDeviceToHost);
    }
    void copy_in(int64_t at, const Real *from, int64_t count) override {
        copy(values_.get() + at, from, count, cudaMemcpyHostToDevice);
    }
    void finish() override { check(cudaStreamSynchronize(nullptr), "a kernel before the exchange of rows"); }

  private:
    int64_t own() const { return segments_.back(); }
    static void copy(Real *to, const Real *from, int64_t count, cudaMemcpyKind kind) {
        check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(Real), kind, nullptr),
              "a copy of points");
    }

    const Grid grid_;
    const int64_t first_;
    const std::vector<int64_t> segments_;
    const DeviceArray<Real> values_;
    const DeviceArray<Column> columns_;
    cudaopt::testfuncs::DeviceScratch scratch_;
    void *staging_ = nullptr;
};

} // namespace

template <class Real>
std::unique_ptr<RankPoints<Real>> make_cuda_points(const GridFunction &function, int64_t first,
                                                   const std::vector<int64_t> &segments) {
    const auto make = [&](const auto &f) -> std::unique_ptr<RankPoints<Real>> {
        const auto columns = columns_of(f);
        using Column = typename std::decay_t<decltype(columns)>::value_type;
        return std::make_unique<CudaPoints<Real, Column>>(f.grid, columns, first, segments);
    };
    return std::visit(make, function);
}

void choose_device(int number) {
    int count = 0;
    check(cudaGetDeviceCount(&count), "the count of devices");
    if (count > 0) check(cudaSetDevice(number % count), "the choice of a device");
}

template std::unique_ptr<RankPoints<double>> make_cuda_points(const GridFunction &, int64_t,
                                                              const std::vector<int64_t> &);
template std::unique_ptr<RankPoints<float>> make_cuda_points(const GridFunction &, int64_t,
                                                             const std::vector<int64_t> &);

} // namespace driver
