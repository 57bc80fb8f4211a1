// Problems with many held variables. The CUDA backend remembers which tiles of the stored columns are zero there, and
// does not read them; a load makes it forget. So a solve that goes on elsewhere every few iterates, with little or
// nothing remembered, has to have the bits of one that is left alone.
#include <catch2/catch.hpp>
#include <cstring>
#include <limits>
#include <memory>

#include "../support/harness.hpp"

using namespace cudaopt_test;

namespace {

// Of the widest kind, or a whole number of narrower ones.
constexpr int64_t tile_variables = 128;

// Pressure in a journal bearing (MINPACK-2), at least 0: it is 0 on about half of the circle. The angle is the slow
// index, so that whole tiles are held.
Problem bearing(int64_t across, int64_t around) {
    constexpr double eccentricity = 0.1, width = 20;
    const double of_circle = 2 * std::acos(-1.0) / static_cast<double>(around + 1),
                 of_width = width / static_cast<double>(across + 1), ratio = of_width / of_circle;
    Problem problem = {"bearing " + std::to_string(across) + " x " + std::to_string(around), {}, {}};
    Vector film, load; // film: at the boundaries, too
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
            // Every edge is counted at its western or southern end, the last one of a row or column here too.
            const double edges = before * south * south + beside * west * west +
                                 (j == around - 1 ? behind * north * north : 0) +
                                 (i == across - 1 ? beside * east * east : 0);
            return edges / 2 - b * v;
        });
    };
    return problem;
}

// Blocks of neighbours u >= 0 (every other pair of blocks: -u >= 0), of which w (u^2 / 2 + c u) is minimised: held
// while c > 0, released where c < 0. c changes with the place a in a winding valley b = sin a, down which the iterates
// go on and on: there is a valley for every few neighbours. The blocks take turns in how c depends on a, but some never
// change, and in some u goes down a slope to its bound, without a curvature: d is not 0 then, and y is.
constexpr int64_t block_rows = 300, neighbours = 8;
enum class Coupled { always, at_times, never, slope };
bool below(int64_t block) { return block % 4 >= 2; }
Coupled coupled(int64_t block) {
    return block % 16 == 7    ? Coupled::slope
           : block % 16 == 15 ? Coupled::never
           : block % 2 == 0   ? Coupled::always
                              : Coupled::at_times;
}
// c and dc/da. Where a block is coupled at times, c is constant in between, so that y = 0, without an error.
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
            // Not the same everywhere: the blocks do not change in the same iteration.
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

// What the solves of a problem differ in.
struct Asked {
    int m;
    int product_bits = 64, approximate_cauchy = 0, metric = CUDA_OPT_METRIC_ONE_NUMBER;
    bool short_searches = false; // they are exhausted, and go back to an earlier point
    std::string text() const {
        return "m = " + std::to_string(m) + ", product bits " + std::to_string(product_bits) +
               (approximate_cauchy ? ", to the first breakpoint" : "") +
               (metric == CUDA_OPT_METRIC_LEARNED    ? ", with a learned metric"
                : metric == CUDA_OPT_METRIC_DIAGONAL ? ", with a diagonal"
                                                     : "") +
               (short_searches ? ", with short searches" : "");
    }
    // All slots are used again, around the ring.
    int64_t iterations() const { return sanitized ? 24 : std::max(30, 3 * m / 2 + 10); }
};

template <class Configuration> bool on_cuda() { return Configuration::backend == CUDA_OPT_BACKEND_CUDA; }

// With 31 pairs no tiles are remembered. 32 product bits change something for narrow columns on CUDA alone.
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

// x and g of all iterates, from the first after the start on.
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

// Its end, with the iterates of all handles that had a part in it, and all counts.
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

// Goes on in another handle after every so many iterates: a new one each time, or two by turns, which have been
// elsewhere before.
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
        REQUIRE(there->call() == CUDA_OPT_NEW_ITERATE); // the same once more
        std::swap(here, there);
    }
    End end = end_of(*here, here->outcome());
    end.outcome.history = history;
    end.outcome.outside += outside;
    return end;
}

constexpr int64_t nowhere = -1;

// The first place where their bits differ. Not with ==, to which 0 and -0 are the same.
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

// Returns the path of the solve that is left alone.
template <class Configuration> Path check_moves(const Problem &problem, const Asked &asked) {
    const Solve<Configuration> alone = begun<Configuration>(problem, asked);
    const Path path = follow(*alone);
    const End whole = end_of(*alone, alone->outcome());
    CHECK(whole.outcome.outside == 0);
    {
        INFO("on in a new handle after every third iterate");
        check_same(moved<Configuration>(problem, asked, 3, false), whole);
    }
    if (asked.m == 5 || (asked.m == 20 && on_cuda<Configuration>)) { // many checkpoints take long
        INFO("on in two handles by turns after every iterate");
        check_same(moved<Configuration>(problem, asked, 1, true), whole);
        INFO("in the first handle, after a reset");
        alone->restart();
        const Outcome again = alone->run();
        check_same(end_of(*alone, again), whole);
    }
    return path;
}

// Which variables lie at a bound that they are drawn to.
template <class Configuration> std::vector<bool> held(const Problem &problem, const Vector &x, const Vector &g) {
    using Real = typename Configuration::Real;
    std::vector<bool> held(x.size());
    for (std::size_t i = 0; i < x.size(); i++)
        held[i] = (!problem.lower.empty() && x[i] == static_cast<Real>(problem.lower[i]) && g[i] > 0) ||
                  (!problem.upper.empty() && x[i] == static_cast<Real>(problem.upper[i]) && g[i] < 0);
    return held;
}

// Something that is so, later is not, and is so again.
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

// Tiles where the values change from one iterate to the next.
std::vector<bool> changing_tiles(const Vector &before, const Vector &now) {
    std::vector<bool> changing(now.size() / tile_variables); // whole ones
    for (std::size_t i = 0; i < changing.size() * tile_variables; i++)
        if (now[i] != before[i]) changing[i / tile_variables] = true;
    return changing;
}

// At some iterate so many variables are held that tiles of zeros are looked for, and there are some.
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

// The solve is the one meant: so many variables are held, then so few, then so many again that tiles of zeros are
// looked for, not looked for, and looked for again. Tiles of S and of Y become zero again, and some of Y are not while
// d = 0.
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
    INFO("held in the iterates:" << counts);
    CHECK(many.did());
    CHECK(how_many(variables) > n / 4);
    CHECK(how_many(zero_d) > n / tile_variables / 4);
    CHECK(how_many(zero_y) > n / tile_variables / 10);
    CHECK(std::count(y_alone.begin(), y_alone.end(), true) > n / tile_variables / 4);
}

// Not as large on the host, which has no tiles.
template <class Configuration> Problem valleys() { return winding_valleys(on_cuda<Configuration>() ? 20003 : 5003); }

} // namespace

CONFIGURED_TEST_CASE("A solve that continues in other handles is bitwise identical if many variables are active",
                     "[held]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    for (const Problem &problem : {torsion(301, 11), bearing(61, 47)})
        for (const Asked &asked : with_all_memories<TestType>()) {
            INFO(problem.name << ", " << asked.text());
            check_many_held<TestType>(problem, check_moves<TestType>(problem, asked));
        }
}

CONFIGURED_TEST_CASE("A solve that continues in other handles is bitwise identical if blocks become active and free",
                     "[held]", EVERY_CONFIGURATION) {
    if (skipped<TestType>()) return;
    const Problem problem = valleys<TestType>();
    for (Asked asked : with_all_memories<TestType>())
        // With 1 no sweep asks for products beyond a breakpoint, and none makes all tiles unknown.
        for (const int approximate_cauchy : {0, 1}) {
            asked.approximate_cauchy = approximate_cauchy;
            INFO(problem.name << ", " << asked.text());
            check_comes_back<TestType>(problem, check_moves<TestType>(problem, asked));
        }
}

// In a metric tiles are remembered where the columns have x's bits.
CONFIGURED_TEST_CASE("A solve with other settings that continues in other handles is bitwise identical", "[held]",
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

// The newest pair is complete only then.
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
