// The end of sweep 1: the partial sums of the blocks, or of the pieces where the variables are cut at segments, become
// the host's numbers. The two kernels are compiled once (posted_numbers.cu), not for each backend.
#pragma once

#include <cuda_runtime.h>

#include <cstring>

#include "sweeps/cuda/pieces.hpp"
#include "sweeps/products_layout.hpp"
#include "sweeps/rules.hpp"

namespace cudaopt {

// A number on its way to the host, each half in a word with the ticket of its turn: a word is written and read whole,
// so the host knows by the tickets alone that all of the number is there, and no fence or flag has to follow.
struct alignas(16) Posted {
    volatile uint64_t low, high; // the ticket in the upper 32 bits

    // Whether the number of this turn is there, and then what it is.
    bool arrived(unsigned ticket, double &number) const {
        const uint64_t low_word = low, high_word = high;
        if (low_word >> 32 != ticket || high_word >> 32 != ticket) return false;
        const uint64_t bits = high_word << 32 | (low_word & 0xffffffffu);
        std::memcpy(&number, &bits, sizeof number);
        return true;
    }
};

// What the host gets: the numbers of the inner products, f, the sums of the direction that led here, and how many
// variables were sent ahead.
constexpr int direction_numbers = 3;
static_assert(sizeof(DirectionRecord) == direction_numbers * sizeof(double), "a record is slope, d_squared, projected");
constexpr int posted_numbers(const ProductsLayout &layout) { return layout.size + 1 + direction_numbers + 1; }

// Of a rank's segments, as a kernel's parameter.
struct OwnSubtrees {
    int count = 0;
    struct {
        int16_t begin, end; // segments
    } of[most_subtrees];

    explicit OwnSubtrees(const OwnSegments &own) : count(own.subtree_count()), of{} {
        for (int k = 0; k < count; k++)
            of[k] = {static_cast<int16_t>(own.subtree(k).begin), static_cast<int16_t>(own.subtree(k).end)};
    }
};

// What the host gets: of each subtree the numbers of the inner products, the sums of the direction that led here, and f
// where that is given for each segment; then f, and how many variables were sent ahead.
constexpr int numbers_of_subtree(const ProductsLayout &layout) { return layout.size + direction_numbers + 1; }
constexpr int posted_numbers(const ProductsLayout &layout, int subtrees) {
    return subtrees * numbers_of_subtree(layout) + 2;
}

// What the kernels read: the partial sums of so many blocks of sweep 1, the records of so many of sweep 2, and f.
struct NumbersOfBlocks {
    const double *partials;
    const DirectionRecord *directions;
    const double *f;
    int blocks, direction_blocks;
};
// And where they write. *sent, the number of variables that were sent ahead, becomes 0.
struct NumbersPosted {
    unsigned long long *sent;
    Posted *to;
    unsigned ticket;
};
struct NumbersLaunch {
    bool early; // from Hopper on, the blocks are in place before sweep 1 has ended
    cudaStream_t stream;
};

void load_numbers_kernels(); // onto the current device
void post_numbers_of_blocks(const ProductsLayout &layout, const NumbersOfBlocks &from, const NumbersPosted &to,
                            const NumbersLaunch &at);
// Those of each subtree. f_of_segments: f is one number for each segment, not one.
void post_numbers_of_pieces(const ProductsLayout &layout, const OwnSubtrees &subtrees, int segments, bool f_of_segments,
                            const NumbersOfBlocks &from, const NumbersPosted &to, const NumbersLaunch &at);

} // namespace cudaopt
