"""Solves with ``x_scale="auto"``, and hints for solves whose variables differ in size by orders of magnitude."""
from __future__ import annotations

import dataclasses
import time
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


def _sizes(x: Numbers, start: Numbers | None = None) -> Numbers:
    """Return the larger absolute values of x and of the start, with 1 in place of 0. If a variable starts at 0, a value
    below 1 says how far it has moved rather than what its size is, so that its size is then 1."""
    sizes = np.abs(x) if start is None else np.maximum(np.abs(x), np.abs(start))
    if start is not None:
        sizes = np.where(start == 0, np.maximum(sizes, 1), sizes)
    return np.where((sizes > 0) & np.isfinite(sizes), sizes, 1).astype(x.dtype)


def _differ(solver: Solver, sizes: Numbers) -> bool:
    """Return whether the sizes of the variables that can change differ by _FACTOR or more."""
    sizes = sizes[np.broadcast_to(np.not_equal(solver._lower, solver._upper), sizes.shape) & (sizes > 0)]
    return sizes.size > 1 and bool(sizes.max() / _FACTOR >= sizes.min())


def hint_on_sizes(solver: Solver) -> str:
    """Return a clause for the message of a solve that has not converged, if its variables differ in size by orders of
    magnitude: it names the smallest and the largest one, and suggests scales. Otherwise return an empty string."""
    x = solver._x
    scaled = not isinstance(solver._x_scale, float)
    if not isinstance(solver._space, NumPySpace) or scaled or not _differ(solver, np.abs(x)):
        return ""
    fixed = np.broadcast_to(np.equal(solver._lower, solver._upper), x.shape)
    small = int(np.argmin(np.where(fixed | (x == 0), np.inf, np.abs(x))))
    large = int(np.argmax(np.where(fixed, 0, np.abs(x))))
    rounded = ", ".join(f"{10 ** np.round(np.log10(float(size))):g}" for size in _sizes(x)[:_MOST_SHOWN])
    scale = f" or x_scale=[{rounded}]" if x.size <= _MOST_SHOWN else ""
    return f"; x[{small}] = {x[small]:.3g} is much smaller than x[{large}] = {x[large]:.3g}: try x_scale='auto'{scale}"


def solved_by_sizes(
    solve: Callable[..., tuple[Solver, Evaluation]],
    start: Numbers,
    options: Options,
    report_of: Callable[[Solver], Callable[[], Any]] | None,
) -> tuple[Solver, Evaluation]:
    """Perform a solve without scales. At its second restart, if the sizes differ by _FACTOR or more, stop it and
    continue from there with the sizes as scales. Limits apply to the two solves together.

    ``solve(start, options, **more)`` performs a solve; ``more`` and ``report_of`` are keyword arguments of
    ``_minimize.solved``."""
    stopped, began = False, time.monotonic()

    def watching(solver: Solver) -> Callable[[], Any]:
        report = report_of(solver) if report_of else None

        def look() -> None:
            nonlocal stopped
            if report:
                report()
            if stopped or solver["REFRESHES"] < _RESTARTS or not _is_before_limits(solver):
                return
            if _differ(solver, _sizes(solver._x, start)):
                stopped = True
                solver.request_stop()

        return look

    first, evaluation = solve(start, options, report_of=watching)
    if not stopped or first.halted or first.status != Task.STOPPED:
        return first, evaluation
    counts, iterations = evaluation.counts, int(first["ITERATIONS"])
    sizes = _sizes(first._x, start)

    def continued(solver: Solver) -> Callable[[], Any]:
        assert report_of is not None
        solver.earlier_iterations = iterations
        return report_of(solver)

    rest = _reduced(options, counts, iterations, time.monotonic() - began)
    second, its_evaluation = solve(first._x, rest, x_scale=sizes, report_of=continued if report_of else None)
    first.close()
    second.earlier_iterations, its_evaluation.earlier = iterations, counts
    return second, its_evaluation


def _is_before_limits(solver: Solver) -> bool:
    limits = ("MAX_EVALUATIONS", "EVALUATIONS"), ("MAX_ITERATIONS", "ITERATIONS")
    return all(solver[limit] == 0 or solver[count] + 1 < solver[limit] for limit, count in limits)


def _reduced(options: Options, counts: tuple[int, int], iterations: int, seconds: float) -> Options:
    """Return the options with what is left of the limits. At least one evaluation and one iteration are left, because
    _is_before_limits() has held."""
    settings = dict(options.settings)
    for name, used in ("MAX_EVALUATIONS", counts[1]), ("MAX_ITERATIONS", iterations):
        if settings.get(name):
            settings[name] = max(settings[name] - used, 1)
    if settings.get("MAX_SECONDS"):
        settings["MAX_SECONDS"] = max(settings["MAX_SECONDS"] - seconds, 1e-3)
    maxfun = max(options.maxfun - counts[0], 1) if options.maxfun else 0
    return dataclasses.replace(options, settings=settings, maxfun=maxfun)
