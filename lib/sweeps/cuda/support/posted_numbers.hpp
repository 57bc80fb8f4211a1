// This header declares the last step of sweep 1. A kernel joins the partial sums of the blocks, or of the parts of
// segments, and writes the results to host memory. The two kernels are compiled once (posted_numbers.cu) rather than
// once for each backend.
#pragma once

#include <cstring>

#include "sweeps/cuda/support/launch_place.cuh"
#include "sweeps/products_layout.hpp"
#include "sweeps/rules.hpp"

namespace cudaopt {

// Posted is a number that the device writes to host memory. It is divided into two halves, and each half is in a 64-bit
// word that also contains the ticket, which is the number of the request. A word is written and read as a whole, so
// that the tickets show that both halves have arrived. Neither a fence nor a flag is needed.
struct alignas(16) Posted {
    // The number of the request (ticket) is in the upper 32 bits of each word.
    volatile uint64_t low, high;

    // Returns whether the device has written the number for the request with the given ticket. If it has, the function
    // stores it in `number`.
    bool arrived(unsigned ticket, double &number) const {
        const uint64_t low_word = low, high_word = high;
        if (low_word >> 32 != ticket || high_word >> 32 != ticket) return false;
        const uint64_t bits = high_word << 32 | (low_word & 0xffffffffu);
        std::memcpy(&number, &bits, sizeof number);
        return true;
    }
};

// The number of sums of a direction (DirectionSums).
constexpr int direction_numbers = 3;
static_assert(sizeof(DirectionRecord) == direction_numbers * sizeof(double), "a record is slope, d_squared, projected");

// OwnSubtrees describes the subtrees of a rank in the summation tree. It is passed as a kernel parameter.
struct OwnSubtrees {
    int count = 0;
    struct {
        int16_t begin, end; // a range of segment indices
    } of[most_subtrees];

    explicit OwnSubtrees(const OwnSegments &own) : count(own.subtree_count()), of{} {
        for (int k = 0; k < count; k++)
            of[k] = {static_cast<int16_t>(own.subtree(k).begin), static_cast<int16_t>(own.subtree(k).end)};
    }
};

// These functions return the number of values that the host receives per subtree, and in total. The values of a subtree
// are the inner products, the sums of the latest direction and, if the caller provides f per segment, the sum of f. The
// values of the subtrees are followed by f and the number of variables that sweep 1 has sent to the host. Variables
// that are not divided into segments have one subtree.
constexpr int numbers_of_subtree(const ProductsLayout &layout) { return layout.size + direction_numbers + 1; }
constexpr int posted_numbers(const ProductsLayout &layout, int subtrees) {
    return subtrees * numbers_of_subtree(layout) + 2;
}

// NumbersOfBlocks is the input of the kernels. It consists of the partial sums of `blocks` blocks of sweep 1, the
// records of `direction_blocks` blocks of sweep 2, and f.
struct NumbersOfBlocks {
    const double *partials;
    const DirectionRecord *directions;
    const double *f;
    int blocks, direction_blocks;
};
// NumbersPosted is the output of the kernels. They also reset *sent, the number of variables that sweep 1 has sent to
// the host, to 0.
struct NumbersPosted {
    unsigned long long *sent;
    Posted *to;
    unsigned ticket;
};

// Loads the two kernels onto the current device.
void load_numbers_kernels();
// post_numbers_of_blocks() launches the kernel for variables that are not divided into segments, and
// post_numbers_of_pieces() the one for variables that are. If f_of_segments is true, from.f is an array with one value
// per segment.
void post_numbers_of_blocks(const ProductsLayout &layout, const NumbersOfBlocks &from, const NumbersPosted &to,
                            const LaunchPlace &at);
void post_numbers_of_pieces(const ProductsLayout &layout, const OwnSubtrees &subtrees, int segments, bool f_of_segments,
                            const NumbersOfBlocks &from, const NumbersPosted &to, const LaunchPlace &at);

} // namespace cudaopt
