// Usage: obstacle [CELLS ...] [HEIGHTS.csv]
//
// A minimal surface over an obstacle, on the GPU: the area of a surface u(x, y) over the unit square, with u = 0 on the
// border and u >= 0.35 - 6 r^2 around two points, r being the distance to them. The square has CELLS x CELLS cells (by
// default 2000, which makes 1999^2 variables) of two triangles each. f is the area minus 1. Each solve ends where the
// largest component of the projected gradient is at most 1e-6 / CELLS.
//
// The operator for CUDA_OPT_INITIAL_HESSIAN_OPERATOR is an inverse of the Laplacian A by sine transforms of cuFFT. On
// the free variables F, z = (A_FF)^-1 v is approximated in two ways: by (A^-1)_FF, which takes one solve with A, and by
// a few steps of conjugate gradients for A_FF z = v that are preconditioned by (A^-1)_FF.
//
// Each solve is a line of a table in CSV: the method, n, the evaluations of f and g, the solves with A, the refusals of
// the operator, the seconds, f, and the largest component of the projected gradient. HEIGHTS.csv receives at most 200 x
// 200 heights u of the last solve, for a picture by bench/python/obstacle.py; a height in contact with the obstacle is
// followed by a *.
//
//     nvcc -O3 -std=c++17 obstacle.cu $(pkg-config --cflags --libs cuda_opt) -lcufft -o obstacle && ./obstacle 2000
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cub/block/block_reduce.cuh>
#include <cuda_opt.hpp>
#include <cufft.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int threads = 256, most_blocks = 1024, most_cells = 10000; // 4 most_cells^2 is less than 2^31

void check(cudaError_t error) {
    if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}
void check(cufftResult result) {
    if (result != CUFFT_SUCCESS) throw std::runtime_error("cuFFT failed with code " + std::to_string(result));
}
int blocks_for(int n) { return (n + threads - 1) / threads; }

template <class T> class DeviceArray {
  public:
    explicit DeviceArray(int64_t size) { check(cudaMalloc(&data_, static_cast<std::size_t>(size) * sizeof(T))); }
    DeviceArray(const DeviceArray &) = delete;
    DeviceArray &operator=(const DeviceArray &) = delete;
    ~DeviceArray() { cudaFree(data_); }
    operator T *() const { return data_; }

  private:
    T *data_ = nullptr;
};

// A function on the interior points of the grid; it is 0 on the border. Row and column are 0 to cells.
struct Field {
    const double *values;
    int cells;
    __device__ bool is_interior(int row, int column) const {
        return row > 0 && row < cells && column > 0 && column < cells;
    }
    __device__ int index(int row, int column) const { return (row - 1) * (cells - 1) + column - 1; }
    __device__ double operator()(int row, int column) const {
        return is_interior(row, column) ? values[index(row, column)] : 0.0;
    }
};

// Sums. Each block adds its terms, and one block adds those sums. The order is always the same.
template <class Term> __global__ void add_terms(Term term, int n, double *sums) {
    __shared__ typename cub::BlockReduce<double, threads>::TempStorage storage;
    double sum = 0;
    for (int i = blockIdx.x * threads + threadIdx.x; i < n; i += gridDim.x * threads) sum += term(i);
    sum = cub::BlockReduce<double, threads>(storage).Sum(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
struct Sums {
    const double *values;
    __device__ double operator()(int i) const { return values[i]; }
};
template <class Map> __global__ void apply(Map map, int n) {
    const int i = blockIdx.x * threads + threadIdx.x;
    if (i < n) map(i);
}

class Stream {
  public:
    Stream() : sums_(most_blocks) { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;
    ~Stream() { cudaStreamDestroy(stream_); }
    operator cudaStream_t() const { return stream_; }

    // *result = sum of term(i)
    template <class Term> void sum(const Term &term, int n, double *result) const {
        const int blocks = blocks_for(n) < most_blocks ? blocks_for(n) : most_blocks;
        add_terms<<<blocks, threads, 0, stream_>>>(term, n, sums_);
        add_terms<<<1, threads, 0, stream_>>>(Sums{sums_}, blocks, result);
    }
    template <class Map> void for_each(int n, const Map &map) const {
        apply<<<blocks_for(n), threads, 0, stream_>>>(map, n);
    }

  private:
    cudaStream_t stream_{};
    DeviceArray<double> sums_;
};

__device__ double inverse_length(double a, double b) { return rsqrt(1 + a * a + b * b); }
__device__ double area(double a, double b) { // sqrt(1 + a^2 + b^2) - 1, without cancellation
    const double r = inverse_length(a, b);
    return (a * a + b * b) * r / (1 + r);
}

// The area of the two triangles of a cell, minus that of the cell. The point `here` is a corner of the cell, and the
// derivative with respect to u at this point is written to g; six triangles meet there. Slopes are a, along a column,
// and b, along a row, and a triangle has the area h^2 sqrt(1 + a^2 + b^2) / 2.
struct Area {
    Field u;
    double *g;
    __device__ double operator()(int cell) const {
        const int row = cell / u.cells, column = cell % u.cells;
        const double here = u(row, column), right = u(row, column + 1), below = u(row + 1, column);
        const double a = (below - here) * u.cells, b = (right - here) * u.cells;
        if (u.is_interior(row, column)) {
            const double above = u(row - 1, column), left = u(row, column - 1);
            const double up = (here - above) * u.cells, back = (here - left) * u.cells;
            const double up_right = (u(row - 1, column + 1) - above) * u.cells;
            const double right_up = (right - u(row - 1, column + 1)) * u.cells;
            const double left_down = (u(row + 1, column - 1) - left) * u.cells;
            const double down_left = (below - u(row + 1, column - 1)) * u.cells;
            const double sum = (up + back) * inverse_length(up, back) - (a + b) * inverse_length(a, b) +
                               up * inverse_length(up, up_right) - b * inverse_length(right_up, b) +
                               back * inverse_length(left_down, back) - a * inverse_length(a, down_left);
            g[u.index(row, column)] = sum / (2 * u.cells);
        }
        const double corner = u(row + 1, column + 1);
        return (area(a, b) + area((corner - right) * u.cells, (corner - below) * u.cells)) / (2.0 * u.cells * u.cells);
    }
};

// The obstacle, and the surface at the start: the obstacle where it is positive.
struct Obstacle {
    double *lower, *u;
    int cells;
    __device__ void operator()(int i) const {
        const double y = (i / (cells - 1) + 1.0) / cells, x = (i % (cells - 1) + 1.0) / cells;
        const double one = (x - 0.3) * (x - 0.3) + (y - 0.35) * (y - 0.35);
        const double other = (x - 0.7) * (x - 0.7) + (y - 0.6) * (y - 0.6);
        lower[i] = 0.35 - 6 * fmin(one, other);
        u[i] = fmax(lower[i], 0.0);
    }
};

// w = A_FF v, where A is the Laplacian with the five points 4, -1, -1, -1, -1, and the product v'w
struct LaplacianProduct {
    Field v;
    const double *is_free;
    double *w;
    __device__ double operator()(int i) const {
        const int row = i / (v.cells - 1) + 1, column = i % (v.cells - 1) + 1;
        const double here = v(row, column);
        const double sum = v(row - 1, column) + v(row + 1, column) + v(row, column - 1) + v(row, column + 1);
        w[i] = is_free[i] != 0 ? 4 * here - sum : 0.0;
        return here * w[i];
    }
};
struct Product {
    const double *v, *w;
    __device__ double operator()(int i) const { return v[i] * w[i]; }
};
__device__ double quotient(const double *a, const double *b) { return *b > 0 ? *a / *b : 0.0; }

// The odd continuation of a field to a periodic one with 2 cells x 2 cells points
struct Continue {
    Field v;
    double *periodic;
    __device__ void operator()(int i) const {
        const int period = 2 * v.cells, row = i / period, column = i % period;
        const double value = v(row < v.cells ? row : period - row, column < v.cells ? column : period - column);
        periodic[i] = (row < v.cells) == (column < v.cells) ? value : -value;
    }
};
// Divides the Fourier coefficients by the eigenvalues of the Laplacian, and by the number of points.
struct Divide {
    cufftDoubleComplex *coefficients;
    int cells;
    __device__ double eigenvalue(int k) const {
        const double sine = sinpi(k / (2.0 * cells));
        return 4 * sine * sine;
    }
    __device__ void operator()(int i) const {
        const int row = i / (cells + 1), column = i % (cells + 1);
        const double divisor = (eigenvalue(row) + eigenvalue(column)) * 4 * cells * cells;
        const double factor = i == 0 ? 0.0 : 1 / divisor; // the mean of an odd function is 0
        coefficients[i].x *= factor;
        coefficients[i].y *= factor;
    }
};
struct Restrict {
    const double *periodic, *is_free;
    double *z;
    int cells;
    __device__ void operator()(int i) const {
        const int row = i / (cells - 1) + 1, column = i % (cells - 1) + 1;
        z[i] = is_free[i] != 0 ? periodic[row * 2 * cells + column] : 0.0;
    }
};

// z = A^-1 v restricted to F. The odd continuation of v and z makes sine transforms of Fourier transforms.
class PoissonSolver {
  public:
    PoissonSolver(int cells, const Stream &stream)
        : cells_(cells), stream_(stream), periodic_(int64_t{4} * cells * cells),
          coefficients_(int64_t{2} * cells * (cells + 1)) {
        check(cufftPlan2d(&forward_, 2 * cells, 2 * cells, CUFFT_D2Z));
        check(cufftPlan2d(&backward_, 2 * cells, 2 * cells, CUFFT_Z2D));
        check(cufftSetStream(forward_, stream));
        check(cufftSetStream(backward_, stream));
    }
    PoissonSolver(const PoissonSolver &) = delete;
    PoissonSolver &operator=(const PoissonSolver &) = delete;
    ~PoissonSolver() { cufftDestroy(forward_), cufftDestroy(backward_); }

    void solve(const double *v, const double *is_free, double *z) {
        const int period = 2 * cells_, side = cells_ - 1;
        stream_.for_each(period * period, Continue{{v, cells_}, periodic_});
        check(cufftExecD2Z(forward_, periodic_, coefficients_));
        stream_.for_each(period * (cells_ + 1), Divide{coefficients_, cells_});
        check(cufftExecZ2D(backward_, coefficients_, periodic_));
        stream_.for_each(side * side, Restrict{periodic_, is_free, z, cells_});
        solves_++;
    }
    int solves() const { return solves_; }

  private:
    int cells_;
    const Stream &stream_;
    DeviceArray<double> periodic_;
    DeviceArray<cufftDoubleComplex> coefficients_;
    cufftHandle forward_{}, backward_{};
    int solves_ = 0;
};

struct NewDirection { // p <- y + (r'y / previous r'y) p
    const double *y, *ry, *ry_before;
    double *p;
    __device__ void operator()(int i) const { p[i] = y[i] + quotient(ry, ry_before) * p[i]; }
};
struct Step { // z <- z + alpha p, r <- r - alpha q, with alpha = r'y / p'q
    const double *p, *q, *ry, *pq;
    double *z, *r;
    __device__ void operator()(int i) const {
        const double alpha = quotient(ry, pq);
        z[i] += alpha * p[i];
        r[i] -= alpha * q[i];
    }
};

// Approximates z = (A_FF)^-1 v: by (A^-1)_FF v if `steps` is 0, and otherwise by so many steps of preconditioned
// conjugate gradients from z = 0 (Nocedal and Wright 2006, algorithm 5.3). The scalars remain on the device.
class Operator {
  public:
    Operator(int cells, int steps, const Stream &stream)
        : cells_(cells), n_((cells - 1) * (cells - 1)), steps_(steps), stream_(stream), poisson_(cells, stream), v_(n_),
          z_(n_), is_free_(n_), r_(n_), y_(n_), p_(n_), q_(n_), scalars_(3) {}

    void attach_to(cudaopt::Minimiser<double> &solver) { solver.set_operator(v_, z_, is_free_); }
    int poisson_solves() const { return poisson_.solves(); }

    void apply() {
        if (steps_ == 0) return poisson_.solve(v_, is_free_, z_);
        const std::size_t bytes = static_cast<std::size_t>(n_) * sizeof(double);
        double *pq = scalars_ + 2;
        check(cudaMemcpyAsync(r_, v_, bytes, cudaMemcpyDeviceToDevice, stream_));
        check(cudaMemsetAsync(z_, 0, bytes, stream_));
        check(cudaMemsetAsync(p_, 0, bytes, stream_));
        check(cudaMemsetAsync(scalars_, 0, 3 * sizeof(double), stream_));
        for (int k = 0; k < steps_; k++) {
            double *ry = scalars_ + k % 2, *ry_before = scalars_ + (k + 1) % 2;
            poisson_.solve(r_, is_free_, y_);
            stream_.sum(Product{r_, y_}, n_, ry);
            stream_.for_each(n_, NewDirection{y_, ry, ry_before, p_});
            stream_.sum(LaplacianProduct{{p_, cells_}, is_free_, q_}, n_, pq);
            stream_.for_each(n_, Step{p_, q_, ry, pq, z_, r_});
        }
    }

  private:
    int cells_, n_, steps_;
    const Stream &stream_;
    PoissonSolver poisson_;
    DeviceArray<double> v_, z_, is_free_, r_, y_, p_, q_, scalars_;
};

struct Method {
    const char *name;
    int64_t initial_hessian;
    int steps; // of conjugate gradients; 0: one solve with A
};
constexpr Method methods[] = {
    {"scalar", CUDA_OPT_INITIAL_HESSIAN_SCALAR, 0},
    {"learned diagonal", CUDA_OPT_INITIAL_HESSIAN_LEARNED, 0},
    {"operator: one solve", CUDA_OPT_INITIAL_HESSIAN_OPERATOR, 0},
    {"operator: 2 steps", CUDA_OPT_INITIAL_HESSIAN_OPERATOR, 2},
    {"operator: 3 steps", CUDA_OPT_INITIAL_HESSIAN_OPERATOR, 3},
};

struct Surface {
    std::vector<double> u, lower; // on the host
};

// Solves with one method. A short solve loads the kernels, so that the time of the next one does not contain that.
Surface minimise(int cells, const Method &method, bool is_short) {
    using Clock = std::chrono::steady_clock;
    const int n = (cells - 1) * (cells - 1);
    const Stream stream;
    cudaopt::Minimiser<double> solver(n, 10, CUDA_OPT_BACKEND_CUDA);
    solver.set_stream(static_cast<cudaStream_t>(stream));
    cudaopt::Array<double> x(solver, n), g(solver, n), f(solver, 1), lower(solver, n);
    stream.for_each(n, Obstacle{lower.data(), x.data(), cells});
    solver.set_bounds(lower.data(), nullptr);
    solver.set_int(CUDA_OPT_INITIAL_HESSIAN, method.initial_hessian);
    solver.set_int(CUDA_OPT_MAX_ITERATIONS, is_short ? 3 : 0);
    solver.set_real(CUDA_OPT_FACTR, 0).set_real(CUDA_OPT_PGTOL, 1e-6 / cells);

    std::optional<Operator> inverse;
    if (method.initial_hessian == CUDA_OPT_INITIAL_HESSIAN_OPERATOR) {
        inverse.emplace(cells, method.steps, stream);
        inverse->attach_to(solver);
    }
    check(cudaStreamSynchronize(stream));

    const auto begin = Clock::now();
    int task;
    while ((task = solver.solve(x, f, g)) > 0) {
        if (task == CUDA_OPT_APPLY_OPERATOR) inverse->apply();
        else stream.sum(Area{{x.data(), cells}, g.data()}, cells * cells, f.data());
    }
    check(cudaStreamSynchronize(stream));
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (is_short) return {};
    solver.check(task);
    std::printf("%s,%d,%lld,%d,%lld,%.3f,%.10f,%.1e\n", method.name, n,
                static_cast<long long>(solver.get_int(CUDA_OPT_EVALUATIONS)), inverse ? inverse->poisson_solves() : 0,
                static_cast<long long>(solver.get_int(CUDA_OPT_OPERATOR_REFUSALS)), seconds,
                solver.get_real(CUDA_OPT_F), solver.get_real(CUDA_OPT_PG_NORM_INF));
    std::fflush(stdout);
    return {x.to_host(), lower.to_host()};
}

bool write_heights(const std::string &path, int cells, const Surface &surface) {
    std::FILE *file = std::fopen(path.c_str(), "w");
    if (!file) return false;
    const int side = cells - 1, step = (side + 199) / 200;
    for (int row = step / 2; row < side; row += step)
        for (int column = step / 2; column < side; column += step) {
            const auto i = static_cast<std::size_t>(row) * static_cast<std::size_t>(side) + column;
            std::fprintf(file, "%.5f%s%s", surface.u[i], surface.u[i] <= surface.lower[i] ? "*" : "",
                         column + step < side ? "," : "\n");
        }
    return std::fclose(file) == 0;
}

} // namespace

int main(int argc, char **argv) {
    std::vector<int> sizes;
    std::string path;
    for (int k = 1; k < argc; k++) {
        const int cells = std::atoi(argv[k]);
        if (std::string(argv[k]).find('.') != std::string::npos) path = argv[k];
        else if (cells >= 4 && cells <= most_cells) sizes.push_back(cells);
        else {
            std::fprintf(stderr, "obstacle: CELLS is '%s', but has to be from 4 to %d\n", argv[k], most_cells);
            return 2;
        }
    }
    if (sizes.empty()) sizes.push_back(2000);
    try {
        Surface surface;
        std::puts("method,n,evaluations,solves,refusals,seconds,f,projected_gradient");
        for (const int cells : sizes)
            for (const Method &method : methods) {
                minimise(cells, method, true);
                surface = minimise(cells, method, false);
            }
        if (!path.empty() && !write_heights(path, sizes.back(), surface))
            throw std::runtime_error("cannot write '" + path + "'");
    } catch (const std::exception &error) {
        std::fprintf(stderr, "obstacle: %s\n", error.what());
        return 1;
    }
}
