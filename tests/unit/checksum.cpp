// Tests of the checksum of checkpoints and packets.
#include <catch2/catch.hpp>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "boundary/checksum.hpp"

using cudaopt::checksum;

namespace {

// Computes CRC-64/XZ bit by bit, as it is defined.
uint64_t by_bits(const std::vector<unsigned char> &bytes) {
    uint64_t remainder = ~uint64_t{0};
    for (const unsigned char byte : bytes) {
        remainder ^= byte;
        for (int bit = 0; bit < 8; bit++)
            remainder = (remainder & 1) != 0 ? (remainder >> 1) ^ 0xc96c5795d7870f42u : remainder >> 1;
    }
    return ~remainder;
}

} // namespace

TEST_CASE("The checksum is CRC-64/XZ", "[checksum]") {
    CHECK(checksum("123456789", 9) == 0x995dc9bbdf1939fau); // the check value in the definition of CRC-64/XZ
    CHECK(checksum(nullptr, 0) == 0);
    std::vector<unsigned char> bytes;
    for (int length = 0; length < 40; length++) {
        CHECK(checksum(bytes.data(), length) == by_bits(bytes));
        bytes.push_back(static_cast<unsigned char>(37 * length + 11));
    }
    const uint64_t of_first = checksum(bytes.data() + 3, 21, checksum(bytes.data(), 3));
    CHECK(checksum(bytes.data() + 24, static_cast<int64_t>(bytes.size()) - 24, of_first) == by_bits(bytes));
}

TEST_CASE("The checksum depends on the order of words of each width", "[checksum]") {
    std::vector<unsigned char> bytes(256);
    for (std::size_t i = 0; i < bytes.size(); i++) bytes[i] = static_cast<unsigned char>(i);
    const auto of = [](const std::vector<unsigned char> &any) {
        return checksum(any.data(), static_cast<int64_t>(any.size()));
    };
    const uint64_t before = of(bytes);
    for (const std::size_t width : {1, 2, 4, 8, 16, 64})
        for (std::size_t a = 0; a < bytes.size(); a += width)
            for (std::size_t b = a + width; b < bytes.size(); b += width) {
                std::vector<unsigned char> exchanged = bytes;
                std::swap_ranges(exchanged.begin() + static_cast<std::ptrdiff_t>(a),
                                 exchanged.begin() + static_cast<std::ptrdiff_t>(a + width),
                                 exchanged.begin() + static_cast<std::ptrdiff_t>(b));
                CHECK(of(exchanged) != before);
            }
}
