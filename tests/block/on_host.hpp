// Solves whose data are prepared in one block of memory.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "../support/stopping.hpp"
#include "solve.hpp"

namespace block_test {

using Set = std::function<void(cudaopt::Settings &)>;

struct Prepared {
    std::string name;
    Job job;
    std::vector<double> block;

    StateMachine &state() { return *job.state_in(block.data()); }
    void run() { job.run(block.data()); }
    // Copies of the caller's arrays at this moment.
    std::vector<double> x() { return copied(sweeps().x); }
    std::vector<double> g() { return copied(sweeps().g); }
    double f() { return *sweeps().f; }
    // The data of all iterates, in order.
    std::vector<double> trail() const {
        const int64_t size = job.iterates * Trail::doubles_of(job.problem.n);
        return {block.begin() + job.trail, block.begin() + job.trail + size};
    }

  private:
    struct Arrays {
        double *x, *g, *f;
    };
    Arrays sweeps() {
        const PlainSweeps plain(job.machine, block.data() + job.sweeps);
        return {plain.x, plain.g, plain.f};
    }
    std::vector<double> copied(const double *from) const { return {from, from + job.problem.n}; }
};

// capacity: the number of variables that can be fetched at once; 0 means all of them.
inline Prepared prepare(const std::string &name, const Problem &problem, int m, const Set &set = {}, int capacity = 0) {
    constexpr int64_t most_iterates = 400;
    const int64_t state_doubles = cudaopt::state_bytes(m) / static_cast<int64_t>(sizeof(double));
    cudaopt::Settings settings;
    settings.report_iterates = true;
    cudaopt_test::set_eps_alone(settings);
    if (set) set(settings);
    const Machine machine{
        problem.n, m, problem.bounded, settings.metric != cudaopt::Metric::one_number, capacity ? capacity : problem.n,
        false};
    Prepared made{name + ", m = " + std::to_string(m), {problem, machine, 0, 0, 0, most_iterates}, {}};
    Job &job = made.job;
    job.sweeps = state_doubles;
    job.trail = job.sweeps + PlainSweeps::doubles(machine);
    made.block.resize(static_cast<std::size_t>(job.trail + most_iterates * Trail::doubles_of(problem.n)));
    cudaopt::make_state(made.block.data(), problem.n, m)->settings = settings;
    const PlainSweeps plain(machine, made.block.data() + job.sweeps);
    for (int i = 0; i < problem.n; i++) {
        plain.x[i] = problem.start(i);
        if (problem.bounded) plain.l[i] = problem.lower(i), plain.u[i] = problem.upper(i);
    }
    return made;
}

inline bool same_bits(const std::vector<double> &a, const std::vector<double> &b) {
    return a.size() == b.size() && (a.empty() || memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

} // namespace block_test
