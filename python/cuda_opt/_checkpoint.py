"""Checkpoints without the measured times of the solve, so that equal solves have checkpoints with equal bytes.

A checkpoint (lib/solver/checkpoint.cpp) consists of a header, two times as doubles, the state, the vectors and a
CRC-64. If the times are set to zero, the checksum has to be changed. The CRC is linear: for two messages a and b of the
same length, crc(a) xor crc(b) is the remainder of a xor b. Let a be the checkpoint, and b the same with times of zero.
Then a xor b is zero except for 16 bytes. The new checksum is therefore computed from these bytes and from the number of
bytes that follow, without reading the rest of the checkpoint."""
from __future__ import annotations

# The times follow the header, which consists of magic number, version, byte order and six integers of 64 bits.
TIMES = slice(64, 80)
CHECKSUM = slice(-8, None)
# The polynomial is that of ECMA-182 with reflected bits: bit 63 is the coefficient of x^0.
_POLYNOMIAL = 0xC96C5795D7870F42


def _times_x(a: int) -> int:
    return (a >> 1) ^ (_POLYNOMIAL if a & 1 else 0)


def _product(a: int, b: int) -> int:
    """Return the product a b of two polynomials over GF(2), modulo the polynomial of the CRC."""
    product = 0
    for bit in range(63, -1, -1):
        if a >> bit & 1:
            product ^= b
        b = _times_x(b)
    return product


def _remainder(message: bytes, zeros: int) -> int:
    """Return the CRC-64 of the message followed by ``zeros`` zero bytes. The CRC register is initially zero."""
    register = 0
    for byte in message:
        register ^= byte
        for _ in range(8):
            register = _times_x(register)
    # In this representation 1 << 63 is the polynomial 1, and 1 << 55 is x^8.
    power, square = 1 << 63, 1 << 55
    while zeros:
        if zeros & 1:
            power = _product(power, square)
        square = _product(square, square)
        zeros >>= 1
    return _product(register, power)


def without_times(checkpoint: bytes) -> bytes:
    """Return a copy of the checkpoint in which the times are zero and the checksum is valid."""
    changed = bytearray(checkpoint)
    times = bytes(changed[TIMES])
    changed[TIMES] = bytes(len(times))
    after = len(changed) - TIMES.stop - 8
    checksum = int.from_bytes(changed[CHECKSUM], "little") ^ _remainder(times, after)
    changed[CHECKSUM] = checksum.to_bytes(8, "little")
    return bytes(changed)
