"""The results of ``minimize``, ``minimize_batch``, ``pattern_search`` and ``check_gradient``."""
from __future__ import annotations

import math
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ._constants import LIMITS, Gradient, InitialHessian, StopTest, Task
from ._evaluation import Evaluation
from ._idle_solvers import keep_idle
from ._sizes import hint_on_sizes
from ._solver import Solver
from ._space import Array, NumPySpace

HALTED = "`callback` raised `StopIteration`"  # SciPy's words


class Result(dict[str, Any]):
    """A dictionary whose items are also attributes. If the user has imported ``scipy.optimize``, results are also
    instances of its class ``OptimizeResult``."""

    # The methods for attributes are hidden from type checkers. These therefore know only the attributes that the
    # classes below declare.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            try:
                return self[name]
            except KeyError:
                raise AttributeError(name) from None

        __setattr__ = dict.__setitem__
        __delattr__ = dict.__delitem__

    def __dir__(self) -> list[str]:
        return list(self)

    def __repr__(self) -> str:
        width = max((len(name) for name in self), default=0)
        return "\n".join(f"{name:>{width}}: {value!r}" for name, value in self.items())

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (_kind_of(type(self)), dict(self))

    def copy(self) -> Any:
        return _restored(_kind_of(type(self)), dict(self))


class OptimizeResult(Result):
    """The result of ``minimize``, with one attribute for each value."""

    x: Array
    fun: float
    jac: Array
    nit: int
    nfev: int
    njev: int
    status: int
    success: bool
    message: str
    task: Task
    stop_test: StopTest
    maxcor: int
    hess_inv: InverseHessian


class BatchResult(Result):
    """The result of ``minimize_batch``. Its arrays have one element or one row per problem."""

    x: Array
    fun: Array
    jac: Array
    nit: np.ndarray[Any, Any]
    nfev: np.ndarray[Any, Any]
    njev: np.ndarray[Any, Any]
    pg_norm_inf: np.ndarray[Any, Any]
    codes: np.ndarray[Any, Any]
    stop_test: np.ndarray[Any, Any]
    status: np.ndarray[Any, Any]
    success: np.ndarray[Any, Any]
    rounds: int
    task: Task
    maxcor: int
    message: str
    message_of: Callable[[int], str]


class SearchResult(Result):
    """The result of ``pattern_search``, with one attribute for each value."""

    x: Array
    fun: float
    walks_x: np.ndarray[Any, Any]
    walks_fun: np.ndarray[Any, Any]
    nit: int
    nfev: int
    status: int
    success: bool
    message: str
    task: Task


class CheckResult(Result):
    """The result of ``check_gradient``, with one attribute for each value."""

    verdict: Gradient
    success: bool
    message: str
    component: int | None
    supplied: float
    difference: float
    error: float
    nfev: int


class IntermediateResult(Result):
    """The argument of a user's callback. It contains ``x``, ``fun`` and ``nit`` in ``minimize``, and ``fun``, ``nit``
    and ``nfev`` in ``pattern_search``."""

    x: Array
    fun: float
    nit: int
    nfev: int


class BatchIntermediateResult(Result):
    """The argument of a user's callback of ``minimize_batch``. It contains ``active`` and ``rounds`` and, with the
    option ``REPORT_ITERATES=1``, the other items."""

    active: int
    rounds: int
    problems: np.ndarray[Any, Any]
    x: Array
    fun: np.ndarray[Any, Any]
    nit: np.ndarray[Any, Any]


Kind = TypeVar("Kind", bound=Result)


@lru_cache(maxsize=None)
def _with_scipy(kind: type[Result], base: type[Any]) -> type[Any]:
    """Return a class that inherits from both classes. Its objects are printed like results of SciPy."""
    items = {"__module__": kind.__module__, "__repr__": base.__repr__, "kind": kind}
    return type(kind.__name__, (kind, base), items)


def _kind_of(kind: type[Any]) -> type[Result]:
    found: type[Result] = kind.__dict__.get("kind", kind)
    return found


def new_result(kind: type[Kind], **items: Any) -> Kind:
    """Return a result of the class ``kind``. If the user has imported scipy.optimize, it is also an OptimizeResult of
    SciPy."""
    result: Kind = _restored(kind, items)
    return result


def _restored(kind: type[Result], items: dict[str, Any]) -> Any:
    base = getattr(sys.modules.get("scipy.optimize"), "OptimizeResult", None)
    return (_with_scipy(kind, base) if base else kind)(items)


class InverseHessian:
    """The L-BFGS approximation H of the inverse Hessian at the end of a solve, without regard to bounds.

    ``operator @ v`` and ``operator.matvec(v)`` take an array of shape (n,) of the same library as x, and return a new
    one. The elements of the result have the precision of the correction pairs (``HISTORY_BITS``). The solver's
    workspace, which is in the memory space of x, exists as long as the operator."""

    def __init__(self, solver: Solver) -> None:
        self._solver = solver
        self._pairs = solver["PAIRS"]
        self._begun = False
        # Any thread may use the inverse Hessian, but only one thread at a time may use the solver's handle.
        self._one_at_a_time = threading.Lock()
        self.shape = (solver.n, solver.n)
        self.dtype = f"float{solver._space.bits}"

    def _begin(self) -> None:
        """Prepare the solver for products H v. It keeps its history, but has no bounds and no stopping tests."""
        solver = self._solver
        solver._kind = None  # its settings change
        solver.reset(keep_pairs=True)
        if not self._begun:
            solver._lower, solver._upper = -math.inf, math.inf
            solver._set_bounds()
            solver.set({"EPS": 0, "PGTOL": 0, "FACTR": 0, "F_UNBOUNDED": -math.inf, "REPORT_ITERATES": 0}.items())
            solver.set({"MAX_ITERATIONS": 0}.items())
            if solver["INITIAL_HESSIAN"] == InitialHessian.OPERATOR:
                solver["INITIAL_HESSIAN"] = InitialHessian.SCALAR
            solver.set({"STPMIN": 1e-20, "STPMAX": 1e20}.items())
            solver.set({"MAX_EVALUATIONS": 0, "MAX_SECONDS": 0, "IPRINT_FREQUENCY": -1}.items())
            self._begun = True

    def _arrays(self, v: Array) -> tuple[Array, Array, Array]:
        """Create arrays x = 0, f = 0 and g = v for the product H v. The solver reads and writes them afterwards."""
        space = self._solver._space
        x, f, g = space.from_numpy(np.zeros(self._solver.n)), space.empty(double=True), space.empty(self._solver.n)
        space.put_number(f, 0.0, "f")
        space.put(g, v, "v")
        return x, f, g

    def _solve(self, x: Array, f: Array, g: Array, target: float) -> int:
        """Start a solve with x, f and g. If f is below ``target``, the solve ends. Otherwise x becomes the first trial
        point."""
        solver = self._solver
        admitted, step = solver._space.admitted, solver._function("solve")
        self._begin()
        solver["F_TARGET"] = target
        addresses = admitted(x, "x", x.shape), admitted(f, "f", f.shape, double=True), admitted(g, "v", x.shape)
        for _ in range(2):
            task = solver._after(solver._exclusively(step, *addresses), {Task.CONVERGED, Task.NOT_FINITE})
        # The solver's diagonal need not be filled again, because its array still contains the diagonal of the last
        # iterate.
        if task == Task.SUPPLY_DIAGONAL:
            task = solver._after(solver._exclusively(step, *addresses), {Task.CONVERGED, Task.NOT_FINITE})
        return task

    def matvec(self, v: Array) -> Array:
        """Return H v, for v of shape (n,).

        Raises
        ------
        ValueError
            if v has another shape, or elements that are NaN or infinite
        ArithmeticError
            if the correction pairs differ so much in scale that rounding errors dominate H v; H is then lost
        """
        with self._one_at_a_time:
            return self._product(v)

    def _product(self, v: Array) -> Array:
        solver, space = self._solver, self._solver._space
        x, f, g = self._arrays(v)
        if self._solve(x, f, g, math.inf) == Task.NOT_FINITE:
            raise ValueError("v has elements that are NaN or infinite")
        if self._pairs == 0:
            # Without correction pairs the inverse Hessian H is the identity matrix, and the product H v is v itself.
            return space.own(g)
        # At x = 0 with the gradient v, the first trial point along the quasi-Newton direction is -H v. v is first
        # scaled so that its largest component is about 1. Then squares, and elements in the precision of HISTORY_BITS,
        # neither overflow nor underflow.
        most = 120 if space.bits == 32 else 1000
        exponent = min(max(math.frexp(solver["PG_NORM_INF"])[1], -most), most)
        if exponent:
            space.put(g, space.own(g) * 2.0**-exponent, "v")
        task = self._solve(x, f, g, -math.inf)
        if solver["PAIRS"] != self._pairs:
            raise ArithmeticError("the slope -v'Hv is lost in rounding errors, and the approximation H with it")
        return space.own(x) * -(2.0**exponent) if task == Task.EVALUATE_FG else space.own(x)  # H 0 = 0

    rmatvec = matvec  # H is symmetric

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the state for copies and pickles. It consists of a checkpoint of a solve without bounds and of an
        array whose library and device are those of x."""
        solver = self._solver
        x, f, g = self._arrays(solver._space.from_numpy(np.ones(solver.n)))
        checkpoint = b""
        if self._pairs:
            with self._one_at_a_time:
                self._solve(x, f, g, math.inf)
                checkpoint = solver.save()
        diagonal = solver.diagonal
        return _inverse_from, (x, solver["HISTORY_SIZE"], checkpoint, self._pairs, diagonal, solver._x_scale)

    def __matmul__(self, v: Array) -> Array:
        return self.matvec(v)


def _inverse_from(
    place: Array, m: int, checkpoint: bytes, pairs: int, diagonal: Array | None = None, x_scale: Any = None
) -> InverseHessian:
    solver = Solver(place, m, diagonal=diagonal is not None, x_scale=x_scale)
    if diagonal is not None:
        solver.diagonal = diagonal
    if checkpoint:
        solver.load(checkpoint)
    inverse = InverseHessian(solver)
    # The number of correction pairs is that of the original. The solver's own number is 0 if H was lost in rounding
    # errors.
    inverse._pairs = pairs
    return inverse


def _operator_of(inverse: InverseHessian) -> Any:
    """Return the inverse Hessian as a SciPy LinearOperator if x is a NumPy array and the user has imported
    scipy.sparse.linalg. Otherwise return it unchanged."""
    linalg = sys.modules.get("scipy.sparse.linalg")
    if linalg and isinstance(inverse._solver._space, NumPySpace):
        return _linear_operator(linalg.LinearOperator)(inverse)
    return inverse


@lru_cache(maxsize=None)
def _linear_operator(base: type[Any]) -> type[Any]:
    class LinearOperator(base):  # type: ignore[misc]
        """The inverse Hessian H as a LinearOperator of SciPy; todense() returns an array of shape (n, n)."""

        def __init__(self, inverse: InverseHessian) -> None:
            super().__init__(np.dtype(inverse.dtype), inverse.shape)
            self._inverse = inverse

        def _matvec(self, v: Array) -> Array:
            return self._inverse.matvec(np.ravel(v))

        _rmatvec = _matvec

        def todense(self) -> Array:
            return self @ np.eye(self.shape[0])

        def __reduce__(self) -> tuple[Any, ...]:
            return _operator_of, (self._inverse,)

    return LinearOperator


def result_of(
    solver: Solver, evaluation: Evaluation, arrays: Sequence[Array] | None = None, hints: bool = False
) -> OptimizeResult:
    """Return the result of a solve that has ended. As in SciPy's L-BFGS-B, ``status`` is 0 if the solve converged, 1 if
    it reached a limit, 99 if the callback ended it, and 2 otherwise.

    ``arrays``: x and the gradient, if copies of them exist already. ``hints``: whether the message of a failed solve
    may recommend x_scale."""
    converged = solver.status == Task.CONVERGED and not solver.halted
    evaluations, gradients = evaluation.counts
    message = solver.message + (hint_on_sizes(solver) if hints and solver.status == Task.LINE_SEARCH_FAILED else "")
    if evaluation.maxfun and solver.status == Task.EVALUATION_LIMIT:
        message = f"the limit of {evaluation.maxfun} evaluations of fun is reached,{message.partition(',')[2]}"
    x, gradient = arrays or (solver._space.own(solver._x), solver._space.own(solver._g))
    inverse = InverseHessian(solver)
    if solver._kind is not None:
        weakref.finalize(inverse, keep_idle, solver).atexit = False
    unknown = evaluation.without_derivative
    if unknown is not None:
        # Unknown components are set to NaN in a copy, because the solver's own gradient must stay finite for hess_inv.
        gradient = gradient.copy()
        gradient[unknown] = math.nan
    return new_result(
        OptimizeResult,
        x=x,
        fun=solver["F"],
        jac=gradient,
        nit=solver["ITERATIONS"],
        nfev=evaluations,
        njev=gradients,
        status=99 if solver.halted else 0 if converged else 1 if solver.status in LIMITS else 2,
        success=converged,
        message=f"{HALTED}: {message}" if solver.halted else message,
        task=solver.status,
        stop_test=StopTest(int(solver["STOP_TEST"])),
        maxcor=solver["HISTORY_SIZE"],
        hess_inv=_operator_of(inverse),
    )
