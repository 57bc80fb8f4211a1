// The evaluation of the energy on CUDA. It is compiled without fused multiply-adds, so that its results are bitwise
// those of the host.
#include "apps/cvt/evaluator.hpp"
#include "apps/cvt/flooding.hpp"

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

namespace cudaopt::cvt {
namespace {

void check(cudaError_t status, const char *what) {
    if (status != cudaSuccess) {
        cudaGetLastError();
        throw std::runtime_error(std::string("the tessellation failed on CUDA: ") + what + ": " +
                                 cudaGetErrorString(status));
    }
}

template <class T> class DeviceArray {
  public:
    explicit DeviceArray(int64_t size) : bytes_(static_cast<std::size_t>(size) * sizeof(T)) {
        if (size > 0) check(cudaMalloc(&data_, bytes_), ("allocation of " + std::to_string(bytes_) + " bytes").c_str());
    }
    ~DeviceArray() { cudaFree(data_); }
    DeviceArray(const DeviceArray &) = delete;
    DeviceArray &operator=(const DeviceArray &) = delete;

    T *data() const { return data_; }
    void fill(int byte, cudaStream_t stream) { check(cudaMemsetAsync(data_, byte, bytes_, stream), "clearing"); }
    void write(const std::vector<T> &values) {
        check(cudaMemcpy(data_, values.data(), bytes_, cudaMemcpyHostToDevice), "copying in");
    }
    std::vector<T> read(cudaStream_t stream) const {
        std::vector<T> values(bytes_ / sizeof(T));
        check(cudaMemcpyAsync(values.data(), data_, bytes_, cudaMemcpyDeviceToHost, stream), "copying out");
        check(cudaStreamSynchronize(stream), "copying out");
        return values;
    }

  private:
    T *data_ = nullptr;
    std::size_t bytes_;
};

__global__ void plant_all(Packing packing, int64_t sites, const double *x, double *kept, Word *words) {
    const int64_t i = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= sites) return;
    kept[2 * i] = x[2 * i];
    kept[2 * i + 1] = x[2 * i + 1];
    plant(packing, packing.pack(i, packing.fixed(x[2 * i]), packing.fixed(x[2 * i + 1])),
          [words](int64_t pixel, Word site) -> Word {
              return atomicMin(reinterpret_cast<unsigned long long *>(words) + pixel,
                               static_cast<unsigned long long>(site));
          });
}

// In jump flooding each thread processes this number of pixels.
constexpr int run_length = 8;

// The sites that are stored in three adjacent pixels of one row, as candidates for the pixels in the column of the
// middle one.
struct Row {
    Candidate left, middle, right;

    __device__ void offer_to(Nearest &nearest, float row) const {
        nearest.offer(left, row);
        nearest.offer(middle, row);
        nearest.offer(right, row);
    }
};

// Performs one iteration of jump flooding. Each thread processes pixels of one column that are `step` pixels apart. It
// reads three pixels of a row once (in the columns x - step, x and x + step). Their sites are candidates for the pixel
// of column x in this row, and for those `step` pixels above and below. Adjacent threads process adjacent columns.
__global__ void flood(Packing packing, const Word *__restrict__ from, Word *__restrict__ to, int step_bits) {
    const int32_t resolution = packing.resolution, step = 1 << step_bits;
    const int32_t x = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
    const int32_t lane = static_cast<int32_t>(blockIdx.y * blockDim.y + threadIdx.y);
    const int32_t begin = (lane & (step - 1)) + (lane >> step_bits) * run_length * step;
    if (x >= resolution || begin >= resolution) return;
    const float column = packing.centre(x);
    const bool has_left = x >= step, has_right = x + step < resolution;
    const auto read = [&](int32_t y) -> Row {
        const bool has_row = y >= 0 && y < resolution;
        // The index of a pixel fits into 32 bits, because the grid has at most 2^28 pixels.
        const int32_t middle = y * resolution + x;
        const auto at = [&](int32_t pixel, bool is_there) {
            return Candidate::of(packing, is_there ? from[pixel] : no_site, column);
        };
        return {at(middle - step, has_row && has_left), at(middle, has_row), at(middle + step, has_row && has_right)};
    };
    Row above = read(begin - step), here = read(begin);
#pragma unroll
    for (int k = 0; k < run_length; k++) {
        const int32_t y = begin + k * step;
        if (y >= resolution) return;
        const Row below = read(y + step);
        const float row = packing.centre(y);
        Nearest nearest;
        above.offer_to(nearest, row);
        here.offer_to(nearest, row);
        below.offer_to(nearest, row);
        to[y * resolution + x] = nearest.site;
        above = here;
        here = below;
    }
}

__device__ void join(CellSums *sums, const CellSums &run) {
    // Unsigned addition is also correct for signed numbers in two's complement.
    const auto add = [](void *to, uint64_t value) {
        atomicAdd(static_cast<unsigned long long *>(to), static_cast<unsigned long long>(value));
    };
    add(&sums->mass, run.mass);
    add(&sums->x, static_cast<uint64_t>(run.x));
    add(&sums->y, static_cast<uint64_t>(run.y));
    add(&sums->square, run.square);
}

// Computes the sums of the cells. Each thread processes 16 rows of a column and sums the pixels that belong to one
// cell. When a pixel belongs to another cell than the previous one, the thread adds its partial sums to those of the
// previous cell.
template <bool weighted>
__global__ void sum_cells(Packing packing, const Word *__restrict__ words, const uint16_t *__restrict__ weights,
                          CellSums *__restrict__ sums) {
    constexpr int32_t rows = 16;
    const int32_t resolution = packing.resolution;
    const int32_t x = static_cast<int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
    const int32_t begin = static_cast<int32_t>(blockIdx.y * blockDim.y + threadIdx.y) * rows;
    if (x >= resolution || begin >= resolution) return;
    const int32_t end = begin + rows < resolution ? begin + rows : resolution;
    Word word = words[int64_t(begin) * resolution + x];
    CellSums run;
    for (int32_t y = begin; y < end; y++) {
        const int64_t at = int64_t(y) * resolution + x;
        if (words[at] != word) {
            join(sums + packing.number(word), run);
            run = CellSums();
            word = words[at];
        }
        run.add(weighted ? weights[at] : 1, x - packing.pixel(packing.x(word)), y - packing.pixel(packing.y(word)));
    }
    join(sums + packing.number(word), run);
}

// Sums one value per thread of a block by a binary tree. Only the first thread of the block returns the sum.
__device__ double tree(double value) {
    __shared__ double shared[lanes];
    const int k = static_cast<int>(threadIdx.x);
    shared[k] = value;
    __syncthreads();
    for (int stride = lanes / 2; stride > 0; stride /= 2) {
        if (k < stride) shared[k] += shared[k + stride];
        __syncthreads();
    }
    return shared[0];
}

__global__ void finish_cells(CellRule rule, int64_t sites, double *round_energy) {
    const int64_t i = int64_t(blockIdx.x) * lanes + threadIdx.x;
    const double sum = tree(i < sites ? rule(i) : 0);
    if (threadIdx.x == 0) round_energy[blockIdx.x] = sum;
}

__global__ void finish_energy(const double *round_energy, int64_t rounds, double scale, double *f) {
    double value = 0;
    for (int64_t round = threadIdx.x; round < rounds; round += lanes) value += round_energy[round];
    const double sum = tree(value);
    if (threadIdx.x == 0) *f = sum * scale;
}

int blocks_of(int64_t threads, int block) { return static_cast<int>((threads + block - 1) / block); }

class CudaEvaluator : public Evaluator {
  public:
    explicit CudaEvaluator(const Setup &setup)
        : setup_(setup), words_{DeviceArray<Word>(setup.packing.pixels()), DeviceArray<Word>(setup.packing.pixels())},
          weights_(static_cast<int64_t>(setup.levels->at.size())), sums_(setup.sites),
          round_energy_(blocks_of(setup.sites, lanes)), sites_(2 * setup.sites) {
        if (!setup.levels->at.empty()) weights_.write(setup.levels->at);
    }

    void evaluate(const double *x, double *f, double *g, const Place &place, const Stop &) override {
        stream_ = static_cast<cudaStream_t>(place.stream);
        const Packing packing = setup_.packing;
        const int rounds = blocks_of(setup_.sites, lanes);

        last_ = 0;
        words_[0].fill(0xff, stream_);
        sums_.fill(0, stream_);
        plant_all<<<rounds, lanes, 0, stream_>>>(packing, setup_.sites, x, sites_.data(), words_[0].data());
        for (const int32_t step : setup_.steps) {
            const int64_t rows = int64_t(step) * blocks_of(blocks_of(packing.resolution, step), run_length);
            const dim3 block(64, 4), grid(blocks_of(packing.resolution, 64), blocks_of(rows, 4));
            flood<<<grid, block, 0, stream_>>>(packing, words_[last_].data(), words_[1 - last_].data(),
                                               Packing::bits_of(step) - 1);
            last_ = 1 - last_;
        }
        const dim3 block(32, 4), grid(blocks_of(packing.resolution, 32), blocks_of(packing.resolution, 4 * 16));
        const auto sum = setup_.levels->at.empty() ? sum_cells<false> : sum_cells<true>;
        sum<<<grid, block, 0, stream_>>>(packing, words_[last_].data(), weights_.data(), sums_.data());
        finish_cells<<<rounds, lanes, 0, stream_>>>(CellRule{packing, setup_.gradient_scale(), sums_.data(), x, g},
                                                    setup_.sites, round_energy_.data());
        finish_energy<<<1, lanes, 0, stream_>>>(round_energy_.data(), rounds, setup_.energy_scale(), f);
        check(cudaGetLastError(), "launching");
    }

    std::vector<Word> words() const override { return words_[last_].read(stream_); }
    std::vector<CellSums> sums() const override { return sums_.read(stream_); }
    std::vector<double> sites() const override { return sites_.read(stream_); }

  private:
    Setup setup_;
    // Two arrays with one word (packing.hpp) per pixel, which contains the nearest site found so far. Each iteration of
    // jump flooding reads one array and writes the other.
    DeviceArray<Word> words_[2];
    DeviceArray<uint16_t> weights_;
    DeviceArray<CellSums> sums_;
    DeviceArray<double> round_energy_, sites_;
    // The most recent iteration of jump flooding has written the array words_[last_].
    int last_ = 0;
    cudaStream_t stream_ = nullptr;
};

} // namespace

std::unique_ptr<Evaluator> make_cuda_evaluator(const Setup &setup) { return std::make_unique<CudaEvaluator>(setup); }

} // namespace cudaopt::cvt
