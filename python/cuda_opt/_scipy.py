"""The conventions of SciPy's L-BFGS-B: its messages and its inverse Hessian."""
from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from ._constants import REALS, Task
from ._evaluation import Evaluation
from ._result import HALTED, OptimizeResult, result_of
from ._solver import Solver
from ._space import Array

# Each message of SciPy is given twice: in the form of version 1.15 and later, and in the earlier form.
_SENTENCES: dict[Any, tuple[str, str]] = {
    Task.ITERATION_LIMIT: (
        "STOP: TOTAL NO. OF ITERATIONS REACHED LIMIT",
        "STOP: TOTAL NO. of ITERATIONS REACHED LIMIT",
    ),
    Task.EVALUATION_LIMIT: (
        "STOP: TOTAL NO. OF F,G EVALUATIONS EXCEEDS LIMIT",
        "STOP: TOTAL NO. of f AND g EVALUATIONS EXCEEDS LIMIT",
    ),
    Task.TIME_LIMIT: ("STOP: CPU EXCEEDING THE TIME LIMIT", "STOP: CPU EXCEEDING THE TIME LIMIT."),
    "PGTOL": (
        "CONVERGENCE: NORM OF PROJECTED GRADIENT <= PGTOL",
        "CONVERGENCE: NORM_OF_PROJECTED_GRADIENT_<=_PGTOL",
    ),
    "FACTR": (
        "CONVERGENCE: RELATIVE REDUCTION OF F <= FACTR*EPSMCH",
        "CONVERGENCE: REL_REDUCTION_OF_F_<=_FACTR*EPSMCH",
    ),
}
_TESTS = {number: name for name, number in REALS.items()}
_ALL_FIXED = "All independent variables were fixed by bounds."


def _before_1_15() -> bool:
    version = re.findall(r"\d+", getattr(sys.modules.get("scipy"), "__version__", "2.0"))
    return [int(part) for part in version[:2]] < [1, 15]


def _sentence(solver: Solver) -> str:
    """Return the message that the installed version of SciPy has for the solver's return code.

    For a code that SciPy does not have, the message is SciPy's word for the kind of termination and then the C
    library's message."""
    key: Any = solver.status
    if key == Task.CONVERGED:
        key = _TESTS.get(int(solver["STOP_TEST"]))
    if key in _SENTENCES:
        return _SENTENCES[key][_before_1_15()]
    kind = "CONVERGENCE" if solver.status == Task.CONVERGED else "ABNORMAL"
    if kind == "ABNORMAL" and _before_1_15():
        kind = "ABNORMAL_TERMINATION_IN_LNSRCH"
    return f"{kind}: {solver.message}"


class Pairs:
    """Collects the steps s and the gradient changes y of the last m iterations, as ``sk`` and ``yk`` of SciPy's result.
    Pairs that the solver skips are left out, and so are pairs from before the solver has cleared its history."""

    def __init__(self) -> None:
        self._pairs: deque[tuple[Array, Array]] = deque()
        self._x: Array = None
        self._g: Array = None
        self._events = 0, 0

    def after_evaluation(self, solver: Solver) -> Callable[[], None]:
        """Return a function that stores x and g after the first evaluation, which takes place at the start."""

        def note() -> None:
            if self._x is None:
                self._pairs = deque(maxlen=int(solver["HISTORY_SIZE"]))
                self._note(solver)

        return note

    def _note(self, solver: Solver) -> None:
        self._x, self._g = solver._x.astype(np.float64), solver._g.astype(np.float64)

    def add(self, solver: Solver) -> None:
        """Append the correction pair (s, y) of the step that led to the current iterate."""
        x, g = self._x, self._g
        self._note(solver)
        s, y = self._x - x, self._g - g
        skipped, refreshed = int(solver["SKIPPED_UPDATES"]), int(solver["REFRESHES"])
        if refreshed > self._events[1]:
            self._pairs.clear()
        # Only pairs of positive curvature s'y that the solver has not skipped are stored.
        if skipped == self._events[0] and s @ y > 0:
            self._pairs.append((s, y))
        self._events = skipped, refreshed

    def operator(self, n: int, otherwise: Any) -> Any:
        """Return these pairs as SciPy's inverse Hessian operator, or ``otherwise`` if the user has not imported SciPy.
        """
        scipy = sys.modules.get("scipy.optimize")
        if scipy is None:
            return otherwise
        sides = (np.array([pair[side] for pair in self._pairs]).reshape(-1, n) for side in (0, 1))
        return scipy.LbfgsInvHessProduct(*sides)


def in_words_of_scipy(solver: Solver, evaluation: Evaluation, pairs: Pairs) -> OptimizeResult:
    """Return the result of a solve, with SciPy's messages and inverse Hessian."""
    result = result_of(solver, evaluation)
    fixed = evaluation.without_derivative
    updated: dict[str, Any] = {"message": f"{HALTED}." if solver.halted else _sentence(solver)}
    if fixed is not None and len(fixed) == solver.n:
        updated["message"] = _ALL_FIXED
    # As in SciPy, derivatives with respect to variables with equal bounds are unknown.
    updated["hess_inv"] = pairs.operator(solver.n, result.hess_inv) if fixed is None else None
    result.update(updated)
    return result
