// CRC-64 with the reflected polynomial of ECMA-182 (also known as CRC-64/XZ). It detects every error burst of up to 64
// bits. Any other change, such as exchanged words, goes undetected with a probability of 2^-64.
#pragma once

#include <array>
#include <cstdint>

namespace cudaopt {

using ChecksumTables = std::array<std::array<uint64_t, 256>, 8>;

// Returns the tables. tables[k][b] is the CRC remainder of the byte b followed by k zero bytes.
constexpr ChecksumTables make_checksum_tables() {
    ChecksumTables made{};
    for (uint64_t b = 0; b < 256; b++) {
        uint64_t remainder = b;
        for (int bit = 0; bit < 8; bit++)
            remainder = (remainder & 1) != 0 ? (remainder >> 1) ^ 0xc96c5795d7870f42u : remainder >> 1;
        made[0][b] = remainder;
    }
    for (std::size_t k = 1; k < 8; k++)
        for (std::size_t b = 0; b < 256; b++) made[k][b] = made[0][made[k - 1][b] & 0xff] ^ (made[k - 1][b] >> 8);
    return made;
}
inline constexpr ChecksumTables checksum_tables = make_checksum_tables();

// Processes eight bytes per step, with one table per byte (Kounavis and Berry, IEEE Trans. Comput. 57 (2008) 1550).
// before: the checksum of the bytes that precede these.
inline uint64_t checksum(const void *bytes, int64_t count, uint64_t before = 0) {
    const auto *next = static_cast<const unsigned char *>(bytes);
    uint64_t remainder = ~before;
    for (; count >= 8; count -= 8, next += 8) {
        for (int byte = 0; byte < 8; byte++) remainder ^= uint64_t{next[byte]} << (8 * byte);
        const uint64_t word = remainder;
        remainder = 0;
        for (int byte = 0; byte < 8; byte++) remainder ^= checksum_tables[7 - byte][(word >> (8 * byte)) & 0xff];
    }
    for (; count > 0; count--, next++) remainder = checksum_tables[0][(remainder ^ *next) & 0xff] ^ (remainder >> 8);
    return ~remainder;
}

} // namespace cudaopt
