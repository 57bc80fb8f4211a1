/* Minimises a function without a gradient by pattern search; a functor computes the function. A walk is one of many
 * independent searches from random starts. The whole search runs in one CUDA kernel with one thread per walk, or on the
 * threads of the host. docs/search.md describes the method. cuda_opt_search_solve() of cuda_opt.h computes the same
 * walks for a function that is evaluated outside the library.
 *
 * @code{.cpp}
 * #include <cuda_opt/search.cuh>
 * #include <cstdio>
 *
 * struct Sphere { // f(x) = sum x_j^2
 *     template <class Point> CUDA_OPT_SEARCH_HD double operator()(const Point &x, int n) const
 *     {
 *         double sum = 0;
 *         for (int j = 0; j < n; j++)
 *             sum += x[j] * x[j];
 *         return sum;
 *     }
 * };
 *
 * int main()
 * {
 *     cudaopt::SearchOptions options;
 *     options.walks = 100;
 *     options.iterations = 200;
 *     cudaopt::HostSearch<Sphere> search(Sphere(), std::vector<double>(5, -100), std::vector<double>(5, 100), options);
 *     search.run();
 *     std::printf("%s\nf = %.0f\n", search.message(), search.summary().value);
 * }
 * @endcode
 *
 * If nvcc compiles the program, CudaSearch<Sphere> does the same on the GPU; in CudaSearch<Sphere, 20> n is a
 * compile-time constant.
 *
 * The objective is copied to each thread. It is compiled for host and device (CUDA_OPT_SEARCH_HD), and has the member
 *
 * @code{.cc}
 * template <class Point> double operator()(const Point &x, int n) const; // f; x[j] is coordinate j
 * @endcode
 *
 * It may instead have members with which the search updates f after a change of one coordinate. In the first case f is
 * a function of a few sums over the coordinates:
 *
 * @code{.cc}
 * static constexpr int sums = S;
 * void terms(int j, double x_j, int n, double (&t)[S]) const; // what coordinate j adds to each sum
 * double combine(const double (&sum)[S], int n) const;        // f
 * @endcode
 *
 * In the second case f is a sum over j of terms that depend only on the coordinates from j - R to j + R:
 *
 * @code{.cc}
 * static constexpr int reach = R;
 * template <class Point> double term(const Point &x, int j, int n) const;
 * @endcode
 *
 * In both cases operator() is not called. f is then defined as combine() of the sums, or as the sum of term(), summed
 * in the order j = 0, 1, .... Within an iteration the search updates the sums, with rounding errors of at most about
 * 2 n epsilon times the largest value of the sum in the iteration. At the end of each iteration the sums are formed
 * again, so that the value after the iteration is that of a full evaluation.
 *
 * NaN and Inf are worse than any other value. The same call gives the same bits with any number of threads. The walks
 * have the same starts on the host and on CUDA. They take the same moves if the values of the objective have the same
 * bits, that is for functions of +, -, *, / and fma compiled with -fmad=false and -ffp-contract=off. Nothing is
 * printed, and no exception is thrown except std::bad_alloc; a failure has a code() of cuda_opt.h and a message(). */
#ifndef CUDA_OPT_SEARCH_CUH
#define CUDA_OPT_SEARCH_CUH

#include "../cuda_opt.h"
#include "search_poll.cuh"

#include <locale.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace cudaopt {

/** The settings of a pattern search. A walk is one of its independent searches. */
struct SearchOptions {
    int64_t walks = 15360;   /**< The number of walks, >= 1. */
    int64_t iterations = 20; /**< The largest number of iterations of a walk, >= 0. */
    uint64_t seed = 0;       /**< The seed of the random numbers. */
    /** The first step Delta_0 of each coordinate, > 0. An empty vector means (upper - lower) / 20. */
    std::vector<double> steps;
    /** The number of halvings, 1 to 1000, until the smallest step, steps / 2^halvings, which is not used for trials. */
    int halvings = 16;
    /** The choice of how a walk proceeds when its step is the smallest one. */
    AtSmallestStep at_smallest = AtSmallestStep::restart_step;
    bool history = false; /**< If true, the search stores the best value after each iteration. */
    /** run() ends after the iteration or round in which this time limit is exceeded; 0: no limit. */
    double max_seconds = 0;
    /** The number of threads on the host, if the program uses OpenMP; 0: the number that OpenMP uses by default. */
    int threads = 0;
    void *stream = nullptr; /**< The cudaStream_t on CUDA; NULL: the legacy default stream. */
    /** The number of threads per walk on CUDA, 1 or 32. 0 selects 32 for few walks of many variables, otherwise 1. The
     *  results of the walks do not depend on this number. It is always 1 for objectives with `sums` or `reach`. */
    int lanes = 0;
    /** The number of iterations per round, >= 0; 0: no rounds. After each round all walks start again from new random
     *  points, with the first step; their best points are kept. Rounds cannot be combined with AtSmallestStep::stop. A
     *  round that has begun is completed. Zhu and Curry (2009) proceed in this way in their searches with a time
     *  limit. */
    int64_t round_iterations = 0;
};

/** The base class of all pattern searches. It does not depend on the objective. */
class PatternSearch {
  public:
    virtual ~PatternSearch() = default;
    PatternSearch(const PatternSearch &) = delete;
    PatternSearch &operator=(const PatternSearch &) = delete;

    /** Searches until the limit of iterations or of seconds is reached, or all walks have ended.
     *  @return CUDA_OPT_ITERATION_LIMIT, CUDA_OPT_TIME_LIMIT, CUDA_OPT_CONVERGED if all walks have ended,
     *          CUDA_OPT_NOT_FINITE if every value was NaN or Inf, or the code of a failure */
    int run() {
        const auto begin = std::chrono::steady_clock::now();
        const auto seconds = [&] {
            return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        };
        const int64_t before = iterations_;
        int64_t left = std::max<int64_t>(options_.iterations - iterations_, 0);
        // With a time limit, the search advances by groups of iterations, or by groups of whole rounds.
        const int64_t unit = std::max<int64_t>(options_.round_iterations, 1);
        const auto whole = [&](int64_t most) {
            return std::min(left, std::max(most / unit * unit, unit) - iterations_ % unit);
        };
        int64_t piece = options_.max_seconds > 0 ? whole(1) : left;
        bool in_time = true, active = true;
        do {
            if (const int code = advance(piece)) return code;
            left -= piece;
            if (options_.max_seconds > 0) { // The next group takes about an eighth of the time that is left.
                const double passed = seconds();
                const double each = passed / double(std::max<int64_t>(iterations_ - before, 1));
                in_time = passed < options_.max_seconds;
                const double most = std::min(2.0 * double(piece), (options_.max_seconds - passed) / each / 8);
                piece = whole(int64_t(most));
            }
            if (options_.at_smallest == AtSmallestStep::stop) active = summary().active > 0;
        } while (left > 0 && in_time && active);
        const SearchSummary found = summary();
        if (code_ != 0) return code_;
        if (!(found.value < std::numeric_limits<double>::infinity()))
            return say(CUDA_OPT_NOT_FINITE, "f is NaN or Inf at all of the %lld points evaluated", found.evaluations);
        if (!active)
            return say(CUDA_OPT_CONVERGED, "all %lld walks have ended at their smallest steps", options_.walks);
        if (!in_time) return say(CUDA_OPT_TIME_LIMIT, "the time limit was reached after %lld iterations", iterations_);
        return say(CUDA_OPT_ITERATION_LIMIT, "the limit of %lld iterations was reached", options_.iterations);
    }

    /** Advances every walk by this many iterations, regardless of the limits in the options. With iterations = 0 only
     *  the starts are evaluated.
     *  @return 0 or the code of a failure */
    int advance(int64_t iterations) {
        if (code_ == 0 && options_.history && iterations > options_.iterations - iterations_)
            return say(CUDA_OPT_MISUSE, "the history has room for %lld iterations", options_.iterations);
        if (code_ == 0 && take(iterations)) iterations_ += iterations;
        return code_;
    }

    /** Returns the best value so far, and the numbers of evaluations and of active walks. */
    virtual SearchSummary summary() = 0;
    /** Returns the n coordinates of the best point of a walk. walk_point(summary().walk) is the best point of all
     * walks. The result is empty for a walk that does not exist, and after a failure. */
    virtual std::vector<double> walk_point(int64_t walk) = 0;
    /** Returns the best value of each walk. */
    virtual std::vector<double> walk_values() = 0;

    /** Returns the indices of the `count` best walks, the best one first. If values are equal, the lower index is
     * first. */
    std::vector<int64_t> best_walks(int64_t count) {
        const std::vector<double> value = walk_values();
        std::vector<int64_t> order(value.size());
        for (std::size_t w = 0; w < order.size(); w++) order[w] = int64_t(w);
        const auto last = order.begin() + std::min<int64_t>(count, int64_t(order.size()));
        std::partial_sort(order.begin(), last, order.end(), [&](int64_t a, int64_t b) {
            return std::make_pair(value[std::size_t(a)], a) < std::make_pair(value[std::size_t(b)], b);
        });
        order.erase(last, order.end());
        return order;
    }

    /** Returns the best value after the starts and after each iteration. This requires SearchOptions::history. */
    std::vector<double> history() {
        std::vector<double> best;
        if (!options_.history || code_ != 0) return best;
        double least = std::numeric_limits<double>::infinity();
        std::vector<uint64_t> keys(std::size_t(iterations_) + 1, pattern::no_key);
        read_history(keys);
        for (const uint64_t key : keys) {
            // A walk that has ended records no values, so the minimum over all earlier iterations is taken.
            least = std::min(least, pattern::value_of(key));
            best.push_back(least);
        }
        return best;
    }

    /** Returns the number of iterations so far. */
    int64_t iterations() const { return iterations_; }
    /** Returns 0, or the code of a failure, after which the search cannot be used. */
    int code() const { return code_; }
    /** Returns one sentence about the last run() or about a failure. */
    const char *message() const { return message_; }

  protected:
    /** Checks the arguments. The bounds and the steps are rounded to the type Real, the precision of the search. */
    template <class Real>
    PatternSearch(Real, int compiled_n, const std::vector<double> &lower, const std::vector<double> &upper,
                  const SearchOptions &options)
        : n_(int(lower.size())), options_(options) {
        if (lower.empty() || lower.size() != upper.size())
            fail(CUDA_OPT_IMPROPER_INPUT, "there are %lld lower and %lld upper bounds; both have to be n >= 1",
                 lower.size(), upper.size());
        else if (lower.size() > std::size_t(std::numeric_limits<int>::max()))
            fail(CUDA_OPT_IMPROPER_INPUT, "there are %lld variables, more than 2147483647", lower.size());
        else if (compiled_n != 0 && compiled_n != n_)
            fail(CUDA_OPT_IMPROPER_INPUT, "there are %d bounds, but the search is compiled for n = %d", n_, compiled_n);
        else if (!options.steps.empty() && options.steps.size() != lower.size())
            fail(CUDA_OPT_IMPROPER_INPUT, "there are %lld steps for n = %d variables", options.steps.size(), n_);
        else if (options.walks < 1)
            fail(CUDA_OPT_IMPROPER_INPUT, "the number of walks is %lld, but has to be at least 1", options.walks);
        else if (options.iterations < 0)
            fail(CUDA_OPT_IMPROPER_INPUT, "the number of iterations is %lld, but has to be at least 0",
                 options.iterations);
        else if (options.halvings < 1 || options.halvings > 1000)
            fail(CUDA_OPT_IMPROPER_INPUT, "the number of halvings is %d, but has to be from 1 to 1000",
                 options.halvings);
        else if (options.lanes != 0 && options.lanes != 1 && options.lanes != 32)
            fail(CUDA_OPT_IMPROPER_INPUT, "the number of lanes is %d, but has to be 0, 1 or 32", options.lanes);
        else if (options.round_iterations < 0)
            fail(CUDA_OPT_IMPROPER_INPUT, "the iterations of a round are %lld, but have to be at least 0",
                 options.round_iterations);
        else if (const char *wrong = pattern::wrong_rounds(options.round_iterations, options.at_smallest))
            fail(CUDA_OPT_IMPROPER_INPUT, "rounds of %lld iterations: %s", options.round_iterations, wrong);
        else if (options.walks > std::numeric_limits<int64_t>::max() / 64 / n_)
            fail(CUDA_OPT_OUT_OF_MEMORY, "out of memory: %lld walks of %d variables take more than 2^60 bytes",
                 options.walks, n_);
        else if (options.history && options.iterations > std::numeric_limits<int64_t>::max() / 64)
            fail(CUDA_OPT_OUT_OF_MEMORY, "out of memory: the history of %lld iterations takes more than 2^60 bytes",
                 options.iterations);
        box_ = lower;
        box_.insert(box_.end(), upper.begin(), upper.end());
        for (double &bound : box_) bound = double(Real(bound));
        for (int j = 0; j < n_ && code_ == 0; j++) {
            const double l = box_[std::size_t(j)], u = box_[std::size_t(j) + lower.size()];
            const double step = double(Real(options.steps.empty() ? (u - l) / 20 : options.steps[j]));
            box_.push_back(step);
            const char *wrong = pattern::wrong_bounds(l, u, step);
            if (wrong)
                fail(CUDA_OPT_IMPROPER_INPUT, "variable %d has the bounds %g and %g and the step %g, but %s", j, l, u,
                     step, wrong);
        }
    }

    /** Advances all walks by the given number of iterations. Returns true on success. */
    virtual bool take(int64_t iterations) = 0;
    /** Copies the first keys.size() values of the history to the vector. Each value is encoded as an integer key
     *  (pattern::key_of()). */
    virtual void read_history(std::vector<uint64_t> &keys) = 0;

    /** Returns the lower bounds, the upper bounds and the first steps Delta_0, n values each. */
    template <class Real> std::vector<Real> box() const {
        std::vector<Real> values;
        for (const double value : box_) values.push_back(Real(value));
        return values;
    }
    /** Returns the data that all walks have in common. `box` is the address of the 3 n values of box(). */
    template <class Real> pattern::RulesOf<Real> rules(const Real *box) const {
        const Real *upper = box + n_, *step = upper + n_;
        return {options_.walks, n_,   options_.halvings,        options_.at_smallest, options_.seed, box,
                upper,          step, options_.round_iterations};
    }
    /** Returns whether walks may start again from new points. The best points of earlier starts then have to be
     *  stored. */
    bool has_lives() const { return rules(box_.data()).has_lives(); }
    /** Returns whether there is a walk with this number and its results can be read. */
    bool has(int64_t walk) const { return code_ == 0 && walk >= 0 && walk < options_.walks; }
    /** Returns the number of coordinates of all walks together. */
    std::size_t coordinates() const { return std::size_t(n_) * std::size_t(options_.walks); }
    /** Returns the number of values in the history; 0 if no history is kept. */
    std::size_t history_size() const { return options_.history ? std::size_t(options_.iterations) + 1 : 0; }

    /** Stores a sentence as the message, and returns the code. */
    template <class... Values> int say(int code, const char *format, Values... values) {
        // Numbers are printed with a decimal point in every locale.
        const locale_t before = uselocale(newlocale(LC_ALL_MASK, "C", locale_t{}));
        if constexpr (sizeof...(values) > 0) std::snprintf(message_, sizeof message_, format, shown(values)...);
        else std::snprintf(message_, sizeof message_, "%s", format);
        uselocale(before);
        return code;
    }
    /** Stores the message and the code of a failure, after which the search cannot continue. */
    template <class... Values> void fail(int code, const char *format, Values... values) {
        code_ = say(code, format, values...);
    }
    /** Records as a failure that the walks or the history do not fit into memory. */
    void fail_memory() {
        fail(CUDA_OPT_OUT_OF_MEMORY,
             "out of memory: the points of %lld walks of %d variables take %lld bytes, the history %lld",
             options_.walks, n_, coordinates() * sizeof(double), history_size() * sizeof(uint64_t));
    }

    /** Converts a value to the type that the format of printf expects. */
    template <class Value> static auto shown(Value value) {
        if constexpr (std::is_integral_v<Value> && sizeof(Value) == sizeof(long long))
            return static_cast<long long>(value);
        else return value;
    }

    int n_;                   /**< The number of variables. */
    SearchOptions options_;   /**< The options that the constructor received. */
    std::vector<double> box_; /**< The lower bounds, the upper bounds and the first steps Delta_0, n values each. */

  private:
    int64_t iterations_ = 0;
    int code_ = 0;
    char message_[256] = "the search has not begun";
};

/** The pattern search on the host, with the threads of OpenMP if the program is compiled with OpenMP. N is n if n is a
 *  compile-time constant, otherwise 0. Real is double or float. */
template <class Objective, int N = 0, class Real = double> class HostSearch final : public PatternSearch {
  public:
    /** Prepares a search in the box lower <= x <= upper. Both vectors have n finite values. */
    HostSearch(const Objective &objective, const std::vector<double> &lower, const std::vector<double> &upper,
               const SearchOptions &options)
        : PatternSearch(Real(), N, lower, upper, options), objective_(objective) {
        if (code() != 0) return;
        const bool lives = has_lives();
        x_.reset(new (std::nothrow) Real[coordinates()]);
        best_x_.reset(lives ? new (std::nothrow) Real[coordinates()] : nullptr);
        history_.reset(options.history ? new (std::nothrow) uint64_t[history_size()] : nullptr);
        if (!x_ || (lives && !best_x_) || (options.history && !history_)) {
            fail_memory();
            return;
        }
        std::fill_n(history_.get(), history_size(), pattern::no_key);
        try {
            walk_.assign(std::size_t(options.walks), pattern::not_begun());
            own_box_ = this->template box<Real>();
        } catch (const std::bad_alloc &) {
            fail_memory();
        }
    }

    SearchSummary summary() override {
        SearchSummary all;
        for (int64_t w = 0; w < int64_t(walk_.size()); w++) all.join(walks().summary(rules(own_box_.data()), w));
        return all;
    }
    std::vector<double> walk_point(int64_t walk) override {
        if (!has(walk)) return {};
        std::vector<double> x(static_cast<std::size_t>(n_));
        for (int j = 0; j < n_; j++) x[j] = walks().best_of(walk)[j * options_.walks];
        return x;
    }
    std::vector<double> walk_values() override {
        std::vector<double> value;
        for (const pattern::Walk &it : walk_) value.push_back(std::min(it.best, it.value));
        return value;
    }

  private:
    pattern::WalksOf<Real> walks() { return {x_.get(), best_x_.get(), walk_.data()}; }

    bool take(int64_t iterations) override {
        const pattern::RulesOf<Real> rules = this->rules(own_box_.data());
        const pattern::WalksOf<Real> walks = this->walks();
        int threads = 1;
#ifdef _OPENMP
        threads = options_.threads > 0 ? options_.threads : omp_get_max_threads();
#endif
        const std::size_t size = history_size();
        // The vector is allocated before the parallel region, because no thread may throw an exception.
        std::vector<uint64_t> least(size * std::size_t(threads), pattern::no_key);
#ifdef _OPENMP
#pragma omp parallel num_threads(threads)
#endif
        {
            int thread = 0;
#ifdef _OPENMP
            thread = omp_get_thread_num();
#endif
            const pattern::Note note{size > 0 ? least.data() + size * std::size_t(thread) : nullptr};
#ifdef _OPENMP
#pragma omp for schedule(dynamic, 16)
#endif
            for (int64_t w = 0; w < rules.walks; w++)
                pattern::advance<N>(objective_, rules, walks, w, iterations, note);
        }
        for (std::size_t k = 0; k < least.size(); k++) history_[k % size] = std::min(history_[k % size], least[k]);
        return true;
    }
    void read_history(std::vector<uint64_t> &keys) override { std::copy_n(history_.get(), keys.size(), keys.begin()); }

    Objective objective_;
    std::unique_ptr<Real[]> x_, best_x_;
    std::unique_ptr<uint64_t[]> history_;
    std::vector<Real> own_box_;
    std::vector<pattern::Walk> walk_;
};

} // namespace cudaopt

#ifdef __CUDACC__
#include "search_kernel.cuh"
#endif
#endif
