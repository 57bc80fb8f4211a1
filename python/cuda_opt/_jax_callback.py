"""Solves inside functions that JAX transforms: a host callback that minimises one function, or a batch of them.

A solve is a ``jax.pure_callback``. Its handle exists during one call only. The function and its gradient are compiled
for the host, once for each function. Under ``vmap`` the callback receives arrays with leading axes. The problems along
these axes are solved as one batch if the batch interface supports them, and one by one otherwise."""
from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._batch import minimize_batch
from ._bounds import Bounds
from ._jax_function import Function
from ._minimize import solved
from ._options import options_of
from ._result import result_of
from ._scipy import _Pairs

BATCH_VARIABLES, BATCH_PAIRS = 4096, 64  # the limits of the batch interface
_NOT_OF_BATCHES = {"disp", "HISTORY_BITS", "IPRINT_FREQUENCY", "IPRINT_TYPE"}
STATISTICS = ("nit", "nfev", "task", "degenerate")


@dataclass(frozen=True)
class Solve:
    """The description of a solve, without the values of arrays. It is hashable, so that JAX compiles a function that
    contains it only once."""

    function: Function
    options: tuple[tuple[str, Any], ...]
    doubles: bool  # JAX used 64-bit types when it traced the solve; the callback runs in another thread

    @property
    def m(self) -> int:
        """The number of correction pairs."""
        return options_of(dict(self.options), None).m

    @property
    def degenerate_below(self) -> float:
        """Ten times the tolerance of the gradient. A multiplier of an active bound that is no larger counts as 0."""
        return 10 * float(options_of(dict(self.options), None).settings["PGTOL"])

    def precision(self) -> AbstractContextManager[Any]:
        if bool(getattr(jax.config, "jax_enable_x64")) == self.doubles:
            return nullcontext()
        module: Any = jax if hasattr(jax, "enable_x64") else jax.experimental
        context: AbstractContextManager[Any] = module.enable_x64(self.doubles)
        return context


def solve_of(function: Function, options: Mapping[str, Any] | None, tol: float | None) -> Solve:
    """Return the solve, after checking the options.

    Raises
    ------
    TypeError, ValueError
        as for the options of ``minimize``
    """
    given = dict(options or {})
    options_of(given, tol)
    if tol is not None:
        given = {"ftol": float(tol), "gtol": float(tol), **given}
    try:
        hash(tuple(given.items()))
    except TypeError as error:
        raise TypeError(f"an option is not hashable: {error}") from None
    return Solve(function, tuple(sorted(given.items())), bool(getattr(jax.config, "jax_enable_x64")))


def _statistics(solve: Solve, dtype: Any, counts: tuple[Any, Any, Any], x: Any, g: Any, lower: Any, upper: Any) -> Any:
    """Return the array of STATISTICS along the last axis, in the precision of x, so that JAX gives them the derivative
    0."""
    active = ((x <= lower) | (x >= upper)) & (lower < upper)
    degenerate = (active & (np.abs(g) <= solve.degenerate_below)).sum(-1)
    return np.stack([np.asarray(one, dtype) for one in (*counts, degenerate)], -1)


def _solve_one(solve: Solve, pairs: bool, x0: Any, numeric: Any, lower: Any, upper: Any) -> tuple[Any, ...]:
    """Return x, the statistics and, if ``pairs`` is set, the correction pairs, oldest first, after rows of zeros."""
    evaluate, history = solve.function.compiled(), _Pairs(solve.m)

    def fun(x: Any) -> tuple[float, Any]:
        f, g, _ = evaluate(x, numeric)
        return float(f), np.asarray(g)

    def report_of(solver: Any) -> Callable[[], None]:
        return lambda: history.add(solver)

    following: dict[str, Any] = {"report_of": report_of, "after_evaluation": history.after_evaluation} if pairs else {}
    start, bounds = np.array(x0), Bounds(np.array(lower), np.array(upper))
    solver, evaluation = solved(fun, start, (), True, bounds, options_of(dict(solve.options), None), **following)
    result = result_of(solver, evaluation)
    counts = result.nit, result.nfev, int(result.task)
    found = np.array(result.x), _statistics(solve, start.dtype, counts, result.x, result.jac, lower, upper)
    if not pairs:
        solver.close()
        return found
    rows = np.zeros((2 * solve.m + 1, start.size), start.dtype)
    rows[-1] = solver.initial_inverse_hessian()
    solver.close()
    if kept := len(history._pairs):
        s, y = np.array(history._pairs).transpose(1, 0, 2)
        rows[solve.m - kept : solve.m], rows[2 * solve.m - kept : 2 * solve.m] = s, y
    return (*found, rows)


def _solve_batch(solve: Solve, x0: Any, numeric: Any, axes: Any, lower: Any, upper: Any) -> tuple[Any, ...]:
    """Return x and the statistics of many problems, solved by the batch interface, which returns no correction
    pairs."""
    evaluate, count = solve.function.compiled_batch(axes), len(x0)

    def fun(x: Any, p: Any) -> tuple[Any, Any]:
        # The number of rows is rounded up to a power of two by repeating the last one. Otherwise JAX would compile for
        # each number of rows.
        active = len(x)
        rows = np.minimum(np.arange(min(1 << (active - 1).bit_length(), count)), active - 1)
        f, g = evaluate(x[rows], p[rows], numeric)
        return np.asarray(f, np.float64)[:active], np.asarray(g)[:active]

    bounds = Bounds(np.array(lower), np.array(upper))
    result = minimize_batch(fun, x0, (), True, bounds, None, dict(solve.options), indices=True)
    counts = result.nit, result.nfev, result.codes
    return np.array(result.x), _statistics(solve, x0.dtype, counts, result.x, result.jac, lower, upper)


def _on_host(solve: Solve, pairs: bool, x0: Any, numeric: Any, lower: Any, upper: Any) -> tuple[Any, ...]:
    """The callback. x0 and the bounds have the shape (..., n), where ... are axes of ``vmap``. Each array has all of
    these axes; their length is 1 if the array does not depend on them."""
    x0, lower, upper = map(np.asarray, (x0, lower, upper))
    n, axes = x0.shape[-1], x0.ndim - 1
    with solve.precision():
        if axes == 0:
            return _solve_one(solve, pairs, x0, numeric, lower, upper)
        lengths = np.broadcast_shapes(*(np.shape(array)[:axes] for array in (x0, lower, upper, *numeric)))
        count = math.prod(lengths)

        def rows(array: Any) -> Any:
            return np.ascontiguousarray(np.broadcast_to(array, (*lengths, *np.shape(array)[axes:]))).reshape(
                count, *np.shape(array)[axes:]
            )

        shared = tuple(None if math.prod(np.shape(leaf)[:axes]) == 1 else 0 for leaf in numeric)
        leaves = [
            leaf.reshape(np.shape(leaf)[axes:]) if axis is None else jnp.asarray(rows(leaf))
            for leaf, axis in zip(numeric, shared)
        ]
        x0, lower, upper = map(rows, (x0, lower, upper))
        by_batch = n <= BATCH_VARIABLES and solve.m <= BATCH_PAIRS and not _NOT_OF_BATCHES & dict(solve.options).keys()
        if by_batch:
            found = _solve_batch(solve, x0, leaves, shared, lower, upper)
            if pairs:
                none = np.zeros((count, 2 * solve.m + 1, n), x0.dtype)
                none[:, -1] = 1
                found = *found, none
        else:
            each = [
                _solve_one(
                    solve, pairs, x0[i], [leaf if axis is None else leaf[i] for leaf, axis in zip(leaves, shared)],
                    lower[i], upper[i],
                )
                for i in range(count)
            ]
            found = tuple(map(np.stack, zip(*each)))
        return tuple(array.reshape(*lengths, *array.shape[1:]) for array in found)


def traced_solve(solve: Solve, pairs: bool, x0: Any, numeric: Any, lower: Any, upper: Any) -> tuple[Any, ...]:
    """Return x at the minimum, STATISTICS as one array and, with ``pairs``, an array of shape (2 m + 1, n). Its rows
    are s of the solve's correction pairs, y of these pairs, and the diagonal of the initial inverse Hessian. If there
    are fewer than m pairs, the rows of the missing ones are 0; for a batch all of them are."""
    shape: Any = partial(jax.ShapeDtypeStruct, dtype=x0.dtype)
    shapes = shape(x0.shape), shape((len(STATISTICS),)), shape((2 * solve.m + 1, x0.size))
    on_host = partial(_on_host, solve, pairs)
    found: tuple[Any, ...] = jax.pure_callback(
        _Hashable(on_host), shapes if pairs else shapes[:2], x0, numeric, lower, upper, vmap_method="expand_dims"
    )
    return found


class _Hashable:
    """A partial function that compares equal to another one with the same arguments, as JAX's caches require."""

    def __init__(self, function: partial[Any]) -> None:
        self._function = function
        self._key = function.func, function.args

    def __call__(self, *arguments: Any) -> Any:
        return self._function(*arguments)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Hashable) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)
