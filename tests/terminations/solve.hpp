// Runs one solve on the host with the default settings of the C interface, and records the evaluations.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "cuda_opt.hpp"

namespace terminations {

using Vector = std::vector<double>;
using Function = std::function<double(const Vector &x, Vector &g)>;
using Settings = std::vector<std::pair<int32_t, double>>; // integer and real settings
struct Box {
    Vector lower, upper; // empty if there are no bounds
};

struct Outcome {
    int task = 0;
    int64_t stop_test = 0, evaluations = 0, repeated = 0, iterations = 0, info = 0, refreshes = 0;
    double f = 0, pg_norm_inf = 0;
    Vector x, g;
    std::string message;
    std::vector<double> values; // f of each evaluation
    std::vector<Vector> gradients;
};

struct Initial { // the kind of the initial Hessian
    static constexpr int scalar = CUDA_OPT_METRIC_ONE_NUMBER, learned = CUDA_OPT_METRIC_LEARNED,
                         identity = CUDA_OPT_INITIAL_HESSIAN_OPERATOR; // the identity, as an operator of the caller
};

inline Outcome solve(const Function &evaluate, const Vector &start, const Box &box = {}, int metric = Initial::scalar,
                     const Settings &settings = {}, int m = 10) {
    cudaopt::Minimiser<double> solver(static_cast<int64_t>(start.size()), m, CUDA_OPT_BACKEND_HOST);
    solver.set_int(CUDA_OPT_THREADS, 1);
    solver.set_int(CUDA_OPT_METRIC, metric);
    for (const auto &[key, value] : settings) {
        if (key >= CUDA_OPT_EPS) solver.set_real(key, value);
        else solver.set_int(key, static_cast<int64_t>(value));
    }
    if (!box.lower.empty() || !box.upper.empty())
        solver.set_bounds(box.lower.empty() ? nullptr : box.lower.data(),
                          box.upper.empty() ? nullptr : box.upper.data());
    Outcome end;
    end.x = start;
    end.g.resize(start.size());
    Vector in(start.size()), out(start.size()), is_free(start.size());
    if (metric == Initial::identity) solver.set_operator(in.data(), out.data(), is_free.data());
    std::set<Vector> seen;
    while ((end.task = solver.solve(end.x.data(), &end.f, end.g.data())) > 0) {
        if (end.task == CUDA_OPT_APPLY_OPERATOR) {
            out = in;
            continue;
        }
        end.f = evaluate(end.x, end.g);
        end.evaluations++;
        end.repeated += !seen.insert(end.x).second;
        end.values.push_back(end.f);
        end.gradients.push_back(end.g);
    }
    end.stop_test = solver.get_int(CUDA_OPT_STOP_TEST);
    end.iterations = solver.get_int(CUDA_OPT_ITERATIONS);
    end.info = solver.get_int(CUDA_OPT_LINE_SEARCH_INFO);
    end.refreshes = solver.get_int(CUDA_OPT_REFRESHES);
    end.pg_norm_inf = solver.get_real(CUDA_OPT_PG_NORM_INF);
    end.message = solver.message();
    return end;
}

} // namespace terminations
