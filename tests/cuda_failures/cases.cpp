#include "cases.hpp"

#include <algorithm>

#include "../support/configurations.hpp"
#include "cuda_opt_unlp.h"
#include "seam.hpp"

namespace failures {

namespace {

using cudaopt_test::Abi;

// An attempt returns the code of the first call that fails.
#define TRY(call)                                                                                                      \
    if (const int code_ = call; code_ < 0) return code_

// A handle and arrays in its memory. The handle uses the last device, and the first one is current. If there are
// several devices, each call therefore has to select the device of the handle.
class OfHandle : public Case {
  public:
    explicit OfHandle(int backend) : backend_(backend) {}
    ~OfHandle() override { give_back(); }
    std::string message() const override { return cuda_opt_message(s_); }
    bool give_back() override {
        for (void *&array : arrays_) {
            if (s_ && array) cuda_opt_free(s_, array);
            array = nullptr;
        }
        cuda_opt_destroy(&s_);
        return !s_;
    }

  protected:
    template <class Create> int make(const Create &create, std::vector<int64_t> bytes) {
        if (cuda_opt_backend(s_) < 0) give_back(); // the handle is invalid or does not exist
        if (!s_) {
            seam::use(std::max(seam::devices(), 1) - 1);
            const int code = create(&s_);
            seam::use(0);
            TRY(code);
        }
        seam::use(0);
        TRY(cuda_opt_reset(s_));
        arrays_.resize(bytes.size(), nullptr);
        for (std::size_t i = 0; i < bytes.size(); i++)
            if (!arrays_[i]) TRY(cuda_opt_alloc(s_, &arrays_[i], bytes[i]));
        return 0;
    }
    template <class T> T *array(int which) const { return static_cast<T *>(arrays_[static_cast<std::size_t>(which)]); }
    template <class T> int write(int which, const std::vector<T> &values) {
        return cuda_opt_copy_in(s_, arrays_[static_cast<std::size_t>(which)], values.data(), bytes_of(values));
    }
    template <class T> int read(int which, std::vector<T> &values) {
        return cuda_opt_copy_out(s_, values.data(), arrays_[static_cast<std::size_t>(which)], bytes_of(values));
    }
    template <class T> static int64_t bytes_of(const std::vector<T> &values) {
        return static_cast<int64_t>(values.size() * sizeof(T));
    }

    const int backend_;
    cuda_opt *s_ = nullptr;

  private:
    std::vector<void *> arrays_;
};

// f(x) = sum w_i (x_i - c_i)^2 / 2 with w from 1 to 100. Half of the c_i are outside the box.
template <class Real> double quadratic(const std::vector<Real> &x, std::vector<Real> &g) {
    double f = 0;
    for (std::size_t i = 0; i < x.size(); i++) {
        const double weight = 1 + 99.0 * static_cast<double>(i) / static_cast<double>(x.size());
        const double away = static_cast<double>(x[i]) - (i % 2 ? 0.3 : 2) * (i % 4 < 2 ? 1 : -1);
        f += weight * away * away / 2;
        g[i] = static_cast<Real>(weight * away);
    }
    return f;
}

struct Options {
    bool bounded;
    int metric;
    bool log;
    int history_bits;
};

template <class Real> class Solve : public OfHandle {
  public:
    Solve(int backend, Options options) : OfHandle(backend), options_(options) {}

    int attempt() override {
        enum { x, g, lower, upper, diagonal, f };
        const int64_t bytes = n * static_cast<int64_t>(sizeof(Real));
        TRY(this->make([this](cuda_opt **s) { return Abi<Real>::create(s, n, m, backend_); },
                       {bytes, bytes, bytes, bytes, bytes, static_cast<int64_t>(sizeof(double))}));
        std::vector<Real> at(n, 0), gradient(n);
        TRY(write(x, at));
        TRY(write(lower, std::vector<Real>(n, -1)));
        TRY(write(upper, std::vector<Real>(n, 1)));
        TRY(write(diagonal, std::vector<Real>(n, Real(0.02))));
        if (options_.bounded) TRY(Abi<Real>::set_bounds(s_, array<Real>(lower), array<Real>(upper)));
        TRY(Abi<Real>::set_diagonal(s_, array<Real>(diagonal)));
        TRY(cuda_opt_set_int(s_, CUDA_OPT_METRIC, options_.metric));
        TRY(cuda_opt_set_int(s_, CUDA_OPT_HISTORY_BITS, options_.history_bits));
        TRY(cuda_opt_set_real(s_, CUDA_OPT_EPS, 1e-3));
        if (options_.log) {
            TRY(cuda_opt_set_log(
                s_, [](void *lines, const char *) { ++*static_cast<int *>(lines); }, &lines_));
            TRY(cuda_opt_set_int(s_, CUDA_OPT_IPRINT_FREQUENCY, 4));
            TRY(cuda_opt_set_int(s_, CUDA_OPT_IPRINT_TYPE, 3));
        }
        for (;;) {
            const int task = Abi<Real>::solve(s_, array<Real>(x), array<double>(f), array<Real>(g));
            TRY(task);
            if (task == CUDA_OPT_CONVERGED) break;
            if (task != CUDA_OPT_EVALUATE_FG) continue; // the diagonal that is requested does not change
            TRY(read(x, at));
            const double value = quadratic(at, gradient);
            seam::leave_behind_an_error();
            TRY(write(g, gradient));
            TRY(write(f, std::vector<double>{value}));
        }
        TRY(read(x, at));
        double seconds = 0, value = 0;
        int64_t evaluations = 0, crossings = 0;
        TRY(cuda_opt_get_real(s_, CUDA_OPT_SOLVER_SECONDS, &seconds));
        TRY(cuda_opt_get_real(s_, CUDA_OPT_F, &value));
        TRY(cuda_opt_get_int(s_, CUDA_OPT_EVALUATIONS, &evaluations));
        TRY(cuda_opt_get_int(s_, CUDA_OPT_CAUCHY_CROSSINGS, &crossings));
        result_.assign(at.begin(), at.end());
        result_.insert(result_.end(), {value, static_cast<double>(evaluations), static_cast<double>(crossings)});
        return 0;
    }

  private:
    static constexpr int64_t n = 60;
    static constexpr int m = 3;
    const Options options_;
    int lines_ = 0;
};

// A pattern search whose batches are evaluated on the host. After each iteration it counts the walks that continue and
// compares the best value with F_TARGET.
class Search : public OfHandle {
  public:
    Search() : OfHandle(CUDA_OPT_BACKEND_CUDA) {}

    int attempt() override {
        enum { points, values, lower, upper, steps };
        const auto doubles = [](int64_t count) { return count * static_cast<int64_t>(sizeof(double)); };
        TRY(make([](cuda_opt **s) { return cuda_opt_create_search(s, n, walks, CUDA_OPT_BACKEND_CUDA); },
                 {doubles(2 * n * walks), doubles(2 * walks), doubles(n), doubles(n), doubles(n)}));
        TRY(write(lower, std::vector<double>(n, -1)));
        TRY(write(upper, std::vector<double>(n, 2)));
        TRY(write(steps, std::vector<double>(n, 0.25)));
        TRY(write(points, std::vector<double>(2 * n * walks))); // all points are read, also those beyond the batch
        TRY(write(values, std::vector<double>(2 * walks)));
        TRY(cuda_opt_set_bounds(s_, array<double>(lower), array<double>(upper)));
        TRY(cuda_opt_search_set_steps(s_, array<double>(steps)));
        TRY(cuda_opt_set_int(s_, CUDA_OPT_AT_SMALLEST_STEP, 2));
        TRY(cuda_opt_set_int(s_, CUDA_OPT_HALVINGS, 2));
        TRY(cuda_opt_set_int(s_, CUDA_OPT_MAX_ITERATIONS, 8));
        TRY(cuda_opt_set_real(s_, CUDA_OPT_F_TARGET, -1));
        std::vector<double> at(2 * n * walks), value(2 * walks);
        for (;;) {
            const int task = cuda_opt_search_solve(s_, array<double>(points), array<double>(values));
            if (task == CUDA_OPT_ITERATION_LIMIT) break;
            TRY(task);
            TRY(read(points, at));
            for (int64_t p = 0; p < 2 * walks; p++) {
                value[p] = 0;
                for (int64_t j = 0; j < n; j++) value[p] += at[j * 2 * walks + p] * at[j * 2 * walks + p];
            }
            seam::leave_behind_an_error();
            TRY(write(values, value));
        }
        int64_t best = 0;
        std::vector<double> x(n);
        double f = 0, f_of_walk = 0;
        TRY(cuda_opt_get_real(s_, CUDA_OPT_F, &f));
        TRY(cuda_opt_search_ranked(s_, 0, &best));
        TRY(cuda_opt_search_walk(s_, best, x.data(), &f_of_walk));
        result_ = x;
        result_.insert(result_.end(), {f, f_of_walk, static_cast<double>(best)});
        return 0;
    }

  private:
    static constexpr int64_t n = 2, walks = 300;
};

// The interface cuda_opt_unlp.h, with its own arrays on the current device.
class Manual : public Case {
  public:
    Manual() {
        seam::use(0);
        memory_ = seam::allocate((2 * n + 3) * sizeof(double));
    }
    ~Manual() override { give_back(); }
    std::string message() const override { return cuda_opt_unlp_message(); }
    bool give_back() override {
        if (memory_) seam::release(memory_);
        memory_ = nullptr;
        return true;
    }
    int attempt() override {
        auto *x = static_cast<double *>(memory_), *g = x + n, *f = g + n, *sum = f + 1;
        auto *state = reinterpret_cast<int *>(sum + 1);
        const std::vector<double> start(n, 0);
        seam::use(0);
        seam::copy(x, start.data(), n * sizeof(double));
        TRY(cuda_opt_unlp_set_device_ID(0));
        TRY(cuda_opt_unlp_solve(n, 3, evaluate, x, f, g, nullptr, nullptr, 1e-3, state));
        std::vector<double> solution(n);
        double total = 0;
        TRY(cuda_opt_unlp_get_solution(n, x, solution.data()));
        TRY(cuda_opt_unlp_my_reduce(n, x, sum));
        TRY(cuda_opt_unlp_get_solution(1, sum, &total));
        result_ = solution;
        result_.push_back(total);
        return 0;
    }

  private:
    static constexpr int n = 60;
    static void evaluate(int size, double *x, double *f, double *g) {
        std::vector<double> at(static_cast<std::size_t>(size)), gradient(at.size());
        seam::copy(at.data(), x, at.size() * sizeof(double));
        const double value = quadratic(at, gradient);
        seam::copy(g, gradient.data(), at.size() * sizeof(double));
        seam::copy(f, &value, sizeof value);
    }
    void *memory_ = nullptr;
};

// The query of the device memory in cuda_opt_unlp.h.
class ManualQuery : public Case {
  public:
    std::string message() const override { return cuda_opt_unlp_message(); }
    bool give_back() override { return true; }
    int attempt() override {
        seam::use(0);
        TRY(cuda_opt_unlp_gpu_mem_info());
        return 0;
    }
};

constexpr int plain = CUDA_OPT_METRIC_ONE_NUMBER, callers = CUDA_OPT_METRIC_DIAGONAL, learned = CUDA_OPT_METRIC_LEARNED;

template <class Real, int backend, bool bounded, int metric, bool log, int history_bits = 8 * sizeof(Real)>
std::unique_ptr<Case> solve() {
    return std::make_unique<Solve<Real>>(backend, Options{bounded, metric, log, history_bits});
}

} // namespace

const std::vector<Kind> &kinds() {
    constexpr int cuda = CUDA_OPT_BACKEND_CUDA, host = CUDA_OPT_BACKEND_HOST;
    static const std::vector<Kind> all = {
        {"bounded, with a log", solve<double, cuda, true, plain, true>},
        {"without bounds, single precision", solve<float, cuda, false, plain, false>},
        {"with a learned diagonal and bounds", solve<double, cuda, true, learned, false>},
        {"with a diagonal and bounds", solve<double, cuda, true, callers, false>},
        {"with a history precision of 32 bits", solve<double, cuda, true, plain, false, 32>},
        {"with a history precision of 16 bits", solve<float, cuda, true, plain, false, 16>},
        {"on the host", solve<double, host, true, plain, false>},
        {"pattern search", []() -> std::unique_ptr<Case> { return std::make_unique<Search>(); }},
        {"cuda_opt_unlp.h", []() -> std::unique_ptr<Case> { return std::make_unique<Manual>(); }},
        {"query of cuda_opt_unlp.h", []() -> std::unique_ptr<Case> { return std::make_unique<ManualQuery>(); }},
    };
    return all;
}

} // namespace failures
