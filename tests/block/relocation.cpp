// The state contains no pointer: if it is moved between any two calls, the solve continues with bitwise identical
// results.
#include <catch2/catch.hpp>
#include <set>
#include <tuple>

#include "rare.hpp"

using namespace block_test;
using State = cudaopt::State;

namespace {

// A point between two calls: the state that waits for a reply, and its request.
using Point = std::pair<State, Verb>;
using Points = std::set<Point>;

// Moves the state before a call to addresses with all allowed alignments, and overwrites its previous memory.
class Places {
  public:
    explicit Places(int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {
        for (std::vector<double> &place : places_) place.resize(bytes_ / sizeof(double) + most_offset + 1);
    }
    StateMachine *move(StateMachine *state) {
        moves_++;
        double *const to = places_[moves_ % 2].data() + moves_ / 2 % (most_offset + 1);
        memcpy(static_cast<void *>(to), static_cast<const void *>(state), bytes_);
        memset(static_cast<void *>(state), 0xA5, bytes_);
        return reinterpret_cast<StateMachine *>(to);
    }

  private:
    static constexpr int most_offset = 3;
    std::size_t bytes_;
    int moves_ = 0;
    std::vector<double> places_[2];
};

// All observable data of a solve, call by call.
struct Seen {
    std::vector<double> numbers;
    std::vector<Point> points;
    int task = 0, pointers = 0;
    cudaopt::Results results;
    std::vector<double> trail, x, g, f;
};

struct Caller {
    StateMachine *state;
    PlainSweeps &sweeps;
    Places &places;
    const Rare &one;
    const std::function<bool(int call)> moves;
    const std::vector<double> &block;
    Seen seen{};
    Verb requested = Verb::task;
    int call = 0;
    bool done = false;
    std::set<cudaopt::Preparation> prepared{};

    // A new start is the caller's action, and the only change that the table does not contain.
    void check_transition(State before) const {
        INFO(name_of(before) << " -> " << name_of(state->state()));
        if (state->state() != State::start_checked) CHECK(may_follow(before, state->state()));
    }

    Request operator()(const Reply &reply) {
        seen.points.emplace_back(state->state(), requested);
        look_for_pointers(state, cudaopt::state_bytes(one.m), reply);
        if (moves(call)) state = places.move(state);
        call++;
        const State before = state->state();
        const Request request = ask(reply);
        check_transition(before);
        prepared.insert(request.preparation);
        requested = request.verb;
        note(request);
        return request;
    }

  private:
    bool due(Action action, bool possible) {
        return one.action == action && !done && call > one.at_call && (done = possible);
    }

    Request ask(const Reply &reply) {
        const bool at_task = requested == Verb::task && call > 1;
        if (due(Action::stop, at_task)) return state->stop();
        if (due(Action::give_up, requested == Verb::inner_products)) return state->give_up(false, 7);
        if (due(Action::load, at_task)) {
            if (state->awaits_direction_sums()) state->set_direction_sums(sweeps.direction_sums());
            state->forget_products();
            sweeps.forget_sums();
        }
        if (due(Action::warm_start, at_task) || due(Action::plain_start, at_task)) {
            Request finish;
            finish.verb = Verb::finish_pair;
            finish.slot = state->finish_pair();
            Reply none;
            if (finish.slot >= 0) sweeps.perform(*state, finish, none);
            begin_anew(true);
            if (one.action == Action::plain_start) state->settings.metric = cudaopt::Metric::one_number;
        }
        if (due(Action::restart, at_task)) begin_anew(false);
        if (due(Action::no_descent, requested == Verb::operator_direction && reply.direction)) {
            const cudaopt::DirectionSums ascends{0, reply.direction->d_squared, 0};
            Reply changed = reply;
            changed.direction = &ascends;
            return state->advance(changed);
        }
        return state->advance(reply);
    }

    void begin_anew(bool keep_pairs) {
        state->begin_anew(keep_pairs);
        for (int i = 0; i < one.problem.n; i++) sweeps.x[i] = one.problem.start(i);
    }

    void note(const Request &request) {
        const auto add = [&](auto... values) { (seen.numbers.push_back(static_cast<double>(values)), ...); };
        const auto add_panel = [&](const PanelRequest &p) {
            add(p.pairs, p.newest_slot, p.fresh, p.threshold, p.free_gram, p.weighted, p.watches, p.older_steps);
        };
        const auto add_update = [&](const cudaopt::DiagonalUpdate &update) {
            add(update.anew, update.count);
            for (int k = 0; k < update.count; k++) {
                const cudaopt::LearnedPair &pair = update.pairs[k];
                add(pair.slot, pair.of_d, pair.of_y, pair.kappa);
            }
        };
        add(static_cast<int>(request.verb), request.task, request.slot, request.number, request.index, request.lo,
            request.hi, static_cast<int>(request.preparation), static_cast<int>(request.norm.kind), request.norm.number,
            request.norm.slot, request.norm.fresh);
        if (request.verb == Verb::inner_products || request.verb == Verb::crossed) add_panel(state->panel_requested());
        if (request.verb == Verb::inner_products) add_update(state->products_requested().update);
        if (request.verb == Verb::direction || request.verb == Verb::truncation) {
            const DirectionRequest d = state->direction_requested();
            add_panel(d.panel);
            add(d.gradient_coefficient, d.step, d.spare_slot, d.truncate, d.cauchy_t, d.alpha);
            for (int age = 0; age < d.panel.pairs; age++)
                add(d.coefficients[panel::y_column(age)], d.coefficients[panel::s_column(age)]);
        }
        add(static_cast<int>(state->event));
        for (const double number : state->numbers) add(number);
        const cudaopt::Results &r = state->results;
        add(r.f, r.pg_norm2, r.pg_norm_max, r.x_norm2, r.at_lower, r.at_upper, r.iterations, r.evaluations,
            r.skipped_updates, r.cauchy_segments, r.line_search_info, r.refreshes, r.cuts, r.cauchy_crossings,
            r.breakpoints_crossed, r.stop_test, r.start_projected, r.truncations, r.cauchy_free, r.cauchy_breakpoints,
            r.subspace_projected, r.step, r.theta, r.cauchy_t, r.cauchy_t_first, r.direction_norm2, r.slope_start,
            r.slope);
    }

    // Counts the words that are addresses in the state itself, in the arrays of the backend or on the stack.
    void look_for_pointers(const StateMachine *at, int64_t bytes, const Reply &reply) {
        const auto within = [](uintptr_t word, const void *begin, std::size_t size) {
            return word - reinterpret_cast<uintptr_t>(begin) < size;
        };
        for (int64_t offset = 0; offset < bytes; offset += 8) {
            uintptr_t word;
            memcpy(&word, reinterpret_cast<const char *>(at) + offset, sizeof word);
            seen.pointers += within(word, at, static_cast<std::size_t>(bytes)) ||
                             within(word, block.data(), block.size() * sizeof(double)) ||
                             within(word, &sweeps, sizeof sweeps) || within(word, &reply, sizeof reply);
        }
    }
};

Seen run(const Rare &one, const std::function<bool(int call)> &moves) {
    Prepared made = prepare_rare(one);
    PlainSweeps sweeps(made.job.machine, made.block.data() + made.job.sweeps);
    Places places(cudaopt::state_bytes(one.m));
    Trail trail{made.block.data() + made.job.trail, made.job.most_iterates, 0};
    Caller caller{&made.state(), sweeps, places, one, moves, made.block};
    const int task = solve(one.problem, sweeps, trail, caller);
    made.job.iterates = std::min(trail.count, trail.capacity);
    if (caller.state->has_ended()) CHECK(caller(Reply{}).task == CUDA_OPT_MISUSE);
    Seen seen = std::move(caller.seen);
    seen.task = task;
    seen.results = caller.state->results;
    seen.trail = made.trail();
    seen.x = made.x();
    seen.g = made.g();
    seen.f = {made.f()};
    return seen;
}

void check_same(const Seen &moved, const Seen &undisturbed) {
    CHECK(moved.task == undisturbed.task);
    CHECK(moved.points == undisturbed.points);
    CHECK(moved.pointers == 0);
    CHECK(same_bits(moved.numbers, undisturbed.numbers));
    CHECK(same_bits(moved.trail, undisturbed.trail));
    CHECK(same_bits(moved.x, undisturbed.x));
    CHECK(same_bits(moved.g, undisturbed.g));
    CHECK(same_bits(moved.f, undisturbed.f));
}

} // namespace

TEST_CASE("Moving the state between any two calls does not change a bit of the results", "[block]") {
    Points met;
    cudaopt::Results sums;
    for (const Rare &one : rare_solves()) {
        INFO(one.what);
        const Seen undisturbed = run(one, [](int) { return false; });
        CHECK(undisturbed.pointers == 0);
        check_same(run(one, [](int) { return true; }), undisturbed);
        Points tried;
        for (std::size_t k = 0; k < undisturbed.points.size(); k++) {
            if (!tried.insert(undisturbed.points[k]).second) continue;
            INFO("moved once, before call " << k);
            check_same(run(one, [k](int call) { return call == static_cast<int>(k); }), undisturbed);
        }
        met.insert(tried.begin(), tried.end());
        const cudaopt::Results &r = undisturbed.results;
        sums.cuts += r.cuts, sums.refreshes += r.refreshes, sums.truncations += r.truncations;
        sums.cauchy_crossings += r.cauchy_crossings;
    }

    // The rare transitions have occurred.
    CHECK(sums.cuts > 0);
    CHECK(sums.refreshes > 0);
    CHECK(sums.truncations > 0);
    CHECK(sums.cauchy_crossings > 0);
    CHECK(met.count({State::cauchy, Verb::inner_products}) == 1);
    std::set<State> states;
    std::set<Verb> verbs;
    for (const auto &[state, verb] : met) states.insert(state), verbs.insert(verb);
    for (int state = 0; state < cudaopt::state_count; state++) {
        INFO("state " << name_of(static_cast<State>(state)));
        CHECK(states.count(static_cast<State>(state)) == 1);
    }
    for (int verb = 0; verb <= static_cast<int>(Verb::task); verb++) {
        INFO("verb " << verb);
        CHECK(verbs.count(static_cast<Verb>(verb)) == 1);
    }
}
