"""The memory of the user's arrays. A ``Space`` creates, checks and copies arrays of one library in that memory.

The C library works on addresses. A ``Space`` contains everything that depends on the array library (NumPy, torch, JAX,
CuPy and others). It is created from x0, and every array of a solve is created, checked and copied by it.
``_space_of.py`` chooses the class."""
from __future__ import annotations

import ctypes
import math
from contextlib import AbstractContextManager, nullcontext
from operator import attrgetter
from typing import Any

import numpy as np

from ._constants import BACKEND_HOST
from ._gate import Memory, admit, wrong_shape
from ._recorder import Recorder

_NAMES = {np.dtype(name).str: name for name in ("float64", "float32")}
# Array stands for an array of NumPy, torch, CuPy, JAX or another library.
Array = Any
INDICES = "the array of indices"
# The element types that x may have, and their numbers of bits.
DTYPES = {"float64": 64, "float32": 32}


def name_of(value: Any) -> str:
    """Return the name of a value's type as users write it, for example ``numpy.ndarray``."""
    kind = type(value)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def bits_of(dtype: str, what: str = "x0") -> int:
    """Return 64 for double precision and 32 for single precision. Raises TypeError for elements of another type."""
    if dtype not in DTYPES:
        raise TypeError(f"{what} has elements of {dtype}: they have to be float64 or float32")
    return DTYPES[dtype]


class Space:
    """Creates, checks and copies the arrays of one library on one device, with elements of one precision."""

    backend = BACKEND_HOST
    # ``stream`` is a cudaStream_t. None means the default stream of the array library.
    stream: int | None = None
    # The object that owns the stream is stored here, because the stream must exist as long as the solver uses it.
    stream_owner: Any = None
    bits = 64
    # ``device`` is the device of all arrays, or None if there is only one device.
    device: Any = None
    # ``recording`` is True while an evaluation is recorded as a CUDA graph and not executed.
    recording = False

    def within(self) -> AbstractContextManager[Any]:
        """Return a context in which the device is current, for the creation of a handle."""
        return nullcontext()

    def empty(self, *shape: int, double: bool = False) -> Array:
        """Return a new array in the precision of x0, or of doubles. Its values are undefined."""
        raise NotImplementedError

    def copy_of(self, array: Array) -> Array:
        """Return a new contiguous array with these values, in the precision of x0. The solver's start is copied by
        this."""
        raise NotImplementedError

    def take(self, array: Array, what: str, written: bool = False) -> Array:
        """Return the user's array if the C library can read or write it in place. Otherwise raise an exception."""
        memory = self.memory(array, what)
        admit(memory, what, f"float{self.bits}", memory.shape, device=self.device, written=written)
        return array

    def memory(self, array: Array, what: str) -> Memory:
        """Return the properties of an array as its library reports them. Raises TypeError for an array of another
        library."""
        raise NotImplementedError

    def admitted(
        self, array: Array, what: str, shape: Any, *, double: bool = False, written: bool = False
    ) -> int:
        """Return the address of the array's first element, after the check (``admit``) that every array has to satisfy.
        """
        dtype = "float64" if double else f"float{self.bits}"
        return admit(self.memory(array, what), what, dtype, shape, device=self.device, written=written)

    def place(self, array: Array) -> Any:
        """Return a value that changes when the memory of an array is replaced or resized. Each step compares this
        value, so that it must be cheap to compute."""
        raise NotImplementedError

    def owner(self, array: Array) -> Any:
        """Return the owner of an array's memory: the array itself, or the array of which it is a view."""
        return array

    def bytes_of(self, owner: Any) -> int:
        """Return the size in bytes of the memory of an array that the method ``owner`` has returned."""
        return int(owner.nbytes)

    def from_numpy(self, array: np.ndarray[Any, Any]) -> Array:
        """Return a new array in this space's precision with the values of a NumPy array."""
        raise NotImplementedError

    def view(self, array: Array) -> Array:
        """Return an array with the same memory for the user's function, which must only read it."""
        return array

    def protected(self, array: Array) -> Array:
        """Return an array with the same values for the user's function. The function cannot change ``array`` by it, or
        version() changes."""
        return self.view(array)

    def version(self, array: Array) -> int:
        """Return a number that changes when the user's library writes to the array, or 0 if the library has none."""
        return 0

    def scalar(self, array: Array) -> Any:
        """Return an array of one double in the form that the user reads: a view, or a number if the array library has
        no doubles."""
        return self.view(array)

    def own(self, array: Array) -> Array:
        """Return an array that shares the memory of ``array``. The user may write to it, and may keep it after the end
        of the solve. If the user's library computes on other streams, this first waits for the solver's work on the
        array."""
        return array

    def part(self, array: Array, count: int) -> Array:
        """Return the first ``count`` elements along the last axis, as a view() of the same memory."""
        return self.view(array)[..., :count]

    def padded(self, active: int, count: int) -> int:
        """Return the number of rows that the user's function of a batch receives, at most ``count``. Only the first
        ``active`` rows are used; JAX rounds the number up."""
        return active

    def rows(self, array: Array, active: int, rows: int) -> Array:
        """Return the first ``rows`` rows as a view() of the same memory. In JAX this is a copy, whose rows from
        ``active`` on repeat the last active row, unless all rows are active."""
        return self.view(array)[:rows]

    def chosen(self, array: Array, rows: np.ndarray[Any, Any]) -> Array:
        """Return a new array with the rows whose indices are given."""
        return array[rows]

    def indices(self, address: int, active: int, rows: int) -> Array:
        """Return a new array with the 64-bit integers at an address in this space. Its rows are those of rows()."""
        raise NotImplementedError

    def repeated(self, row: Array, count: int) -> Array:
        """Return a new array whose ``count`` rows all equal ``row``."""
        copy = self.empty(count, int(row.shape[0]))
        copy[...] = row
        return copy

    def recorder(self) -> Recorder:
        """Return the object that records an evaluation as a CUDA graph. Raises ValueError if the array library has
        none."""
        raise ValueError("cuda_graph is True, but x0 is not an array of torch or CuPy on a CUDA device")

    def number_of(self, value: Any, what: str) -> float:
        """Return the user's value as a float if it is a number on the host. While a CUDA graph is recorded this raises
        TypeError, because the graph would repeat the same number in all evaluations."""
        if self.recording:
            raise TypeError(f"{what} is a {name_of(value)}: in a CUDA graph it has to be an array in device memory")
        return number(value, what)

    def put_number(self, to: Array, value: Any, what: str) -> None:
        """Write one number into an array of one element."""
        raise NotImplementedError

    def put(self, to: Array, values: Any, what: str) -> None:
        """Copy the user's values into the array ``to``, which has the same shape."""
        raise NotImplementedError

    def put_first(self, to: Array, count: int, values: Any, what: str) -> None:
        """Copy the user's values into the first ``count`` elements, or rows, of the array ``to``."""
        self.put(to[:count], values, what)


def integers_at(address: int, count: int) -> Any:
    """Return the 64-bit integers at an address in host memory, as an object with the buffer protocol."""
    return (ctypes.c_int64 * count).from_address(address)


class DeviceIntegers:
    """The 64-bit integers at an address in device memory, as an object with ``__cuda_array_interface__``."""

    def __init__(self, address: int, count: int) -> None:
        interface = {"shape": (count,), "typestr": "<i8", "data": (address, False), "strides": None, "version": 3}
        self.__cuda_array_interface__ = interface


def one_axis(array: Array, what: str, least: int = 1) -> int:
    """Return the length of a one-dimensional array. Raises ValueError if it has another number of axes or too few
    elements."""
    shape = tuple(array.shape)
    if len(shape) != 1 or shape[0] < least:
        raise ValueError(f"{what} has the shape {shape}: it has to have one axis, of at least one element")
    return int(shape[0])


class NumPySpace(Space):
    """NumPy arrays."""

    def __init__(self, x0: np.ndarray[Any, Any]) -> None:
        self.dtype = x0.dtype.newbyteorder("=")
        self.bits = bits_of(x0.dtype.name)

    def empty(self, *shape: int, double: bool = False) -> Array:
        return np.empty(shape, np.float64 if double else self.dtype)

    def copy_of(self, array: Array) -> Array:
        return np.array(array, self.dtype, order="C")

    def memory(self, array: Array, what: str) -> Memory:
        if not isinstance(array, np.ndarray):
            raise TypeError(f"{what} is a {name_of(array)}, but x0 is a NumPy array")
        if not array.dtype.isnative:
            raise ValueError(f"{what} does not have the byte order of this machine")
        # Reading flags.writeable of a broadcast array causes a warning by NumPy 1.
        address, is_read_only = array.__array_interface__["data"]
        # The dictionary is tried first, because reading dtype.name takes microseconds.
        dtype = _NAMES.get(array.dtype.str) or array.dtype.name
        return Memory(address, dtype, array.shape, array.strides, array.nbytes, is_read_only)

    def owner(self, array: Array) -> Any:
        while isinstance(array.base, np.ndarray):
            array = array.base
        return array

    # NumPy never moves memory whose size stays the same. Therefore the size is compared, which takes 0.03 microseconds,
    # and not the address, which takes 0.8 microseconds.
    place = staticmethod(attrgetter("nbytes"))  # type: ignore[assignment]

    def from_numpy(self, array: np.ndarray[Any, Any]) -> Array:
        return np.ascontiguousarray(array, self.dtype)

    def view(self, array: Array) -> Array:
        view = array.view()
        # The view is read-only, because nothing else would notice if the user's function changed x.
        view.flags.writeable = False
        return view

    def indices(self, address: int, active: int, rows: int) -> Array:
        return np.array(integers_at(address, rows), np.int64)

    def put_number(self, to: Array, value: Any, what: str) -> None:
        if not isinstance(value, float):
            value = number(value, what)
        to[()] = value

    def put(self, to: Array, values: Any, what: str) -> None:
        if values is to:
            return
        if type(values) is not np.ndarray or values.shape != to.shape:
            if hasattr(values, "__cuda_array_interface__"):
                raise TypeError(f"{what} is a {name_of(values)} in device memory, but x0 is a NumPy array")
            array = np.atleast_1d(numpy_array(values, what))
            if array.dtype.kind in "OSUcmM":
                if array.size == 1 and not isinstance(values, np.ndarray):
                    raise TypeError(f"{what} is a {name_of(values)}: it has to be an array of real numbers")
                raise TypeError(f"{what} has elements of {array.dtype}: they have to be real numbers")
            values = array
            if values.shape != to.shape:
                raise wrong_shape(what, values.shape, to.shape)
        try:
            np.copyto(to, values, casting="same_kind")
        except TypeError:
            raise TypeError(f"{what} has elements of {values.dtype}: they have to be real numbers") from None


def numpy_array(values: Any, what: str) -> np.ndarray[Any, Any]:
    """Return numbers, sequences of numbers or an array on the host as a NumPy array. Raises TypeError if elements have
    different shapes, for example f and its gradient in one list, or if elements are masked. Exceptions of the user's
    method ``__array__`` are passed on unchanged."""
    if np.ma.is_masked(values):
        raise TypeError(f"{what} has masked elements, which have no value")
    try:
        return np.asarray(values)
    except ValueError:
        if hasattr(type(values), "__array__"):
            raise
        text = f"{what} is a {name_of(values)} whose elements differ in shape: they cannot form an array"
        raise TypeError(text) from None


def number(value: Any, what: str) -> float:
    """Convert a number, or an array of one element on the host, to a Python float."""
    if isinstance(value, (int, float)):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    array = numpy_array(value, what)
    if array.size != 1:
        raise ValueError(f"{what} has the shape {array.shape}: it has to be one number")
    if array.dtype.kind not in "fiub":
        raise TypeError(f"{what} is a {name_of(value)}: it has to be a real number")
    return float(array.reshape(()))


def as_array(x0: Any) -> Array:
    """Return x0 unchanged if it is an array of some library. Numbers, sequences of numbers and objects such as a column
    of a table become a NumPy array of doubles."""
    of_a_library = any(hasattr(type(x0), name) for name in ("__cuda_array_interface__", "__dlpack__"))
    of_numbers = isinstance(x0, (int, float, list, tuple, range, np.generic)) or hasattr(x0, "__array__")
    array = np.atleast_1d(numpy_array(x0, "x0")) if of_numbers and not of_a_library else x0
    if isinstance(array, np.ndarray):
        if np.ma.is_masked(array):
            raise TypeError("x0 has masked elements, which have no value")
        if array.ndim == 0:
            array = array.reshape(1)
        if array.dtype.kind in "iub":
            array = array.astype(np.float64)
        elif array.dtype.kind == "O":
            raise TypeError("x0 has elements that are not numbers: they have to be float64 or float32")
    return array
