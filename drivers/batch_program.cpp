// batch_program count n m: minimises a test function from many random starts at once, with one L-BFGS-B solve per
// start, by reverse communication. Like a user's program, it uses only the headers in include/.
#include "batch_options.hpp"
#include "cuda_opt.hpp"
#include "failure.hpp"
#include "interrupt.hpp"
#include "memory_check.hpp"
#include "output_file.hpp"
#include "phase_line.hpp"
#include "printing.hpp"
#include "svg_plot.hpp"
#include "testfuncs/search/rows.hpp"

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace driver {
namespace {

namespace functions = cudaopt::testfuncs::search;

template <class... Values> std::string text(const char *format, Values... values) {
    char written[256];
    std::snprintf(written, sizeof written, format, values...);
    return written;
}

// Returns the random number in [0, 1) with this index for a seed, by SplitMix64 (Steele, Lea, Flood 2014).
double uniform(uint64_t seed, uint64_t index) {
    uint64_t z = seed * 0xd1342543de82ef95u + 0x9e3779b97f4a7c15u * (index + 1);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return static_cast<double>(z >> 11) / 9007199254740992.0;
}

// The results of a batch: each array has one element per problem.
struct Ends {
    std::vector<int64_t> codes, iterations, evaluations;
    std::vector<double> f, pg_norm_inf;
};

// A batch of problems with its arrays x, f and g in the memory space of its backend.
template <class Real> class Run {
  public:
    explicit Run(const BatchProgramOptions &options)
        : options_(options), batch_(options.n, options.count, options.m, options.backend) {
        for (const GivenSetting &setting : options.settings)
            named(setting.option, [&] {
                const auto *const whole = std::get_if<int64_t>(&setting.value);
                if (whole) batch_.set_int(setting.key, *whole);
                else batch_.set_real(setting.key, std::get<double>(setting.value));
            });
        const int64_t values = options.count * options.n;
        x_.emplace(batch_, values), g_.emplace(batch_, values), f_.emplace(batch_, options.count);
        if (sizeof(Real) < sizeof(double)) wide_.emplace(batch_, values);
    }

    const cudaopt::Batch<Real> &batch() const { return batch_; }

    // Sets the bounds, and draws random starts within them. If one of the bounds is infinite, the starts are drawn
    // between the default bounds of the test function, as far as these are within the given bounds.
    void start(const functions::Facts &facts) {
        const double lower = options_.lower.value_or(facts.lower), upper = options_.upper.value_or(facts.upper);
        batch_.set_uniform_bounds(static_cast<Real>(lower), static_cast<Real>(upper));
        const double first = std::isfinite(lower) ? lower : std::min(facts.lower, upper),
                     last = std::isfinite(upper) ? upper : std::max(facts.upper, lower);
        std::vector<Real> starts(static_cast<std::size_t>(x_->size()));
        for (std::size_t k = 0; k < starts.size(); k++)
            starts[k] = static_cast<Real>(first + (last - first) * uniform(options_.seed, k));
        x_->write(0, starts.data(), x_->size());
    }

    int solve() { return batch_.solve(*x_, *f_, *g_); }
    // Evaluates f and its gradient for all active problems. On the host, stop() is called between groups of problems.
    // Once it has returned true, f is set to NaN for the remaining problems, which therefore keep their iterates.
    template <class Stop> void evaluate(const functions::Function &function, const Stop &stop) {
        functions::Rows<Real> rows{static_cast<int>(options_.n),
                                   batch_.active(),
                                   batch_.active_problems(),
                                   x_->data(),
                                   f_->data(),
                                   g_->data(),
                                   wide_ ? wide_->data() : nullptr};
        if (batch_.on_cuda()) return functions::evaluate_on_cuda(function, rows, nullptr);
        const int64_t group = std::max<int64_t>(1, values_between_stops / options_.n), all = rows.count;
        for (int64_t first = 0; first < all; first += rows.count, rows.list += rows.count) {
            rows.count = std::min(group, all - first);
            if (!stop()) functions::evaluate_on_host(function, rows, options_.threads);
            else
                for (int64_t k = 0; k < rows.count; k++) rows.f[rows.list[k]] = NAN;
        }
    }

    Ends ends() const {
        return {batch_.integers(CUDA_OPT_BATCH_CODE), batch_.integers(CUDA_OPT_ITERATIONS),
                batch_.integers(CUDA_OPT_EVALUATIONS), batch_.reals(CUDA_OPT_F), batch_.reals(CUDA_OPT_PG_NORM_INF)};
    }

  private:
    // The number of variables that are evaluated between two calls of stop(). This takes a few hundredths of a second
    // at most.
    static constexpr int64_t values_between_stops = 1 << 20;

    const BatchProgramOptions &options_;
    cudaopt::Batch<Real> batch_;
    std::optional<cudaopt::Array<Real>> x_, g_;
    std::optional<cudaopt::Array<double>> f_, wide_;
};

// Returns the name of a return code without the prefix CUDA_OPT_, for example "ITERATION_LIMIT".
std::string name_of(int64_t code) {
    const std::string name = cuda_opt_task_name(static_cast<int>(code)), common = "CUDA_OPT_";
    return name.rfind(common, 0) == 0 ? name.substr(common.size()) : name;
}

template <class Number> void print_spread(const char *name, std::vector<Number> values, const char *format) {
    std::sort(values.begin(), values.end());
    print("%-12s", name);
    for (const Number value : {values.front(), values[values.size() / 2], values.back()})
        print("  %s", text(format, static_cast<double>(value)).c_str());
    print("\n");
}

void print_table(const Ends &ends, int64_t rounds, double seconds) {
    std::map<int64_t, int64_t, std::greater<>> codes;
    int64_t evaluations = 0;
    for (std::size_t p = 0; p < ends.codes.size(); p++) codes[ends.codes[p]]++, evaluations += ends.evaluations[p];
    print("\n%-28s %12s\n", "ended by", "problems");
    for (const auto &[code, many] : codes) print("%-28s %12s\n", name_of(code).c_str(), with_separators(many).c_str());
    print("\n%-12s  %13s  %13s  %13s\n", "", "least", "median", "most");
    print_spread("iterations", ends.iterations, "%13.0f");
    print_spread("evaluations", ends.evaluations, "%13.0f");
    print_spread("f", ends.f, "%13.6e");
    print_spread("max |Pg_i|", ends.pg_norm_inf, "%13.6e");
    print("\n%s rounds, %s evaluations, %.4f s, %.4g problems a second\n", with_separators(rounds).c_str(),
          with_separators(evaluations).c_str(), seconds, static_cast<double>(ends.codes.size()) / seconds);
}

void write_rows(OutputFile &file, const Ends &ends) {
    std::string rows = "problem,code,iterations,evaluations,f,pg_norm_inf\n";
    for (std::size_t p = 0; p < ends.codes.size(); p++)
        rows += text("%zu,%" PRId64 ",%" PRId64 ",%" PRId64 ",%.17g,%.17g\n", p, ends.codes[p], ends.iterations[p],
                     ends.evaluations[p], ends.f[p], ends.pg_norm_inf[p]);
    file.write(rows);
}

// Returns the bytes of the workspace of `count` problems.
template <class Real> double workspace_of(int64_t count, const BatchProgramOptions &options) {
    cudaopt::Batch<Real> batch(options.n, count, options.m, options.backend);
    const int64_t variables = count * options.n;
    const cudaopt::Array<Real> x(batch, std::vector<Real>(static_cast<std::size_t>(variables))), g(batch, variables);
    const cudaopt::Array<double> f(batch, count);
    batch.check(batch.solve(x.data(), f.data(), g.data())); // the first call allocates the workspace
    return static_cast<double>(batch.get_int(CUDA_OPT_WORKSPACE_BYTES));
}

// Checks that the machine has enough memory for the batch. Batches of one and of two problems are created first: the
// difference between their workspaces is what each further problem needs. The rest belongs to the threads.
template <class Real> void check_memory_for(const BatchProgramOptions &options) {
    const cudaopt::Batch<Real> unused(1, 1, 1, options.backend);
    // On CUDA no check is needed, because the arrays are in device memory.
    if (unused.on_cuda()) return;
    const double one = workspace_of<Real>(1, options), count = static_cast<double>(options.count),
                 further = options.count > 1 ? workspace_of<Real>(2, options) - one : 0;
    const double vectors = 3 * sizeof(Real) + (sizeof(Real) < sizeof(double) ? sizeof(double) : 0); // x, g, the starts
    check_memory("batch_program", one + (count - 1) * further + count * vectors * static_cast<double>(options.n));
}

template <class Real> int run_in(const BatchProgramOptions &options) {
    std::optional<EarlyInterrupt> early;
    early.emplace("batch_program: stopped before the first evaluation of all problems, so there is no result\n");
    // An invalid number of problems is reported later, by the library.
    if (options.count > 0) check_memory_for<Real>(options);
    PhaseLine phase;
    phase.show("allocating the problems");
    const functions::Function function = functions::function_by_name(options.function);
    const functions::Facts facts = functions::facts_of(function);
    Run<Real> run(options);
    // The file is opened only after the arguments have been checked, so that wrong ones leave it unchanged.
    std::optional<OutputFile> csv;
    if (!options.csv.empty()) csv.emplace(options.csv);
    const cudaopt::Batch<Real> &batch = run.batch();
    const int64_t every = options.log_frequency;
    phase.clear();
    if (every >= 0)
        print("%s, n = %s, m = %d: %s problems in [%g, %g], seed %" PRIu64 ", %s%s\n%9s %12s %12s\n",
              facts.title.c_str(), with_separators(options.n).c_str(), options.m,
              with_separators(options.count).c_str(), options.lower.value_or(facts.lower),
              options.upper.value_or(facts.upper), options.seed, batch.on_cuda() ? "CUDA" : "host",
              options.single ? ", single precision" : "", "round", "active", "seconds");

    phase.show("drawing the random starts");
    run.start(facts);
    const auto begin = std::chrono::steady_clock::now();
    const auto passed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
    const auto log = [&](int64_t round) {
        phase.clear();
        print("%9" PRId64 " %12s %12.4f\n", round, with_separators(batch.active()).c_str(), passed());
    };
    const auto show = [&](int64_t round) {
        phase.show("round " + with_separators(round) + ": " + with_separators(batch.active()) + " of " +
                   with_separators(options.count) + " problems active");
    };
    std::optional<Interrupt> interrupt;
    const auto stop = [&] { return interrupt && interrupt->requested(); };
    int64_t rounds = 0;
    int task;
    while ((task = run.solve()) > 0) {
        if (every >= 0 && (rounds == 0 || (every > 0 && rounds % every == 0))) log(rounds);
        show(rounds);
        run.evaluate(function, stop);
        if (rounds++ > 0) continue;
        early.reset();
        interrupt.emplace(batch, "batch_program: it stops at the end of this round; Ctrl-C again stops it now\n");
    }
    phase.clear();
    const double seconds = passed();
    if (task <= CUDA_OPT_CUDA_FAILURE && task != CUDA_OPT_STOPPED) throw cudaopt::Error(task, batch.message());
    const Ends ends = run.ends();
    if (every >= 0) {
        log(rounds);
        print_table(ends, rounds, seconds);
        print("%s\n", batch.message());
    }
    if (csv) write_rows(*csv, ends);
    if (task != 0 && every < 0) throw Failure(exit_failed, batch.message());
    return task == 0 ? 0 : exit_failed;
}

int run(int argc, char **argv) {
    const std::optional<BatchProgramOptions> options = parse_batch_options(argc, argv);
    if (!options) return 0;
    return options->single ? run_in<float>(*options) : run_in<double>(*options);
}

} // namespace
} // namespace driver

int main(int argc, char **argv) {
    return driver::guarded("batch_program", [&] { return driver::run(argc, argv); });
}
