"""Provides the array libraries, streams and test functions that the checks on a real CUDA device share."""
import os
import sys
from pathlib import Path

# This variable is set because JAX would otherwise allocate most of the device's memory at once.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
sys.path[:0] = [str(Path(__file__).parents[1])]

import numpy as np  # noqa: E402


class Missing(Exception):
    """Raised if a library or a device that a check requires is not available. The check is then skipped."""


def library(name):
    try:
        return __import__(name)
    except ImportError as problem:
        raise Missing(f"no {name}: {problem}") from None


def torch_and_stream():
    torch = library("torch")
    if not torch.cuda.is_available():
        raise Missing("torch sees no CUDA device")
    return torch, torch.cuda.stream(torch.cuda.Stream())


def near(values, expected, tolerance=1e-5):
    values = values.tolist() if hasattr(values, "tolist") else values
    assert np.allclose(np.array(values, float), expected, rtol=0, atol=tolerance), (values, expected)


def torch_parabola(x):
    import torch

    g = x - torch.arange(len(x), dtype=x.dtype, device=x.device)
    return g @ g / 2, g


def torch_rosenbrock(x):
    import torch

    a, b = x[1:] - x[:-1] ** 2, 1 - x[:-1]
    g = torch.zeros_like(x)
    g[:-1] = -400 * x[:-1] * a - 2 * b
    g[1:] += 200 * a
    return 100 * (a @ a) + b @ b, g


def cupy_and_stream():
    cupy = library("cupy")
    if not cupy.cuda.is_available():
        raise Missing("CuPy sees no CUDA device")
    return cupy, cupy.cuda.Stream(non_blocking=True)
