// The rules of a batch by reverse communication, on host and device. A rule is a functor that says what a team (one
// thread or one warp) does to one problem in each launch. It is applied to k = 0, 1, ..., and index k stands for the
// k-th problem in the list of active problems, or for problem k if there is no list.
#pragma once

#include <cstring>

#include "batch/machine.hpp"

namespace cudaopt::batch {

// The data of all problems, and the list of those to which a rule is applied, or NULL for all.
template <class Real, class ShapeOf = Shape> struct Problems {
    ShapeOf shape{};
    unsigned char *blocks = nullptr;
    BatchArrays arrays;
    bool packed = false;
    int32_t *codes = nullptr;
    unsigned char *marks = nullptr; // one mark per problem: 1 if it waits for an evaluation
    const int64_t *list = nullptr;

    template <class Team> using Problem = SmallProblem<Real, Team, ShapeOf>;

    CUDA_OPT_HD Real *x() const { return static_cast<Real *>(arrays.x); }
    CUDA_OPT_HD Real *g() const { return static_cast<Real *>(arrays.g); }
    CUDA_OPT_HD const Real *diagonal() const { return static_cast<const Real *>(arrays.diagonal); }
    CUDA_OPT_HD int64_t problem(int64_t k) const { return list ? list[k] : k; }
    CUDA_OPT_HD int64_t row(int64_t k) const { return packed ? k : problem(k); }
    // Returns the address of the byte `offset` of problem p's memory block. Only the rest of its unit of 8 bytes
    // follows contiguously, because the blocks of several problems are interleaved.
    CUDA_OPT_HD unsigned char *at(int64_t p, int64_t offset) const {
        if constexpr (ShapeOf::of_threads) return blocks + interleaved_offset(p, block_bytes<Real>(shape), offset);
        else return blocks + p * block_bytes<Real>(shape) + offset;
    }
    // Returns the vectors of problem p, beginning with x.
    CUDA_OPT_HD Numbers<Real, ShapeOf> vectors(int64_t p) const {
        unsigned char *const first = at(p, persistent_bytes(shape));
        if constexpr (ShapeOf::of_threads) return {first, 0};
        else return reinterpret_cast<Real *>(first);
    }
    CUDA_OPT_HD BoxArrays<Real> box(int64_t p) const {
        const auto *const lower = static_cast<const Real *>(arrays.lower);
        const auto *const upper = static_cast<const Real *>(arrays.upper);
        const int64_t first = arrays.bounds_for_each ? p * shape.n : 0;
        return {lower ? lower + first : nullptr, upper ? upper + first : nullptr, arrays.lower_all, arrays.upper_all};
    }
    template <class Team, class From, class To>
    CUDA_OPT_HD void copy(const Team &team, const From &from, const To &to) const {
        rows_together<8>(
            team, shape.n, [&](int i) { return from[i]; },
            [&](int i, Real value) {
                if (i < shape.n) to[i] = value;
            });
    }

    // Returns problem p, with its vectors in its memory block and its persistent data where load() has copied it.
    template <class Team>
    CUDA_OPT_HD Problem<Team> problem_of(const Team &team, int64_t p, const Settings &settings,
                                         unsigned char *workspace) const {
        return {team, shape, settings, in_one_piece(shape, workspace), vectors(p), box(p)};
    }
    template <class Team> CUDA_OPT_HD void load(const Team &team, int64_t p, unsigned char *workspace) const {
        move<1, distance>(team, workspace, at(p, 0));
    }
    template <class Team> CUDA_OPT_HD void store(const Team &team, int64_t p, const unsigned char *workspace) const {
        move<distance, 1>(team, at(p, 0), workspace);
    }

    // Copies x, f and g of a problem to row `to` of the caller's arrays.
    template <class Team> CUDA_OPT_HD void write(const Team &team, Problem<Team> &one, int64_t to) const {
        copy(team, one.x(), x() + to * shape.n);
        if (one.results().evaluations == 0) return; // f and g do not exist
        copy(team, one.g(), g() + to * shape.n);
        if (team.lane() == 0) arrays.f[to] = one.f();
    }
    // Reports the task of the k-th problem. It writes x, and also f and g if the problem has ended.
    template <class Team> CUDA_OPT_HD void report(const Team &team, Problem<Team> &one, int64_t k, int task) const {
        const int64_t p = problem(k);
        if (team.lane() == 0) {
            codes[p] = task;
            marks[p] = task > 0;
        }
        if (packed) return; // PackActive and WriteEnded write the rows later
        if (task > 0) copy(team, one.x(), x() + p * shape.n);
        else write(team, one, p);
    }

  private:
    // The distance between consecutive units of 8 bytes in a problem's memory block.
    static constexpr int distance = ShapeOf::of_threads ? side_by_side : 1;
    template <int to_distance, int from_distance, class Team>
    CUDA_OPT_HD void move(const Team &team, unsigned char *to, const unsigned char *from) const {
        const Word *const __restrict__ source = reinterpret_cast<const Word *>(from);
        Word *const __restrict__ target = reinterpret_cast<Word *>(to);
        const auto count = static_cast<int>(words_for(persistent_bytes(shape)));
        team.sync();
        // Kernels without bounds have enough registers for a larger unroll factor.
        CUDA_OPT_UNROLLED(ShapeOf::bounds ? 8 : 32)
        for (int i = team.lane(); i < count; i += Team::width) target[i * to_distance] = source[i * from_distance];
        team.sync();
    }
};

// Advances a problem. It contains the whole algorithm, which takes long to compile. Therefore this one rule serves all
// purposes. stop: whether a problem ends instead of requesting an evaluation.
template <class Real, class ShapeOf = Shape> struct Advance {
    Problems<Real, ShapeOf> all;
    Settings settings; // the result of for_small_problems()
    Purpose purpose;
    bool stop;
    double seconds;
    template <class Team>
    CUDA_OPT_HD_INLINE void operator()(const Team &team, int64_t k, unsigned char *workspace) const {
        const int64_t p = all.problem(k), row = all.row(k);
        const bool gives_up = purpose == Purpose::stop_waiting || purpose == Purpose::end_of_time;
        if (gives_up && all.codes[p] <= 0) return;
        if (purpose != Purpose::begin) all.load(team, p, workspace);
        auto one = all.problem_of(team, p, settings, workspace);
        int task;
        if (purpose == Purpose::begin) {
            one.begin();
            all.copy(team, all.x() + p * all.shape.n, one.x());
            // The gradient is set to 0, in case the solve ends before g is evaluated.
            for (int i = team.lane(); i < all.shape.n; i += Team::width) one.g()[i] = 0;
            team.sync();
            task = one.start();
        } else if (gives_up) {
            task = one.give_up(purpose == Purpose::stop_waiting, seconds);
        } else {
            all.copy(team, all.g() + row * all.shape.n, one.g());
            if (team.lane() == 0) one.f() = all.arrays.f[row];
            team.sync();
            task = one.next_trial(seconds, [&](const auto &h) { // the diagonal was supplied with f and g
                all.copy(team, all.diagonal() + (all.arrays.diagonal_for_each ? row * all.shape.n : 0), h);
                team.sync();
            });
        }
        if (stop && task > 0) task = one.stop();
        all.report(team, one, k, task);
        all.store(team, p, workspace);
    }
};

// Two rules for packed arrays, which contain only the rows of the active problems. PackActive copies x of the active
// problems to the first rows. WriteEnded copies x, f and g of all problems to their own rows when the batch ends.
template <class Real, class ShapeOf = Shape> struct PackActive {
    Problems<Real, ShapeOf> all;
    template <class Team> CUDA_OPT_HD void operator()(const Team &team, int64_t k, unsigned char *) const {
        all.copy(team, all.vectors(all.problem(k)), all.x() + k * all.shape.n);
    }
};
template <class Real, class ShapeOf = Shape> struct WriteEnded {
    Problems<Real, ShapeOf> all;
    template <class Team> CUDA_OPT_HD void operator()(const Team &team, int64_t k, unsigned char *workspace) const {
        const Settings unused;
        all.load(team, all.problem(k), workspace);
        auto one = all.problem_of(team, all.problem(k), unused, workspace);
        all.write(team, one, k);
    }
};

// Copies words of 8 bytes: that at the offset of each problem or, if `of_one` >= 0, contiguous ones of this problem.
template <class Real, class ShapeOf = Shape> struct Gather {
    Problems<Real, ShapeOf> all;
    int64_t of_one, offset;
    int64_t *to;
    template <class Team> CUDA_OPT_HD void operator()(const Team &team, int64_t k, unsigned char *) const {
        constexpr int64_t size = sizeof *to;
        if (team.lane() == 0) memcpy(to + k, of_one < 0 ? all.at(k, offset) : all.at(of_one, offset + k * size), size);
    }
};

} // namespace cudaopt::batch
