"""Solves with ``x_scale="auto"``, and hints for solves whose variables differ in size by orders of magnitude."""
from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from ._constants import Task
from ._evaluation import Evaluation
from ._options import Options
from ._solver import Solver
from ._space import NumPySpace

Numbers = np.ndarray[Any, Any]

# The factor by which sizes have to differ, and the restart at which they are used. docs/notes/restarts.md has
# measurements of both numbers.
_FACTOR, _RESTARTS = 1e3, 2
_MOST_SHOWN = 8


def _sizes(x: Numbers) -> Numbers:
    """Return the absolute values of the variables, with 1 in place of 0."""
    sizes = np.abs(x)
    return np.where((sizes > 0) & np.isfinite(sizes), sizes, 1).astype(x.dtype)


def _differ(x: Numbers) -> bool:
    sizes = np.abs(x[x != 0])
    return sizes.size > 1 and bool(sizes.max() >= _FACTOR * sizes.min())


def hint_on_sizes(solver: Solver) -> str:
    """Return a clause for the message of a solve that has not converged, if its variables differ in size by orders of
    magnitude: it names the smallest and the largest one, and suggests sizes. Otherwise return an empty string."""
    x = solver._x
    if not isinstance(solver._space, NumPySpace) or not isinstance(solver._x_scale, float) or not _differ(x):
        return ""
    sizes = np.where(x == 0, np.inf, np.abs(x))
    small, large = int(np.argmin(sizes)), int(np.argmax(np.abs(x)))
    rounded = ", ".join(f"{10 ** np.round(np.log10(float(size))):g}" for size in _sizes(x)[:_MOST_SHOWN])
    scale = f" or x_scale=[{rounded}]" if x.size <= _MOST_SHOWN else ""
    return f"; x[{small}] = {x[small]:.3g} is much smaller than x[{large}] = {x[large]:.3g}: try x_scale='auto'{scale}"


def solved_by_sizes(
    solve: Callable[..., tuple[Solver, Evaluation]],
    start: Numbers,
    options: Options,
    report_of: Callable[[Solver], Callable[[], Any]] | None,
) -> tuple[Solver, Evaluation]:
    """Perform a solve, and continue it in x / sizes where it restarts for the second time, if the sizes differ.

    The size of a variable is the larger of its absolute values there and at the start, or 1 if both are 0.
    ``solve(start, options, **more)`` performs a solve; ``more`` and ``report_of`` are arguments of ``solved``."""
    stopped = False

    def watching(solver: Solver) -> Callable[[], None]:
        def look() -> None:
            nonlocal stopped
            if stopped or solver["REFRESHES"] < _RESTARTS or not _is_before_limits(solver):
                return
            if _differ(np.maximum(np.abs(solver._x), np.abs(start))):
                stopped = True
                solver.request_stop()

        return look

    first, evaluation = solve(start, options, after_evaluation=watching, report_of=report_of)
    if not stopped or first.halted or first.status != Task.STOPPED:
        return first, evaluation
    counts, iterations = evaluation.counts, int(first["ITERATIONS"])
    sizes = _sizes(np.maximum(np.abs(first._x), np.abs(start)))

    def continued(solver: Solver) -> Callable[[], Any]:
        assert report_of is not None
        solver.earlier_iterations = iterations
        return report_of(solver)

    second, its_evaluation = solve(
        first._x, _reduced(options, counts, iterations), x_scale=sizes, report_of=continued if report_of else None
    )
    first.close()
    second.earlier_iterations, its_evaluation.earlier = iterations, counts
    return second, its_evaluation


def _is_before_limits(solver: Solver) -> bool:
    limits = ("MAX_EVALUATIONS", "EVALUATIONS"), ("MAX_ITERATIONS", "ITERATIONS")
    return all(solver[limit] == 0 or solver[count] + 1 < solver[limit] for limit, count in limits)


def _reduced(options: Options, counts: tuple[int, int], iterations: int) -> Options:
    """Return the options with the rest of the limits. There is a rest, because _is_before_limits() has held."""
    settings = dict(options.settings)
    for name, used in ("MAX_EVALUATIONS", counts[1]), ("MAX_ITERATIONS", iterations):
        if settings.get(name):
            settings[name] = max(settings[name] - used, 1)
    maxfun = max(options.maxfun - counts[0], 1) if options.maxfun else 0
    return dataclasses.replace(options, settings=settings, maxfun=maxfun)
