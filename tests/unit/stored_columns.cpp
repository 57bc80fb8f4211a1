// Tiles of columns with fewer bits than x on the host: what they store and where x goes are the rules' of one row.
#include "sweeps/host/stored_columns.hpp"

#include <catch2/catch.hpp>
#include <random>

#include "sweeps/rules.hpp"

using namespace cudaopt;

namespace {

template <class Real_, class History_> struct Storage {
    using Real = Real_;
    using History = History_;
};

// Rows inside the box, at a bound, or on their way to one; some steps are beyond what a column can store.
template <class Real> void fill(TileRows &tile, int rows, double *trial, bool huge) {
    std::mt19937_64 engine(7);
    std::uniform_real_distribution<double> unit(-1, 1);
    const auto stored = [](double v) { return static_cast<double>(static_cast<Real>(v)); };
    for (int r = 0; r < tile_height; r++) {
        const bool inside = r < rows;
        tile.x[r] = inside ? stored(unit(engine)) : 0;
        tile.l[r] = r % 3 == 0 ? -infinity : stored(tile.x[r] - std::fabs(unit(engine)) * std::exp(20 * unit(engine)));
        tile.u[r] = r % 4 == 0 ? infinity : stored(tile.x[r] + std::fabs(unit(engine)) * std::exp(20 * unit(engine)));
        const double move = unit(engine) * (huge && r % 5 == 0 ? 1e300 : std::exp(10 * unit(engine)));
        trial[r] = inside ? place_in_box(tile.x[r] + move, tile.x[r], tile.l[r], tile.u[r], largest_number<Real>) : 0;
    }
}

bool same(float a, float b) { return a == b; }
bool same(bfloat16 a, bfloat16 b) { return a.bits == b.bits; }

} // namespace

using Double32 = Storage<double, float>;
using Double16 = Storage<double, bfloat16>;
using Float16 = Storage<float, bfloat16>;

TEMPLATE_TEST_CASE("A tile's direction is that of its rows, and says where one misses its bound", "[columns]", Double32,
                   Double16, Float16) {
    using Real = typename TestType::Real;
    using History = typename TestType::History;
    int missed = 0, arrived = 0;
    for (int rows = 1; rows <= tile_height; rows++)
        for (const bool huge : {false, true}) {
            TileRows tile;
            alignas(64) double trial[tile_height], d[tile_height], expected[tile_height];
            History column[tile_height];
            fill<Real>(tile, rows, trial, huge);
            bool reached = true;
            for (int r = 0; r < rows; r++) {
                const double l = tile.l[r], u = tile.u[r], exact = trial[r] - tile.x[r];
                expected[r] = stored_direction<Real, History>(tile.x[r], trial[r], l, u);
                const History nearest(least(greatest(exact, -largest_number<History>), largest_number<History>));
                reached = reached && same(nearest, static_cast<History>(expected[r]));
            }
            const bool said = round_direction(tile, trial, rows, column, d);
            INFO(rows << " rows" << (huge ? ", huge steps" : ""));
            CHECK((reached || !said)); // a bound that no column reaches may be said to be missed
            (said ? arrived : missed)++;
            for (int r = 0; r < rows && said; r++) {
                CHECK(d[r] == expected[r]);
                CHECK(same(column[r], static_cast<History>(d[r])));
            }
            for (int r = rows; r < tile_height; r++) CHECK(d[r] == 0);
        }
    CHECK(missed > 0);
    CHECK(arrived > 0);
}

TEMPLATE_TEST_CASE("A tile steps where its rows step", "[columns]", Double32, Double16, Float16) {
    using Real = typename TestType::Real;
    using History = typename TestType::History;
    for (const double step : {1.0, 0.25, 64.0}) // products with a power of two are exact, fused or not
        for (const int rows : {1, 77, tile_height}) {
            TileRows tile;
            alignas(64) double trial[tile_height], d[tile_height];
            History column[tile_height];
            Real x[tile_height];
            fill<Real>(tile, rows, trial, true);
            round_direction(tile, trial, rows, column, d);
            step_tile(tile, d, step, rows, x);
            for (int r = 0; r < rows; r++)
                CHECK(x[r] == stepped_row<Real>(tile.x[r], d[r], step, tile.l[r], tile.u[r]));
        }
}

TEMPLATE_TEST_CASE("A column's rows are read as they stand, and added", "[columns]", float, bfloat16) {
    for (const int rows : {1, 77, tile_height}) {
        TestType column[tile_height];
        for (int r = 0; r < tile_height; r++) column[r] = static_cast<TestType>(std::ldexp(1 + r % 128 / 128., r - 60));
        alignas(64) double to[tile_height], sum[tile_height];
        load_column(column, rows, to);
        std::copy(to, to + tile_height, sum);
        add_column(-2, column, rows, sum);
        for (int r = 0; r < tile_height; r++) {
            CHECK(to[r] == (r < rows ? static_cast<double>(column[r]) : 0));
            CHECK(sum[r] == -to[r]);
        }
    }
}
