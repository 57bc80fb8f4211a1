"""Arrays that are used only through a protocol: those of CuPy, and of other libraries that report addresses of memory.

Such arrays have ``__cuda_array_interface__`` or DLPack, and support assignment to ``array[...]``. Their library has a
module with ``empty`` and ``asarray``: ``__array_namespace__()``, or otherwise the module that defines their type."""
from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from . import _dlpack
from ._captured_cupy import CupyRecorder
from ._constants import BACKEND_CUDA, BACKEND_HOST
from ._gate import Memory, wrong_shape
from ._recorder import Recorder
from ._space import Array, DeviceIntegers, Space, bits_of, integers_at, name_of

# ``__cuda_array_interface__`` denotes the legacy default stream by this number.
_LEGACY_STREAM = 1


def namespace_of(array: Any) -> Any:
    """Return the module that creates arrays of this type. Raises TypeError if there is none."""
    if hasattr(array, "__array_namespace__"):
        return array.__array_namespace__()
    module = sys.modules[type(array).__module__.partition(".")[0]]
    if not hasattr(module, "empty") or not hasattr(module, "asarray"):
        raise TypeError(f"{name_of(array)} has no module with empty() and asarray(): pass it as an array of CuPy")
    return module


def memory_of(array: Any, what: str) -> Memory:
    """Return the properties of an array's memory, from ``__cuda_array_interface__`` or from DLPack."""
    interface = getattr(array, "__cuda_array_interface__", None)
    if interface is None:
        return _dlpack.memory_of(array)
    address, read_only = interface["data"]
    order, kind, size = interface["typestr"][0], interface["typestr"][1], int(interface["typestr"][2:])
    if order == ">":
        raise TypeError(f"{what} has its bytes in another order than this machine's")
    dtype = {"f": "float", "i": "int", "u": "uint", "c": "complex", "b": "bool"}.get(kind, kind) + str(8 * size)
    shape, strides = tuple(interface["shape"]), interface.get("strides")
    device = getattr(array, "device", None)
    return Memory(address or 0, dtype, shape, strides and tuple(strides), None, bool(read_only), device)


class ProtocolSpace(Space):
    """Creates and copies arrays of x0's library on x0's device. The stream is the one that the interface of x0 names.
    """

    def __init__(self, x0: Any) -> None:
        self.namespace = namespace_of(x0)
        self.kind = name_of(x0)
        memory = memory_of(x0, "x0")
        self.bits = bits_of(memory.dtype)
        self.dtype = memory.dtype
        interface = getattr(x0, "__cuda_array_interface__", None)
        kind = _dlpack.CUDA if interface is not None else x0.__dlpack_device__()[0]
        if kind in (_dlpack.CUDA, _dlpack.CUDA_MANAGED):
            self.backend = BACKEND_CUDA
            stream = interface.get("stream") if interface is not None else None
            self.stream = None if stream in (None, _LEGACY_STREAM) else int(stream)
            cuda = getattr(self.namespace, "cuda", None)
            if cuda is not None and hasattr(cuda, "get_current_stream"):
                self.stream_owner = cuda.get_current_stream()
        elif kind in (_dlpack.HOST, _dlpack.CUDA_HOST):
            self.backend = BACKEND_HOST
        else:
            raise TypeError(f"x0 is a {self.kind} on a device of the kind {kind}: neither the host nor CUDA")
        self.device = memory.device
        # CuPy's device object is a context manager that makes the device current.
        self._current = getattr(x0, "device", None)

    def within(self) -> AbstractContextManager[Any]:
        device: Any = self._current
        return device if hasattr(device, "__enter__") else nullcontext()

    def empty(self, *shape: int, double: bool = False) -> Array:
        with self.within():
            return self.namespace.empty(shape, dtype="float64" if double else self.dtype)

    def copy_of(self, array: Array) -> Array:
        copy = self.empty(*array.shape)
        copy[...] = array
        return copy

    def protected(self, array: Array) -> Array:
        return self.copy_of(array)

    def memory(self, array: Any, what: str) -> Memory:
        offered = "__cuda_array_interface__" if self.backend == BACKEND_CUDA else "__dlpack__"
        if not hasattr(array, offered):
            raise TypeError(f"{what} is a {name_of(array)} without {offered}, but x0 is a {self.kind}")
        return memory_of(array, what)

    def place(self, array: Array) -> Any:
        memory = memory_of(array, "an array")
        return memory.address, memory.needed

    def bytes_of(self, owner: Array) -> int:
        return memory_of(owner, "an array").needed

    def from_numpy(self, array: Any) -> Array:
        with self.within():
            return self.namespace.asarray(array.astype(self.dtype))

    def chosen(self, array: Array, rows: Any) -> Array:
        with self.within():
            return array[self.namespace.asarray(rows)]

    def indices(self, address: int, active: int, rows: int) -> Array:
        if self.backend == BACKEND_HOST:
            return self.namespace.asarray(np.array(integers_at(address, rows), np.int64))
        with self.within():
            copy = self.namespace.empty((rows,), dtype="int64")
            copy[...] = self.namespace.asarray(DeviceIntegers(address, rows))
        return copy

    def recorder(self) -> Recorder:
        cuda = getattr(self.namespace, "cuda", None)
        if self.backend == BACKEND_CUDA and hasattr(getattr(cuda, "Stream", None), "begin_capture"):
            return CupyRecorder(cuda)
        return super().recorder()

    def put_number(self, to: Array, value: Any, what: str) -> None:
        shape = getattr(value, "shape", ())
        if tuple(shape) not in ((), (1,)):
            raise ValueError(f"{what} has the shape {tuple(shape)}: it has to be one number")
        if hasattr(value, "__cuda_array_interface__"):
            to[...] = value if shape == () else value[0]
        else:
            to[...] = self.number_of(value, what)

    def put(self, to: Array, values: Any, what: str) -> None:
        memory = self.memory(values, what)
        if memory.shape != tuple(to.shape):
            raise wrong_shape(what, memory.shape, to.shape)
        if memory.dtype.startswith("complex"):
            raise TypeError(f"{what} has elements of {memory.dtype}: they have to be real numbers")
        if memory.address != self.memory(to, what).address:
            to[...] = values
