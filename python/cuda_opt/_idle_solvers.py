"""Solvers whose solve has ended, kept for later solves of the same kind.

On CUDA, creating and freeing a solver and its workspace takes as long as fifty evaluations of a small function."""
from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from ._bounds import limits_of
from ._handle import integer
from ._solver import Solver

_MOST, _MOST_BYTES = 4, 1 << 26
_idle: list[tuple[Any, Solver]] = []
os.register_at_fork(after_in_child=_idle.clear)


def kind_of(place: Any, m: Any, settings: Mapping[str, Any]) -> Any:
    """Return a key that is equal for solvers which can replace each other, apart from their bounds: ``place`` (size,
    precision and device), m and the settings. Return None if m or a setting is not a number. The solver then reports
    it."""
    try:
        return place, integer(m, "m"), tuple((name, float(value)) for name, value in settings.items())
    except (TypeError, ValueError, OverflowError):
        return None


def solver_of_kind(kind: Any, bounds: Any, create: Callable[[], Solver]) -> Solver:
    """Return an idle solver of this kind with these bounds, or a new one. With the kind None it is always new."""
    for entry in list(_idle):
        if kind is not None and entry[0] == kind:
            try:
                _idle.remove(entry)
            except ValueError:  # another thread has taken it
                continue
            solver = entry[1]
            _set_bounds(solver, bounds)
            break
    else:
        solver = create()
    solver._kind = kind
    return solver


def keep_idle(solver: Solver) -> None:
    """Keep a solver whose result has been deleted, if its workspace has at most 64 MiB. Of the solvers kept, only the
    newest four remain."""
    bytes_of_x = solver.n * solver._space.bits // 8
    if solver._kind is None or (2 * solver["HISTORY_SIZE"] + 10) * bytes_of_x > _MOST_BYTES:
        return
    solver.reset()
    _set_bounds(solver, None)  # keep no reference to the user's arrays of bounds
    _idle.append((solver._kind, solver))
    del _idle[:-_MOST]


def _set_bounds(solver: Solver, bounds: Any) -> None:
    solver._lower, solver._upper = limits_of(bounds, solver.n, solver._space)
    solver._set_bounds()
