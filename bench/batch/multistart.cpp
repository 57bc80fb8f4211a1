// Compares what L-BFGS-B and the pattern search find in the same time, for the twelve functions of the pattern search
// in 30 variables: L-BFGS-B from many random points at once in a batch around a functor.
//
//     bench_multistart [--starts 100000] [--backend auto|cuda|host] [--threads 2] [--walks 15360] [--functions all]
//                      [--csv FILE]
//
// L-BFGS-B uses analytic gradients, and for the function Step differences over the width of a step. The pattern search
// is run in the two ways of bench_search_table5 that have no rounds.
#include <omp.h>

#include <algorithm>
#include <limits>

#include "bench/batch/multistart.hpp"
#include "bench/common/command_line.hpp"
#include "bench/common/machine.hpp"
#include "bench/common/stopwatch.hpp"
#include "bench/search/search_run.hpp"

using namespace cudaopt;
using namespace cudaopt::bench;
namespace functions = cudaopt::testfuncs::search;

namespace {

MultistartRow multistart_on_host(const Multistart &task) {
    HostBatch<multistart_n, multistart_m> batch;
    std::vector<double> x = starts_of(task);
    std::vector<BatchEnd> ends(static_cast<std::size_t>(task.starts));
    BatchBounds<double> bounds;
    bounds.lower_all = task.lower, bounds.upper_all = task.upper;
    const Stopwatch watch;
    batch.run(OneOfTwelve{task.which}, task.starts, x.data(), bounds, ends.data(), options_of(task));
    return row_of(ends, watch.seconds());
}

SearchRun search_for(double seconds, const functions::Function &function, bool cuda, SearchOptions options,
                     AtSmallestStep at_smallest, double first_step) {
    const Box box(function, multistart_n);
    options.max_seconds = seconds;
    options.at_smallest = at_smallest;
    options.steps.assign(multistart_n, first_step * (box.upper[0] - box.lower[0]));
    warm_up(function, multistart_n, cuda);
    return run_search(function, multistart_n, cuda, options);
}

} // namespace

int main(int argc, char **argv) {
    double starts = 1e5;
    std::string backend = "auto", csv_file;
    std::vector<std::string> names;
    for (const functions::Function &f : functions::all_functions()) names.push_back(functions::facts_of(f).name);
    Multistart task;
    task.max_iterations = 1000;
    task.threads = 2;
    SearchOptions search;
    search.iterations = std::numeric_limits<int32_t>::max(); // the time is the limit
    CLI::App app("L-BFGS-B from many starts and the pattern search, for the same time");
    app.add_option("--starts", starts, "random points, of which each is a problem")->check(is_size);
    app.add_option("--max-iterations", task.max_iterations, "of L-BFGS-B from a start")->check(is_positive);
    app.add_option("--backend", backend, "auto, cuda or host")->check(CLI::IsMember({"auto", "cuda", "host"}));
    app.add_option("--threads", task.threads, "of the host, for both")->check(is_positive);
    app.add_option("--walks", search.walks, "of the pattern search")->check(is_positive);
    app.add_option("--functions", names, "some of the twelve")->delimiter(',');
    app.add_option("--csv", csv_file, "file for the table as comma separated values");
    return run_program(app, "bench_multistart", argc, argv, [&] {
        for (const std::string &name : names) functions::function_by_name(name); // refuse early
        Output csv(csv_file);
        const bool cuda = backend == "cuda" || (backend == "auto" && driver::cuda_is_here());
        task.starts = static_cast<int64_t>(starts);
        search.threads = task.threads;
        const std::string where = machine() + (cuda ? "" : ", " + std::to_string(task.threads) + " threads");
        std::printf("n = %d, %lld starts by L-BFGS-B, m = %d; %lld walks by the pattern search; on %s\n%s\n\n",
                    multistart_n, static_cast<long long>(task.starts), multistart_m,
                    static_cast<long long>(search.walks), cuda ? "CUDA" : "the host", where.c_str());
        std::printf("%-14s %9s %7s %8s %9s %12s | %12s %9s %12s %9s\n", "function", "s", "conv %", "at min %", "evals",
                    "best f", "search: best", "evals", "new points", "evals");
        csv.write("function,on,starts,seconds,converged,at_minimum,evaluations,best,search_best,search_evaluations,"
                  "new_points_best,new_points_evaluations,machine\n");
        if (cuda) multistart_on_cuda(task); // what CUDA prepares is in no time that follows
        int lower = 0, equal = 0;
        for (const std::string &name : names) {
            const functions::Function function = functions::function_by_name(name);
            const Box box(function, multistart_n);
            task.which = static_cast<int>(function.index());
            task.lower = box.lower[0], task.upper = box.upper[0];
            const MultistartRow row = cuda ? multistart_on_cuda(task) : multistart_on_host(task);
            const SearchRun restart =
                search_for(row.seconds, function, cuda, search, AtSmallestStep::restart_step, 0.05);
            const SearchRun anew = search_for(row.seconds, function, cuda, search, AtSmallestStep::new_point, 0.1);
            const auto count = static_cast<double>(task.starts);
            std::printf("%-14s %9.4f %7.2f %8.2f %9.2e %12.4e | %12.4e %9.2e %12.4e %9.2e\n", name.c_str(), row.seconds,
                        100 * static_cast<double>(row.converged) / count,
                        100 * static_cast<double>(row.at_minimum) / count, static_cast<double>(row.evaluations),
                        row.best, restart.value, static_cast<double>(restart.evaluations), anew.value,
                        static_cast<double>(anew.evaluations));
            std::fflush(stdout);
            csv.write(csv_row(name, std::string(cuda ? "CUDA" : "host"), task.starts, row.seconds, row.converged,
                              row.at_minimum, row.evaluations, row.best, restart.value, restart.evaluations, anew.value,
                              anew.evaluations, where));
            const double other = std::min(restart.value, anew.value);
            lower += row.best < other - 1e-6, equal += std::abs(row.best - other) <= 1e-6;
        }
        std::printf(
            "\nThe least value of each function is 0. conv: starts that L-BFGS-B ended from with code 0; at min: "
            "those from which\nf <= 1e-6. evals: of f with its gradient by L-BFGS-B, of f by the search, whose "
            "ways are those of bench_search_table5\nwithout rounds. L-BFGS-B's best is the lower one for %d of "
            "%zu functions; to 1e-6 they are the same for %d.\n",
            lower, names.size(), equal);
    });
}
