"""JAX arrays as the solver's arrays, on the host and on CUDA devices.

JAX arrays are immutable, but the solver changes x, f and g in place. Therefore the solver uses its own arrays, whose
memory JAX allocates and to which the user has no access. In each evaluation the user's function receives the same
memory by DLPack as a new array, which it must not keep. The arrays that it returns are copied within device memory. JAX
computes on its own streams. Therefore the host waits for x before it calls the function, and for the results before it
copies them."""
from __future__ import annotations

import ctypes
import math
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import _driver
from ._constants import BACKEND_CUDA, BACKEND_HOST
from ._gate import Memory, admit, wrong_shape
from ._space import INDICES, Array, Space, bits_of, name_of, number


def _complete(array: Any, what: str = "an array of the solver") -> Array:
    """Wait until the values of an array are computed, and return it. Raises TypeError if JAX is tracing the array."""
    if isinstance(array, jax.core.Tracer):
        raise TypeError(
            f"{what} is traced by JAX (jit, grad, vmap): minimize may call compiled functions, but cannot be "
            "compiled itself"
        )
    return array.block_until_ready()


def _has_doubles() -> bool:
    return bool(getattr(jax.config, "jax_enable_x64"))


def check_precision(bits: int, what: str) -> None:
    """Raise TypeError if double precision is required, but jax_enable_x64 is off."""
    if bits == 64 and not _has_doubles():
        raise TypeError(
            f"{what} has to have elements of float64, but jax_enable_x64 is off and JAX computes in float32: switch "
            "it on for the whole solve, or pass x0 as float32"
        )


def _with_doubles() -> AbstractContextManager[Any]:
    """Return a context in which JAX can create 64-bit arrays, even if jax_enable_x64 is off."""
    if _has_doubles():
        return nullcontext()
    module: Any = jax if hasattr(jax, "enable_x64") else jax.experimental
    return module.enable_x64(True)


@partial(jax.jit, static_argnums=2)
def _rows(array: Array, active: int, rows: int) -> Array:
    """Return ``rows`` rows of an array: its first ``active`` rows, then copies of the last of these."""
    return array[jnp.minimum(jnp.arange(rows), active - 1)]


@partial(jax.jit, static_argnums=(0, 1))
def _zeros(shape: tuple[int, ...], dtype: Any) -> Array:
    """Return zeros. A compiled function is dispatched several times faster than ``jnp.zeros``."""
    return jnp.zeros(shape, dtype)


class JaxSpace(Space):
    """Creates and copies the solver's arrays as JAX arrays on the device of x0."""

    def __init__(self, x0: jax.Array) -> None:
        # _views contains, for each address, the array whose memory view() wraps in a new array.
        self._views: dict[int, Array] = {}
        # _indices is the device copy of the problem indices of a batch.
        self._indices: Array = None
        # Copies on the stream may still read these arrays. A reference to each of them keeps JAX from freeing its
        # memory.
        self._read: list[Array] = []
        _complete(x0, "x0")
        if len(x0.devices()) != 1:
            raise ValueError(f"x0 is spread over {len(x0.devices())} devices: it has to be on one")
        (self.device,) = x0.devices()
        self.dtype = x0.dtype
        self.bits = bits_of(x0.dtype.name)
        check_precision(self.bits, "x0")
        if self.device.platform in ("gpu", "cuda"):
            self.backend, self.stream = BACKEND_CUDA, 0
        elif self.device.platform == "cpu":
            self.backend = BACKEND_HOST
        else:
            raise TypeError(f"x0 is on the device {self.device}: it has to be on the host or a CUDA device")

    def within(self) -> AbstractContextManager[Any]:
        if self.backend == BACKEND_HOST:
            return nullcontext()
        return _driver.current(self.device.local_hardware_id or 0)

    def empty(self, *shape: int, double: bool = False) -> Array:
        with _with_doubles(), jax.default_device(self.device):
            return _complete(_zeros(shape, np.dtype(np.float64 if double else self.dtype)))

    def copy_of(self, array: Array) -> Array:
        with _with_doubles():
            return _complete(jnp.array(array, self.dtype, copy=True))

    def take(self, array: Array, what: str, written: bool = False) -> Array:
        super().take(array, what)
        return self.copy_of(array) if written else array

    def memory(self, array: Array, what: str) -> Memory:
        self.check(array, what)
        strides = None
        if array.ndim > 1 and hasattr(array, "format"):
            order, strides = array.format.layout.major_to_minor, array.ndim * [0]
            for at, axis in enumerate(order):
                strides[axis] = array.itemsize * math.prod(array.shape[other] for other in order[at + 1 :])
        size = array.on_device_size_in_bytes()
        address = int(array.unsafe_buffer_pointer()) if size else 0
        return Memory(address, array.dtype.name, array.shape, strides and tuple(strides), size, device=self.device)

    def place(self, array: Array) -> Any:
        return array.unsafe_buffer_pointer(), array.nbytes

    def check(self, array: Any, what: str) -> None:
        if not isinstance(array, jax.Array):
            raise TypeError(f"{what} is a {name_of(array)}, but x0 is a JAX array")
        _complete(array, what)
        if array.devices() != {self.device}:
            raise ValueError(f"{what} is on the device {array.devices()}, but x0 on {self.device}")

    def from_numpy(self, array: Any) -> Array:
        with _with_doubles():
            return _complete(jax.device_put(array.astype(self.dtype), self.device))

    def wait(self) -> None:
        """Wait until all work on the stream is complete."""
        if self.backend == BACKEND_CUDA:
            with self.within():
                _driver.synchronize(self.stream or 0)
        self._read.clear()

    def view(self, array: Array) -> Array:
        check_precision(self.bits, "x")
        self.wait()
        address = array.unsafe_buffer_pointer()
        view = self._views.get(address)
        # If a user's compiled function donates the memory of its argument, JAX deletes that array, and a new one is
        # needed.
        if view is None or view.is_deleted():
            view = self._views[address] = jax.dlpack.from_dlpack(array)
        # A new array is created each time, because JAX may cache the values of an array. DLPack would take three times
        # as long.
        return jax.make_array_from_single_device_arrays(view.shape, view.sharding, [view])

    def scalar(self, array: Array) -> Any:
        if _has_doubles():
            return self.view(array)
        self.wait()
        with _with_doubles():
            return float(jax.dlpack.from_dlpack(array))

    def own(self, array: Array) -> Array:
        self.wait()
        with _with_doubles():
            own = jax.device_put(jax.dlpack.from_dlpack(array), self.device)
        # Without jax_enable_x64 the values of f in a batch become single-precision numbers.
        return own if own.dtype == self.dtype or _has_doubles() else own.astype(self.dtype)

    def copy(self, to: Array, count: int, values: Array, what: str) -> None:
        """Copy values to the first ``count`` elements, or rows, of the array ``to``. JAX may still be computing the
        values."""
        double = to.dtype == np.float64
        target = self.admitted(to, "the solver's own array", to.shape, double=double)
        wanted = (count, *to.shape[1:]) if to.shape else values.shape
        source = self.admitted(values, what, wanted, double=double)
        if source == target:
            return
        if self.backend == BACKEND_HOST:
            ctypes.memmove(target, source, values.nbytes)
        else:
            with self.within():
                _driver.copy(target, source, values.nbytes, self.stream or 0)
            self._read.append(values)

    def put_number(self, to: Array, value: Any, what: str) -> None:
        if isinstance(value, jax.Array):
            value = _complete(value, what)
            if value.size == 1 and value.dtype == to.dtype == np.float64 and value.devices() == {self.device}:
                self.copy(to, 1, value, what)
                return
        double = ctypes.c_double(number(value, what))
        target = self.admitted(to, what, (), double=True)
        if self.backend == BACKEND_HOST:
            ctypes.memmove(target, ctypes.addressof(double), 8)
        else:
            with self.within():
                _driver.copy_in(target, ctypes.addressof(double), 8, self.stream or 0)

    def padded(self, active: int, count: int) -> int:
        return min(1 << (active - 1).bit_length(), count)

    def rows(self, array: Array, active: int, rows: int) -> Array:
        view = self.view(array)
        return view if active == rows == array.shape[0] else _rows(view, active, rows)

    def indices(self, address: int, active: int, rows: int) -> Array:
        if self._indices is None or self._indices.size < rows:
            with _with_doubles():
                self._indices = _complete(jnp.zeros(rows, jnp.int64, device=self.device))
        copied = self._indices
        to = admit(self.memory(copied, INDICES), INDICES, "int64", copied.shape, device=self.device)
        if self.backend == BACKEND_HOST:
            ctypes.memmove(to, address, 8 * active)
        else:
            with self.within():
                _driver.copy(to, address, 8 * active, self.stream or 0)
        return _rows(self.view(copied), active, rows)

    def repeated(self, row: Array, count: int) -> Array:
        with _with_doubles():
            return _complete(jnp.tile(row, (count, 1)))

    def put(self, to: Array, values: Any, what: str) -> None:
        self.put_first(to, to.shape[0], values, what)

    def put_first(self, to: Array, count: int, values: Any, what: str) -> None:
        check_precision(self.bits, what)
        self.check(values, what)
        wanted = (count, *to.shape[1:])
        if values.shape != wanted:
            raise wrong_shape(what, values.shape, wanted)
        if values.dtype.kind == "c":
            raise TypeError(f"{what} has elements of {values.dtype}: they have to be real numbers")
        if values.dtype != to.dtype:
            with _with_doubles():
                values = _complete(values.astype(to.dtype))
        self.copy(to, count, values, what)
