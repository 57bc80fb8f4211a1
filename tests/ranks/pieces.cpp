// Tests how the variables of a rank's segments are divided among the blocks of a GPU, which depends only on the n of
// all ranks.
#include <catch2/catch.hpp>
#include <vector>

#include "sweeps/cuda/support/pieces.hpp"

using namespace cudaopt;

TEST_CASE("The parts of segments do not depend on the ranks and contain each variable once", "[ranks]") {
    for (const int64_t n : {int64_t{1}, int64_t{1000}, int64_t{9001}, int64_t{1100001}, int64_t{4300003},
                            int64_t{100000000}, int64_t{6000000001}}) {
        const Segments all(n);
        const Pieces whole(OwnSegments(0, n, n));
        CHECK(whole.count() == whole.of_segment() * all.count());
        CHECK(whole.of_segment() == (n < 1 << 20 ? 1 : n < 1 << 21 ? 2 : most_pieces));
        for (const int ranks : {1, 2, 3, 8})
            for (int rank = 0; rank < ranks; rank++) {
                const int64_t before = all.count() * rank / ranks, first = all.variable(before),
                              own = all.variable(all.count() * (rank + 1) / ranks) - first;
                if (own == 0) continue;
                INFO(n << " variables, rank " << rank << " of " << ranks);
                const Pieces pieces{OwnSegments(first, own, n)};
                REQUIRE(pieces.of_segment() == whole.of_segment());
                for (const int rows : {1, 4, 64}) {
                    int64_t next = 0;
                    std::vector<int> taken(static_cast<std::size_t>(pieces.count()));
                    bool same = true, in_order = true;
                    for (int block = 0; block < pieces.count(); block++) {
                        const BlockShare share = pieces.share(own, rows, block, pieces.count(), 8),
                                         of_one = whole.share(n, rows,
                                                              block + static_cast<int>(before) * pieces.of_segment(),
                                                              whole.count(), 8);
                        same = same && share.begin == next && share.end > share.begin && share.offset == 0 &&
                               share.step == 8 && share.begin + first / rows == of_one.begin &&
                               share.end + first / rows == of_one.end;
                        next = share.end;
                        taken.at(static_cast<std::size_t>(pieces.place(block)))++;
                        // The first parts of all segments are stored first, then the second parts, and so on.
                        const int piece = block % pieces.of_segment(), segment = block / pieces.of_segment();
                        in_order = in_order && pieces.place(block) == piece * pieces.segments() + segment;
                    }
                    CHECK(same);
                    CHECK(in_order);
                    CHECK(next == (own + rows - 1) / rows);
                    CHECK(taken == std::vector<int>(taken.size(), 1));
                }
            }
    }
}

TEST_CASE("Blocks use a grid-stride loop if the variables are not divided into segments", "[ranks]") {
    const Pieces none;
    CHECK(!none.by_segments());
    const BlockShare share = none.share(1000, 32, 3, 10, 8);
    CHECK(share.begin == 0);
    CHECK(share.end == 32);
    CHECK(share.offset == 24);
    CHECK(share.step == 80);
    CHECK(none.place(3) == 3);
}
