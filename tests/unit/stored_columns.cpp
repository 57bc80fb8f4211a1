// Tests of the host's conversion of tiles to columns with fewer bits than x. The columns and the steps must be those of
// the functions for one variable.
#include "sweeps/host/panel_tiles.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "../support/seed.hpp"
#include "sweeps/host/variable_tiles.hpp"
#include "sweeps/rules.hpp"

using namespace cudaopt;

namespace {

template <class Real_, class History_> struct Storage {
    using Real = Real_;
    using History = History_;
};

// Fills a tile with variables inside the box, at a bound, or with a trial point at a bound. Some steps exceed the
// largest number that a column can store.
template <class Real, class History> void fill(TileVariables &tile, int rows, double *trial, bool huge) {
    std::mt19937_64 engine(cudaopt_test::seed(7));
    std::uniform_real_distribution<double> unit(-1, 1);
    // Half a unit in the last place of a number in [1, 2).
    constexpr double half_unit = std::is_same_v<History, float> ? 0x1p-24 : 0x1p-8;
    const auto stored = [](double v) { return static_cast<double>(static_cast<Real>(v)); };
    for (int r = 0; r < tile_height; r++) {
        const bool inside = r < rows;
        tile.x[r] = inside ? stored(unit(engine)) : 0;
        tile.l[r] = r % 3 == 0 ? -infinity : stored(tile.x[r] - std::fabs(unit(engine)) * std::exp(20 * unit(engine)));
        tile.u[r] = r % 4 == 0 ? infinity : stored(tile.x[r] + std::fabs(unit(engine)) * std::exp(20 * unit(engine)));
        const double move = unit(engine) * (huge && r % 5 == 0 ? 1e300 : std::exp(10 * unit(engine)));
        // For every seventh variable, d lies in the middle between two numbers that can be stored. Past the last
        // variable, a bound may differ from 0.
        if (r % 7 == 0) tile.x[r] = 0, tile.l[r] = -infinity, tile.u[r] = infinity;
        const double way = r % 7 == 0 ? 1 + (2 * (r % 5) + 1) * half_unit : move;
        trial[r] = inside ? place_in_box(tile.x[r] + way, tile.x[r], tile.l[r], tile.u[r], largest_number<Real>) : 1;
    }
}

bool same(float a, float b) { return a == b; }
bool same(bfloat16 a, bfloat16 b) { return a.bits == b.bits; }

} // namespace

using Double32 = Storage<double, float>;
using Double16 = Storage<double, bfloat16>;
using Float16 = Storage<float, bfloat16>;

TEMPLATE_TEST_CASE("round_direction rounds the direction of each variable and reports missed bounds", "[columns]",
                   Double32, Double16, Float16) {
    using Real = typename TestType::Real;
    using History = typename TestType::History;
    int missed = 0, arrived = 0;
    for (int rows = 1; rows <= tile_height; rows++)
        for (const bool huge : {false, true}) {
            TileVariables tile;
            alignas(64) double trial[tile_height], d[tile_height];
            History column[tile_height], nearest[tile_height];
            fill<Real, History>(tile, rows, trial, huge);
            bool reached = true;
            for (int r = 0; r < rows; r++) {
                constexpr double largest = largest_number<History>;
                nearest[r] = History(least(greatest(trial[r] - tile.x[r], -largest), largest));
                const auto ruled = stored_direction<Real, History>(tile.x[r], trial[r], tile.l[r], tile.u[r]);
                reached = reached && same(nearest[r], ruled);
            }
            const bool said = round_direction(tile, trial, rows, column, d);
            INFO(rows << " variables" << (huge ? ", huge steps" : ""));
            CHECK((reached || !said)); // false is also permitted if no stored number reaches the bound
            (said ? arrived : missed)++;
            for (int r = 0; r < rows; r++) {
                CHECK(same(column[r], nearest[r]));
                CHECK(d[r] == static_cast<double>(nearest[r]));
            }
            for (int r = rows; r < tile_height; r++) CHECK(d[r] == 0);
        }
    CHECK(missed > 0);
    CHECK(arrived > 0);
}

TEMPLATE_TEST_CASE("step_tile gives the same x as stepped_variable", "[columns]", Double32, Double16, Float16) {
    using Real = typename TestType::Real;
    using History = typename TestType::History;
    for (const double step : {1.0, 0.25, 64.0}) // products with a power of two are exact, so that FMA changes nothing
        for (const int rows : {1, 77, tile_height}) {
            TileVariables tile;
            alignas(64) double trial[tile_height], d[tile_height];
            History column[tile_height];
            Real x[tile_height];
            fill<Real, History>(tile, rows, trial, true);
            round_direction(tile, trial, rows, column, d);
            step_tile(tile, d, step, rows, x);
            for (int r = 0; r < rows; r++)
                CHECK(x[r] == stepped_variable<Real>(tile.x[r], d[r], step, tile.l[r], tile.u[r]));
        }
}

TEMPLATE_TEST_CASE("load_column and add_columns convert stored values exactly", "[columns]", float, bfloat16) {
    for (const int rows : {1, 77, tile_height}) {
        TestType column[tile_height];
        for (int r = 0; r < tile_height; r++) column[r] = static_cast<TestType>(std::ldexp(1 + r % 128 / 128., r - 60));
        alignas(64) double to[tile_height], sum[tile_height];
        load_column(column, rows, to);
        std::copy(to, to + tile_height, sum);
        const double factor = -2;
        const TestType *const columns[] = {column};
        add_columns(&factor, columns, 1, 0, rows, sum);
        for (int r = 0; r < tile_height; r++) {
            CHECK(to[r] == (r < rows ? static_cast<double>(column[r]) : 0));
            CHECK(sum[r] == -to[r]);
        }
    }
}
