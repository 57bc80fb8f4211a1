"""Chooses the ``Space`` for an array. Only this module refers to all subclasses of ``Space``."""
from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ._space import NumPySpace, Space, name_of


def space_of(x0: Any) -> Space:
    """Return the ``Space`` object for the library, device and precision of an array.

    Raises
    ------
    TypeError
        if it is not an array, or if its elements are neither float64 nor float32
    """
    if isinstance(x0, np.ndarray):
        return NumPySpace(x0)
    # An array library that has created x0 has been imported. Therefore it is enough to look in sys.modules.
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
