// A whole solve in one block of memory, which contains the state, the arrays of the sweeps and the data of the
// iterates.
#pragma once

#include "lbfgsb/state_machine.hpp"
#include "plain_sweeps.hpp"
#include "problems.hpp"

namespace block_test {

using cudaopt::StateMachine;

// The iterates that the solve reports: f, ||P g||, the step, and x.
struct Trail {
    double *to;
    int64_t capacity, count; // iterates
    static int64_t doubles_of(int n) { return n + 3; }
    void add(const cudaopt::Results &results, const double *x, int n) {
        if (count < capacity) {
            double *next = to + count * doubles_of(n);
            *next++ = results.f;
            *next++ = results.pg_norm2;
            *next++ = results.step;
            for (int i = 0; i < n; i++) next[i] = x[i];
        }
        count++;
    }
};

// Runs the solve to its end and returns its code. next() passes the reply to the state and returns the next request.
template <class Next> int solve(const Problem &problem, PlainSweeps &sweeps, Trail &trail, Next &next) {
    Reply reply;
    for (;;) {
        const Request request = next(reply);
        sweeps.perform(*next.state, request, reply);
        if (request.verb != Verb::task) continue;
        switch (request.task) {
        case CUDA_OPT_EVALUATE_FG: *sweeps.f = problem.evaluate(sweeps.x, sweeps.g); break;
        case CUDA_OPT_SUPPLY_DIAGONAL:
            for (int i = 0; i < problem.n; i++) sweeps.diagonal[i] = problem.inverse_diagonal(sweeps.x, i);
            break;
        case CUDA_OPT_APPLY_OPERATOR: problem.apply_operator(sweeps.in, sweeps.is_free, sweeps.out); break;
        case CUDA_OPT_NEW_ITERATE: trail.add(next.state->results, sweeps.x, problem.n); break;
        default: return request.task;
        }
    }
}

struct Advance {
    StateMachine *state;
    Request operator()(const Reply &reply) { return state->advance(reply); }
};

// The offsets of the parts of a solve in its block, in doubles, and its result.
struct Job {
    Problem problem;
    Machine machine;
    int64_t state, sweeps, trail, most_iterates;
    int64_t iterates = 0;
    int task = 0;

    StateMachine *state_in(double *block) const { return reinterpret_cast<StateMachine *>(block + state); }
    void run(double *block) {
        PlainSweeps plain(machine, block + sweeps);
        Trail left{block + trail, most_iterates, 0};
        Advance next{state_in(block)};
        task = solve(problem, plain, left, next);
        iterates = left.count;
    }
};

} // namespace block_test
