// driver_program n [m]: minimises a test problem and prints the log in the format of the 2013 manual (CMCC RP0167).
// Like a user's program, it uses only the headers in include/.
#include "checkpoints.hpp"
#include "cuda_opt.hpp"
#include "failure.hpp"
#include "interrupt.hpp"
#include "manual_log.hpp"
#include "manual_settings.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "recorder.hpp"
#include "svg_plot.hpp"
#include "testfuncs/problem.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace driver {
namespace {

using cudaopt::Array;
using cudaopt::Minimiser;
using cudaopt::testfuncs::Place;
using cudaopt::testfuncs::Problem;

class Clock {
  public:
    double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Fills an array of n values in chunks, by calls of fill(first, count, values). Host memory for one chunk is enough.
template <class Real, class Fill> void load(Array<Real> &to, int64_t n, const Fill &fill) {
    constexpr int64_t most = 1 << 20;
    std::vector<Real> values(static_cast<std::size_t>(std::min(n, most)));
    for (int64_t first = 0; first < n; first += most) {
        const int64_t count = std::min(most, n - first);
        fill(first, count, values.data());
        to.write(first, values.data(), count);
    }
}

// Sets the lower and the upper bounds. Each of the two is the value that the command line gives for all variables,
// otherwise the problem's own array, otherwise infinite.
template <class Real> class Bounds {
  public:
    Bounds(Minimiser<Real> &s, const Problem &problem, const Options &options) {
        if (problem.bounded() && !options.lower) {
            lower_.emplace(s, problem.n());
            load(*lower_, problem.n(), [&](int64_t first, int64_t count, Real *l) { problem.lower(first, count, l); });
        }
        if (problem.bounded() && !options.upper) {
            upper_.emplace(s, problem.n());
            load(*upper_, problem.n(), [&](int64_t first, int64_t count, Real *u) { problem.upper(first, count, u); });
        }
        s.set_bounds(lower_ ? lower_->data() : nullptr, upper_ ? upper_->data() : nullptr);
        s.set_uniform_bounds(static_cast<Real>(options.lower.value_or(-INFINITY)),
                             static_cast<Real>(options.upper.value_or(INFINITY)));
        any_ = problem.bounded() || options.lower || options.upper;
    }
    bool any() const { return any_; }

  private:
    std::optional<Array<Real>> lower_, upper_;
    bool any_;
};

void apply_settings(cudaopt::Handle &s, const std::vector<GivenSetting> &settings) {
    for (const GivenSetting &given : settings)
        named(given.option, [&] {
            if (const auto *whole = std::get_if<int64_t>(&given.value)) s.set_int(given.key, *whole);
            else s.set_real(given.key, std::get<double>(given.value));
        });
}

// Continues a solve from a checkpoint. The settings in the checkpoint are used, except for those on the command line.
template <class Real>
void resume(Minimiser<Real> &s, const Options &options, Array<Real> &x, Array<double> &f, Array<Real> &g) {
    named("--resume: '" + options.resume + "'",
          [&] { s.load(read_checkpoint(options.resume, s), x.data(), f.data(), g.data()); });
    std::vector<GivenSetting> late;
    for (const GivenSetting &setting : options.settings) {
        // CUDA_OPT_THREADS is skipped, because the number of threads was already set when the handle was created.
        if (setting.key == CUDA_OPT_THREADS) continue;
        if (setting.key != CUDA_OPT_HISTORY_BITS && setting.key != CUDA_OPT_INITIAL_HESSIAN) {
            late.push_back(setting);
            continue;
        }
        const int64_t given = std::get<int64_t>(setting.value), saved = s.get_int(setting.key);
        if (given == saved) continue;
        const std::string has = setting.key == CUDA_OPT_INITIAL_HESSIAN
                                    ? "another initial Hessian"
                                    : "a history of " + std::to_string(saved) + " bits, not " + std::to_string(given);
        throw Failure(exit_usage, setting.option + ": '" + options.resume + "' has " + has);
    }
    apply_settings(s, late);
}

std::string title(const cudaopt::Handle &s, const Problem &problem, const Options &options) {
    return problem.facts().title + ", n = " + with_separators(problem.n()) + ", m = " + std::to_string(options.m) +
           (s.on_cuda() ? ", CUDA" : ", host") + (options.single ? ", single precision" : "");
}

// Compares the gradient with differences of f and prints the result as a sentence on standard output. Returns
// exit_failed if the gradient is wrong.
template <class Real>
int check_gradient(Minimiser<Real> &s, Problem &problem, const Place &place, Array<Real> &x, Array<double> &f,
                   Array<Real> &g) {
    int task;
    while ((task = s.check_gradient(x, f, g)) == CUDA_OPT_EVALUATE_FG)
        problem.evaluate(x.data(), f.data(), g.data(), place);
    s.check(task);
    int32_t verdict = 0;
    s.check(cuda_opt_check_result(s, &verdict, nullptr, nullptr, nullptr, nullptr));
    std::printf("%s\n", s.message());
    return verdict == CUDA_OPT_GRADIENT_CONSISTENT ? 0 : exit_failed;
}

template <class Real> int minimise(const Options &options, Problem &problem) {
    Minimiser<Real> s(problem.n(), options.m, options.backend);
    set_as_in_manual(s);
    apply_settings(s, options.settings);

    Array<Real> x(s, problem.n()), g(s, problem.n());
    Array<double> f(s, 1);
    load(x, problem.n(), [&](int64_t first, int64_t count, Real *values) { problem.start(first, count, values); });
    const Bounds<Real> bounds(s, problem, options);
    Place place;
    place.space = s.on_cuda() ? Place::Space::cuda : Place::Space::host;
    place.threads = options.threads;
    if (options.check_gradient) return check_gradient(s, problem, place, x, f, g);
    const bool resumed = !options.resume.empty();
    if (resumed) resume(s, options, x, f, g);
    const int64_t iterations_before = s.get_int(CUDA_OPT_ITERATIONS);
    const double solver_seconds_before = s.get_real(CUDA_OPT_SOLVER_SECONDS);

    const bool log_shows_progress = options.log_frequency == 1 && isatty(STDOUT_FILENO);
    Progress progress(!log_shows_progress);
    ManualLog log(options, progress);
    log.attach(s);
    Recorder recorder(options);
    Checkpoints checkpoints(options);

    const Interrupt interrupt(checkpoints.wanted() ? nullptr : static_cast<cuda_opt *>(s));
    const Clock clock;
    Effort effort;
    effort.bounded = bounds.any();
    s.set_int(CUDA_OPT_REPORT_ITERATES, checkpoints.wanted());
    int64_t evaluations_before = 0;
    int task;
    do {
        const Clock call;
        while ((task = s.solve(x, f, g)) == CUDA_OPT_NEW_ITERATE)
            checkpoints.observe(s, task, interrupt, clock.seconds());
        effort.searches.observe(s, task, call.seconds());
        if (effort.solver_calls++ == 0 && (task > 0 || resumed)) {
            // The first task shows that the library has accepted the arguments, so that the head of the log can be
            // printed.
            log.head(s, problem);
            // If the task is positive, the library has already counted an evaluation that is still to be made.
            evaluations_before = s.get_int(CUDA_OPT_EVALUATIONS) - (task > 0);
        }
        log.check_written();
        recorder.observe(s, evaluations_before + effort.evaluations, clock.seconds());
        checkpoints.observe(s, task, interrupt, clock.seconds());
        progress.show(s, clock.seconds());
        if (task == CUDA_OPT_EVALUATE_FG) {
            const Clock evaluation;
            problem.evaluate(x.data(), f.data(), g.data(), place);
            effort.evaluation_seconds += evaluation.seconds();
            effort.evaluations++;
        }
    } while (task > 0);
    effort.seconds = clock.seconds();
    effort.iterations = s.get_int(CUDA_OPT_ITERATIONS) - iterations_before;
    effort.solver_seconds = s.get_real(CUDA_OPT_SOLVER_SECONDS) - solver_seconds_before;
    progress.clear();

    const std::string message = s.message();
    // If there was no evaluation, the solver has rejected the input, and check() throws.
    if (effort.evaluations == 0 && !resumed) s.check(task);
    log.summary(s, problem, effort);
    log.check_written();
    recorder.draw(title(s, problem, options), message);
    if (task != CUDA_OPT_CONVERGED && options.log_frequency < 0) throw Failure(exit_failed, message);
    return task == CUDA_OPT_CONVERGED ? 0 : exit_failed;
}

int run(int argc, char **argv) {
    const std::optional<Options> options = parse_options(argc, argv);
    if (!options) return 0;
    std::unique_ptr<Problem> problem;
    try {
        problem = cudaopt::testfuncs::make_problem(options->problem, options->n, options->parameters);
    } catch (const std::invalid_argument &refusal) {
        throw Failure(exit_usage, std::string(refusal.what()) + " (see --list)");
    }
    if (problem->n() != options->n)
        std::fprintf(stderr, "driver_program: n is %lld, not %lld: %s\n", static_cast<long long>(problem->n()),
                     static_cast<long long>(options->n), problem->shape().c_str());
    return options->single ? minimise<float>(*options, *problem) : minimise<double>(*options, *problem);
}

} // namespace
} // namespace driver

int main(int argc, char **argv) {
    return driver::guarded("driver_program", [&] { return driver::run(argc, argv); });
}
