// Solves in which each request and each state of the state machine occurs.
#pragma once

#include "on_host.hpp"

namespace block_test {

// An action of the caller in addition to the replies. It is performed once, and not before at_call calls. plain_start:
// a warm start with B_0 = theta I. no_descent: the reply says that the operator's direction does not descend, and that
// the projection is not the reason. Rounding errors may cause this.
enum class Action { none, stop, give_up, load, warm_start, plain_start, restart, no_descent };

struct Rare {
    const char *what;
    Problem problem;
    Set set = {};
    Action action = Action::none;
    int at_call = 0;
    int m = 3, capacity = 0;
    bool late_sums = false;
};

inline Prepared prepare_rare(const Rare &one) {
    Prepared made = prepare(one.what, one.problem, one.m, one.set, one.capacity);
    made.job.machine.late_sums = one.late_sums;
    return made;
}

inline std::vector<Rare> rare_solves() {
    using cudaopt::Settings;
    const Problem free{Kind::rosenbrock, 20}, boxed{Kind::rosenbrock, 20, true, -1.5, 1.5};
    const Problem crossing{Kind::breakpoints, 60, true}, wide{Kind::breakpoints, 800, true, -0.1, 0.1};
    const auto diagonal = [](Settings &s) { s.metric = cudaopt::Metric::callers; };
    const auto valid_for_three = [](Settings &s) { s.metric = cudaopt::Metric::callers, s.diagonal_every = 3; };
    const auto learned = [](Settings &s) { s.metric = cudaopt::Metric::learned; };
    const auto with_operator = [](Settings &s) { s.metric = cudaopt::Metric::callers_operator; };
    const auto to_last_digit = [](Settings &s) { s.eps = 0; };
    const auto cut_short = [](Settings &s) { s.eps = 0, s.max_iterations = 37; };
    const auto logged = [](Settings &s) { s.log_frequency = 0; };
    const auto exhausting = [](Settings &s) { s.evaluations_per_search = 2, s.gtol = 1e-3; };
    const auto by_fall = [](Settings &s) { s.eps = 0, s.factr = 1e7; };
    const auto by_large_fall = [](Settings &s) { s.eps = 0, s.factr = 1e10, s.relative_gtol = 0; };
    const auto narrow = [](Settings &s) { s.eps = 0, s.pgtol = 5, s.factr = 1e7; };
    const auto noisy = [](Settings &s) { s.eps = 0, s.noise_auto = true; };
    const auto any_rounding = [](Settings &s) { s.factr = 1e-3, s.rounding = 1e300; };
    return {
        {"without bounds", free},
        {"a small decrease that is verified", free, by_fall},
        {"a small decrease that is verified, in a box", boxed, by_fall},
        {"a failed line search that is verified", {Kind::ascent, 20}, any_rounding},
        {"a small decrease that is not verified", {Kind::chained_rosenbrock, 20}, by_large_fall},
        {"in a box", boxed},
        {"in a box narrower than PGTOL", boxed, narrow},
        {"infinite slopes at a bound", {Kind::steep, 20, true, 0, 9}},
        {"infinite slopes at a bound, with a learned diagonal", {Kind::steep, 20, true, 0, 9}, learned},
        {"breakpoints crossed", crossing},
        {"more breakpoints crossed than are downdated one by one", wide},
        {"more breakpoints crossed than can be fetched", crossing, {}, Action::warm_start, 30, 3, 1},
        {"a bisection with many breakpoints", wide, {}, Action::none, 0, 5, 50},
        {"approximate Cauchy point", crossing, [](Settings &s) { s.approximate_cauchy = true; }},
        {"with a diagonal", free, diagonal},
        {"with a diagonal, in a box", boxed, diagonal},
        {"with an invalid diagonal", {Kind::ascent, 20}, diagonal},
        {"with a diagonal, warm start", boxed, diagonal, Action::warm_start, 60},
        {"with a diagonal, warm start without it", boxed, diagonal, Action::plain_start, 60},
        {"with a diagonal that is valid for three iterations", free, valid_for_three},
        {"with a diagonal that is valid for three iterations, in a box", boxed, valid_for_three},
        {"with a diagonal that is valid for three iterations, saved and loaded", boxed, valid_for_three, Action::load,
         30},
        {"with a diagonal that is valid for three iterations, warm start", boxed, valid_for_three, Action::warm_start,
         60},
        {"with a learned diagonal", free, learned},
        {"with a learned diagonal, in a box", boxed, learned},
        {"with a learned diagonal, one pair", boxed, learned, Action::none, 0, 1},
        {"with a learned diagonal, breakpoints crossed", crossing, learned},
        {"with a learned diagonal, more breakpoints crossed than can be fetched", crossing, learned, Action::none, 0, 3,
         1},
        {"with a learned diagonal, saved and loaded", crossing, learned, Action::load, 30},
        {"with a learned diagonal, warm start", boxed, learned, Action::warm_start, 60},
        {"with a learned diagonal, restart without pairs", boxed, learned, Action::restart, 60},
        {"with a learned diagonal, sums of directions with the next inner products", boxed, learned, Action::none, 0, 5,
         0, true},
        {"truncations, with a learned diagonal",
         {Kind::chained_rosenbrock, 30, true, 0, 0, 2},
         learned,
         Action::none,
         0,
         5},
        {"truncations, with a learned diagonal, sums of directions with the next inner products",
         {Kind::chained_rosenbrock, 30, true, 0, 0, 2},
         learned,
         Action::none,
         0,
         5,
         0,
         true},
        {"with an operator", free, with_operator},
        {"with an operator, in a box", boxed, with_operator},
        {"with an operator, breakpoints crossed", crossing, with_operator},
        {"with an operator, in a narrow box", {Kind::chained_rosenbrock, 30, true, 0, 0, 2}, with_operator},
        {"with an operator, directions that do not descend",
         {Kind::chained_rosenbrock, 60, true, 0, 0, 2},
         with_operator},
        {"with an operator, more directions that do not descend",
         {Kind::chained_rosenbrock, 100, true, 0, 0, 2},
         with_operator},
        {"with an operator, in a box of another width", {Kind::chained_rosenbrock, 10, true, 0, 0, 3}, with_operator},
        {"with an operator, warm start", boxed, with_operator, Action::warm_start, 60},
        {"with an operator, stopped", boxed, with_operator, Action::stop, 60},
        {"with an operator, and a direction that does not descend", free, with_operator, Action::no_descent, 60},
        {"with an operator, and a line search that fails", {Kind::ascent, 20}, with_operator},
        {"truncations", {Kind::chained_rosenbrock, 30, true, 0, 0, 2}, {}, Action::none, 0, 5},
        {"the best iterate is saved", {Kind::rippled, 20}, to_last_digit},
        {"the best iterate is saved at the end", {Kind::rippled, 20}, cut_short},
        {"the noise is estimated", {Kind::rippled, 20}, noisy},
        {"the noise is estimated after a line search without descent", {Kind::ascent, 20}, noisy},
        {"cuts", {Kind::barrier, 20}},
        {"line searches that reach their limit of evaluations", {Kind::chained_rosenbrock, 20}, exhausting},
        {"a line search that fails", {Kind::ascent, 20}},
        {"a line search that fails, as in version 3.0", {Kind::ascent, 20}, [](Settings &s) { s.robust = false; }},
        {"norms out of range", {Kind::faint, 20}, logged},
        {"norms out of range, in a box", {Kind::faint, 20, true, -2, 0.5}, logged},
        {"a log", boxed, logged},
        {"a start that is invalid", {Kind::rosenbrock, 20, true, 2, 1}},
        {"a limit of evaluations within a line search", free, [](Settings &s) { s.max_evaluations = 14; }},
        {"stopped", boxed, {}, Action::stop, 60},
        {"stopped at a trial point", free, {}, Action::stop, 41},
        {"given up", crossing, {}, Action::give_up, 30},
        {"saved and loaded", crossing, {}, Action::load, 30},
        {"saved and loaded at a trial point", free, {}, Action::load, 41, 3, 0, true},
        {"saved and loaded at an iterate", free, {}, Action::load, 43, 3, 0, true},
        {"warm start", boxed, {}, Action::warm_start, 60},
        {"restart without pairs", boxed, {}, Action::restart, 60},
        {"sums of directions with the next inner products", boxed, {}, Action::none, 0, 5, 0, true},
        {"one pair", boxed, {}, Action::none, 0, 1},
    };
}

} // namespace block_test
