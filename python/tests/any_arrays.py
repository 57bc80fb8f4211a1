"""Strategies of the property-based tests. They generate NumPy arrays of any dtype, shape and strides, and convert these
to arrays of other libraries."""
import importlib.util

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st

DTYPES = ["f8", "f4", "f2", ">f8", ">f4", "i8", "i4", "u1", "?", "c16", "c8", "O", "U3", "M8[s]"]


class NumPy:
    name = "numpy"

    def array(self, values):
        return values

    def values(self, array):
        return np.asarray(array)


class Torch:
    name = "torch"

    def __init__(self):
        self.torch = pytest.importorskip("torch")

    def array(self, values):
        dtype = getattr(self.torch, values.dtype.name, None)
        assume(dtype is not None and values.dtype.isnative and values.dtype.kind in "fiubc")
        base = self.torch.tensor(np.ravel(values.copy()).tolist(), dtype=dtype).reshape(values.shape)
        if values.ndim == 1 and len(values) and values.strides[0] == 2 * values.itemsize:
            spread = self.torch.zeros(2 * len(values), dtype=dtype)
            spread[::2] = base
            return spread[::2]
        return base

    def values(self, array):
        return np.array(array.tolist(), str(array.dtype).removeprefix("torch."))


class Jax:
    name = "jax"

    def __init__(self):
        self.jax = pytest.importorskip("jax")

    def array(self, values):
        assume(values.dtype.kind in "fiubc" and values.dtype.isnative)
        module = self.jax if hasattr(self.jax, "enable_x64") else self.jax.experimental
        with module.enable_x64(True):
            return self.jax.numpy.array(values)

    def values(self, array):
        return np.array(array)


def library(name):
    if name != "numpy" and importlib.util.find_spec(name) is None:
        pytest.skip(f"there is no {name}")
    return {"numpy": NumPy, "torch": Torch, "jax": Jax}[name]()


LIBRARIES = pytest.mark.parametrize("name", ["numpy", "torch", "jax"])


@st.composite
def plain_arrays(draw, dtypes=DTYPES, most_axes=3):
    """Generate small NumPy arrays with any of these dtypes and any memory layout. The arrays can be contiguous,
    reversed, strided, transposed, broadcast, misaligned or read-only."""
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=most_axes)))
    array = np.zeros(tuple(2 * length for length in shape), dtype)
    if dtype.kind in "fiub":
        array[...] = np.arange(array.size).reshape(array.shape) % 5
    array = array[(*(slice(0, 2 * length, 2) for length in shape), ...)]
    how = draw(st.sampled_from(["spread", "contiguous", "backwards", "transposed", "repeated", "misaligned", "fixed"]))
    if how == "contiguous":
        array = np.ascontiguousarray(array).reshape(shape)
    elif how == "backwards" and shape:
        array = array[::-1]
    elif how == "transposed":
        array = array.T
    elif how == "repeated" and shape:
        array = np.broadcast_to(np.zeros((), dtype), shape)
    elif how == "misaligned" and dtype.kind in "fiuc":
        memory = np.zeros(array.size * dtype.itemsize + 1, np.uint8)[1:]
        array = memory.view(dtype).reshape(shape)
    elif how == "fixed":
        array = np.array(array)
        array.flags.writeable = False
    return array
