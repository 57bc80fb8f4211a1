// CRC-64 with the reflected polynomial of ECMA-182 (also known as CRC-64/XZ). It detects every error burst of up to 64
// bits. Any other change, such as exchanged words, goes undetected with a probability of 2^-64.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

namespace cudaopt {

class Checksum {
  public:
    // Processes eight bytes per step, with one table per byte (Kounavis and Berry, IEEE Trans. Comput. 57 (2008) 1550).
    void add(const void *bytes, int64_t count) {
        const auto *next = static_cast<const unsigned char *>(bytes);
        for (; count >= 8; count -= 8, next += 8) {
            const uint64_t word = remainder_ ^ little_endian(next);
            remainder_ = 0;
            for (int byte = 0; byte < 8; byte++) remainder_ ^= tables[7 - byte][(word >> (8 * byte)) & 0xff];
        }
        for (; count > 0; count--, next++) remainder_ = tables[0][(remainder_ ^ *next) & 0xff] ^ (remainder_ >> 8);
    }
    uint64_t value() const { return ~remainder_; }

  private:
    using Tables = std::array<std::array<uint64_t, 256>, 8>;

    static uint64_t little_endian(const unsigned char *bytes) {
        uint64_t word = 0;
        for (int i = 0; i < 8; i++) word |= uint64_t{bytes[i]} << (8 * i);
        return word;
    }
    // Returns the tables. tables[k][b] is the CRC remainder of the byte b followed by k zero bytes.
    static constexpr Tables make_tables() {
        Tables made{};
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
    static const Tables tables;

    uint64_t remainder_ = ~uint64_t{0};
};

inline constexpr Checksum::Tables Checksum::tables = Checksum::make_tables();

inline uint64_t checksum(const void *bytes, int64_t count) {
    Checksum sum;
    sum.add(bytes, count);
    return sum.value();
}

} // namespace cudaopt
