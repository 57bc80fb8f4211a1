"""Checkpoints without the times of the solve, so that equal solves have equal bytes.

A checkpoint (lib/solver/checkpoint.cpp) consists of a header, two times as doubles, the state, the vectors and a
CRC-64. With the times set to zero the checksum changes. The CRC is linear: for two messages a and b of the same length,
crc(a) xor crc(b) is the remainder of a xor b. Here a is the checkpoint and b the same with times of zero, so that
a xor b is zero except for 16 bytes. The new checksum is therefore computed from these bytes and from the number of
bytes that follow, without reading the rest of the checkpoint."""
from __future__ import annotations

TIMES = slice(64, 80)  # they follow the header: magic number, version, byte order, six integers of 64 bits
CHECKSUM = slice(-8, None)
_POLYNOMIAL = 0xC96C5795D7870F42  # the polynomial of ECMA-182 with reflected bits: bit 63 is the coefficient of x^0


def _times_x(a: int) -> int:
    return (a >> 1) ^ (_POLYNOMIAL if a & 1 else 0)


def _product(a: int, b: int) -> int:
    """Return the product a b modulo the polynomial."""
    product = 0
    for bit in range(63, -1, -1):
        if a >> bit & 1:
            product ^= b
        b = _times_x(b)
    return product


def _remainder(message: bytes, zeros: int) -> int:
    """Return the CRC-64 of a message that is followed by this number of zero bytes. The register is zero at the
    start."""
    register = 0
    for byte in message:
        register ^= byte
        for _ in range(8):
            register = _times_x(register)
    power, square = 1 << 63, 1 << 55  # the polynomials 1 and x^8
    while zeros:
        if zeros & 1:
            power = _product(power, square)
        square = _product(square, square)
        zeros >>= 1
    return _product(register, power)


def without_times(checkpoint: bytes) -> bytes:
    """Return the checkpoint of the same solve with times of zero and a valid checksum."""
    changed = bytearray(checkpoint)
    times = bytes(changed[TIMES])
    changed[TIMES] = bytes(len(times))
    after = len(changed) - TIMES.stop - 8
    checksum = int.from_bytes(changed[CHECKSUM], "little") ^ _remainder(times, after)
    changed[CHECKSUM] = checksum.to_bytes(8, "little")
    return bytes(changed)
