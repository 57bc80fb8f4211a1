"""Converts the forms in which users pass bounds (numbers, arrays, SciPy's ``Bounds``, or pairs) and scales."""
from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Union

import numpy as np

from ._space import Array, NumPySpace, Space, name_of, number, one_axis


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds ``lb <= x <= ub`` for ``minimize``, ``Solver`` and ``pattern_search``.

    ``scipy.optimize.Bounds`` is accepted as well, but converts its arrays to NumPy arrays. This class stores them
    unchanged, so that they may be in device memory.

    Parameters
    ----------
    lb, ub : number, array of shape (n,), or None
        A number is a bound of all variables, and takes neither memory nor time. An array has the library, the precision
        and the device of x0, and is not copied; a NumPy array is copied to the device. -inf, inf and None, also as
        elements of a list: no bound.
    """

    lb: Any = -math.inf
    ub: Any = math.inf


SIDES = ("the lower bound", "the upper bound")
SCALES = "x_scale"
# SciPy's message for a wrong number of bounds, which programs for SciPy look for.
WRONG_NUMBER = "The number of bounds is not compatible with the length of `x0`"
# A limit is one number for all variables, or an array of x0's library, device and precision.
Limit = Union[float, Array]


def replace_none(limits: Any, none: float) -> Any:
    """Return the limits, a list or a list of lists, with the number ``none`` in place of None."""
    if isinstance(limits, (list, tuple)):
        return [replace_none(limit, none) for limit in limits]
    return none if limits is None else limits


def _one_or_each(limit: Any, none: float, n: int, space: Space, what: str, count: int | None = None) -> Limit:
    """Return a limit (a bound or a scale) as a number, or as an array of n elements in the memory of x0. ``count`` is
    the number of problems of a batch. In a batch the array may have one row per problem."""
    if limit is None:
        return none
    if np.ma.is_masked(limit):
        raise TypeError(f"{what} has masked elements, which have no value")
    if isinstance(limit, (list, tuple)):
        try:
            limit = np.asarray(replace_none(limit, none))
            if limit.dtype == object:
                limit = limit.astype(np.float64)
        except (OverflowError, TypeError, ValueError):
            raise ValueError(f"{what} is a list, but its elements do not form an array of real numbers") from None
    if not hasattr(limit, "shape") or (isinstance(limit, (np.ndarray, np.generic)) and limit.size == 1):
        return number(limit, what)
    if isinstance(limit, np.ndarray):
        if limit.dtype.kind not in "fiub":
            raise TypeError(f"{what} has elements of {limit.dtype}: they have to be real numbers")
        whole = limit.shape in ((n,), (count, n))
        if whole and isinstance(space, NumPySpace):
            return np.ascontiguousarray(limit, space.dtype)
        taken = space.from_numpy(np.asarray(limit, np.float64)) if whole else limit
    else:
        taken = space.take(limit, what)
    if count is not None:
        shape = tuple(taken.shape)
        if shape not in ((n,), (count, n)):
            raise ValueError(f"{what} has the shape {shape}: it has to be a number, or of shape {(n,)} or {(count, n)}")
        return taken
    if one_axis(taken, what, min(n, 1)) != n:
        scipys = f"{WRONG_NUMBER}: " if what in SIDES else ""
        raise ValueError(f"{scipys}{what} has {taken.shape[0]} elements, but x0 has {n}")
    return taken


def _is_device_array(value: Any) -> bool:
    """Return whether a value is an array of another library than NumPy, for example torch, JAX or CuPy."""
    return not isinstance(value, (np.ndarray, np.generic)) and hasattr(value, "shape") and len(value.shape) > 0


def _from_pairs(pairs: Any, n: int) -> Bounds:
    if isinstance(pairs, (tuple, list)) and len(pairs) == 2 and any(map(_is_device_array, pairs)):
        # A pair of arrays of torch, JAX or CuPy is always (lower, upper), even if n = 2. SciPy's sequence of pairs has
        # no such arrays.
        return Bounds(*pairs)
    if not isinstance(pairs, (Sequence, np.ndarray, Iterator)):
        raise TypeError(f"bounds is a {name_of(pairs)}: it has to be Bounds, or pairs (lower, upper)")
    if np.ma.is_masked(pairs):
        raise TypeError("bounds has masked elements, which have no value")
    rows = pairs if isinstance(pairs, np.ndarray) and pairs.dtype.kind in "fiu" else list(pairs)
    if len(rows) != n:
        hint = ": lower and upper bounds, as numbers or arrays, are Bounds(lower, upper)" if len(rows) == 2 else ""
        raise ValueError(f"{WRONG_NUMBER}: bounds has {len(rows)} pairs, but x0 has {n} elements{hint}")
    try:
        if not isinstance(rows, np.ndarray):
            rows = [(-math.inf if low is None else low, math.inf if high is None else high) for low, high in rows]
        limits = np.asarray(rows)
        # NumPy would convert text such as "1" to a number.
        if limits.dtype.kind in "cSU":
            raise TypeError
        limits = limits.astype(np.float64).reshape(n, 2)
    except (OverflowError, TypeError, ValueError):
        raise ValueError("bounds has to have a pair (lower, upper) for each variable, with None for no bound") from None
    return Bounds(*(side[0] if n and (side == side[0]).all() else side for side in limits.T))


def limits_of(bounds: Any, n: int, space: Space) -> tuple[Limit, Limit]:
    """Return the lower and the upper limits: numbers, or arrays of the library and device of x0.

    Raises
    ------
    TypeError, ValueError
        if the value has none of the forms of bounds, or if its shape, precision or device differs from that of x0
    """
    return _sides(bounds, n, space, None)


def batch_limits_of(bounds: Any, count: int, n: int, space: Space) -> tuple[Limit, Limit]:
    """Return the lower and the upper limits for a batch of ``count`` problems. Each is a number or an array. Both
    arrays have the shape (n,), or both have the shape (count, n)."""
    lower, upper = _sides(bounds, n, space, count)
    axes = [0 if isinstance(side, float) else len(side.shape) for side in (lower, upper)]
    if axes == [1, 2]:
        lower = space.repeated(lower, count)
    elif axes == [2, 1]:
        upper = space.repeated(upper, count)
    return lower, upper


def _sides(bounds: Any, n: int, space: Space, count: int | None) -> tuple[Limit, Limit]:
    if bounds is None:
        return -math.inf, math.inf
    if not hasattr(bounds, "lb") or not hasattr(bounds, "ub"):
        bounds = _from_pairs(bounds, n)
    return (
        _one_or_each(bounds.lb, -math.inf, n, space, SIDES[0], count),
        _one_or_each(bounds.ub, math.inf, n, space, SIDES[1], count),
    )


def scales_of(x_scale: Any, n: int, space: Space, count: int | None = None) -> Limit:
    """Return the typical sizes of the variables: one number, or an array of the library and device of x0. In a batch
    the array may have one row per problem. The library checks that the sizes are positive.

    Raises
    ------
    TypeError, ValueError
        if the type, shape, precision or device differs from that of x0
    """
    return _one_or_each(x_scale, 1.0, n, space, SCALES, count)
