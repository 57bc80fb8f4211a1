// Tests of the tiles of variables on the host.
#include "sweeps/host/variable_tiles.hpp"

#include <catch2/catch.hpp>

#include "lbfgsb/box.hpp"

using namespace cudaopt;

TEST_CASE("A breakpoint of at most t is found at any position of a tile", "[tiles]") {
    TileVariables tile;
    for (int r = 0; r < tile_height; r++) // breakpoint 2, except that every third variable is active
        tile.x[r] = r % 3 == 0 ? 0 : 1, tile.g[r] = 0.5, tile.l[r] = 0, tile.u[r] = infinity, tile.h[r] = 1;
    CHECK_FALSE(may_have_breakpoint_within(tile, tile_height, 1.999));
    CHECK(may_have_breakpoint_within(tile, tile_height, 2));
    for (int r = 0; r < tile_height; r++) {
        TileVariables one = tile;
        one.x[r] = 0.5; // breakpoint 1
        CHECK(may_have_breakpoint_within(one, tile_height, 1.5));
        CHECK_FALSE(may_have_breakpoint_within(one, r, 1.5)); // the variable is beyond the last one of the tile
        one.h[r] = 0.5;                                       // breakpoint 2
        CHECK_FALSE(may_have_breakpoint_within(one, tile_height, 1.5));
    }
}
