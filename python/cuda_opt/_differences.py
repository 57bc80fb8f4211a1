"""Gradients by finite differences with the steps of SciPy's ``minimize``. All points are within the bounds.

The step for variable i is ``h_i = e sign(x_i) max(1, |x_i|)``. With these e, truncation and rounding errors balance
(Nocedal and Wright, Numerical Optimization, 2006, section 8.1): e is the square root of the unit roundoff for one-sided
differences and complex steps, and its cube root for central differences."""
from __future__ import annotations

import math
import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from ._handle import integer
from ._space import Array, name_of, number, numpy_array

METHODS = ("2-point", "3-point", "cs")
OBJECTIVE = "the value of the function"
Vector = np.ndarray[Any, Any]


def _count_start(started: Any) -> None:
    """Count this worker process in the shared integer ``started``. Each worker process calls this when it starts."""
    with started.get_lock():
        started.value += 1


class Objective:
    """The user's ``fun(x, *args)`` as a function of x alone. The object can be pickled and sent to other processes."""

    def __init__(self, fun: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self._fun, self._args = fun, args

    def __call__(self, x: Array) -> Any:
        return self._fun(x, *self._args)


def _steps_option(value: Any, name: str, n: int) -> Vector | None:
    """Return the value of an option as an array of n steps, or None if the option is not given. The value is one
    number, or one number per variable."""
    if value is None:
        return None
    steps = numpy_array(value, name)
    if steps.dtype.kind not in "fiu":
        raise TypeError(f"{name} is a {name_of(value)}: it has to be a number, or an array of {n} numbers")
    if steps.size != 1 and steps.shape != (n,):
        raise ValueError(f"{name} has the shape {steps.shape}: it has to be a number, or an array of {n} numbers")
    if not np.isfinite(steps).all():
        raise ValueError(f"{name} has elements that are NaN or infinite")
    return np.broadcast_to(steps.reshape(-1).astype(np.float64), (n,))


def _within_one_sided(x: Vector, h: Vector, lower: Vector, upper: Vector) -> Vector:
    """Return one-sided steps that do not leave the box. A step that would leave it is reversed if the reversed step
    stays in the box. Otherwise it ends at the more distant bound."""
    below, above = x - lower, upper - x
    leaves = (x + h < lower) | (x + h > upper)
    fits = np.abs(h) <= np.maximum(below, above)
    shortened = np.where(above >= below, above, -below)
    return np.where(fits, np.where(leaves, -h, h), shortened)


def _within_central(x: Vector, h: Vector, lower: Vector, upper: Vector) -> tuple[Vector, Vector]:
    """Return two arrays: steps for central differences within the box, and for each variable whether it is too close to
    a bound for them. The differences for such a variable use the points x, x + h and x + 2 h."""
    h, below, above = np.abs(h), x - lower, upper - x
    nearer, is_forward = np.minimum(below, above), above >= below
    one_sided = np.where(is_forward, np.minimum(h, above / 2), -np.minimum(h, below / 2))
    central = nearer >= h
    # Central differences with a shorter step, the distance to the nearer bound, are used where the one-sided step would
    # be no larger.
    central_but_shorter = ~central & (np.abs(one_sided) <= nearer)
    steps = np.where(central, h, np.where(central_but_shorter, nearer, one_sided))
    return steps, ~central & ~central_but_shorter


class Differences:
    """Computes the gradient of an objective by finite differences. Variables with equal bounds are left out.

    Parameters
    ----------
    objective : Objective
    method : "2-point", "3-point", "cs", or None
        None: one-sided differences with the absolute step eps, by default 1e-8. If x or f is float32, the default is
        the step of "2-point".
    lower, upper : float or array
        the bounds, which the points of the differences satisfy
    n : int
        number of variables
    options : dict
        ``eps``, ``finite_diff_rel_step`` and ``workers`` of SciPy's L-BFGS-B
    """

    def __init__(
        self, objective: Objective, method: Any, lower: Any, upper: Any, n: int, options: dict[str, Any]
    ) -> None:
        self._objective = objective
        self._method = "2-point" if method is None else method
        self._lower, self._upper = (np.broadcast_to(np.asarray(side, np.float64), (n,)) for side in (lower, upper))
        self.free = np.flatnonzero(self._lower < self._upper)
        eps = options.get("eps")
        self._absolute = _steps_option(1e-8 if eps is None else eps, "eps", n) if method is None else None
        self._for_doubles = eps is None
        self._relative = _steps_option(options.get("finite_diff_rel_step"), "finite_diff_rel_step", n)
        # ``evaluations`` counts the evaluations of the objective, except those at the points x of the solver.
        self.evaluations = 0
        self._pool: Any = None
        self._map: Callable[..., Iterable[Any]] = self._map_of(options.get("workers"))

    def _map_of(self, workers: Any) -> Callable[..., Iterable[Any]]:
        if workers is None or callable(workers):
            return workers or map
        processes = integer(workers, "workers", 32)
        if processes < 1 and processes != -1:
            raise ValueError(f"workers is {workers}: it has to be a map-like function, at least 1, or -1")
        processes = (os.cpu_count() or 1) if processes == -1 else processes
        if processes == 1:
            return map
        started = multiprocessing.Value("i", 0)
        self._pool = pool = multiprocessing.Pool(processes, _count_start, (started,))

        def mapped(function: Callable[..., Any], points: Iterable[Any]) -> list[Any]:
            values = pool.map_async(function, points)
            while not values.ready():
                values.wait(0.1)
                # The pool starts another process in place of one that was killed, but never repeats its points.
                if started.value > processes:
                    raise RuntimeError("a process of the option workers was killed while it evaluated fun")
            return values.get()

        return mapped

    def close(self) -> None:
        """End the worker processes that the option ``workers`` has started."""
        if self._pool is not None:
            self._pool.terminate()
            self._pool.join()
            self._pool = None

    @property
    def per_gradient(self) -> int:
        """Return how often the objective is evaluated for one gradient."""
        return (2 if self._method == "3-point" else 1) * self.free.size

    def _steps(self, x: Vector, f: Any) -> Vector:
        """Return the steps before they are adapted to the bounds. f is the value at x; its precision may be lower than
        that of x."""
        precision = np.finfo(x.dtype)
        value = np.asarray(f).dtype
        if value.kind in "fc" and np.finfo(value).eps > precision.eps:
            precision = np.finfo(value)
        unit = float(precision.eps) ** (1 / 3 if self._method == "3-point" else 0.5)
        sign = np.where(x >= 0, 1.0, -1.0)
        usual: Vector = unit * sign * np.maximum(1.0, np.abs(x))
        if self._absolute is not None and not (self._for_doubles and precision.bits < 64):
            steps = self._absolute
        elif self._relative is not None:
            steps = self._relative * sign * np.abs(x)
        else:
            return usual
        return np.where((x + steps).astype(x.dtype) - x == 0, usual, steps)

    def _moved(self, x: Vector, h: Vector) -> Vector:
        """Return x + h in the precision of x. The result is within the bounds in spite of rounding."""
        moved: Vector = np.clip(x + h, self._lower, self._upper).astype(x.dtype)
        return moved

    def _points(self, x: Vector, *moved: Vector) -> Iterator[Vector]:
        """Yield the points of the differences. For each free variable i, and for each array m of ``moved``, the point
        is x with component i replaced by m[i]."""
        for i in self.free:
            for values in moved:
                point = x.copy()
                point[i] = values[i]
                yield point

    def _values(self, points: Iterator[Any], count: int) -> list[Any]:
        if self._map is map:
            values = [self._objective(point) for point in points]
        else:
            returned = self._map(self._objective, points)
            if not hasattr(returned, "__iter__") or getattr(returned, "shape", None) == ():
                raise TypeError(f"workers returned a {name_of(returned)}: it has to be a sequence of values")
            values = list(islice(returned, count + 1))
        if len(values) != count:
            raise ValueError(f"workers returned {len(values)} values for {count} points")
        self.evaluations += count
        return values

    def __call__(self, x: Vector, f: Any) -> Vector:
        """Return the gradient at x, where the objective has the value f. Components of variables with equal bounds are
        0."""
        gradient = np.zeros(x.size)
        form = {"2-point": self._one_sided, "3-point": self._central, "cs": self._complex}[self._method]
        if self.free.size:
            difference, width = form(x, self._steps(x, f), f)
            # f may be infinite or NaN, where NumPy would issue warnings.
            with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
                gradient[self.free] = difference() / width
        return gradient

    @staticmethod
    def _numbers(values: list[Any]) -> Vector:
        return np.array([number(value, OBJECTIVE) for value in values])

    # Each of the next three functions returns the difference quotients as two parts: a function that computes the
    # numerator, and the denominator. The caller suppresses floating-point warnings while it computes the numerator,
    # because f may be infinite.

    def _one_sided(self, x: Vector, h: Vector, f: Any) -> tuple[Callable[[], Vector], Vector]:
        moved = self._moved(x, _within_one_sided(x, h, self._lower, self._upper))
        values = self._numbers(self._values(self._points(x, moved), self.free.size))
        width = (moved - x).astype(np.float64)[self.free]
        return lambda: values - number(f, OBJECTIVE), width

    def _central(self, x: Vector, h: Vector, f: Any) -> tuple[Callable[[], Vector], Vector]:
        h, one_sided = _within_central(x, h, self._lower, self._upper)
        first_x = self._moved(x, np.where(one_sided, h, -h))
        second_x = self._moved(x, np.where(one_sided, 2 * h, h))
        values = self._numbers(self._values(self._points(x, first_x, second_x), 2 * self.free.size))
        first, second = values[::2], values[1::2]
        width = np.where(one_sided, second_x - x, second_x - first_x).astype(np.float64)[self.free]
        aside, at_x = one_sided[self.free], number(f, OBJECTIVE)
        # The one-sided difference of second order is (-3 f(x) + 4 f(x + h) - f(x + 2 h)) / 2 h.
        return lambda: np.where(aside, -3 * at_x + 4 * first - second, second - first), width

    def _complex(self, x: Vector, h: Vector, f: Any) -> tuple[Callable[[], Vector], Vector]:
        """Compute Im f(x + i h) / h, the derivative by a complex step, which needs no difference of values (Squire and
        Trapp, SIAM Review 40 (1998) 110)."""
        kind = np.complex64 if x.dtype == np.float32 else np.complex128
        moved = x + 1j * h
        values = [np.asarray(value) for value in self._values(self._points(x.astype(kind), moved), self.free.size)]
        for value in values:
            if value.size != 1:
                raise ValueError(f"{OBJECTIVE} has the shape {value.shape}: it has to be one number")
            if value.dtype.kind != "c":
                raise TypeError(f"{OBJECTIVE} at a complex x is not complex: jac='cs' needs a function of complex x")
        imaginary = np.array([complex(value.reshape(())).imag for value in values])
        return lambda: imaginary, h[self.free]


def cost(limit: int, per_gradient: int) -> int:
    """Convert a limit for the evaluations of the objective to a limit for the solver's evaluations. 0 means no limit.
    As in SciPy, the last gradient may exceed the limit."""
    return limit and max(1, math.ceil(limit / (1 + per_gradient)))
