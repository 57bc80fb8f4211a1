// cvt_program sites resolution: computes a centroidal Voronoi tessellation of the unit square from random sites. The
// energy is evaluated where the solver stores the sites, on the host or on CUDA. On CUDA no vector is copied to the
// host except for the report.
#include "drivers/arguments.hpp"
#include "drivers/csv.hpp"
#include "cuda_opt.hpp"
#include "drawing.hpp"
#include "options.hpp"
#include "raster.hpp"
#include "drivers/failure.hpp"
#include "drivers/history.hpp"
#include "drivers/interrupt.hpp"
#include "drivers/memory_check.hpp"
#include "drivers/output_file.hpp"
#include "drivers/phase_line.hpp"
#include "drivers/svg_plot.hpp"
#include "apps/cvt/quality.hpp"
#include "apps/cvt/tessellation.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace driver {
namespace {

namespace cvt = cudaopt::cvt;
using cudaopt::Array;
using cudaopt::testfuncs::Place;

using Clock = std::chrono::steady_clock;
double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// The sites at the start or at the end of the solve, with their energy on the grid and the results of the exact Voronoi
// diagram.
struct Snapshot {
    std::vector<double> x;
    double f;
    cvt::Cells cells;
    std::optional<cvt::ExactDiagram> diagram;
};

class Run {
  public:
    Run(const CvtOptions &options, PhaseLine &phase)
        : options_(options), phase_(phase),
          grid_(options.sites, options.resolution, cvt::make_density(options.density)),
          s_(2 * options.sites, options.m, options.backend), x_(s_, grid_.random_sites(seed())), g_(s_, n()), f_(s_, 1),
          lower_(s_, std::vector<double>(static_cast<std::size_t>(n()), 0)),
          upper_(s_, std::vector<double>(static_cast<std::size_t>(n()), 1)) {
        place_.space = s_.on_cuda() ? Place::Space::cuda : Place::Space::host;
        place_.threads = options.threads;
        s_.set_bounds(lower_, upper_);
        named("--threads", [&] { s_.set_int(CUDA_OPT_THREADS, options.threads); });
        s_.set_int(CUDA_OPT_MAX_ITERATIONS, options.iterations);
        s_.set_real(CUDA_OPT_MAX_SECONDS, options.seconds);
        s_.set_int(CUDA_OPT_APPROXIMATE_CAUCHY, options.approximate_cauchy);
        s_.set_real(CUDA_OPT_EPS, 0);
        s_.set_real(CUDA_OPT_PGTOL, options.until_still ? 0 : options.tolerance * gradient_unit());
        s_.set_real(CUDA_OPT_FACTR, options.until_still ? still_factr : 0);
        if (!options.csv.empty()) {
            csv_.emplace(options.csv);
            csv_->write(csv_header());
        }
        if (!options.points.empty()) points_.emplace(options.points);
        check_files();
    }

    // Performs the solve and returns the exit status. `early` handles Ctrl-C until there is a result to report.
    int minimise(std::optional<EarlyInterrupt> &early) {
        phase_.clear();
        head();
        phase_.show("the energy at the start");
        const Clock::time_point begin = Clock::now();
        const Snapshot start = snapshot();
        const double snapshot_seconds = since(begin);
        const int task = iterate(early);
        const std::string message = s_.message();
        // If there was no evaluation, the solver has rejected the input, and check() throws.
        if (evaluations_ == 0) s_.check(task);
        if (task == CUDA_OPT_STOPPED && snapshot_seconds > longest_report) return brief_report(message);
        phase_.show("the report");
        const Snapshot end = snapshot();
        phase_.clear();
        if (options_.log_frequency >= 0) report(start, end, message);
        draw(start, end);
        if (points_) points_->write(lines_of(end.x));
        if (task != CUDA_OPT_CONVERGED && options_.log_frequency < 0) throw Failure(exit_failed, message);
        return task == CUDA_OPT_CONVERGED ? 0 : exit_failed;
    }

  private:
    // After Ctrl-C, the full report is printed only if it takes at most this time in seconds.
    static constexpr double longest_report = 0.3;

    int64_t n() const { return 2 * options_.sites; }
    uint64_t seed() const { return static_cast<uint64_t>(options_.seed); }
    bool exact() const { return cvt::ExactDiagram::available(); }

    // Returns the unit in which gradients are reported. It is the derivative of the energy with respect to a site of
    // mean mass whose distance from its centroid is the mean distance between sites.
    double gradient_unit() const { return 2 * grid_.mean_mass() / std::sqrt(static_cast<double>(options_.sites)); }

    // Checks before the solve starts that the files of the pictures can be written.
    void check_files() const {
        if (!options_.plot.empty()) {
            if (!exact())
                throw Failure(exit_failed,
                              "cannot write '" + options_.plot + "': this program was built without Boost.Polygon");
            OutputFile{options_.plot};
        }
        if (!options_.png.empty()) {
            if (!have_png()) write_png(options_.png, {});
            OutputFile{options_.png};
        }
    }

    void evaluate(const std::function<bool()> &stop = {}) {
        grid_.evaluate(x_.data(), f_.data(), g_.data(), place_, stop);
    }

    Snapshot snapshot() {
        evaluate();
        Snapshot now = {x_.to_host(), f_.to_host()[0], grid_.cells(), {}};
        if (exact()) now.diagram.emplace(now.x);
        return now;
    }

    int iterate(std::optional<EarlyInterrupt> &early) {
        std::optional<Interrupt> interrupt;
        const auto stop = [&] { return interrupt && interrupt->requested(); };
        const Clock::time_point begin = Clock::now();
        int64_t last = -1;
        int task;
        do {
            task = s_.solve(x_, f_, g_);
            if (evaluations_ > 0 && s_.get_int(CUDA_OPT_ITERATIONS) != last) {
                const Iterate iterate = current_iterate(s_, evaluations_, since(begin));
                last = iterate.iteration;
                if (options_.log_frequency > 0 ? last % options_.log_frequency == 0 : last == 0) line(iterate);
                if (csv_) csv_->write(csv_row(iterate));
            }
            if (task == CUDA_OPT_EVALUATE_FG) {
                phase_.show(with_separators(std::max<int64_t>(0, last)) + " iterations, " +
                            with_separators(evaluations_) + " evaluations");
                evaluate(stop);
                if (evaluations_++ > 0) continue;
                early.reset();
                interrupt.emplace(s_, "cvt_program: it stops after this evaluation; Ctrl-C again stops it now\n");
            }
        } while (task > 0);
        s_.synchronize();
        seconds_ = since(begin);
        if (evaluations_ > 0 && !(options_.log_frequency > 0 && last % options_.log_frequency == 0))
            line(current_iterate(s_, evaluations_, seconds_));
        return task;
    }

    void head() const {
        if (options_.log_frequency < 0) return;
        std::printf(" %s SITES   RESOLUTION = %lld   DENSITY = %s   SEED = %lld\n",
                    with_separators(options_.sites).c_str(), static_cast<long long>(options_.resolution),
                    options_.density.c_str(), static_cast<long long>(options_.seed));
        std::printf(" N = %lld   NUMBER OF CORRECTIONS = %d   BACKEND = %s   PASSES OF JUMP FLOODING = %d\n\n",
                    static_cast<long long>(n()), options_.m, s_.on_cuda() ? "cuda" : "host", grid_.passes());
        std::printf("   I  NFN      ENERGY       GNORM   STEPLENGTH\n");
        check_output();
    }

    void line(const Iterate &it) const {
        if (options_.log_frequency < 0) return;
        phase_.clear();
        std::printf("%4lld %4lld %13.6e %13.6e", static_cast<long long>(it.iteration),
                    static_cast<long long>(it.evaluations), it.f, it.pg_norm2);
        std::printf(it.iteration > 0 ? " %13.6e\n" : "\n", it.step);
        check_output();
    }

    // Prints the short report after Ctrl-C. It is used if another evaluation and the exact diagram would take too long.
    // The sites are written nevertheless.
    int brief_report(const std::string &message) {
        phase_.clear();
        if (points_) points_->write(lines_of(x_.to_host()));
        if (options_.log_frequency < 0) throw Failure(exit_failed, message);
        std::printf("\n %s\n ENERGY = %.12e\n", message.c_str(), s_.get_real(CUDA_OPT_F));
        totals();
        std::printf(" NO PICTURES AND NO QUALITY OF THE CELLS: THEY TAKE AS LONG AS THE START\n");
        check_output();
        return exit_failed;
    }

    void totals() const {
        std::printf(" ITERATIONS = %lld   EVALUATIONS = %lld   SECONDS = %.3f   IN THE SOLVER = %.3f\n",
                    static_cast<long long>(s_.get_int(CUDA_OPT_ITERATIONS)), static_cast<long long>(evaluations_),
                    seconds_, s_.get_real(CUDA_OPT_SOLVER_SECONDS));
    }

    void report(const Snapshot &start, const Snapshot &end, const std::string &message) const {
        std::printf("\n %s\n", message.c_str());
        std::printf(" ENERGY = %.12e   AT THE START = %.12e\n", end.f, start.f);
        if (exact() && options_.density == "constant")
            std::printf(" OF THE EXACT DIAGRAM = %.12e   THE GRID'S DIFFERS BY %.1e\n", end.diagram->energy(),
                        std::fabs(end.f - end.diagram->energy()) / end.diagram->energy());
        double farthest = 0;
        for (std::size_t k = 0; k < end.x.size(); k += 2)
            farthest = std::max(farthest,
                                std::hypot(end.x[k] - end.cells.centroid[k], end.x[k + 1] - end.cells.centroid[k + 1]));
        std::printf(" FARTHEST FROM ITS CENTROID = %.3e MEAN DISTANCES OF SITES\n",
                    farthest * std::sqrt(static_cast<double>(options_.sites)));
        std::printf(" EMPTY CELLS = %lld   AT THE START = %lld\n", static_cast<long long>(end.cells.empty),
                    static_cast<long long>(start.cells.empty));
        totals();
        if (exact()) {
            std::printf("\n DELAUNAY TRIANGLES       NUMBER    MIN Q   MEAN Q   MIN ANGLE   MEAN ANGLE"
                        "   COINCIDING SITES\n");
            line("START", start, false);
            line("END", end, false);
            line("END, CENTRE IN SQUARE", end, true);
        } else {
            std::printf("\n DELAUNAY TRIANGLES: this program was built without Boost.Polygon\n");
        }
        check_output();
    }

    static void line(const char *what, const Snapshot &at, bool restricted_only) {
        const cvt::Quality q = cvt::quality_of(*at.diagram, at.x, restricted_only);
        std::printf(" %-22s %8lld %8.4f %8.4f %11.3f %12.3f %18lld\n", what, static_cast<long long>(q.triangles),
                    q.least_q, q.mean_q, q.least_angle, q.mean_angle, static_cast<long long>(at.diagram->coinciding()));
    }

    void draw(const Snapshot &start, const Snapshot &end) const {
        const auto caption = [](const char *when, const Snapshot &at) {
            char text[96];
            const cvt::Quality q = cvt::quality_of(*at.diagram, at.x, true);
            std::snprintf(text, sizeof text, "%s: energy %.4e, mean Q %.3f, mean smallest angle %.1f", when, at.f,
                          q.mean_q, q.mean_angle);
            return std::string(text) + "\u00b0";
        };
        if (!options_.plot.empty()) {
            const std::string density = options_.density.substr(options_.density.rfind('/') + 1);
            const std::string title = "Voronoi tessellation of " + with_separators(options_.sites) +
                                      " sites, density " + density + ", " +
                                      with_separators(s_.get_int(CUDA_OPT_ITERATIONS)) + " iterations";
            OutputFile(options_.plot)
                .write(draw_diagrams(title, {caption("Start", start), &*start.diagram, &start.x},
                                     {caption("End", end), &*end.diagram, &end.x}));
        }
        if (!options_.png.empty()) write_png(options_.png, raster_of(start.cells, end.cells));
    }

    static std::string lines_of(const std::vector<double> &x) {
        std::string lines;
        for (std::size_t k = 0; k < x.size(); k += 2) {
            char line[64];
            std::snprintf(line, sizeof line, "%.17g %.17g\n", x[k], x[k + 1]);
            lines += line;
        }
        return lines;
    }

    const CvtOptions &options_;
    PhaseLine &phase_;
    cvt::Tessellation grid_;
    cudaopt::Minimiser<double> s_;
    Array<double> x_, g_, f_, lower_, upper_;
    Place place_;
    std::optional<OutputFile> csv_, points_;
    int64_t evaluations_ = 0;
    double seconds_ = 0;
};

int run(int argc, char **argv) {
    CvtOptions options;
    if (!parse_cvt_options(argc, argv, options)) return 0;
    std::optional<EarlyInterrupt> early;
    early.emplace("cvt_program: stopped before the first iteration, so there is no result\n");
    PhaseLine phase;
    try {
        check_memory("cvt_program",
                     cvt::Tessellation::host_memory(options.sites, options.resolution, options.density == "constant"));
        phase.show("sampling the density");
        return Run(options, phase).minimise(early);
    } catch (const std::invalid_argument &refusal) {
        throw Failure(exit_usage, refusal.what());
    }
}

} // namespace
} // namespace driver

int main(int argc, char **argv) {
    return driver::guarded("cvt_program", [&] { return driver::run(argc, argv); });
}
