"""Checks every array before its address is given to the C library.

The C library reads and writes at raw addresses, with a precision and a length that are fixed at the start. An array
library may return an array that differs from the requested one. For example, JAX returns float32 instead of float64
while jax_enable_x64 is off, and torch and NumPy can resize the memory of an existing array. Any such difference would
corrupt memory. Therefore ``admit`` compares all properties that the array library reports with the requirements of the
C library."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

_BYTES = {"float64": 8, "float32": 4, "int64": 8}


class Memory(NamedTuple):
    """The properties of an array's memory, as the array's library reports them."""

    # ``address`` is the address of the array's first element.
    address: int
    dtype: str  # "float64"
    shape: tuple[int, ...]
    # Strides are in bytes. None means that the array is row-major without gaps.
    strides: tuple[int, ...] | None = None
    # ``size`` is the number of bytes from the address to the end of the allocation. None means that it is not known.
    size: int | None = None
    read_only: bool = False
    # None means that the array library does not report the device.
    device: Any = None

    @property
    def needed(self) -> int:
        """Return the size in bytes of the array's elements."""
        return _BYTES.get(self.dtype, 0) * math.prod(self.shape)


def wrong_shape(what: str, shape: Any, wanted: Any) -> ValueError:
    """Return the exception to raise for an array with a wrong shape."""
    return ValueError(f"{what} has the shape {tuple(shape)}, not {tuple(wanted)}")


def _is_contiguous(memory: Memory, element: int) -> bool:
    if memory.strides is None or 0 in memory.shape:
        return True
    expected = element
    for length, stride in zip(reversed(memory.shape), reversed(memory.strides)):
        if length > 1 and stride != expected:
            return False
        expected *= length
    return True


def admit(
    memory: Memory, what: str, dtype: str, shape: Any, *, device: Any = None, written: bool = False
) -> int:
    """Return the address of an array, after checking its dtype, shape and device and that its memory is large enough.

    Raises
    ------
    TypeError
        if the elements have another type
    ValueError
        if any other property differs; the message names the required and the actual property
    """
    if memory.dtype != dtype:
        raise TypeError(f"{what} has elements of {memory.dtype}, but {dtype} is needed")
    if memory.shape != tuple(shape):
        raise wrong_shape(what, memory.shape, shape)
    element = _BYTES[dtype]
    if not _is_contiguous(memory, element):
        raise ValueError(f"{what} is not contiguous: its strides are {memory.strides} bytes")
    if device is not None and memory.device is not None and memory.device != device:
        raise ValueError(f"{what} is on the device {memory.device}, but x0 on {device}")
    needed = memory.needed
    if memory.size is not None and memory.size < needed:
        raise ValueError(f"{what} has {memory.size} bytes of memory, but {needed} bytes are needed")
    if needed and not memory.address:
        raise ValueError(f"{what} has no memory, but {needed} bytes are needed")
    if memory.address % element:
        raise ValueError(f"{what} is not aligned: its address is not a multiple of {element} bytes")
    if written and memory.read_only:
        raise ValueError(f"{what} is read-only")
    return memory.address


class Buffer:
    """An array whose address the C library keeps between calls. Before each call ``place_of(owner)``, the present
    address and size of the memory, is compared with ``place``, the original ones. If they differ, ``refuse`` raises an
    exception."""

    __slots__ = ("array", "owner", "what", "address", "place_of", "place", "_space", "_given")

    def __init__(self, space: Any, array: Any, what: str, shape: Any, *, double: bool = False, written: bool = True):
        self.array, self.what, self._space = array, what, space
        self.address: int = space.admitted(array, what, shape, double=double, written=written)
        self.owner = space.owner(array)
        self.place_of: Callable[[Any], Any] = space.place
        self.place = space.place(self.owner)
        self._given = space.bytes_of(self.owner)

    def refuse(self) -> NoReturn:
        raise ValueError(
            f"{self.what} has {self._space.bytes_of(self.owner)} bytes of memory, but the solver was given "
            f"{self._given} bytes at the address {self.address:#x}: the memory was resized or replaced"
        )
