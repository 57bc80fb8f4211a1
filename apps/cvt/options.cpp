#include "options.hpp"

#include "drivers/arguments.hpp"
#include "apps/cvt/density.hpp"

#include <cstdio>
#include <string>

namespace driver {
namespace {

void print_densities() {
    for (const auto &density : cudaopt::cvt::list_densities()) std::printf("%s: %s\n", density.name, density.formula);
    std::printf("NAME.pgm: an image, P2 or P5, bright where the density is high; its first row is at y = 1\n");
}

void check(const CvtOptions &o) {
    const std::string image = o.density.find('.') == std::string::npos ? "" : o.density;
    if (image.empty())
        require_name("--density", "density", o.density, cudaopt::cvt::list_densities(),
                     [](const auto &density) { return density.name; });
    if (o.m < 1) refuse("--m", "must be at least 1, not " + std::to_string(o.m));
    require_not_negative("--max-iterations", static_cast<double>(o.iterations));
    require_not_negative("--max-seconds", o.seconds);
    require_not_negative("--seed", static_cast<double>(o.seed));
    require_not_negative("--tolerance", o.tolerance);
    if (o.until_still && o.tolerance_given) refuse("--until-still", "is the only test, but there is --tolerance");
    if (std::isinf(o.tolerance)) refuse("--tolerance", "must be finite");
    if (o.log_frequency < -1) refuse("--iprint", "must be -1 or more, not " + std::to_string(o.log_frequency));
    require_different_files(
        {{"--density", image}, {"--csv", o.csv}, {"--plot", o.plot}, {"--png", o.png}, {"--points", o.points}});
}

} // namespace

bool parse_cvt_options(int argc, char **argv, CvtOptions &options) {
    CvtOptions &o = options;
    CLI::App app;
    add_answers(app, "cvt_program", "list the densities and exit", print_densities);
    app.description("Spread sites over the unit square: minimise the energy of their Voronoi tessellation on a grid by "
                    "L-BFGS-B, from a random start, until each site is the centroid of its cell.\n"
                    "Example: cvt_program 500 512 --plot tessellation.svg\n"
                    "Exit status: 0 converged, 1 not converged or failed, 2 wrong arguments.");
    add_option(app, "sites", "", "number of sites, at most one a pixel", [&o](auto &name, auto &text) {
        o.sites = whole_number<int64_t>(name, text);
    })->required();
    add_option(app, "resolution", "", "pixels of the grid in each direction, at most 16384",
               [&o](auto &name, auto &text) { o.resolution = whole_number<int64_t>(name, text); })
        ->required();
    add_option(app, "--density", "NAME", "density, see --list, or an image NAME.pgm [constant]",
               [&o](auto &, auto &text) { o.density = text; });
    add_option(app, "--seed", "K", "of the random start [1]",
               [&o](auto &name, auto &text) { o.seed = whole_number<int64_t>(name, text); });
    add_option(app, "--m", "K", "number of correction pairs [7]",
               [&o](auto &name, auto &text) { o.m = whole_number<int32_t>(name, text); });
    add_option(app, "--max-iterations", "--iterations", "K", "stop after so many iterations; 0: no limit [300]",
               [&o](auto &name, auto &text) { o.iterations = whole_number<int64_t>(name, text); });
    add_option(app, "--max-seconds", "X", "stop after so much time; 0: no limit [0]",
               [&o](auto &name, auto &text) { o.seconds = number(name, text); });
    add_option(app, "--tolerance", "X",
               "converged when sites with the mean mass are this near to their centroids, in mean distances of sites, "
               "in x and in y [1e-3]",
               [&o](auto &name, auto &text) {
                   o.tolerance = number(name, text);
                   o.tolerance_given = true;
               });
    app.add_flag("--until-still", o.until_still, still_help);
    app.add_flag("--approximate-cauchy", o.approximate_cauchy,
                 "search the projected path up to its first breakpoint only");
    add_option(app, "--backend", "NAME", "auto, cuda or host; auto: CUDA where there is a device [auto]",
               [&o](auto &, auto &text) { o.backend = backend_of(text); });
    add_option(app, "--threads", "K", "threads of the host; 0: all there are [0]",
               [&o](auto &name, auto &text) { o.threads = whole_number<int>(name, text); });
    add_option(app, "--iprint", "F", "log every F-th iterate; 0: first and last; -1: print nothing [1]",
               [&o](auto &name, auto &text) { o.log_frequency = whole_number<int64_t>(name, text); });
    add_option(app, "--csv", "FILE", "write one row an iteration to this file",
               [&o](auto &, auto &text) { o.csv = text; });
    add_option(app, "--plot", "--svg", "FILE",
               "draw start and end, cells, sites and Delaunay triangles, to this SVG file",
               [&o](auto &, auto &text) { o.plot = text; });
    add_option(app, "--png", "FILE", "draw start and end as the grid sees them to this file",
               [&o](auto &, auto &text) { o.png = text; });
    add_option(app, "--points", "FILE", "write the sites to this file, x and y on a line",
               [&o](auto &, auto &text) { o.points = text; });
    return parsed(app, argc, argv, [&] { check(o); });
}

} // namespace driver
