// One small problem from its start to its end, by a team: the library's one state machine, which lane 0 lets advance,
// and the sweeps, which all lanes perform.
#pragma once

#include <cstring>

#include "batch/small_direction.hpp"
#include "batch/small_inner_products.hpp"
#include "lbfgsb/advance.hpp"

namespace cudaopt::batch {

// To go on with the task done, or not: the caller wants no more, or a wait was too long.
enum class Order { go_on, stop, stop_waiting, end_of_time };

// What small problems do not serve is left out.
inline Settings for_small_problems(Settings settings, int64_t metric) {
    settings.metric = metric;
    settings.report_iterates = false;
    settings.log_frequency = -1;
    return settings;
}

// Where nobody is asked for a diagonal.
struct NoDiagonal {
    template <class Values> CUDA_OPT_HD void operator()(const Values &) const {}
};

template <class Real, class Team, class ShapeOf = Shape> class SmallProblem {
  public:
    using Kind = typename ShapeOf::Kind;
    using State = StateOf<Kind>;
    using Values = Numbers<Real, ShapeOf>;

    CUDA_OPT_HD SmallProblem(Team team, ShapeOf shape, const Working &working, const Values &vectors,
                             const BoxArrays<Real> &box)
        : team_(team), shape_(shape), desk_(working.desk), sweeps_(team, shape, working, vectors, box) {}

    CUDA_OPT_HD State &state() const { return *reinterpret_cast<State *>(desk_ + sizeof(Head)); }
    CUDA_OPT_HD Values x() const { return sweeps_.x(); }
    CUDA_OPT_HD Values g() const { return sweeps_.g(); }
    CUDA_OPT_HD double &f() const { return sweeps_.f(); }

    // A new problem, whose start is still to be put into x. Whatever is written before it is read is left as it was:
    // the threads beside wait for one that begins.
    CUDA_OPT_HD void begin() {
        if (!is_full(shape_) || known_pairs<ShapeOf> == 0) {
            const uint64_t zero = 0;
            const int64_t bytes = desk_bytes(shape_), size = sizeof zero;
            for (int64_t k = team_.lane(); k < bytes / size; k += Team::width)
                memcpy(desk_ + k * size, &zero, sizeof zero);
            const Values vectors = x(); // the first of them
            const auto count = static_cast<int>(vectors_bytes<Real>(shape_) / static_cast<int64_t>(sizeof(Real)));
            for (int k = team_.lane(); k < count; k += Team::width) vectors[k] = 0;
            team_.sync();
        }
        if (team_.lane() != 0) return;
        *reinterpret_cast<Head *>(desk_) = {0, 0};
        make_state<Kind>(&state(), shape_.n, shape_.m, is_full(shape_));
    }
    // Those of all problems, for_small_problems(): to be told after begin(), and whenever it is taken up again. They
    // stay where they are. By lane 0.
    CUDA_OPT_HD void set(const Settings &settings) const { state().set(settings); }

    // Of a new problem, with its x: straight to its first evaluation. False: its arrays are such that run() is to tell.
    CUDA_OPT_HD bool start() {
        const StartReport report = sweeps_.check_start();
        const bool usable = report.usable(shape_.n);
        if (usable && team_.lane() == 0) state().begin(report);
        return usable; // all lanes have the report
    }
    // To the next task: CUDA_OPT_EVALUATE_FG, or a code. Each lane gets it. supply(h): the caller's diagonal at x, by
    // all lanes.
    template <class Supply = NoDiagonal>
    CUDA_OPT_HD_INLINE int run(Order order, double seconds, const Supply &supply = {}) {
        Answer answer;
        answer.seconds = seconds;
        sweeps_.begin(answer);
        for (bool first = true;; first = false) {
            if (team_.lane() == 0) next(first ? order : Order::go_on, answer);
            team_.sync();
            const Request &request = state().request();
            if (request.verb == Verb::task) {
                const int task = request.task;
                team_.sync(); // before the next one is written
                if (!serves_metrics<ShapeOf> || task != CUDA_OPT_SUPPLY_DIAGONAL) return task;
                supply(sweeps_.h()); // read by the others when the state has advanced
                continue;
            }
            sweeps_.perform(state(), answer);
        }
    }

  private:
    CUDA_OPT_HD void next(Order order, const Answer &answer) const {
        switch (order) {
        case Order::stop: state().stop(); break;
        case Order::stop_waiting: state().give_up(true, answer.seconds); break;
        case Order::end_of_time: state().give_up(false, answer.seconds); break;
        case Order::go_on: state().advance(answer, sweeps_); break;
        }
    }

    Team team_;
    ShapeOf shape_;
    unsigned char *desk_;
    SmallSweeps<Real, Team, ShapeOf> sweeps_;
};

} // namespace cudaopt::batch
