// The rules of the pattern search by reverse communication. A walk is one of many independent searches, and a rule is a
// functor that is applied to each walk of a batch, once per position i in the batch. The other form of the pattern
// search, in which the caller's objective is a functor (cuda_opt/search_poll.cuh), uses the same pattern::Rules and
// pattern::Walk, so that both compute the same iterates.
#pragma once

#include "cuda_opt/search_poll.cuh"
#include "exec/annotations.hpp"

namespace cudaopt {

// The walks to which a rule is applied: either those in the list, or all of them.
struct WalkBatch {
    pattern::Rules rules;
    pattern::Walks walks;
    unsigned char *mark; // one element for each walk
    int64_t size;        // the number of the walks in the batch
    const int64_t *list; // NULL: position i holds walk i
    CUDA_OPT_HD int64_t walk_at(int64_t i) const { return list ? list[i] : i; }
    CUDA_OPT_HD pattern::StridedPoint point_of(int64_t w) const { return {walks.x + w, rules.walks}; }
    CUDA_OPT_HD void end_life(int64_t w) const {
        pattern::Walk &it = walks.walk[w];
        walks.end_life(rules, w, it, point_of(w));
        it.value = HUGE_VAL; // the value of f at the next random point is not known yet
    }
};

struct NotBegun : WalkBatch {
    CUDA_OPT_HD void operator()(int64_t w) const { walks.walk[w] = pattern::not_begun(); }
};

// Draws a random point in the box for each walk.
struct Draw : WalkBatch {
    double *points;
    CUDA_OPT_HD void operator()(int64_t i) const {
        const int64_t w = walk_at(i);
        for (int j = 0; j < rules.n; j++) {
            const double x_j = rules.start(w, walks.walk[w].starts, j);
            walks.x[j * rules.walks + w] = x_j;
            points[int64_t{2} * j * rules.walks + i] = x_j;
        }
    }
};

// Stores the value of f at the random point of each walk.
struct JudgeStart : WalkBatch {
    const double *values;
    CUDA_OPT_HD void operator()(int64_t i) const {
        pattern::Walk &it = walks.walk[walk_at(i)];
        it.value = pattern::ranked(values[i]);
        it.starts++;
    }
};

// Writes the two trial points of each walk along coordinate j to positions i and i + size of the array of points. Other
// coordinates are written only if their values may differ from those that the previous batch has left there.
struct WriteTrials : WalkBatch {
    double *points;
    int j;
    bool all; // whether all coordinates are written; otherwise only j and the coordinate before it are
    CUDA_OPT_HD void operator()(int64_t i) const {
        const int64_t w = walk_at(i);
        const auto write = [&](int row, double above, double below) {
            double *const to = points + int64_t{2} * row * rules.walks + i;
            to[0] = above;
            to[size] = below;
        };
        const int before = (j == 0 ? rules.n : j) - 1;
        const pattern::StridedPoint x = point_of(w);
        for (int row = all ? 0 : before; row < (all ? rules.n : before + 1); row++) write(row, x[row], x[row]);
        const double scale = pattern::scale_of(walks.walk[w].level);
        write(j, rules.above(j, x[j], scale), rules.below(j, x[j], scale));
    }
};

// Compares f at the two trial points along coordinate j with the walk's current value, and moves the walk if a trial is
// better. mark records whether this iteration has improved f.
struct JudgeTrials : WalkBatch {
    const double *values;
    int j;
    CUDA_OPT_HD void operator()(int64_t i) const {
        const int64_t w = walk_at(i);
        pattern::Walk &it = walks.walk[w];
        double &x_j = walks.x[j * rules.walks + w];
        const double scale = pattern::scale_of(it.level);
        const pattern::Trial above{rules.above(j, x_j, scale), pattern::ranked(values[i])};
        const pattern::Trial below{rules.below(j, x_j, scale), pattern::ranked(values[i + size])};
        const pattern::Trial &best = pattern::prefers_below(x_j, above, below) ? below : above;
        if (j == 0) mark[w] = 0;
        if (!pattern::is_taken(x_j, it.value, best)) return;
        if (best.value < it.value) mark[w] = 1;
        it.value = best.value;
        x_j = best.at;
    }
};

// Ends an iteration of each walk. Afterwards mark selects some of the walks: with AtSmallestStep::stop those that
// continue, and with AtSmallestStep::new_point those that start again.
struct EndIteration : WalkBatch {
    CUDA_OPT_HD void operator()(int64_t i) const {
        const int64_t w = walk_at(i);
        pattern::Walk &it = walks.walk[w];
        const bool again = it.after_iteration(rules, mark[w] != 0);
        mark[w] = rules.at_smallest == AtSmallestStep::stop ? it.level != pattern::ended : again;
        if (again) end_life(w);
    }
};

// Begins a new round, in which all walks start again from random points.
struct BeginRound : WalkBatch {
    CUDA_OPT_HD void operator()(int64_t w) const { end_life(w); }
};

struct Summarise : WalkBatch {
    CUDA_OPT_HD void operator()(int64_t w, SearchSummary &sum) const { sum.join(walks.summary(rules, w)); }
};

// Copies the best point of one walk to contiguous memory.
struct CopyBest : WalkBatch {
    int64_t walk;
    double *to;
    CUDA_OPT_HD void operator()(int64_t j) const { to[j] = walks.best_of(walk)[j * rules.walks]; }
};

} // namespace cudaopt
