// What is done to each problem of a batch, by a team, for host and device: the k-th of those that a pass is over.
#pragma once

#include <cstring>

#include "batch/machine.hpp"

namespace cudaopt::batch {

// All problems, and which of them a pass is over: those of a list, or all.
template <class Real, class ShapeOf = Shape> struct Problems {
    ShapeOf shape{};
    unsigned char *blocks = nullptr;
    Real *x = nullptr, *g = nullptr;
    double *f = nullptr;
    const Real *lower = nullptr, *upper = nullptr;
    bool bounds_for_each = false, packed = false;
    double lower_all = -infinity, upper_all = infinity;
    int32_t *codes = nullptr;
    unsigned char *marks = nullptr; // of those that wait for an evaluation
    const int64_t *list = nullptr;

    template <class Team> using One = SmallProblem<Real, Team, ShapeOf>;

    CUDA_OPT_HD int64_t problem(int64_t k) const { return list ? list[k] : k; }
    CUDA_OPT_HD int64_t row(int64_t k) const { return packed ? k : problem(k); }
    // What stands `offset` bytes after the beginning of problem p's block, up to the end of its piece.
    CUDA_OPT_HD unsigned char *at(int64_t p, int64_t offset) const {
        if constexpr (of_threads<ShapeOf>) return blocks + place_in_pieces(p, block_bytes<Real>(shape), offset);
        else return blocks + p * block_bytes<Real>(shape) + offset;
    }
    // Its vectors, x first.
    CUDA_OPT_HD Numbers<Real, ShapeOf> vectors(int64_t p) const {
        unsigned char *const first = at(p, vectors_offset(shape));
        if constexpr (of_threads<ShapeOf>) return {first, 0};
        else return reinterpret_cast<Real *>(first);
    }
    CUDA_OPT_HD BoxArrays<Real> box(int64_t p) const {
        const int64_t first = bounds_for_each ? p * shape.n : 0;
        return {lower ? lower + first : nullptr, upper ? upper + first : nullptr, lower_all, upper_all};
    }
    template <class Team, class From, class To>
    CUDA_OPT_HD void copy(const Team &team, const From &from, const To &to) const {
        for (int i = team.lane(); i < shape.n; i += Team::width) to[i] = from[i];
    }

    // Problem p to be worked on, where it stands; but a thread works on a copy of the state in its own memory, at the
    // beginning of the scratch; `as_it_is`: of what it holds. Then what is to stay is put away.
    template <class Team>
    CUDA_OPT_HD One<Team> take(const Team &team, int64_t p, unsigned char *scratch, bool as_it_is = true) const {
        if constexpr (of_threads<ShapeOf>) {
            if (as_it_is) move<1, side_by_side>(scratch, at(p, 0));
            return {team, shape, scratch, scratch + vectors_offset(shape), vectors(p), box(p)};
        } else {
            return {team, shape, at(p, 0), scratch, box(p)};
        }
    }
    CUDA_OPT_HD void put_away(int64_t p, const unsigned char *scratch) const {
        if constexpr (of_threads<ShapeOf>) move<side_by_side, 1>(at(p, 0), scratch);
    }

    // x, f and g of a problem to a row of the caller's.
    template <class Team> CUDA_OPT_HD void write(const Team &team, const One<Team> &one, int64_t to) const {
        copy(team, one.x(), x + to * shape.n);
        if (one.state().results.evaluations == 0) return; // x is all there is
        copy(team, one.g(), g + to * shape.n);
        if (team.lane() == 0) f[to] = *one.f();
    }
    // What has become of the k-th.
    template <class Team> CUDA_OPT_HD void tell(const Team &team, const One<Team> &one, int64_t k, int task) const {
        const int64_t p = problem(k);
        if (team.lane() == 0) {
            codes[p] = task;
            marks[p] = task > 0;
        }
        if (packed) return; // the rows are known when all tasks are
        if (task > 0) copy(team, one.x(), x + p * shape.n);
        else write(team, one, p);
    }

  private:
    // What lasts of a block but the vectors, one piece after the other, at distances of so many.
    template <int to_stride, int from_stride>
    CUDA_OPT_HD void move(unsigned char *to, const unsigned char *from) const {
        const Piece *const source = reinterpret_cast<const Piece *>(from);
        Piece *const target = reinterpret_cast<Piece *>(to);
        constexpr auto passing = static_cast<int>(pieces(StateOf<ShapeOf::fixed_m>::lasting_bytes())),
                       state_end = static_cast<int>(state_bytes<ShapeOf::fixed_m>(ShapeOf::m) / piece_bytes);
        const auto all = static_cast<int>(pieces(vectors_offset(shape)));
        CUDA_OPT_UNROLLED(8)
        for (int i = 0; i < passing; i++) target[i * to_stride] = source[i * from_stride];
        CUDA_OPT_UNROLLED(8)
        for (int i = state_end; i < all; i++) target[i * to_stride] = source[i * from_stride];
    }
};

// What a pass is for: all problems to their first evaluation, or the active ones to their next, where `stop` ends them;
// or to their ends without a wait, since the caller wants no more, or what was waited for took too long.
enum class Pass { begin, go_on, stop_waiting, end_of_time };

// One rule for all of them: it holds the whole algorithm, which takes long to compile.
template <class Real, class ShapeOf = Shape> struct Advance {
    Problems<Real, ShapeOf> all;
    Settings settings;
    Pass pass;
    bool stop;
    double seconds;
    template <class Team> CUDA_OPT_HD void operator()(const Team &team, int64_t k, unsigned char *scratch) const {
        const int64_t p = all.problem(k), row = all.row(k);
        const bool waits = pass == Pass::stop_waiting || pass == Pass::end_of_time;
        if (waits && all.codes[p] <= 0) return;
        auto one = all.take(team, p, scratch, pass != Pass::begin);
        if (pass == Pass::begin) {
            one.begin(settings);
            all.copy(team, all.x + p * all.shape.n, one.x());
        } else if (!waits) {
            all.copy(team, all.g + row * all.shape.n, one.g());
            if (team.lane() == 0) {
                *one.f() = all.f[row];
                one.state().settings = settings;
            }
        }
        team.sync();
        Order order = pass == Pass::stop_waiting  ? Order::stop_waiting
                      : pass == Pass::end_of_time ? Order::end_of_time
                                                  : Order::go_on;
        int task;
        for (;; order = Order::stop) {
            task = one.run(order, seconds);
            if (!stop || task <= 0 || order == Order::stop) break;
        }
        all.tell(team, one, k, task);
        all.put_away(p, scratch);
    }
};

// Packed: x of the active ones to the front; at the end all rows to their places.
template <class Real, class ShapeOf = Shape> struct PackActive {
    Problems<Real, ShapeOf> all;
    template <class Team> CUDA_OPT_HD void operator()(const Team &team, int64_t k, unsigned char *) const {
        all.copy(team, all.vectors(all.problem(k)), all.x + k * all.shape.n);
    }
};
template <class Real, class ShapeOf = Shape> struct WriteEnded {
    Problems<Real, ShapeOf> all;
    template <class Team> CUDA_OPT_HD void operator()(const Team &team, int64_t k, unsigned char *scratch) const {
        all.write(team, all.take(team, k, scratch), k);
    }
};

// Eight bytes of each block.
template <class Real, class ShapeOf = Shape> struct Gather {
    Problems<Real, ShapeOf> all;
    int64_t offset;
    int64_t *to;
    template <class Team> CUDA_OPT_HD void operator()(const Team &team, int64_t k, unsigned char *) const {
        if (team.lane() == 0) memcpy(to + k, all.at(k, offset), sizeof *to);
    }
};

} // namespace cudaopt::batch
