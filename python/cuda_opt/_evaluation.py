"""Evaluates the user's function at the solver's x, and writes f and the gradient to the solver's arrays."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ._differences import METHODS, Differences, Objective, cost
from ._options import Options
from ._solver import GRADIENT, OBJECTIVE, Solver
from ._space import Array, NumPySpace, name_of, number, numpy_array

JACOBIANS = ", ".join(map(repr, METHODS))


def needs_differences(jac: Any) -> bool:
    """Return whether finite differences provide the gradient, depending on the argument ``jac`` of ``minimize``.

    Raises
    ------
    ValueError
        if jac is none of the values that ``minimize`` accepts
    """
    if jac is True or callable(jac):
        return False
    if jac is None or jac is False or (isinstance(jac, str) and jac in METHODS):
        return True
    hint = "; to select a method, use the keyword argument method" if isinstance(jac, str) else ""
    allowed = f"True (fun returns f and its gradient), a function, {JACOBIANS}, or None"
    raise ValueError(f"jac is {jac!r}: it has to be {allowed}{hint}")


def _pair(returned: Any) -> Any:
    """Return f and the gradient from what the user's function returned. Raises TypeError if that is not such a pair."""
    pair = returned
    if isinstance(pair, np.ndarray) and pair.dtype == object and pair.ndim == 1:
        pair = tuple(pair)
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        length = f" of length {len(pair)}" if isinstance(pair, (tuple, list)) else ""
        raise TypeError(
            f"the function returned a {name_of(pair)}{length}: with jac=True it returns f and its gradient "
            "(the default), and with jac=None it returns f alone"
        )
    return pair


def _flat(gradient: Any, n: int, is_numpy: bool) -> Any:
    """Return a gradient of shape (n, 1) or (1, n) as an array of shape (n,)."""
    if is_numpy and isinstance(gradient, (list, tuple)):
        gradient = numpy_array(gradient, GRADIENT)
    shape = getattr(gradient, "shape", None)
    if shape is None or len(shape) != 2 or tuple(shape) not in ((n, 1), (1, n)):
        return gradient
    return np.asarray(gradient).reshape(-1) if is_numpy else gradient.reshape(-1)


class Evaluation:
    """Evaluates f and its gradient, and counts the calls of the user's functions.

    Parameters
    ----------
    solver : Solver
        the solver to whose arrays f and the gradient are written
    fun, jac, args
        as for ``minimize``
    options : Options
        the options, of which only those of finite differences are used here
    copies : bool
        True: fun and jac receive a new array in each evaluation, which they may keep and change, as in SciPy. False:
        they receive a view of the solver's array.
    """

    def __init__(
        self, solver: Solver, fun: Callable[..., Any], jac: Any, args: tuple[Any, ...], options: Options, copies: bool
    ) -> None:
        if not callable(fun):
            raise TypeError(f"fun is a {name_of(fun)}: it has to be a function")
        self._solver = solver
        self._differences: Differences | None = None
        # The limit of calls of fun if the gradient is formed by differences. 0: no limit, or no differences. The
        # library itself counts one evaluation for f and its whole gradient.
        self.maxfun = 0
        space = solver._space
        view: Callable[[Array], Array] = space.copy_of if copies else space.view
        # For NumPy one read-only view of the solver's x is created here and used in all evaluations.
        if not copies and isinstance(space, NumPySpace):
            always = space.view(solver._x)

            def always_the_same(_: Array) -> Array:
                return always

            view = always_the_same
        if not needs_differences(jac):
            self.evaluate = self._of_gradients(fun, jac, args, view)
            return
        if not isinstance(space, NumPySpace):
            raise ValueError(f"jac is {jac!r}, but x0 is no NumPy array: there are no finite differences of others")
        objective, method = Objective(fun, args), jac or None
        self._differences = Differences(
            objective, method, solver._lower, solver._upper, solver.n, options.differences
        )
        self.maxfun = options.maxfun
        if options.maxfun:
            solver["MAX_EVALUATIONS"] = cost(options.maxfun, self._differences.per_gradient)
        self.evaluate = self._of_differences(objective, self._differences, view)

    def _of_gradients(
        self, fun: Callable[..., Any], jac: Any, args: tuple[Any, ...], view: Callable[[Array], Array]
    ) -> Callable[[], None]:
        solver = self._solver
        space, n, x, f, g = solver._space, solver.n, solver._x, solver._f, solver._g
        put_number, put = space.put_number, space.put
        is_numpy, shape = isinstance(space, NumPySpace), (n,)

        def both() -> None:
            pair = fun(view(x), *args)
            if type(pair) is not tuple or len(pair) != 2:
                pair = _pair(pair)
            put_number(f, pair[0], OBJECTIVE)
            gradient = pair[1]
            if getattr(gradient, "shape", None) != shape:
                gradient = _flat(gradient, n, is_numpy)
            put(g, gradient, GRADIENT)

        def each() -> None:
            put_number(f, fun(view(x), *args), OBJECTIVE)
            gradient = jac(view(x), *args)
            if getattr(gradient, "shape", None) != shape:
                gradient = _flat(gradient, n, is_numpy)
            put(g, gradient, GRADIENT)

        return both if jac is True else each

    def _of_differences(
        self, objective: Objective, differences: Differences, view: Callable[[Array], Array]
    ) -> Callable[[], None]:
        solver = self._solver
        x, f, g = solver._x, solver._f, solver._g

        def evaluate() -> None:
            value = objective(view(x))
            f[()] = number(value, OBJECTIVE)
            # Where f is undefined, the line search shortens the step, whatever the gradient is. Therefore the gradient
            # is not computed there.
            g[:] = differences(x, value) if math.isfinite(f) else math.nan

        return evaluate

    @property
    def counts(self) -> tuple[int, int]:
        """Return the numbers of evaluations ``nfev`` and ``njev``. As in SciPy, nfev includes the evaluations for
        finite differences."""
        evaluations = int(self._solver["EVALUATIONS"])
        return evaluations + (self._differences.evaluations if self._differences else 0), evaluations

    @property
    def without_derivative(self) -> Any:
        """Return the indices of the variables with equal bounds, for which differences give no derivative. Return None
        if there are no such variables."""
        if self._differences is None or self._differences.free.size == self._solver.n:
            return None
        return np.setdiff1d(np.arange(self._solver.n), self._differences.free)

    def close(self) -> None:
        """End the worker processes of the option ``workers``."""
        if self._differences:
            self._differences.close()
