"""Chooses the ``Space`` for an array. This is the only module that refers to all classes of spaces."""
from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ._space import NumPySpace, Space, name_of


def space_of(x0: Any) -> Space:
    """The space of an array.

    Raises
    ------
    TypeError
        it is not an array, or has elements that are neither float64 nor float32
    """
    if isinstance(x0, np.ndarray):
        return NumPySpace(x0)
    # If x0 is an array of a library, this library has been imported.
    if (torch := sys.modules.get("torch")) and isinstance(x0, torch.Tensor):
        from ._space_torch import TorchSpace

        return TorchSpace(x0)
    if (jax := sys.modules.get("jax")) and isinstance(x0, jax.Array):
        from ._space_jax import JaxSpace

        return JaxSpace(x0)
    if hasattr(x0, "__cuda_array_interface__") or hasattr(x0, "__dlpack_device__"):
        from ._space_protocol import ProtocolSpace

        return ProtocolSpace(x0)
    raise TypeError(f"x0 is a {name_of(x0)}: it has to be an array of NumPy, torch, CuPy or JAX, or a CUDA array")
