// Solves in which each request and each stage of the state machine occurs.
#pragma once

#include "on_host.hpp"

namespace block_test {

// What the caller does to a solve besides answering it, once and not before this many calls.
// plain_start: a warm start with theta I.
enum class Deed { none, stop, give_up, load, warm_start, plain_start, restart };

struct Rare {
    const char *what;
    Problem problem;
    Set set = {};
    Deed deed = Deed::none;
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
    const auto held = [](Settings &s) { s.metric = cudaopt::Metric::callers, s.diagonal_every = 3; };
    const auto learned = [](Settings &s) { s.metric = cudaopt::Metric::learned; };
    const auto to_last_digit = [](Settings &s) { s.eps = 0; };
    const auto cut_short = [](Settings &s) { s.eps = 0, s.max_iterations = 37; };
    const auto logged = [](Settings &s) { s.log_frequency = 0; };
    const auto exhausting = [](Settings &s) { s.evaluations_per_search = 2, s.gtol = 1e-3; };
    const auto by_fall = [](Settings &s) { s.eps = 0, s.factr = 1e7; };
    const auto noisy = [](Settings &s) { s.eps = 0, s.noise_auto = true; };
    const auto any_rounding = [](Settings &s) { s.factr = 1e-3, s.rounding = 1e300; };
    return {
        {"without bounds", free},
        {"a small fall that is verified", free, by_fall},
        {"a small fall that is verified, in a box", boxed, by_fall},
        {"a failed search that is verified", {Kind::ascent, 20}, any_rounding},
        {"in a box", boxed},
        {"breakpoints crossed", crossing},
        {"more crossed rows than are downdated one by one", wide},
        {"more crossed rows than can be had", crossing, {}, Deed::warm_start, 30, 3, 1},
        {"a bisection among many", wide, {}, Deed::none, 0, 5, 50},
        {"to the first breakpoint", crossing, [](Settings &s) { s.approximate_cauchy = true; }},
        {"with a diagonal", free, diagonal},
        {"with a diagonal, in a box", boxed, diagonal},
        {"with a diagonal that is bad", {Kind::ascent, 20}, diagonal},
        {"with a diagonal, begun anew with its pairs", boxed, diagonal, Deed::warm_start, 60},
        {"with a diagonal, begun anew with its pairs, without", boxed, diagonal, Deed::plain_start, 60},
        {"with a diagonal that holds for three iterations", free, held},
        {"with a diagonal that holds for three iterations, in a box", boxed, held},
        {"with a diagonal that holds for three iterations, saved and loaded", boxed, held, Deed::load, 30},
        {"with a diagonal that holds for three iterations, begun anew with its pairs", boxed, held, Deed::warm_start,
         60},
        {"with a metric that is learned", free, learned},
        {"with a metric that is learned, in a box", boxed, learned},
        {"with a metric that is learned, of one pair", boxed, learned, Deed::none, 0, 1},
        {"with a metric that is learned, breakpoints crossed", crossing, learned},
        {"with a metric that is learned, more crossed rows than can be had", crossing, learned, Deed::none, 0, 3, 1},
        {"with a metric that is learned, saved and loaded", crossing, learned, Deed::load, 30},
        {"with a metric that is learned, begun anew with its pairs", boxed, learned, Deed::warm_start, 60},
        {"with a metric that is learned, begun anew without", boxed, learned, Deed::restart, 60},
        {"with a metric that is learned, sums of directions late", boxed, learned, Deed::none, 0, 5, 0, true},
        {"truncations, with a metric that is learned",
         {Kind::chained_rosenbrock, 30, true, 0, 0, 2},
         learned,
         Deed::none,
         0,
         5},
        {"truncations, with a metric that is learned, late",
         {Kind::chained_rosenbrock, 30, true, 0, 0, 2},
         learned,
         Deed::none,
         0,
         5,
         0,
         true},
        {"truncations", {Kind::chained_rosenbrock, 30, true, 0, 0, 2}, {}, Deed::none, 0, 5},
        {"the best iterate aside", {Kind::rippled, 20}, to_last_digit},
        {"the best iterate aside at the end", {Kind::rippled, 20}, cut_short},
        {"the noise is estimated", {Kind::rippled, 20}, noisy},
        {"the noise is estimated after a search without descent", {Kind::ascent, 20}, noisy},
        {"cuts", {Kind::barrier, 20}},
        {"exhausted searches", {Kind::chained_rosenbrock, 20}, exhausting},
        {"a search that fails", {Kind::ascent, 20}},
        {"a search that fails, as in version 3.0", {Kind::ascent, 20}, [](Settings &s) { s.robust = false; }},
        {"norms out of range", {Kind::faint, 20}, logged},
        {"norms out of range, in a box", {Kind::faint, 20, true, -2, 0.5}, logged},
        {"a log", boxed, logged},
        {"a start that is refused", {Kind::rosenbrock, 20, true, 2, 1}},
        {"a limit within a search", free, [](Settings &s) { s.max_evaluations = 14; }},
        {"stopped", boxed, {}, Deed::stop, 60},
        {"stopped at a trial point", free, {}, Deed::stop, 41},
        {"given up", crossing, {}, Deed::give_up, 30},
        {"saved and loaded", crossing, {}, Deed::load, 30},
        {"saved and loaded at a trial point", free, {}, Deed::load, 41, 3, 0, true},
        {"saved and loaded at an iterate", free, {}, Deed::load, 43, 3, 0, true},
        {"begun anew with its pairs", boxed, {}, Deed::warm_start, 60},
        {"begun anew without", boxed, {}, Deed::restart, 60},
        {"sums of directions with the next gather", boxed, {}, Deed::none, 0, 5, 0, true},
        {"one pair", boxed, {}, Deed::none, 0, 1},
    };
}

} // namespace block_test
