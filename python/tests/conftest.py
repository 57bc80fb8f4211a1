"""Provides two functions for all tests: a quadratic function whose minimiser in any box is known, and the Rosenbrock
function."""
import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    # The problems are so small that more threads would only slow the tests down.
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402
import pytest  # noqa: E402


def parabola(x):
    """Return f = sum (x_i - i)^2 / 2 and its gradient. The minimiser in a box is the point of the box nearest to (0, 1,
    ...)."""
    g = x - np.arange(len(x))
    return float(g @ g) / 2, g


def rosenbrock(x):
    """Return f = sum 100 (x_(i+1) - x_i^2)^2 + (1 - x_i)^2 and its gradient. The minimiser is (1, ..., 1)."""
    a, b = x[1:] - x[:-1] ** 2, 1 - x[:-1]
    g = np.zeros_like(x)
    g[:-1] = -400 * x[:-1] * a - 2 * b
    g[1:] += 200 * a
    return float(100 * (a @ a) + b @ b), g


@pytest.fixture(name="parabola")
def _parabola():
    return parabola


@pytest.fixture(name="rosenbrock")
def _rosenbrock():
    return rosenbrock


@pytest.fixture
def doubles():
    """Run a test of JAX with jax_enable_x64 on."""
    import jax

    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)
