// Compares libcuda_opt_setulb on both backends with L-BFGS-B 3.0: time inside setulb per evaluation of f and g, after
// the history is full; the part of it that copies between the caller's arrays and the solver's take, measured
// separately; and the n from which each is the fastest.
//
//     bench_setulb --n 1e4,1e5,1e6,1e7 --m 5 --problem torsion --csv setulb.csv
#include <dlfcn.h>

#include <cmath>
#include <cstdlib>
#include <optional>

#include "bench/common/command_line.hpp"
#include "bench/common/setulb_caller.hpp"
#include "prepared_solve.hpp"

using namespace cudaopt;

namespace {

using bench::absent, bench::Setulb;

// L-BFGS-B 3.0's, beside ours of the same name. NULL: not installed.
Setulb reference_setulb() {
    void *const library = dlopen("liblbfgsb.so.0", RTLD_NOW | RTLD_LOCAL);
    return library ? reinterpret_cast<Setulb>(dlsym(library, "setulb_")) : nullptr;
}

// Seconds inside setulb for each evaluation.
double run(Setulb setulb, const bench::RunOptions &options) {
    const auto problem = testfuncs::make_problem(options.problem, options.n);
    const int64_t n = problem->n();
    const int m = options.m;
    std::vector<double> start(static_cast<std::size_t>(n)), l(start), u(start);
    problem->start(0, n, start.data());
    problem->lower(0, n, l.data());
    problem->upper(0, n, u.data());
    bench::SetulbCaller caller(std::move(start), std::move(l), std::move(u), m, 0, 0, setulb);
    testfuncs::Place place;
    place.threads = options.threads;
    double seconds = 0;
    int warm_up = 0;
    for (;;) {
        const double in_call = caller.call();
        if (warm_up > 0) seconds += in_call;
        if (caller.says("FG")) {
            problem->evaluate(caller.x.data(), &caller.f, caller.g.data(), place);
        } else if (caller.says("NEW_X")) {
            if (caller.count(30) == m + 2) warm_up = caller.count(34);
            if (caller.count(30) >= m + 2 + options.iterations) caller.stop();
        } else {
            break;
        }
    }
    if (warm_up == 0 || caller.count(34) == warm_up)
        throw std::runtime_error("setulb ended before its memory was full");
    return seconds / (caller.count(34) - warm_up);
}

double run_ours(const char *backend, const bench::RunOptions &options) {
    setenv("CUDA_OPT_BACKEND", backend, 1);
    return run(setulb_, options);
}

// Seconds for what setulb copies at each evaluation: x out, f and g in.
double copies(int backend, int64_t n) {
    const Minimiser<double> handle(n, 1, backend);
    std::vector<double> host_x(static_cast<std::size_t>(n), 1.0), host_g(host_x);
    Array<double> x(handle, host_x), g(handle, n), f(handle, 1);
    const auto once = [&] {
        x.read(0, host_x.data(), n);
        f.write(0, host_g.data(), 1);
        g.write(0, host_g.data(), n);
    };
    for (int k = 0; k < 3; k++) once();
    constexpr int repetitions = 30;
    const bench::Stopwatch watch;
    for (int k = 0; k < repetitions; k++) once();
    return watch.seconds() / repetitions;
}

struct Row {
    int64_t n;
    double reference = absent, host = absent, host_copies = absent, cuda = absent, cuda_copies = absent;
};

void print_gain(const std::vector<Row> &rows, const char *over, double Row::*other) {
    int64_t from = 0; // the least n of those tried from which on CUDA is always faster
    bool compared = false;
    for (const Row &row : rows) {
        if (std::isnan(row.cuda) || std::isnan(row.*other)) continue;
        compared = true;
        if (row.cuda >= row.*other) from = 0;
        else if (from == 0) from = row.n;
    }
    if (!compared) return;
    if (from > 0) std::printf("CUDA is faster than %s from n = %lld on\n", over, static_cast<long long>(from));
    else std::printf("CUDA is not faster than %s at the largest n\n", over);
}

} // namespace

int main(int argc, char **argv) {
    bench::RunOptions o;
    o.problem = "torsion";
    std::vector<double> sizes = {1e4, 3e4, 1e5, 3e5, 1e6, 3e6, 1e7};
    std::string csv;
    CLI::App app(
        "setulb: this library's against L-BFGS-B 3.0, and what its copies cost, in microseconds an evaluation");
    app.add_option("--n", sizes, "variables, in rising order")->delimiter(',')->check(bench::is_size);
    app.add_option("--m", o.m, "correction pairs")->check(CLI::Range(1, 20));
    app.add_option("--problem", o.problem, "test problem, with its own bounds");
    app.add_option("--iterations", o.iterations, "iterations to count")->check(bench::is_positive);
    app.add_option("--threads", o.threads, "host threads of the evaluation, 0: all")->check(bench::is_not_negative);
    app.add_option("--csv", csv, "file for the table");
    return bench::run_program(app, "bench_setulb", argc, argv, [&] {
        bench::Output file(csv);
        file.write("problem,n,m,lbfgsb_us,host_us,host_copies_us,cuda_us,cuda_copies_us\n");
        bool cuda = true;
        try {
            Minimiser<double>(1, 1, CUDA_OPT_BACKEND_CUDA);
        } catch (const Error &error) {
            cuda = false;
            std::printf("no CUDA device: %s\n", error.what());
        }
        const Setulb reference = reference_setulb();
        if (!reference) std::printf("L-BFGS-B 3.0 is not installed\n");
        std::printf("%-12s %10s %3s %12s %12s %12s %12s %12s\n", "problem", "n", "m", "3.0", "host", "of it copies",
                    "cuda", "of it copies");
        std::vector<Row> rows;
        for (const int64_t size : bench::whole(sizes)) {
            o.n = size;
            Row row;
            row.n = testfuncs::make_problem(o.problem, size)->n();
            if (reference) row.reference = 1e6 * run(reference, o);
            row.host = 1e6 * run_ours("host", o);
            row.host_copies = 1e6 * copies(CUDA_OPT_BACKEND_HOST, row.n);
            if (cuda) row.cuda = 1e6 * run_ours("cuda", o);
            if (cuda) row.cuda_copies = 1e6 * copies(CUDA_OPT_BACKEND_CUDA, row.n);
            rows.push_back(row);
            std::printf("%-12s %10lld %3d", o.problem.c_str(), static_cast<long long>(row.n), o.m);
            for (const double t : {row.reference, row.host, row.host_copies, row.cuda, row.cuda_copies})
                std::printf(" %s", bench::cell("%.1f", 12, t).c_str());
            std::printf("\n");
            std::fflush(stdout);
            file.write(bench::csv_row(o.problem, row.n, int64_t{o.m}, row.reference, row.host, row.host_copies,
                                      row.cuda, row.cuda_copies));
        }
        print_gain(rows, "L-BFGS-B 3.0", &Row::reference);
        print_gain(rows, "the host back end", &Row::host);
    });
}
