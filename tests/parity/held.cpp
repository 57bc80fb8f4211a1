// These problems have many active variables. The CUDA backend keeps a bitmap of the tiles in which stored columns are
// zero and does not read those tiles; a load clears the bitmap. A solve that continues in another handle every few
// iterates therefore has little or nothing in its bitmap. It must be bitwise identical to an uninterrupted solve.
#include <catch2/catch.hpp>
#include <cstring>
#include <limits>
#include <memory>

#include "../support/harness.hpp"

namespace parity_held {

using namespace cudaopt_test;

namespace {

// The size of the widest tile. It is a multiple of the sizes of the narrower ones.
constexpr int64_t tile_variables = 128;

// Pressure in a journal bearing (MINPACK-2), at least 0. It is 0 on about half of the circle. The angle is the slowly
// varying index, so that whole tiles are active.
Problem bearing(int64_t across, int64_t around) {
    constexpr double eccentricity = 0.1, width = 20;
    const double of_circle = 2 * std::acos(-1.0) / static_cast<double>(around + 1),
                 of_width = width / static_cast<double>(across + 1), ratio = of_width / of_circle;
    Problem problem = {"bearing " + std::to_string(across) + " x " + std::to_string(around), {}, {}};
    Vector film, load; // film includes the boundaries
    for (int64_t j = 0; j < around + 2; j++) {
        const double angle = static_cast<double>(j) * of_circle;
        film.push_back(std::pow(1 + eccentricity * std::cos(angle), 3));
        load.push_back(eccentricity * std::sin(angle) * of_circle * of_width);
        if (j == 0 || j > around) continue;
        problem.start.insert(problem.start.end(), static_cast<std::size_t>(across), std::max(std::sin(angle), 0.0));
    }
    problem.lower.assign(problem.start.size(), 0);
    problem.evaluate = [=](const Vector &x, Vector &g) {
        const auto value = [&](int64_t i, int64_t j) {
            return i < 0 || i >= across || j < 0 || j >= around ? 0.0 : x[static_cast<std::size_t>(j * across + i)];
        };
        return pairwise_sum(0, across * around, [&](int64_t k) {
            const int64_t i = k % across, j = k / across;
            const double *const w = &film[static_cast<std::size_t>(j + 1)];
            const double before = (w[-1] + w[0]) / 2 * ratio, behind = (w[0] + w[1]) / 2 * ratio,
                         beside = (w[-1] + 4 * w[0] + w[1]) / 6 / ratio, b = load[static_cast<std::size_t>(j + 1)];
            const double v = x[static_cast<std::size_t>(k)], south = v - value(i, j - 1), north = v - value(i, j + 1),
                         west = v - value(i - 1, j), east = v - value(i + 1, j);
            g[static_cast<std::size_t>(k)] = before * south + behind * north + beside * (west + east) - b;
            // Each edge is counted at its western or southern end, and the last edge of a row or column here as well.
            const double edges = before * south * south + beside * west * west +
                                 (j == around - 1 ? behind * north * north : 0) +
                                 (i == across - 1 ? beside * east * east : 0);
            return edges / 2 - b * v;
        });
    };
    return problem;
}

// The variables u of a block minimise w (u^2 / 2 + c u) with u >= 0, or with -u >= 0 in every other pair of blocks.
// They are active while c > 0 and are released where c < 0. c depends on the position a in a winding valley b = sin a,
// along which the iterates move continually. There is one valley for every few neighbouring variables. The blocks
// differ in how c depends on a. In some blocks c is constant. In others u moves down a slope without curvature to its
// bound, so that y is 0 while d is not.
constexpr int64_t block_rows = 300, neighbours = 8;
enum class Coupled { always, at_times, never, slope };
bool below(int64_t block) { return block % 4 >= 2; }
Coupled coupled(int64_t block) {
    return block % 16 == 7    ? Coupled::slope
           : block % 16 == 15 ? Coupled::never
           : block % 2 == 0   ? Coupled::always
                              : Coupled::at_times;
}
// c and dc/da. In a block that is coupled at times, c is constant in between, so that y is exactly 0.
struct Pull {
    double c, slope;
};
Pull pull_at(double a, Coupled how) {
    const double sine = std::sin(2 * a), cosine = std::cos(2 * a), positive = std::max(sine, 0.0);
    if (how == Coupled::always) return {0.3 - 1.2 * sine, -2.4 * cosine};
    if (how == Coupled::at_times) return {1 - 2 * positive * positive, -8 * positive * cosine};
    return {1, 0};
}
Problem winding_valleys(int64_t n) {
    constexpr double steepness = 15, weight = 0.1, infinity = std::numeric_limits<double>::infinity();
    const int64_t valleys = n / (neighbours + 2), first = 2 * valleys;
    const auto at = [](auto &values, int64_t i) -> auto & { return values[static_cast<std::size_t>(i)]; };
    Problem problem = {"winding valleys, n = " + std::to_string(n), Vector(static_cast<std::size_t>(n), 0.0), {}};
    problem.lower.assign(problem.start.size(), -infinity);
    problem.upper.assign(problem.start.size(), infinity);
    for (int64_t k = 0; k < valleys; k++) {
        at(problem.start, 2 * k) = -1;
        at(problem.start, 2 * k + 1) = std::sin(-1.0);
    }
    for (int64_t i = first; i < n; i++) {
        const int64_t block = (i - first) / block_rows;
        const bool negative = below(block);
        if (coupled(block) == Coupled::slope) at(problem.start, i) = negative ? -0.001 : 0.001;
        at(problem.lower, i) = negative ? -4 : 0;
        at(problem.upper, i) = negative ? 0 : 4;
    }
    problem.evaluate = [=](const Vector &x, Vector &g) {
        std::fill(g.begin(), g.end(), 0.0);
        const double way = pairwise_sum(0, valleys, [&](int64_t k) {
            const double a = at(x, 2 * k), off = at(x, 2 * k + 1) - std::sin(a);
            // The descent varies, so that the blocks do not change in the same iteration.
            const double descent = 1 + 0.01 * std::sin(static_cast<double>(k * neighbours / block_rows));
            at(g, 2 * k) -= steepness * off * std::cos(a) + descent;
            at(g, 2 * k + 1) += steepness * off;
            return steepness * off * off / 2 - descent * a;
        });
        return way + pairwise_sum(first, n, [&](int64_t i) {
                   const int64_t block = (i - first) / block_rows,
                                 valley = std::min((i - first) / neighbours, valleys - 1);
                   const double sign = below(block) ? -1 : 1, u = sign * at(x, i),
                                w = weight * (1 + 0.3 * std::sin(static_cast<double>(i)));
                   const Pull pull = pull_at(at(x, 2 * valley), coupled(block));
                   const double curved = coupled(block) == Coupled::slope ? 0 : u;
                   at(g, i) += sign * w * (curved + pull.c);
                   at(g, 2 * valley) += w * u * pull.slope;
                   return w * u * (curved / 2 + pull.c);
               });
    };
    return problem;
}

// The settings in which the solves of a problem differ.
struct Asked {
    int m;
    int product_bits = 64, approximate_cauchy = 0, metric = CUDA_OPT_METRIC_ONE_NUMBER;
    bool short_searches = false; // line searches exhaust maxfev and return to an earlier point
    std::string text() const {
        return "m = " + std::to_string(m) + ", product bits " + std::to_string(product_bits) +
               (approximate_cauchy ? ", approximate Cauchy point" : "") +
               (metric == CUDA_OPT_METRIC_LEARNED    ? ", with a learned diagonal"
                : metric == CUDA_OPT_METRIC_DIAGONAL ? ", with a diagonal"
                                                     : "") +
               (short_searches ? ", with exhausted line searches" : "");
    }
    // Returns enough iterations that every slot of the ring is reused.
    int64_t iterations() const { return sanitized ? 24 : std::max(30, 3 * m / 2 + 10); }
};

template <class Configuration> bool on_cuda() { return Configuration::backend == CUDA_OPT_BACKEND_CUDA; }

// With 31 pairs there is no bitmap of zero tiles. 32 product bits make a difference only on CUDA with a history of 16
// bits.
template <class Configuration> std::vector<Asked> with_all_memories() {
    const bool in_single = on_cuda<Configuration>() && Configuration::history_bits == 16;
    std::vector<Asked> all;
    for (const int m : sanitized ? std::vector<int>{1, 5} : std::vector<int>{1, 5, 17, 20, 24, 31}) {
        all.push_back({m});
        if (in_single) all.push_back({m, 32});
    }
    return all;
}

template <class Configuration> using Solve = std::unique_ptr<Harness<Configuration>>;

template <class Configuration> Solve<Configuration> begun(const Problem &problem, const Asked &asked) {
    auto solve = std::make_unique<Harness<Configuration>>(problem, asked.m);
    solve->set_int(CUDA_OPT_PRODUCT_BITS, asked.product_bits);
    solve->set_int(CUDA_OPT_APPROXIMATE_CAUCHY, asked.approximate_cauchy).set_int(CUDA_OPT_METRIC, asked.metric);
    if (asked.metric == CUDA_OPT_METRIC_DIAGONAL) {
        solve->set_int(CUDA_OPT_DIAGONAL_EVERY, 1000);
        solve->with_diagonal([](const Vector &, const Vector &, Vector &diagonal) {
            for (std::size_t i = 0; i < diagonal.size(); i++) diagonal[i] = 1 + 0.2 * std::sin(static_cast<double>(i));
        });
    }
    if (asked.short_searches)
        solve->set_int(CUDA_OPT_MAXFEV, 2).set_real(CUDA_OPT_GTOL, 1e-3).set_real(CUDA_OPT_FTOL, 1e-4);
    solve->set_real(CUDA_OPT_EPS, 0).set_int(CUDA_OPT_MAX_ITERATIONS, asked.iterations());
    return solve;
}

// x and g of all iterates after the start.
struct Path {
    std::vector<Vector> x, g;
};

template <class Configuration> Path follow(Harness<Configuration> &solve) {
    Path path;
    for (int task; (task = solve.step()) > 0;) {
        if (task != CUDA_OPT_NEW_ITERATE) continue;
        const Outcome now = solve.outcome();
        path.x.push_back(now.x);
        path.g.push_back(now.g);
    }
    return path;
}

// The end of a solve, with the iterates of all handles that took part in it, and all counts.
struct End {
    Outcome outcome;
    Vector counts;
};

template <class Configuration> End end_of(const Harness<Configuration> &solve, const Outcome &outcome) {
    End end = {outcome, {}};
    for (int32_t key = CUDA_OPT_ITERATIONS; key <= CUDA_OPT_SUBSPACE_PROJECTED; key++)
        end.counts.push_back(static_cast<double>(solve.get_int(key)));
    return end;
}

// Continues in another handle after each `iterates` iterates: in a new one each time, or alternately in two, which then
// contain data of earlier iterates.
template <class Configuration>
End moved(const Problem &problem, const Asked &asked, std::size_t iterates, bool by_turns) {
    Solve<Configuration> here = begun<Configuration>(problem, asked), there;
    std::vector<Iterate> history;
    int64_t outside = 0;
    for (int task; (task = here->step()) > 0;) {
        if (task != CUDA_OPT_NEW_ITERATE) continue;
        const Outcome now = here->outcome();
        history.push_back(now.history.back());
        if (history.size() % iterates != 0) continue;
        outside += now.outside;
        const Checkpoint checkpoint = here->save();
        if (there && by_turns) there->restart();
        else there = begun<Configuration>(problem, asked);
        there->share_diagonal(*here);
        there->load(checkpoint);
        REQUIRE(there->call() == CUDA_OPT_NEW_ITERATE); // the task is returned once more
        std::swap(here, there);
    }
    End end = end_of(*here, here->outcome());
    end.outcome.history = history;
    end.outcome.outside += outside;
    return end;
}

constexpr int64_t nowhere = -1;

// Returns the first index at which the bits differ. It does not use ==, because 0 == -0.
int64_t first_difference(const Vector &a, const Vector &b) {
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); i++)
        if (std::memcmp(&a[i], &b[i], sizeof a[i]) != 0) return static_cast<int64_t>(i);
    return nowhere;
}

Vector numbers_of(const Iterate &iterate) {
    return {static_cast<double>(iterate.iteration),
            static_cast<double>(iterate.evaluations),
            iterate.f,
            iterate.pg_norm2,
            iterate.pg_norm_inf,
            iterate.step};
}

void check_same(const End &end, const End &whole) {
    const Outcome &a = end.outcome, &b = whole.outcome;
    REQUIRE(a.history.size() == b.history.size());
    for (std::size_t k = 0; k < b.history.size(); k++) {
        INFO("iteration " << k + 1);
        REQUIRE(first_difference(numbers_of(a.history[k]), numbers_of(b.history[k])) == nowhere);
    }
    CHECK(a.task == b.task);
    CHECK(a.message == b.message);
    CHECK(a.outside == 0);
    CHECK(first_difference({a.f}, {b.f}) == nowhere);
    CHECK(first_difference(a.x, b.x) == nowhere);
    CHECK(first_difference(a.g, b.g) == nowhere);
    CHECK(first_difference(end.counts, whole.counts) == nowhere);
}

// Returns the path of the uninterrupted solve.
template <class Configuration> Path check_moves(const Problem &problem, const Asked &asked) {
    const Solve<Configuration> alone = begun<Configuration>(problem, asked);
    const Path path = follow(*alone);
    const End whole = end_of(*alone, alone->outcome());
    CHECK(whole.outcome.outside == 0);
    {
        INFO("the solve continues in a new handle after every third iterate");
        check_same(moved<Configuration>(problem, asked, 3, false), whole);
    }
    if (asked.m == 5 || (asked.m == 20 && on_cuda<Configuration>)) { // many checkpoints take long
        INFO("the solve continues alternately in two handles after every iterate");
        check_same(moved<Configuration>(problem, asked, 1, true), whole);
        INFO("the solve is repeated in the first handle after a reset");
        alone->restart();
        const Outcome again = alone->run();
        check_same(end_of(*alone, again), whole);
    }
    return path;
}

// Returns which variables are active.
template <class Configuration> std::vector<bool> held(const Problem &problem, const Vector &x, const Vector &g) {
    using Real = typename Configuration::Real;
    std::vector<bool> held(x.size());
    for (std::size_t i = 0; i < x.size(); i++)
        held[i] = (!problem.lower.empty() && x[i] == static_cast<Real>(problem.lower[i]) && g[i] > 0) ||
                  (!problem.upper.empty() && x[i] == static_cast<Real>(problem.upper[i]) && g[i] < 0);
    return held;
}

// Records whether a condition is true, later false, and then true again.
class ComesBack {
  public:
    void see(bool yes, bool no) {
        if (changes_ % 2 == 0 ? yes : no) changes_++;
    }
    bool did() const { return changes_ >= 3; }

  private:
    int changes_ = 0;
};
int64_t how_many(const std::vector<ComesBack> &all) {
    return std::count_if(all.begin(), all.end(), [](const ComesBack &one) { return one.did(); });
}

// Returns the tiles in which values change from one iterate to the next.
std::vector<bool> changing_tiles(const Vector &before, const Vector &now) {
    std::vector<bool> changing(now.size() / tile_variables); // whole tiles only
    for (std::size_t i = 0; i < changing.size() * tile_variables; i++)
        if (now[i] != before[i]) changing[i / tile_variables] = true;
    return changing;
}

// Checks that at some iterate enough variables are active for the bitmap to be used, and that there are zero tiles.
template <class Configuration> void check_many_held(const Problem &problem, const Path &path) {
    int64_t most_held = 0, most_tiles = 0;
    for (std::size_t k = 1; k < path.x.size(); k++) {
        const std::vector<bool> now = held<Configuration>(problem, path.x[k], path.g[k]),
                                changing = changing_tiles(path.x[k - 1], path.x[k]);
        most_held = std::max<int64_t>(most_held, std::count(now.begin(), now.end(), true));
        most_tiles = std::max<int64_t>(most_tiles, std::count(changing.begin(), changing.end(), false));
    }
    CHECK(4 * most_held > problem.size());
    CHECK(most_tiles > 2);
}

// Checks that the solve has the intended property: the number of active variables is large, then small, then large
// again, so that the bitmap is used, not used, and used again. Tiles of S and of Y become zero again, and some tiles of
// Y are not zero while d = 0.
template <class Configuration> void check_comes_back(const Problem &problem, const Path &path) {
    const int64_t n = problem.size();
    ComesBack many;
    std::vector<ComesBack> variables(static_cast<std::size_t>(n)), zero_d(static_cast<std::size_t>(n / tile_variables)),
        zero_y(zero_d.size());
    std::vector<bool> y_alone(zero_d.size());
    std::string counts;
    for (std::size_t k = 0; k < path.x.size(); k++) {
        const std::vector<bool> now = held<Configuration>(problem, path.x[k], path.g[k]);
        const int64_t count = std::count(now.begin(), now.end(), true);
        counts += " " + std::to_string(count);
        many.see(4 * count >= n, 8 * count < n);
        for (std::size_t i = 0; i < now.size(); i++) variables[i].see(now[i], !now[i]);
        if (k == 0) continue;
        const std::vector<bool> d = changing_tiles(path.x[k - 1], path.x[k]),
                                y = changing_tiles(path.g[k - 1], path.g[k]);
        for (std::size_t tile = 0; tile < d.size(); tile++) {
            zero_d[tile].see(!d[tile], d[tile]);
            zero_y[tile].see(!y[tile], y[tile]);
            if (!d[tile] && y[tile]) y_alone[tile] = true;
        }
    }
    INFO("numbers of active variables at the iterates:" << counts);
    CHECK(many.did());
    CHECK(how_many(variables) > n / 4);
    CHECK(how_many(zero_d) > n / tile_variables / 4);
    CHECK(how_many(zero_y) > n / tile_variables / 10);
    CHECK(std::count(y_alone.begin(), y_alone.end(), true) > n / tile_variables / 4);
}

// n is smaller on the host, which has no zero tiles.
template <class Configuration> Problem valleys() { return winding_valleys(on_cuda<Configuration>() ? 20003 : 5003); }

} // namespace

CONFIGURED_TEST_CASE("A solve continued in other handles is bitwise identical if many variables are active", "[held]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (const Problem &problem : {torsion(301, 11), bearing(61, 47)})
        for (const Asked &asked : with_all_memories<TestType>()) {
            INFO(problem.name << ", " << asked.text());
            check_many_held<TestType>(problem, check_moves<TestType>(problem, asked));
        }
}

CONFIGURED_TEST_CASE("A solve continued in other handles is bitwise identical if blocks become active and free",
                     "[held]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const Problem problem = valleys<TestType>();
    for (Asked asked : with_all_memories<TestType>())
        // With 1 no products beyond a breakpoint are requested, and therefore no sweep invalidates the bitmap.
        for (const int approximate_cauchy : {0, 1}) {
            asked.approximate_cauchy = approximate_cauchy;
            INFO(problem.name << ", " << asked.text());
            check_comes_back<TestType>(problem, check_moves<TestType>(problem, asked));
        }
}

// With a diagonal initial Hessian the bitmap is used if the history precision is that of x.
CONFIGURED_TEST_CASE("A solve with other settings continued in other handles is bitwise identical", "[held]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    constexpr int learned = CUDA_OPT_METRIC_LEARNED, diagonal = CUDA_OPT_METRIC_DIAGONAL;
    for (const Problem &problem : {torsion(301, 11), bearing(61, 47), valleys<TestType>()})
        for (const Asked &asked : {Asked{5, 64, 0, learned}, Asked{5, 64, 1, learned}, Asked{1, 64, 1, learned},
                                   Asked{17, 64, 1, learned}, Asked{5, 64, 0, diagonal}, Asked{17, 64, 1, diagonal},
                                   Asked{5, 64, 0, CUDA_OPT_METRIC_ONE_NUMBER, true}}) {
            if (sanitized && asked.m == 17) continue;
            INFO(problem.name << ", " << asked.text());
            check_many_held<TestType>(problem, check_moves<TestType>(problem, asked));
        }
}

// The newest correction pair is complete only after the warm start.
CONFIGURED_TEST_CASE("A warm start after a load is bitwise identical if blocks of variables are active", "[held]",
                     EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const Problem problem = valleys<TestType>();
    const Asked asked = {5};
    for (const int64_t iterates : {12, 15, 18, 21, 24, 27}) {
        if (iterates >= asked.iterations()) continue;
        INFO("after " << iterates << " iterates");
        Solve<TestType> here = begun<TestType>(problem, asked), there = begun<TestType>(problem, asked);
        while (here->step() != CUDA_OPT_NEW_ITERATE || here->get_int(CUDA_OPT_ITERATIONS) < iterates) {
        }
        there->load(here->save());
        REQUIRE(there->call() == CUDA_OPT_NEW_ITERATE);
        for (Harness<TestType> *const solve : {here.get(), there.get()}) {
            solve->warm_start();
            REQUIRE(solve->get_int(CUDA_OPT_PAIRS) > 0);
        }
        const Outcome stayed = here->run(), moved = there->run();
        check_same(end_of(*there, moved), end_of(*here, stayed));
    }
}

} // namespace parity_held
