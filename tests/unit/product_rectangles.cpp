// Tests of the places of inner products that many warps compute together. Each product is computed once, from the
// columns to which it belongs.
#include "sweeps/cuda/inner_products/product_rectangles.hpp"

#include <catch2/catch.hpp>
#include <vector>

using namespace cudaopt;

namespace {

struct Formed {
    int i, j;
    bool over_all;
};

// Returns the product that the instructions of a warp store at a place. The pairs of octets are (0, 0), (1, 2) and so
// on.
template <class Map> Formed product_at(const Map &map, const typename Map::Place &place) {
    const auto of = map.at(place.rectangle);
    const int tile = place.element / 128, half = place.element / 64 % 2, row = place.element / 8 % 8,
              column = place.element % 8;
    const int pair = of.band * Map::pairs + tile / 4, other = of.column + tile % 4;
    const int octet = pair == 0 ? 0 : 2 * pair - 1 + half;
    return {8 * octet + row, 8 * other + column, pair == 0 && half == 0};
}

template <bool free_gram> void check_places(int columns) {
    const ProductRectangles<free_gram> map{(columns + 7) / 8};
    std::vector<bool> taken(static_cast<std::size_t>(map.count()) * map.elements);
    const auto check = [&](int i, int j, bool over_all, const auto &place) {
        const Formed formed = product_at(map, place);
        const bool inside =
            place.rectangle >= 0 && place.rectangle < map.count() && place.element >= 0 && place.element < map.elements;
        if (!inside || formed.i != i || formed.j != j || formed.over_all != over_all)
            FAIL("the product of columns " << i << " and " << j << " of " << columns << " is not at its place");
        const auto at =
            static_cast<std::size_t>(place.rectangle) * map.elements + static_cast<std::size_t>(place.element);
        if (taken[at]) FAIL("two products at one place");
        taken[at] = true;
    };
    for (int i = 0; free_gram && i < columns; i++)
        for (int j = i; j < columns; j++) check(i, j, false, map.over_free(i, j));
    for (int i = 0; i < std::min(8, columns); i++)
        for (int j = 0; j < columns; j++) check(i, j, true, map.over_all(i, j));
}

} // namespace

TEST_CASE("Each inner product of up to 260 columns has a distinct place in a rectangle", "[rectangles]") {
    for (int columns = 1; columns <= 260; columns++) {
        check_places<true>(columns);
        check_places<false>(columns);
    }
}

TEST_CASE("The numbers of rectangles for 23 to 80 pairs match the blocks that the kernel expects", "[rectangles]") {
    CHECK(ProductRectangles<true>{7}.count() == 3);
    CHECK(ProductRectangles<true>{11}.count() == 5);
    CHECK(ProductRectangles<true>{21}.count() == 14);
    CHECK(ProductRectangles<false>{21}.count() == 6);
}
