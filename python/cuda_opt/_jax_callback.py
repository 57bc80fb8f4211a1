"""Solves inside functions that JAX transforms: the solve is a host callback for one problem or for a batch of them.

Each solve is one ``jax.pure_callback``, which creates a solver and closes it before it returns. The user's function and
its gradient are compiled for the host, once per function. Under ``vmap`` the callback receives arrays with leading
axes. The problems along these axes are solved as one batch if the batch interface supports them, and one by one
otherwise. Outside transformed functions ``solve_now`` performs the same solve without a callback."""
from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._batch import minimize_batch, refused_by_batches
from ._bounds import Bounds
from ._constants import Task
from ._handle import integer
from ._jax_function import Function
from ._jax_trees import is_tracing
from ._minimize import solved
from ._options import options_of, refuse_missing_hessian
from ._result import result_of
from ._scipy import Pairs
from ._solver import Solver

# minimize_batch accepts at most this many variables and correction pairs per problem.
BATCH_VARIABLES, BATCH_PAIRS = 4096, 64
STATISTICS = ("nit", "nfev", "task", "stop_test", "degenerate")
_TRACED = "fun depends on values that JAX is tracing (jit, grad, vmap), not by its arguments: pass them in args"


@dataclass(frozen=True)
class Solve:
    """Describes a solve (the function and the options) without the values of arrays. A ``Solve`` is hashable, so that
    JAX can use it as a static argument and compiles the code that contains it only once."""

    function: Function
    options: tuple[tuple[str, Any], ...]
    # ``doubles`` records whether jax_enable_x64 was on during tracing, because the callback runs in another thread.
    doubles: bool
    # ``warns`` says whether a solve that has not converged causes a warning.
    warns: bool = False
    # ``in_program`` says that JAX is compiling a program, so that no Python need run when it is executed.
    in_program: bool = False
    # ``bounded`` is false if no bounds were given.
    bounded: bool = True

    @property
    def given_pairs(self) -> int:
        """Return the maximum number of correction pairs that the options contain, or 0 for the default."""
        return int(options_of(dict(self.options), None).m)

    def most_pairs(self, n: int) -> int:
        """Return m, the maximum number of correction pairs of a solve of n variables on the host."""
        return self.given_pairs or _default_pairs(n)

    def is_batch(self, n: int) -> bool:
        """Return whether problems of n variables along the axes of ``vmap`` are solved as one batch."""
        is_small = n <= BATCH_VARIABLES and self.given_pairs <= BATCH_PAIRS
        return is_small and not ({"disp"} | refused_by_batches()) & dict(self.options).keys()

    @property
    def degenerate_below(self) -> float:
        """Return the limit below which the multiplier of an active bound counts as 0: ten times the tolerance for the
        projected gradient."""
        return 10 * float(options_of(dict(self.options), None).settings["PGTOL"])

    def precision(self) -> AbstractContextManager[Any]:
        if bool(getattr(jax.config, "jax_enable_x64")) == self.doubles:
            return nullcontext()
        module: Any = jax if hasattr(jax, "enable_x64") else jax.experimental
        context: AbstractContextManager[Any] = module.enable_x64(self.doubles)
        return context


@lru_cache(maxsize=None)
def _default_pairs(n: int) -> int:
    solver = Solver(n)
    m = int(solver["HISTORY_SIZE"])
    solver.close()
    return m


def constants(options: Any, tol: Any) -> tuple[Any, Any]:
    """Return the options and tol, with Python numbers in place of arrays of one number. Raises TypeError if JAX is
    tracing one of them."""
    if not isinstance(options or {}, Mapping):
        return options, tol
    given = list((options or {}).items())
    if traced := [name for name, value in [("tol", tol), *given] if isinstance(value, jax.core.Tracer)]:
        raise TypeError(f"{', '.join(traced)}: traced by JAX (jit, grad, vmap), but options have to be constants")

    def plain(value: Any) -> Any:
        return value.item() if isinstance(value, (jax.Array, np.ndarray)) and value.ndim == 0 else value

    return {name: plain(value) for name, value in given}, plain(tol)


def solve_of(
    function: Function, options: Mapping[str, Any] | None, tol: float | None, warns: bool = False, bounded: bool = True
) -> Solve:
    """Check the options and return the ``Solve`` that describes the function and these options.

    Raises
    ------
    TypeError, ValueError
        as for the options of ``minimize``
    """
    given = dict(options or {})
    if "BATCH_PACKED" in given:
        raise ValueError("BATCH_PACKED is given: it is for programs that call cuda_opt_batch_solve themselves")
    integer(options_of(given, tol).m, "maxcor", 32, least=0)
    refuse_missing_hessian(given)
    if tol is not None:
        given = {"ftol": float(tol), "gtol": float(tol), **given}
    try:
        hash(tuple(given.items()))
    except TypeError as error:
        raise TypeError(f"an option is not hashable: {error}") from None
    return Solve(
        function, tuple(sorted(given.items())), bool(getattr(jax.config, "jax_enable_x64")), warns, is_tracing(),
        bounded,
    )


def refuse_tracer(f: Any) -> None:
    """Raise TypeError if the function has returned a value that JAX is tracing."""
    if isinstance(f, jax.core.Tracer):
        raise TypeError(_TRACED)


@contextmanager
def clear_tracer_errors() -> Iterator[None]:
    """A context that explains the exception by which JAX refuses traced values that a function did not get as
    arguments."""
    try:
        yield
    except jax.errors.UnexpectedTracerError as error:
        raise TypeError(_TRACED) from error
    except (ValueError, NotImplementedError) as error:
        # f depends on a value that JAX is differentiating or vectorising outside of the solve's program.
        if "rule for 'cuda_opt'" in str(error):
            raise TypeError(_TRACED) from error
        raise


def statistics_of(solve: Solve, dtype: Any, counts: tuple[Any, ...], x: Any, g: Any, lower: Any, upper: Any) -> Any:
    """Return the values named in STATISTICS as an array along the last axis. The array has the floating-point type of
    x, as JAX requires for results of a differentiable function; its derivative is 0."""
    active = ((x <= lower) | (x >= upper)) & (lower < upper)
    degenerate = (active & (np.abs(g) <= solve.degenerate_below)).sum(-1)
    return np.stack([np.asarray(one, dtype) for one in (*counts, degenerate)], -1)


def _solve_one(solve: Solve, pairs: bool, x0: Any, numeric: Any, lower: Any, upper: Any) -> tuple[Any, ...]:
    """Solve one problem. Return x, the statistics and, if ``pairs`` is true, the correction pairs as in
    ``traced_solve``."""
    evaluate, history = solve.function.compiled(), Pairs()

    def fun(x: Any) -> tuple[float, Any]:
        with clear_tracer_errors():
            f, g, _ = evaluate(x, numeric)
        refuse_tracer(f)
        return np.asarray(f).item(), np.asarray(g)  # float(f) would take longer

    def report_of(solver: Any) -> Callable[[], None]:
        return lambda: history.add(solver)

    following: dict[str, Any] = {"report_of": report_of, "after_evaluation": history.after_evaluation} if pairs else {}
    start, bounds = np.array(x0), Bounds(np.array(lower), np.array(upper))
    solver, evaluation = solved(fun, start, (), True, bounds, options_of(dict(solve.options), None), **following)
    result = result_of(solver, evaluation)
    counts = result.nit, result.nfev, int(result.task), result.stop_test
    found = np.array(result.x), statistics_of(solve, start.dtype, counts, result.x, result.jac, lower, upper)
    if not pairs:
        solver.close()
        return found
    m = solve.most_pairs(start.size)
    rows = np.zeros((2 * m + 1, start.size), start.dtype)
    rows[-1] = solver.initial_inverse_hessian()
    solver.close()
    if kept := len(history._pairs):
        s, y = np.array(history._pairs).transpose(1, 0, 2)
        rows[m - kept : m], rows[2 * m - kept : 2 * m] = s, y
    return (*found, rows)


def _solve_batch(solve: Solve, x0: Any, numeric: Any, axes: Any, lower: Any, upper: Any) -> tuple[Any, ...]:
    """Solve many problems with ``minimize_batch``. Return x and the statistics; the batch interface provides no
    correction pairs."""
    evaluate, count = solve.function.compiled_batch(axes), len(x0)

    def fun(x: Any, p: Any) -> tuple[Any, Any]:
        # The last row is repeated until the number of rows is a power of two. Otherwise JAX would compile the function
        # again for each number of unfinished problems.
        active = len(x)
        rows = np.minimum(np.arange(min(1 << (active - 1).bit_length(), count)), active - 1)
        with clear_tracer_errors():
            f, g = evaluate(x[rows], p[rows], numeric)
        return np.asarray(f, np.float64)[:active], np.asarray(g)[:active]

    bounds = Bounds(np.array(lower), np.array(upper))
    result = minimize_batch(fun, x0, (), True, bounds, None, dict(solve.options), indices=True)
    counts = result.nit, result.nfev, result.codes, result.stop_test
    return np.array(result.x), statistics_of(solve, x0.dtype, counts, result.x, result.jac, lower, upper)


def _is_proper(x0: Any, lower: Any, upper: Any) -> bool:
    """Return whether the start is finite and the box is not empty."""
    return bool((np.isfinite(x0) & (lower <= upper) & (lower < np.inf) & (upper > -np.inf)).all())


def _improper(solve: Solve, pairs: bool, x0: Any) -> tuple[Any, ...]:
    """The result of a problem among others that has no solution, as the batch interface returns it."""
    statistics = np.array([0, 0, int(Task.IMPROPER_INPUT), 0, 0], x0.dtype)
    return (x0, statistics, np.zeros((2 * solve.most_pairs(x0.size) + 1, x0.size), x0.dtype))[: 2 + pairs]


def _converged(solve: Solve, found: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what a solve has found, after a warning if it has not converged and ``solve.warns`` is set."""
    warn_of_failures(solve, found[1][..., STATISTICS.index("task")].ravel().astype(int))
    return found


def warn_of_failures(solve: Solve, tasks: np.ndarray[Any, Any]) -> None:
    """Warn of problems that have not converged, if ``solve.warns`` is set. ``tasks`` has their return codes."""
    failed = tasks[tasks != Task.CONVERGED]
    if solve.warns and failed.size:
        which = f"for {failed.size} of {tasks.size} problems" if tasks.size > 1 else "from this start"
        names = " and ".join(sorted({Task(task).name for task in failed}))
        warnings.warn(f"argmin has not converged {which}: it ended with {names}", RuntimeWarning, stacklevel=2)


def _on_host(
    solve: Solve, pairs: bool, x0: Any, numeric: Any, lower: Any, upper: Any, raises: bool = False
) -> tuple[Any, ...]:
    """Solve the problems that JAX passes to the host callback. x0 and the bounds have the shape (..., n), where ... are
    the axes that ``vmap`` adds. Each array has all of these axes, with length 1 if the array does not depend on them.

    raises: whether a single problem without a solution raises an exception. In a program it ends with IMPROPER_INPUT.
    """
    x0, lower, upper = map(np.asarray, (x0, lower, upper))
    n, axes = x0.shape[-1], x0.ndim - 1
    with solve.precision():
        if axes == 0 and not raises and not _is_proper(x0, lower, upper):
            return _improper(solve, pairs, x0)
        if axes == 0:
            return _converged(solve, _solve_one(solve, pairs, x0, numeric, lower, upper))
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
        if solve.is_batch(n) and any(map(_is_proper, x0, lower, upper)):
            found = _solve_batch(solve, x0, leaves, shared, lower, upper)
            if pairs:
                none = np.zeros((count, 2 * solve.most_pairs(n) + 1, n), x0.dtype)
                none[:, -1] = 1
                found = *found, none
        else:
            each = [
                _solve_one(
                    solve, pairs, x0[i], [leaf if axis is None else leaf[i] for leaf, axis in zip(leaves, shared)],
                    lower[i], upper[i],
                )
                if _is_proper(x0[i], lower[i], upper[i])
                else _improper(solve, pairs, x0[i])
                for i in range(count)
            ]
            found = tuple(map(np.stack, zip(*each)))
        return _converged(solve, tuple(array.reshape(*lengths, *array.shape[1:]) for array in found))


def solve_now(solve: Solve, x0: Any, numeric: Any, lower: Any, upper: Any) -> tuple[Any, Any]:
    """Return x and the statistics of a solve of arrays that JAX does not trace. Without a callback, exceptions come out
    as they are raised. The function is compiled for the host, as it is in a callback."""
    (device,) = x0.devices()
    host = jax.local_devices(backend="cpu")[0]
    with jax.default_device(host):
        numeric, lower, upper = jax.device_put((numeric, lower, upper), host)
        x, statistics = _on_host(solve, False, x0, numeric, lower, upper, raises=True)
    return jax.device_put(jnp.array(x), device), jax.device_put(jnp.array(statistics), device)


def traced_solve(solve: Solve, pairs: bool, x0: Any, numeric: Any, lower: Any, upper: Any) -> tuple[Any, ...]:
    """Solve inside a function that JAX traces. Return x at the minimum, STATISTICS as one array and, if ``pairs`` is
    true, an array of shape (2 m + 1, n).

    Rows 0 to m - 1 of the last array are the differences s of the correction pairs, oldest first. Rows m to 2 m - 1 are
    the differences y. The last row is the diagonal of the initial inverse Hessian. With fewer than m pairs, the first
    rows of s and of y are 0. For a batch all rows of s and y are 0."""
    shape: Any = partial(jax.ShapeDtypeStruct, dtype=x0.dtype)
    shapes = shape(x0.shape), shape((len(STATISTICS),)), shape((2 * solve.most_pairs(x0.size) + 1, x0.size))
    on_host = partial(_on_host, solve, pairs)
    found: tuple[Any, ...] = jax.pure_callback(
        _Hashable(on_host), shapes if pairs else shapes[:2], x0, numeric, lower, upper, vmap_method="expand_dims"
    )
    return found


class _Hashable:
    """Wraps a partial function so that two wrappers are equal if function and arguments are, as JAX's caches require.
    """

    def __init__(self, function: partial[Any]) -> None:
        self._function = function
        self._key = function.func, function.args

    def __call__(self, *arguments: Any) -> Any:
        return self._function(*arguments)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Hashable) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)
