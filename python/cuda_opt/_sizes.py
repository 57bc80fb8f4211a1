"""Hints for solves whose variables differ in size by orders of magnitude."""
from __future__ import annotations

import numpy as np

from ._solver import Solver
from ._space import NumPySpace

_FACTOR, _MOST_SHOWN = 1e3, 8


def hint_on_sizes(solver: Solver) -> str:
    """Return a clause for the message of a solve that has not converged, if its variables differ in size by orders of
    magnitude: it names the smallest and the largest one, and suggests scales. Otherwise return an empty string."""
    x = solver._x
    if not isinstance(solver._space, NumPySpace) or not isinstance(solver._x_scale, float):
        return ""
    sizes = np.where(np.equal(solver._lower, solver._upper) | ~np.isfinite(x), 0, np.abs(x))  # 0: no size
    small, large = int(np.argmin(np.where(sizes > 0, sizes, np.inf))), int(np.argmax(sizes))
    if not sizes[large] / _FACTOR >= sizes[small] > 0:
        return ""
    scale = ""
    if x.size <= _MOST_SHOWN:
        rounded = (10 ** np.round(np.log10(float(size))) for size in np.where(x == 0, 1, np.abs(x)))
        scale = f"=[{', '.join(f'{size:g}' for size in rounded)}]"
    return f"; x[{small}] = {x[small]:.3g} is much smaller than x[{large}] = {x[large]:.3g}: try x_scale{scale}"
