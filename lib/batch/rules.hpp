// What is done to each problem of a batch, by a team, for host and device: the k-th of those that a pass is over.
#pragma once

#include <cstring>

#include "batch/machine.hpp"

namespace cudaopt::batch {

// All problems, and which of them a pass is over: those of a list, or all.
template <class Real> struct Problems {
    Shape shape{};
    unsigned char *blocks = nullptr;
    Real *x = nullptr, *g = nullptr;
    double *f = nullptr;
    const Real *lower = nullptr, *upper = nullptr;
    bool bounds_for_each = false, packed = false;
    double lower_all = -infinity, upper_all = infinity;
    int32_t *codes = nullptr;
    unsigned char *marks = nullptr; // of those that wait for an evaluation
    const int64_t *list = nullptr;

    CUDA_OPT_HD int64_t problem(int64_t k) const { return list ? list[k] : k; }
    CUDA_OPT_HD int64_t row(int64_t k) const { return packed ? k : problem(k); }
    CUDA_OPT_HD unsigned char *block(int64_t p) const { return blocks + p * block_bytes<Real>(shape); }
    CUDA_OPT_HD const State &state(int64_t p) const { return *reinterpret_cast<const State *>(block(p)); }
    CUDA_OPT_HD BoxArrays<Real> box(int64_t p) const {
        const int64_t first = bounds_for_each ? p * shape.n : 0;
        return {lower ? lower + first : nullptr, upper ? upper + first : nullptr, lower_all, upper_all};
    }
    template <class Team> CUDA_OPT_HD void copy(const Team &team, const Real *from, Real *to) const {
        for (int i = team.lane(); i < shape.n; i += Team::width) to[i] = from[i];
    }
    // x, f and g of a problem to a row of the caller's.
    template <class Team> CUDA_OPT_HD void write(const Team &team, int64_t p, int64_t to) const {
        const SmallProblem<Real, Team> one(team, shape, block(p), nullptr, box(p));
        copy(team, one.x(), x + to * shape.n);
        if (one.state().results.evaluations == 0) return; // x is all there is
        copy(team, one.g(), g + to * shape.n);
        if (team.lane() == 0) f[to] = *one.f();
    }
    // What has become of the k-th.
    template <class Team>
    CUDA_OPT_HD void tell(const Team &team, const SmallProblem<Real, Team> &one, int64_t k, int task) const {
        const int64_t p = problem(k);
        if (team.lane() == 0) {
            codes[p] = task;
            marks[p] = task > 0;
        }
        if (packed) return; // the rows are known when all tasks are
        if (task > 0) copy(team, one.x(), x + p * shape.n);
        else write(team, p, p);
    }
};

template <class Real> struct Begin {
    Problems<Real> all;
    Settings settings;
    template <class Team> CUDA_OPT_HD void operator()(const Team &team, int64_t k, unsigned char *scratch) const {
        SmallProblem<Real, Team> one(team, all.shape, all.block(k), scratch, all.box(k));
        one.begin(settings);
        all.copy(team, all.x + k * all.shape.n, one.x());
        team.sync();
        all.tell(team, one, k, one.run(Order::go_on, 0));
    }
};

template <class Real> struct GoOn {
    Problems<Real> all;
    Settings settings;
    bool stop;
    double seconds;
    template <class Team> CUDA_OPT_HD void operator()(const Team &team, int64_t k, unsigned char *scratch) const {
        const int64_t p = all.problem(k), row = all.row(k);
        SmallProblem<Real, Team> one(team, all.shape, all.block(p), scratch, all.box(p));
        all.copy(team, all.g + row * all.shape.n, one.g());
        if (team.lane() == 0) {
            *one.f() = all.f[row];
            one.state().settings = settings;
        }
        team.sync();
        int task = one.run(Order::go_on, seconds);
        if (stop && task > 0) task = one.run(Order::stop, seconds);
        all.tell(team, one, k, task);
    }
};

template <class Real> struct GiveUp {
    Problems<Real> all;
    bool stop_requested;
    double seconds;
    template <class Team> CUDA_OPT_HD void operator()(const Team &team, int64_t k, unsigned char *scratch) const {
        if (all.codes[k] <= 0) return;
        SmallProblem<Real, Team> one(team, all.shape, all.block(k), scratch, all.box(k));
        all.tell(team, one, k, one.run(stop_requested ? Order::stop_waiting : Order::end_of_time, seconds));
    }
};

// Packed: x of the active ones to the front; at the end all rows to their places.
template <class Real> struct PackActive {
    Problems<Real> all;
    template <class Team> CUDA_OPT_HD void operator()(const Team &team, int64_t k, unsigned char *) const {
        const int64_t p = all.problem(k);
        const SmallProblem<Real, Team> one(team, all.shape, all.block(p), nullptr, all.box(p));
        all.copy(team, one.x(), all.x + k * all.shape.n);
    }
};
template <class Real> struct WriteEnded {
    Problems<Real> all;
    template <class Team> CUDA_OPT_HD void operator()(const Team &team, int64_t k, unsigned char *) const {
        all.write(team, k, k);
    }
};

// Eight bytes of each.
template <class Real> struct Gather {
    Problems<Real> all;
    BatchResult which;
    int64_t *to;
    template <class Team> CUDA_OPT_HD void operator()(const Team &team, int64_t k, unsigned char *) const {
        if (team.lane() != 0) return;
        const auto *const results = reinterpret_cast<const char *>(&all.state(k).results);
        memcpy(to + k, results + which.offset, sizeof *to);
    }
};

} // namespace cudaopt::batch
