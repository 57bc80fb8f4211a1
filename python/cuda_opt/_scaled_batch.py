"""Implements ``x_scale`` of ``minimize_batch``. The problems are solved in z = x / x_scale; the user's functions
receive x."""
from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from ._bounds import SCALES, Limit
from ._constants import Task
from ._library import ImproperInput
from ._space import Array, NumPySpace, Space, numpy_array


def _functions_of(array: Array) -> Any:
    """Return the module that has the function ``where`` for arrays of this kind: numpy, torch, cupy or jax.numpy."""
    name = type(array).__module__.partition(".")[0]
    return sys.modules["jax.numpy" if name in ("jax", "jaxlib") else name]


def _check(scales: Array) -> None:
    good = (scales > 0) & (scales < math.inf)
    if not bool(good.all()):
        index = good.tolist().index(False)
        raise ImproperInput(
            Task.IMPROPER_INPUT,
            f"{SCALES} is {float(scales[index]):g} at index {index} (counted from 0): it has to be positive and finite",
        )


class BatchScales:
    """Converts the arrays of a batch between x and z = x / s. s contains the typical sizes of the n variables, which
    all problems share."""

    def __init__(self, space: Space, scales: Limit, limits: tuple[Limit, Limit], n: int) -> None:
        self._space = space
        self._s = self._array(scales, n)
        _check(self._s)
        self._limits = [self._array(limit, n) for limit in limits]
        # NumPy's overflow warnings are suppressed, because a scaled bound that overflows is infinite, which means no
        # bound.
        with np.errstate(over="ignore"):
            self._scaled = [limit / self._s for limit in self._limits]

    def _array(self, values: Limit, n: int) -> Array:
        return self._space.from_numpy(np.full(n, values)) if isinstance(values, float) else values

    def limits(self, given: tuple[Limit, Limit]) -> tuple[Limit, Limit]:
        """Return the bounds of z. A bound that is one number remains one number if scaling does not change it: 0 or
        infinity."""
        lower, upper = (
            limit if isinstance(limit, float) and (limit == 0 or math.isinf(limit)) else scaled
            for limit, scaled in zip(given, self._scaled)
        )
        return lower, upper

    def z_of(self, x: Array) -> Array:
        """Convert the start of a batch from x to z = x / s. Raises if s z is another number."""
        accuracy = 2.0 ** (-50 if self._space.bits == 64 else -21)  # four rounding errors
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            z = x / self._s
            differ = abs(x) < math.inf
            differ &= ~(abs(z * self._s - x) <= accuracy * abs(x))
            for limit, scaled in zip(self._limits, self._scaled):
                differ |= (abs(limit) < math.inf) & (scaled == (math.inf if limit is self._limits[0] else -math.inf))
        if bool(differ.any()):
            problem, index = _functions_of(differ).argwhere(differ)[0].tolist()
            raise ImproperInput(
                Task.IMPROPER_INPUT,
                f"at index {index} (counted from 0) of problem {problem} x or a bound leaves the range of numbers when "
                f"it is divided by {SCALES}: x = {float(x[problem, index]):g}, {SCALES} = {float(self._s[index]):g}",
            )
        return z

    def x_of(self, z: Array, problems: Array | None) -> Array:
        """Return x for the rows of z. ``problems`` contains the problem of each row; None means that the rows belong to
        all problems in order. x is within the bounds, and exactly at a bound if z is."""
        where = _functions_of(z).where
        (lower, upper), (lower_z, upper_z) = (
            [side if side.ndim == 1 or problems is None else side[problems] for side in sides]
            for sides in (self._limits, self._scaled)
        )
        x = z * self._s
        x = where((z == lower_z) | (x < lower), lower, x)
        return where((z == upper_z) | (x > upper), where(z == lower_z, lower, upper), x)

    def gradients(self, gradients: Any, shape: tuple[int, ...], what: str) -> Any:
        """Convert gradients with respect to x to gradients with respect to z. An array of a wrong shape is returned
        unchanged, so that a later check rejects it."""
        if isinstance(self._space, NumPySpace):
            gradients = numpy_array(gradients, what)
        if tuple(getattr(gradients, "shape", ())) != shape:
            return gradients
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = gradients * self._s
            # A finite slope that overflows is undefined, and no infinite slope that a function may have at a bound.
            overflows = (abs(gradients) < math.inf) & (abs(scaled) == math.inf)
        return _functions_of(scaled).where(overflows, math.nan * scaled, scaled) if bool(overflows.any()) else scaled

    def gradients_by_x(self, gradients: Array) -> Array:
        """Convert gradients with respect to z to gradients with respect to x."""
        return gradients / self._s

    def diagonals(self, diagonals: Any, shape: tuple[int, ...], what: str) -> Any:
        """Convert diagonals of the inverse Hessian with respect to x to diagonals with respect to z."""
        if isinstance(self._space, NumPySpace):
            diagonals = numpy_array(diagonals, what)
        return diagonals / self._s / self._s if tuple(getattr(diagonals, "shape", ())) == shape else diagonals
