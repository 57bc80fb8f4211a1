// Measures what a lower history precision (CUDA_OPT_HISTORY_BITS) costs in evaluations: all test problems, with their
// own bounds, to ||Pg||_inf <= pgtol with 64 bits and with fewer.
//
//     bench_memory_bits [--sizes 1e4,4e4] [--m 5,10,20] [--pgtol 1e-8] [--csv FILE]
#include <map>

#include "bench/common/command_line.hpp"
#include "bench/common/machine.hpp"
#include "testfuncs/problem.hpp"
#include "whole_run.hpp"

using namespace cudaopt::bench;

namespace {

constexpr int fewer[] = {32, 16}; // bits of an element of the history, compared with 64

struct Case {
    std::string problem;
    int64_t n;
    int m;
    std::string name() const { return problem + ", n = " + std::to_string(n) + ", m = " + std::to_string(m); }
};

// Problems that do not reach small slopes at the sizes of a grid have their own: the energy of the superconductor is
// large beside its gradient, and a large cluster ends in another minimum after every change in rounding.
const std::map<std::string, std::vector<double>> small_sizes = {
    {"ginzburg-landau-1d", {100, 200}}, {"lennard-jones-2d", {18, 54}}, {"lennard-jones-3d", {54, 81}}};

std::vector<Case> cases(const std::vector<double> &sizes, const std::vector<int> &pairs) {
    std::vector<Case> all;
    for (const auto &facts : cudaopt::testfuncs::list_problems()) {
        const auto small = small_sizes.find(facts.name);
        for (const int64_t n : whole(small == small_sizes.end() ? sizes : small->second))
            for (const int m : pairs)
                all.push_back({facts.name, cudaopt::testfuncs::make_problem(facts.name, n)->n(), m});
    }
    return all;
}

// Relative where f is not small; minima of 0 are compared as they are.
double difference(double f, double with_64) {
    const double size = std::fmax(std::fabs(f), std::fabs(with_64));
    return std::fabs(f - with_64) / (size < 1e-3 ? 1 : size);
}

// The cases that ended with fewer bits as well as with 64.
class Summary {
  public:
    void add(const Case &what, double ratio, double apart) {
        logarithms_[what.m].push_back(std::log(ratio));
        if (ratio > worst_ratio_) worst_ratio_ = ratio, worst_ = what.name();
        if (apart > 1e-9) far_apart_ += "; " + what.name() + ": " + cell("%.1e", 0, apart);
    }
    void add_failure(const Case &what, const std::string &end) { failures_ += "; " + what.name() + ": " + end; }

    void print(int bits) const {
        std::vector<double> all;
        std::string per_m;
        for (const auto &[m, some] : logarithms_) {
            all.insert(all.end(), some.begin(), some.end());
            per_m += ", m = " + std::to_string(m) + ": " + cell("%.3f", 0, geometric_mean(some));
        }
        std::printf("%d bits: %zu cases, geometric mean %s%s\n", bits, all.size(),
                    cell("%.3f", 0, geometric_mean(all)).c_str(), per_m.c_str());
        if (all.empty()) return;
        std::printf("    most evaluations: %.3f times those of 64 bits (%s)\n", worst_ratio_, worst_.c_str());
        std::printf("    energies more than 1e-9 apart%s\n", far_apart_.empty() ? ": none" : far_apart_.c_str());
        if (!failures_.empty()) std::printf("    not converged%s\n", failures_.c_str());
    }

  private:
    static double geometric_mean(const std::vector<double> &logarithms) {
        double sum = 0;
        for (const double l : logarithms) sum += l;
        return std::exp(sum / static_cast<double>(logarithms.size()));
    }
    std::map<int, std::vector<double>> logarithms_;
    double worst_ratio_ = 0;
    std::string worst_, far_apart_, failures_;
};

} // namespace

int main(int argc, char **argv) {
    RunOptions o;
    o.own_bounds = true;
    Stop stop;
    stop.pgtol = 1e-8;
    stop.max_evaluations = 20000;
    std::vector<double> sizes = {1e4, 4e4};
    std::vector<int> pairs = {5, 10, 20};
    std::string csv_file;
    CLI::App app("Evaluations with fewer bits in the memory, against 64");
    app.add_option("--sizes", sizes, "numbers of variables, rounded to the grids")->delimiter(',')->check(is_size);
    app.add_option("--m", pairs, "numbers of correction pairs")->delimiter(',')->check(CLI::Range(1, 1000));
    app.add_option("--pgtol", stop.pgtol, "largest component of the projected gradient at the end")->check(is_positive);
    app.add_option("--threads", o.threads, "threads of the host backend; 0: all")->check(CLI::Range(0, 4096));
    app.add_option("--product-bits", o.product_bits, "precision of the inner products")->check(CLI::IsMember({32, 64}));
    app.add_option("--backend", o.backend, "where")->check(CLI::IsMember({"auto", "cuda", "host"}));
    app.add_option("--csv", csv_file, "file for the table as comma separated values");
    return run_program(app, "bench_memory_bits", argc, argv, [&] {
        const std::vector<Case> all = cases(sizes, pairs);
        const bool cuda = o.backend != "host" && have_cuda();
        if (o.backend == "cuda" && !cuda) throw std::runtime_error("there is no CUDA backend or no device here");
        o.backend = cuda ? "cuda" : "host";
        Output csv(csv_file);
        const std::string where = machine(), on = cuda ? "CUDA" : "host";
        std::printf(
            "Evaluations to ||Pg||_inf <= %g by the bits of the memory's columns, own bounds, double precision, "
            "%s backend\n%s\n\n",
            stop.pgtol, on.c_str(), where.c_str());
        std::printf("%-18s %6s %3s  %6s %6s %22s", "problem", "n", "m", "iter", "evals", "energy");
        for (const int bits : fewer) std::printf("  %3d: iter  evals  ratio    apart", bits);
        std::printf("\n");
        csv.write("problem,n,m,bits,backend,iterations,evaluations,ratio,f,difference,end,machine\n");
        std::map<int, Summary> summaries;
        std::string left_out;
        for (const Case &one : all) {
            o.problem = one.problem;
            o.n = one.n;
            o.m = one.m;
            const auto run = [&](int bits) {
                o.history_bits = bits;
                return run_whole(o, stop);
            };
            const auto write = [&](const WholeRun &r, int bits, double ratio, double apart) {
                csv.write(csv_row(one.problem, r.n, static_cast<int64_t>(one.m), static_cast<int64_t>(bits), on,
                                  r.iterations, r.evaluations, ratio, r.f, apart, r.end, where));
            };
            const WholeRun with_64 = run(64);
            std::printf("%-18s %6lld %3d  %6lld %6lld %22.15e", one.problem.c_str(), static_cast<long long>(one.n),
                        one.m, static_cast<long long>(with_64.iterations), static_cast<long long>(with_64.evaluations),
                        with_64.f);
            write(with_64, 64, 1, 0);
            const bool counts = with_64.end == "converged";
            if (!counts) left_out += "; " + one.name() + ": " + with_64.end;
            for (const int bits : fewer) {
                const WholeRun r = run(bits);
                const double ratio = static_cast<double>(r.evaluations) / static_cast<double>(with_64.evaluations);
                const double apart = difference(r.f, with_64.f);
                const bool ended = r.end == "converged";
                std::printf("  %9lld %6lld %s %8.1e", static_cast<long long>(r.iterations),
                            static_cast<long long>(r.evaluations),
                            cell("%.3f", 6, counts && ended ? ratio : absent).c_str(), apart);
                write(r, bits, ratio, apart);
                if (counts) ended ? summaries[bits].add(one, ratio, apart) : summaries[bits].add_failure(one, r.end);
            }
            std::printf("\n");
            std::fflush(stdout);
        }
        std::printf("\nratio: of the evaluations, over those with 64 bits. apart: difference of the energies over the "
                    "larger, or as it is where both\nare below 1e-3. A dash: one of the two did not converge.\n\n");
        for (const int bits : fewer) summaries[bits].print(bits);
        if (!left_out.empty()) std::printf("Left out of the means, not converged with 64 bits%s\n", left_out.c_str());
    });
}
