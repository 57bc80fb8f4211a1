// The last step of sweep 1: a kernel joins the partial sums of the blocks, or of the parts of segments, and writes the
// results to host memory. The two kernels are compiled once (posted_numbers.cu) rather than once for each backend.
#pragma once

#include <cuda_runtime.h>

#include <cstring>

#include "sweeps/cuda/pieces.hpp"
#include "sweeps/products_layout.hpp"
#include "sweeps/rules.hpp"

namespace cudaopt {

// A number that the device writes to host memory. Each half of it is in a 64-bit word that also contains the ticket of
// the request. A word is written and read as a whole, so the tickets show that both halves have arrived, and neither a
// fence nor a flag is needed.
struct alignas(16) Posted {
    volatile uint64_t low, high; // the ticket is in the upper 32 bits

    // Returns whether the number with this ticket has arrived; if so, stores it in `number`.
    bool arrived(unsigned ticket, double &number) const {
        const uint64_t low_word = low, high_word = high;
        if (low_word >> 32 != ticket || high_word >> 32 != ticket) return false;
        const uint64_t bits = high_word << 32 | (low_word & 0xffffffffu);
        std::memcpy(&number, &bits, sizeof number);
        return true;
    }
};

// The number of values that the host receives: the inner products, f, the sums of the latest direction, and the number
// of variables that were sent in advance.
constexpr int direction_numbers = 3;
static_assert(sizeof(DirectionRecord) == direction_numbers * sizeof(double), "a record is slope, d_squared, projected");
constexpr int posted_numbers(const ProductsLayout &layout) { return layout.size + 1 + direction_numbers + 1; }

// The subtrees of a rank, as a kernel parameter.
struct OwnSubtrees {
    int count = 0;
    struct {
        int16_t begin, end; // indices of segments
    } of[most_subtrees];

    explicit OwnSubtrees(const OwnSegments &own) : count(own.subtree_count()), of{} {
        for (int k = 0; k < count; k++)
            of[k] = {static_cast<int16_t>(own.subtree(k).begin), static_cast<int16_t>(own.subtree(k).end)};
    }
};

// The number of values per subtree: the inner products, the sums of the latest direction and, if it is given per
// segment, f. Behind the subtrees come f and the number of variables that were sent in advance.
constexpr int numbers_of_subtree(const ProductsLayout &layout) { return layout.size + direction_numbers + 1; }
constexpr int posted_numbers(const ProductsLayout &layout, int subtrees) {
    return subtrees * numbers_of_subtree(layout) + 2;
}

// The input of the kernels: the partial sums of `blocks` blocks of sweep 1, the records of `direction_blocks` blocks of
// sweep 2, and f.
struct NumbersOfBlocks {
    const double *partials;
    const DirectionRecord *directions;
    const double *f;
    int blocks, direction_blocks;
};
// The output of the kernels. They set *sent, the number of variables that were sent in advance, to 0.
struct NumbersPosted {
    unsigned long long *sent;
    Posted *to;
    unsigned ticket;
};
struct NumbersLaunch {
    bool early; // use programmatic dependent launch
    cudaStream_t stream;
};

void load_numbers_kernels(); // onto the current device
void post_numbers_of_blocks(const ProductsLayout &layout, const NumbersOfBlocks &from, const NumbersPosted &to,
                            const NumbersLaunch &at);
// The same for each subtree. f_of_segments: f is an array with one value per segment.
void post_numbers_of_pieces(const ProductsLayout &layout, const OwnSubtrees &subtrees, int segments, bool f_of_segments,
                            const NumbersOfBlocks &from, const NumbersPosted &to, const NumbersLaunch &at);

} // namespace cudaopt
