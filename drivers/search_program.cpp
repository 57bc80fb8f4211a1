// search_program n walks: minimises a test function by many independent pattern searches ("walks") from random starts,
// and then by L-BFGS-B from the best points found. Like a user's program, it uses only the headers in include/.
#include "cuda_opt.hpp"
#include "failure.hpp"
#include "interrupt.hpp"
#include "memory_check.hpp"
#include "output_file.hpp"
#include "polish.hpp"
#include "printing.hpp"
#include "search_history.hpp"
#include "search_options.hpp"
#include "searches.hpp"
#include "svg_plot.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace driver {
namespace {

namespace functions = cudaopt::testfuncs::search;
using cudaopt::PatternSearch;
using cudaopt::SearchSummary;

std::string text(const char *format, double value) {
    char written[64];
    std::snprintf(written, sizeof written, format, value);
    return written;
}

void check(const PatternSearch &search) {
    if (search.code() != 0) throw cudaopt::Error(search.code(), search.message());
}

// Returns the bytes of host memory that a search on the host needs. Each walk has its point, and the best of its
// earlier points if it may start again. There are at most 10 vectors of n elements besides.
double host_memory(const SearchProgramOptions &options) {
    const cudaopt::SearchOptions &search = options.search;
    const bool starts_again = search.round_iterations > 0 || search.at_smallest == cudaopt::AtSmallestStep::new_point;
    const auto n = static_cast<double>(options.n), walks = static_cast<double>(search.walks);
    const double of_point = n * (options.single ? sizeof(float) : sizeof(double));
    return walks * ((starts_again ? 2 : 1) * of_point + sizeof(cudaopt::pattern::Walk)) + 10 * n * sizeof(double);
}

// Records a pattern search: it writes lines of the log and rows of the output file, and stores data for the plot.
class Follower {
  public:
    explicit Follower(const SearchProgramOptions &options) : options_(options) {
        if (!options.csv.empty()) {
            csv_.emplace(options.csv);
            csv_->write(search_csv_header());
        }
        if (!options.plot.empty()) plot_.emplace(options.plot);
        if (!options.point.empty()) point_.emplace(options.point);
    }

    bool logs() const { return options_.log_frequency >= 0; }

    void observe(const SearchMoment &moment, bool last) {
        const int64_t every = options_.log_frequency;
        if (logs() && (moment.iteration == 0 || last || (every > 0 && moment.iteration % every == 0)))
            print("%9lld %17s %13s  %13.6e  %10.4f\n", static_cast<long long>(moment.iteration),
                  with_separators(moment.evaluations).c_str(), with_separators(moment.active).c_str(), moment.f,
                  moment.seconds);
        if (csv_) csv_->write(search_csv_row(moment));
        if (plot_) history_.push_back(moment);
    }

    void draw(const std::string &title, const std::string &subtitle) {
        if (plot_) plot_->write(search_plot(history_, title, subtitle));
    }

    void write_point(const std::vector<double> &x) {
        for (std::size_t j = 0; point_ && j < x.size(); j++) point_->write(text("%.17g\n", x[j]));
    }

  private:
    const SearchProgramOptions &options_;
    std::optional<OutputFile> csv_, plot_, point_;
    // The history is stored only if a plot was requested.
    std::vector<SearchMoment> history_;
};

struct Ended {
    SearchSummary found;
    double seconds;
    std::string why;
    bool interrupted;
};

// Performs the iterations of all walks (pattern searches) one at a time, so that each iteration can be recorded.
Ended follow(PatternSearch &search, const cudaopt::SearchOptions &options, Follower &follower) {
    const Interrupt interrupt(nullptr);
    const auto begin = std::chrono::steady_clock::now();
    for (int64_t iteration = 0;; iteration++) {
        // The first call only evaluates the starts of the walks. Each further call performs one iteration.
        search.advance(iteration == 0 ? 0 : 1);
        const SearchSummary found = search.summary();
        check(search);
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        const bool interrupted = interrupt.requested();
        const bool round_ends = options.round_iterations == 0 || iteration % options.round_iterations == 0;
        std::string why;
        if (interrupted) why = "interrupted";
        else if (iteration >= options.iterations)
            why = "the limit of " + std::to_string(options.iterations) + " iterations was reached";
        else if (found.active == 0) why = "all walks have ended at their smallest steps";
        else if (options.max_seconds > 0 && seconds >= options.max_seconds && round_ends)
            why = "the time limit of " + text("%g", options.max_seconds) + " s was reached";
        follower.observe({iteration, found.evaluations, found.active, found.value, seconds}, !why.empty());
        if (!why.empty()) return {found, seconds, why, interrupted};
    }
}

struct Best {
    double f;
    std::vector<double> x;
};

// Starts L-BFGS-B from the points of the best walks (pattern searches), and returns the best result.
Best polish_best(PatternSearch &search, const functions::Function &function, const std::vector<double> &lower,
                 const std::vector<double> &upper, int64_t walks, bool logs) {
    Best best{INFINITY, {}};
    double of_search = INFINITY;
    int64_t evaluations = 0;
    if (logs) print("\n%13s  %13s  %13s %12s\n", "polished walk", "f before", "f after", "evaluations");
    for (const int64_t walk : search.best_walks(walks)) {
        const std::vector<double> x = search.walk_point(walk);
        const double before = functions::evaluate(function, x.data(), static_cast<int>(x.size()));
        // The best walk comes first. If a walk has found no finite value, the walks after it have found none, either.
        if (!std::isfinite(before)) break;
        Polished polished = polish(function, x, lower, upper, 0);
        if (logs)
            print("%13lld  %13.6e  %13.6e %12lld\n", static_cast<long long>(walk), before, polished.f,
                  static_cast<long long>(polished.evaluations));
        of_search = std::min(of_search, before);
        evaluations += polished.evaluations;
        if (polished.f < best.f) best = {polished.f, std::move(polished.x)};
    }
    if (logs)
        print("polished f = %.15g, %.6e below the search's; %s evaluations of f and its gradient\n", best.f,
              of_search - best.f, with_separators(evaluations).c_str());
    return best;
}

int run(int argc, char **argv) {
    const std::optional<SearchProgramOptions> given = parse_search_options(argc, argv);
    if (!given) return 0;
    SearchProgramOptions options = *given;
    const functions::Function function = functions::function_by_name(options.function);
    const functions::Facts facts = functions::facts_of(function);
    const bool on_cuda =
        options.backend == CUDA_OPT_BACKEND_CUDA || (options.backend == CUDA_OPT_BACKEND_AUTO && cuda_is_here());
    if (!on_cuda) check_memory("search_program", host_memory(options));
    const std::vector<double> lower(options.n, options.lower.value_or(facts.lower));
    const std::vector<double> upper(options.n, options.upper.value_or(facts.upper));
    if (options.step) options.search.steps.assign(options.n, *options.step);

    const auto search = make_search(function, on_cuda, lower, upper, options.search, options.single);
    check(*search);
    // The files are opened only after the arguments have been checked, so that wrong ones leave them unchanged.
    Follower follower(options);
    const std::string title = facts.title + ", n = " + with_separators(options.n) + ", " +
                              with_separators(options.search.walks) + " walks in [" + text("%g", lower[0]) + ", " +
                              text("%g", upper[0]) + "], seed " + std::to_string(options.search.seed) + ", " +
                              (on_cuda ? "CUDA" : "host") + (options.single ? ", single precision" : "");
    if (follower.logs())
        print("%s\n%9s %17s %13s  %13s  %10s\n", title.c_str(), "iteration", "evaluations", "active walks", "best f",
              "seconds");
    const Ended ended = follow(*search, options.search, follower);
    if (!std::isfinite(ended.found.value)) throw Failure(exit_failed, "f is NaN or Inf at all points evaluated");

    Best best = {ended.found.value, search->walk_point(ended.found.walk)};
    if (follower.logs())
        print("%s\nf = %.15g, of walk %lld; %s evaluations, %.3g a second\n", ended.why.c_str(), best.f,
              static_cast<long long>(ended.found.walk), with_separators(ended.found.evaluations).c_str(),
              static_cast<double>(ended.found.evaluations) / ended.seconds);
    std::string subtitle = ended.why + ", f = " + text("%.6g", best.f);
    if (options.polish > 0 && !ended.interrupted) {
        best = polish_best(*search, function, lower, upper, options.polish, follower.logs());
        subtitle += "; polished " + text("%.6g", best.f);
    }
    follower.draw(title, subtitle);
    follower.write_point(best.x);
    if (ended.interrupted && !follower.logs()) throw Failure(exit_failed, "interrupted, f = " + text("%.15g", best.f));
    return ended.interrupted ? exit_failed : 0;
}

} // namespace
} // namespace driver

int main(int argc, char **argv) {
    return driver::guarded("search_program", [&] { return driver::run(argc, argv); });
}
