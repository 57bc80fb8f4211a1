// Evaluations with an operator as initial Hessian, on the fields of fields.hpp:
//
//     bench_operator [--sides 30,60,120] [--starts 5] [--methods scalar,learned,operator] [--backend cuda]
//
// Each number is the median over starts that differ by 1e-8. Evaluations and applications are those until the first
// iterate at which the largest component of the projected gradient is at most the tolerance. The library itself may
// continue for up to ten iterations if rounding errors have let f rise (docs/termination.md); `total` includes these.
// The methods are the scalar and the learned initial Hessian, the operator, the identity as operator, and one V-cycle
// of multigrid. The operator is the inverse Laplacian, restricted to the free variables or of their rows and columns.
// f, g and the operator are computed on the host, and copied if the backend is CUDA.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/common/command_line.hpp"
#include "bench/common/machine.hpp"
#include "bench/common/stopwatch.hpp"
#include "cuda_opt.hpp"
#include "fields.hpp"
#include "multigrid.hpp"

using namespace cudaopt::bench;

namespace {

constexpr int pairs = 10;
constexpr double operator_tolerance = 1e-11;
const std::vector<std::string> all_methods{"scalar", "learned", "operator", "identity", "cycle"};

// Stores H_0 v in the last argument; the second one is 1 at the free variables, and 0 elsewhere.
using Operator = std::function<void(const Vector &, const Vector &, Vector &)>;

struct Counts {
    int64_t evaluations = 0, applications = 0, refusals = 0; // until the projected gradient is at the tolerance
    int64_t total = 0;                                       // evaluations until the end of the solve
};

struct Options {
    std::vector<int> sides{30, 60, 120};
    std::vector<std::string> methods{"scalar", "learned", "operator"}, problems;
    std::string backend = "host", csv;
    int starts = 5, threads = 1;
    int64_t limit = 20000;
};

Vector perturbed(const Field &field, int seed) {
    std::mt19937_64 random(static_cast<unsigned>(seed) + 1);
    std::normal_distribution<double> normal;
    Vector x = field.start;
    for (std::size_t i = 0; i < x.size(); i++) {
        const double relative = 1e-8 * normal(random), absolute = 1e-10 * normal(random);
        x[i] = std::clamp(x[i] * (1 + relative) + absolute, field.lower[i], field.upper[i]);
    }
    return x;
}

// Returns the operator of a method.
Operator make_operator(const std::string &method, const Field &field, Multigrid &multigrid) {
    if (method == "identity") return [](const Vector &v, const Vector &, Vector &z) { z = v; };
    const bool one_cycle = method == "cycle", of_block = one_cycle || field.inverts_free_block();
    const Vector all(field.start.size(), 1.0);
    return [=, &multigrid](const Vector &v, const Vector &is_free, Vector &z) {
        multigrid.set_free(of_block ? is_free : all);
        if (one_cycle) multigrid.cycle(v, z);
        else multigrid.solve(v, z, operator_tolerance);
        for (std::size_t i = 0; i < z.size(); i++) z[i] *= is_free[i];
    };
}

// One solve by the library. Throws std::runtime_error if it does not converge.
Counts solve(Field &field, const Operator &apply, const Vector &start, int initial_hessian, const Options &o) {
    const auto n = static_cast<int64_t>(start.size());
    const bool cuda = o.backend == "cuda";
    cudaopt::Minimiser<double> s(n, pairs, cuda ? CUDA_OPT_BACKEND_CUDA : CUDA_OPT_BACKEND_HOST);
    cudaopt::Array<double> x(s, start), g(s, n), f(s, 1), lower(s, field.lower), upper(s, field.upper);
    cudaopt::Array<double> in(s, n), out(s, n), is_free(s, n);
    if (field.bounded()) s.set_bounds(lower, upper);
    s.set_operator(in.data(), out.data(), is_free.data());
    s.set_int(CUDA_OPT_INITIAL_HESSIAN, initial_hessian).set_int(CUDA_OPT_THREADS, o.threads);
    s.set_real(CUDA_OPT_EPS, 0).set_real(CUDA_OPT_FACTR, 0).set_real(CUDA_OPT_PGTOL, field.tolerance);
    s.set_int(CUDA_OPT_MAX_ITERATIONS, 0).set_int(CUDA_OPT_MAX_EVALUATIONS, o.limit);
    s.set_int(CUDA_OPT_REPORT_ITERATES, 1);
    Vector host_x(start.size()), host_g(start.size()), host_out(start.size());
    Counts counts;
    const auto note = [&] {
        if (counts.evaluations > 0 || s.get_real(CUDA_OPT_PG_NORM_INF) > field.tolerance) return;
        counts.evaluations = s.get_int(CUDA_OPT_EVALUATIONS);
        counts.applications = s.get_int(CUDA_OPT_OPERATOR_APPLICATIONS);
        counts.refusals = s.get_int(CUDA_OPT_OPERATOR_REFUSALS);
    };
    int task;
    while ((task = s.solve(x, f, g)) > 0) {
        if (task == CUDA_OPT_APPLY_OPERATOR) {
            apply(in.to_host(), is_free.to_host(), host_out);
            out.write(0, host_out.data(), n);
            continue;
        }
        if (task == CUDA_OPT_NEW_ITERATE) {
            note();
            continue;
        }
        x.read(0, host_x.data(), n);
        const double value = field.evaluate(host_x, host_g);
        f.write(0, &value, 1);
        g.write(0, host_g.data(), n);
    }
    if (task != CUDA_OPT_CONVERGED) throw std::runtime_error(s.message());
    note();
    counts.total = s.get_int(CUDA_OPT_EVALUATIONS);
    return counts;
}

Counts run(const std::string &method, Field &field, Multigrid &multigrid, const Vector &start, const Options &o) {
    const Operator apply = make_operator(method, field, multigrid);
    const int kind = method == "scalar"    ? CUDA_OPT_INITIAL_HESSIAN_SCALAR
                     : method == "learned" ? CUDA_OPT_INITIAL_HESSIAN_LEARNED
                                           : CUDA_OPT_INITIAL_HESSIAN_OPERATOR;
    return solve(field, apply, start, kind, o);
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

// Prints the medians of one method on one problem.
void measure(const std::string &method, Field &field, Multigrid &multigrid, const Options &o, int side, Output &csv,
             const std::string &where) {
    std::vector<double> evaluations, applications, refusals, totals;
    const Stopwatch watch;
    std::string failure;
    try {
        for (int seed = 0; seed < o.starts; seed++) {
            const Counts counts = run(method, field, multigrid, perturbed(field, seed), o);
            evaluations.push_back(static_cast<double>(counts.evaluations));
            applications.push_back(static_cast<double>(counts.applications));
            refusals.push_back(static_cast<double>(counts.refusals));
            totals.push_back(static_cast<double>(counts.total));
        }
    } catch (const std::runtime_error &error) {
        failure = error.what();
        for (std::vector<double> *counts : {&evaluations, &applications, &refusals, &totals}) counts->assign(1, absent);
    }
    const auto [fewest, most] = std::minmax_element(evaluations.begin(), evaluations.end());
    std::printf("%-34s %7d %-10s %6s %6s %6s %6s %6s %4s %8.1f  %s\n", field.name(), side * side, method.c_str(),
                cell("%.0f", 6, median(evaluations)).c_str(), cell("%.0f", 6, *fewest).c_str(),
                cell("%.0f", 6, *most).c_str(), cell("%.0f", 6, median(totals)).c_str(),
                cell("%.0f", 6, median(applications)).c_str(), cell("%.0f", 4, median(refusals)).c_str(),
                watch.seconds(), failure.c_str());
    std::fflush(stdout);
    csv.write(csv_row(field.name(), int64_t{side} * side, method, o.backend, int64_t{o.starts}, median(evaluations),
                      *fewest, *most, median(totals), median(applications), median(refusals), where));
}

} // namespace

int main(int argc, char **argv) {
    Options o;
    CLI::App app("Evaluations with an operator as initial Hessian");
    app.add_option("--sides", o.sides, "points per row of the grids")->delimiter(',')->check(CLI::Range(3, 4096));
    app.add_option("--starts", o.starts, "perturbed starts")->check(CLI::Range(1, 1000));
    app.add_option("--methods", o.methods, "methods")->delimiter(',')->check(CLI::IsMember(all_methods));
    app.add_option("--problems", o.problems, "the first words of names; all by default")->delimiter(',');
    app.add_option("--limit", o.limit, "evaluations of a solve at most")->check(is_positive);
    app.add_option("--threads", o.threads, "host threads of the library; 0: all")->check(CLI::Range(0, 4096));
    app.add_option("--backend", o.backend, "where")->check(CLI::IsMember({"cuda", "host"}));
    app.add_option("--csv", o.csv, "file for the table as comma separated values");
    return run_program(app, "bench_operator", argc, argv, [&] {
        Output csv(o.csv);
        const std::string where = machine();
        std::printf("%s, backend %s, m = %d\n\n%-34s %7s %-10s %6s %6s %6s %6s %6s %4s %8s\n", where.c_str(),
                    o.backend.c_str(), pairs, "problem", "n", "method", "median", "least", "most", "total", "appl.",
                    "ref.", "s");
        csv.write("problem,n,method,backend,starts,evaluations,fewest,most,total,applications,refusals,machine\n");
        for (const int side : o.sides) {
            Multigrid multigrid(side);
            for (const FieldKind kind :
                 {FieldKind::minimal_surface, FieldKind::p_laplacian, FieldKind::torsion, FieldKind::obstacle}) {
                Field field(kind, side);
                const std::string name = field.name();
                if (!o.problems.empty() && std::find(o.problems.begin(), o.problems.end(), name) == o.problems.end())
                    continue;
                for (const std::string &method : o.methods) measure(method, field, multigrid, o, side, csv, where);
            }
        }
    });
}
