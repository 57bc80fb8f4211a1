#!/usr/bin/env python3
"""Usage: fuzz_jax.py [FIRST] [LAST]

Generates one random JAX program with solves of ``cuda_opt.jax`` for each seed from FIRST (default 0) to LAST - 1
(default FIRST + 200). It runs each program two or three times, with other values of the same shapes, and compares the
results with those of ``cuda_opt.minimize`` for functions written in NumPy. It does not need pytest. CUDA_OPT_LIBRARY
and CUDA_OPT_XLA name the shared library and the handler.

A program is a solve inside up to four nested transformations: ``jit``, ``vmap`` over data, over x0 or over bounds,
``scan``, ``map``, ``while_loop``, ``cond`` and ``remat``. It may be differentiated as a whole. The functions are convex
with one minimum. More than half of them are NaN for some x, or raise an exception when JAX traces them.

The seeds of a block of 200 run in a child process, so that a crash is attributed to its seed. In every second block
``jax_enable_x64`` is on, and two of four blocks are compiled with fewer optimisations, which takes less time. The
solves that have ended in earlier programs of the block are used again: if one seed alone does not show a failure, run
its block. The program prints a line for each failure and the counts at the end. The exit status is the number of
failures, at most 100."""
import collections
import logging
import os
import queue
import subprocess
import sys
import threading
import warnings
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np

import cuda_opt
from cuda_opt import Bounds, Task

BLOCK = 200
# A child that prints nothing for this number of seconds is stopped.
PATIENCE = 120
LIMITS = (Task.ITERATION_LIMIT, Task.EVALUATION_LIMIT)
TIGHT = {"ftol": 0, "gtol": 1e-9}


class Raised(ValueError):
    """The exception of the functions that raise one when they are traced."""


# ---------------------------------------------------------------------------------------------------------------------
# The functions. Each is written for JAX and for NumPy.


@dataclass(frozen=True)
class Function:
    """A convex function of x with the data c.

    traced : ``traced(jnp, x, c)`` computes f by JAX
    numpy : ``numpy(x, c)`` returns f and its gradient
    second : ``second(x, c)`` returns the Hessian, and the derivatives of the gradient with respect to c
    """

    name: str
    traced: Callable[..., Any]
    numpy: Callable[..., Any]
    second: Callable[..., Any]
    is_undefined: bool = False  # whether f or its gradient is NaN for some x
    has_minimum: bool = True


def _differences(x):
    """Return the gradient of sum (x_(i+1) - x_i)^2 / 10."""
    g, d = np.zeros_like(x), 0.2 * np.diff(x)
    g[1:] += d
    g[:-1] -= d
    return g


def _quadratic_second(x, c):
    n = len(x)
    coupling = np.array([_differences(row) for row in np.eye(n)])
    return 2 * np.diag(c) + coupling, 2 * np.diag(x - 1)


def _quartic(x, c):
    return ((x - c) ** 4 + (x - c) ** 2).sum(), 4 * (x - c) ** 3 + 2 * (x - c)


def _quartic_second(x, c):
    h = np.diag(12 * (x - c) ** 2 + 2)
    return h, -h


def _beyond(x, c):
    f, g = _quartic(x, c)
    return (np.nan if x.sum() > 2 * len(x) + 1 else f), g


def _undefined_slope(x, c):
    f, g = _quartic(x, c)
    return f, np.where(x > -1.5, g, np.nan)


def _traced_undefined_slope(jnp, x, c):
    # The derivative of this root is NaN where its value is not used.
    return jnp.sum((x - c) ** 4 + (x - c) ** 2 + 0 * jnp.where(x > -1.5, jnp.sqrt(x + 1.5), 0))


FUNCTIONS = [
    Function(
        "quadratic",
        lambda jnp, x, c: jnp.sum(c * (x - 1) ** 2) + jnp.sum((x[1:] - x[:-1]) ** 2) / 10,
        lambda x, c: ((c * (x - 1) ** 2).sum() + (np.diff(x) ** 2).sum() / 10, 2 * c * (x - 1) + _differences(x)),
        _quadratic_second,
    ),
    Function(
        "cosh",
        lambda jnp, x, c: jnp.sum(jnp.cosh(x - c)) + jnp.sum(x) ** 2 / 20,
        lambda x, c: (np.cosh(x - c).sum() + x.sum() ** 2 / 20, np.sinh(x - c) + x.sum() / 10),
        lambda x, c: (np.diag(np.cosh(x - c)) + 0.1, -np.diag(np.cosh(x - c))),
    ),
    Function("quartic", lambda jnp, x, c: jnp.sum((x - c) ** 4 + (x - c) ** 2), _quartic, _quartic_second),
    Function(
        "logarithm",
        lambda jnp, x, c: jnp.sum(c * x - jnp.log(x)),
        lambda x, c: ((c * x - np.log(x)).sum(), c - 1 / x),
        lambda x, c: (np.diag(1 / x**2), np.eye(len(x))),
        True,
    ),
    Function(
        "root",
        lambda jnp, x, c: jnp.sum((x - c) ** 2 - jnp.sqrt(x + 1)),
        lambda x, c: (((x - c) ** 2 - np.sqrt(x + 1)).sum(), 2 * (x - c) - 0.5 / np.sqrt(x + 1)),
        lambda x, c: (np.diag(2 + 0.25 * (x + 1) ** -1.5), -2 * np.eye(len(x))),
        True,
    ),
    Function(
        "half-space",
        lambda jnp, x, c: jnp.where(jnp.sum(x) > 2 * x.size + 1, jnp.nan, jnp.sum((x - c) ** 4 + (x - c) ** 2)),
        _beyond, _quartic_second, True,
    ),
    Function("undefined slope", _traced_undefined_slope, _undefined_slope, _quartic_second, True),
    Function(
        "undefined", lambda jnp, x, c: jnp.nan * jnp.sum(x * c), lambda x, c: (np.nan, x * np.nan), _quartic_second,
        True, False,
    ),
    Function(
        "infinite", lambda jnp, x, c: jnp.inf + 0 * jnp.sum(x * c), lambda x, c: (np.inf, x * 0), _quartic_second, True,
        False,
    ),
]


def _raise(jnp, x, c):
    raise Raised("when traced")


def _raise_for_many(jnp, x, c):
    if x.size:
        raise Raised(f"for {x.size} variables")


# Functions that fail when they are traced, each with the exception that the user gets.
FAILING = [
    ("raises", _raise, Raised),
    ("raises for its shape", _raise_for_many, Raised),
    ("returns a dict", lambda jnp, x, c: {"f": jnp.sum(x)}, TypeError),
    ("returns an array", lambda jnp, x, c: x if x.size > 1 else jnp.stack([x, x]), (TypeError, ValueError)),
    ("returns a complex number", lambda jnp, x, c: jnp.sum(x) * (1 + 1j), TypeError),
    ("returns an integer", lambda jnp, x, c: jnp.sum(x).astype(int), TypeError),
    ("branches on a traced value", lambda jnp, x, c: jnp.sum(x) if x[0] > 0 else jnp.sum(c), TypeError),
]


# ---------------------------------------------------------------------------------------------------------------------
# Random programs.


@dataclass
class Case:
    """A random solve, without the transformations around it."""

    seed: int
    n: int
    dtype: Any
    function: Any  # a Function, or an element of FAILING
    fails: bool
    call: str
    form: str
    options: dict[str, Any]
    bounds: Any  # a pair of constants, "arrays", or None

    def __str__(self):
        name = self.function[0] if self.fails else self.function.name
        return (
            f"{self.call} of {name}, n = {self.n}, {np.dtype(self.dtype).name}, {self.form}, bounds {self.bounds}, "
            f"options {self.options}"
        )


CALLS = {
    "minimize": 6, "argmin": 3, "batch": 3, "has_aux": 1, "value_and_grad": 1, "jvp": 1, "inside f": 1, "closure": 1,
}
CONSTANT_BOUNDS = [(-1.0, 0.7), (None, 0.5), (0.8, None), (0.5, 0.5), (0, 1), (2.0, 1.0)]
OPTIONS = [{}, {"maxcor": 3}, {"INITIAL_HESSIAN": 0}, {"maxls": 5}, {"HISTORY_BITS": 32}, {"maxcor": 70}]
TRANSFORMATIONS = {
    "jit": 3, "vmap data": 3, "vmap x0": 2, "vmap bounds": 1, "vmap all": 1, "scan": 2, "map": 1, "while": 1, "cond": 2,
    "remat": 1,
}


def _choose(random, weights):
    names = list(weights)
    chances = np.array([weights[name] for name in names], float)
    return str(random.choice(names, p=chances / chances.sum()))


def random_case(random, seed, x64):
    fails = random.random() < 0.12
    call = _choose(random, CALLS)
    if fails:
        function = FAILING[random.integers(len(FAILING))]
        call = call if call in ("minimize", "argmin", "batch", "closure") else "minimize"
    elif call in ("jvp", "inside f"):
        function = FUNCTIONS[random.choice([0, 1, 2, 3, 4])]
    else:
        function = FUNCTIONS[random.choice(len(FUNCTIONS), p=[0.13, 0.13, 0.13, 0.15, 0.15, 0.12, 0.11, 0.05, 0.03])]
    options = dict(OPTIONS[random.choice(len(OPTIONS), p=[0.5, 0.1, 0.15, 0.1, 0.1, 0.05])])
    dtype = np.float64 if x64 and random.random() < 0.7 else np.float32
    if dtype == np.float64:
        options |= [{}, TIGHT][random.integers(2)] if call != "jvp" else TIGHT
    elif call == "jvp":
        options |= {"ftol": 0, "gtol": 1e-5}
    if random.random() < 0.15 and call not in ("jvp", "inside f"):
        options[str(random.choice(["maxfun", "maxiter"]))] = int(random.integers(1, 9))
    if call == "batch":
        options = {name: value for name, value in options.items() if name != "HISTORY_BITS" and value != 70}
    kind = random.random()
    constants = CONSTANT_BOUNDS[random.integers(len(CONSTANT_BOUNDS))]
    bounds = None if kind < 0.35 else constants if kind < 0.65 else "arrays"
    n, form = int(random.integers(1, 8)), "array"
    if call in ("minimize", "argmin", "has_aux") and random.random() < 0.25:
        form = "tree" if n > 1 else "scalar"
    return Case(seed, n, dtype, function, fails, call, form, options, bounds)


class Program:
    """A random case inside random transformations, for JAX and for NumPy.

    ``traced(x0, c, lower, upper)`` returns x and the codes with leading axes for the transformations. ``rows(...)``
    returns the list of the arguments (x0, c, lower, upper) of all solves, in the same order, and the list of the
    derivatives dc/d(c of the program)."""

    def __init__(self, case, random):
        import jax

        self.case = case
        self.names = []
        self.lengths = []
        self.traced = solve_of(case)
        self.rows = lambda x0, c, lower, upper, scale: [(x0, c, lower, upper, scale)]
        if case.call == "batch":
            self._split(2, lambda i, x0, c, lower, upper: (x0 + 0.1 * i, c * (1 - 0.1 * i), lower, upper, 1 - 0.1 * i))
        for _ in range(random.integers(0, 5)):
            self._wrap(_choose(random, TRANSFORMATIONS), random)
        self.derivative = None
        is_smooth = case.call in ("argmin", "minimize") and not case.fails and not LIMIT_NAMES & case.options.keys()
        if is_smooth and case.form == "array" and random.random() < 0.2:
            forward = ["jvp", "jacfwd"]
            self.derivative = str(random.choice(forward if "while" in self.names else [*forward, "grad"]))
        # Otherwise without ``jit`` the solve is a callback, or outside of transformations.
        if random.random() < 0.75 and "jit" not in self.names[-1:]:
            self._wrap("jit", random)
        self.is_compiled = "jit" in self.names
        # With constant bounds, JAX does not trace a solve because of a vmap over bounds.
        unused = () if case.bounds == "arrays" else ("vmap bounds",)
        self.is_outside = not set(self.names) - set(unused)
        self.weights = random.normal(size=case.n)
        self.run = self.with_derivative()
        if self.derivative and self.is_compiled:
            self.run = jax.jit(self.run)

    def __str__(self):
        return f"{self.case}; {', '.join(self.names) or 'no transformation'}; derivative {self.derivative}"

    def _split(self, length, shift):
        """Replace each solve by several, along a new first axis. ``shift(i, x0, c, lower, upper)`` returns the
        arguments of the i-th and the factor of c."""
        inner = self.rows

        def rows(x0, c, lower, upper, scale):
            found = []
            for i in range(length):
                *arguments, factor = shift(i, x0, c, lower, upper)
                found += inner(*arguments, scale * factor)
            return found

        self.rows = rows
        self.lengths.insert(0, length)

    def _wrap(self, name, random):
        import jax
        import jax.numpy as jnp

        inner, dtype = self.traced, self.case.dtype
        length = int(random.integers(1, 4))
        if np.prod(self.lengths, initial=1) * length > 18:
            length = 1
        scales = np.linspace(0.7, 1, length)
        shifts, s = np.linspace(0, 0.3, length), jnp.asarray(scales, dtype)
        t = jnp.asarray(shifts, dtype)
        self.names.append(name)
        if name == "jit":
            self.traced = jax.jit(inner)
            return
        if name == "remat":
            self.traced = jax.checkpoint(inner)
            return
        if name == "cond":
            # Both branches solve. The second is taken in no run.
            self.traced = lambda x0, c, lower, upper: jax.lax.cond(
                ~(c[0] <= 0), inner, lambda x0, c, lower, upper: inner(x0 + 1, c, lower, upper), x0, c, lower, upper
            )
            return
        if name == "vmap data":
            self.traced = lambda x0, c, lower, upper: jax.vmap(lambda s: inner(x0, c * s, lower, upper))(s)
        elif name == "vmap x0":
            self.traced = lambda x0, c, lower, upper: jax.vmap(inner, (0, None, None, None))(
                x0 + t[:, None], c, lower, upper
            )
        elif name == "vmap bounds":
            self.traced = lambda x0, c, lower, upper: jax.vmap(inner, (None, None, 0, 1))(
                x0, c, lower - t[:, None], upper[:, None] + t
            )
        elif name == "vmap all":
            self.traced = lambda x0, c, lower, upper: jax.vmap(inner, (1, 0, 0, None))(
                x0[:, None] + t, c * s[:, None], lower - t[:, None], upper
            )
        elif name == "scan":
            self.traced = lambda x0, c, lower, upper: jax.lax.scan(
                lambda total, s: (total + 1, inner(x0, c * s, lower, upper)), 0, s
            )[1]
        elif name == "map":
            self.traced = lambda x0, c, lower, upper: jax.lax.map(lambda s: inner(x0, c * s, lower, upper), s)
        elif name == "while":

            def loop(x0, c, lower, upper):
                shapes = jax.eval_shape(inner, x0, c, lower, upper)
                empty = [jnp.zeros((length, *one.shape), one.dtype) for one in shapes]

                def body(state):
                    i, stored = state
                    found = inner(x0, c * s[i], lower, upper)
                    return i + 1, [all.at[i].set(one) for all, one in zip(stored, found)]

                return tuple(jax.lax.while_loop(lambda state: state[0] < length, body, (0, empty))[1])

            self.traced = loop
        moves_x0, scales_c = name in ("vmap x0", "vmap all"), name not in ("vmap x0", "vmap bounds")
        moves_lower, moves_upper = name in ("vmap bounds", "vmap all"), name == "vmap bounds"
        self._split(
            length,
            lambda i, x0, c, lower, upper: (
                x0 + shifts[i] * moves_x0, c * scales[i] if scales_c else c, lower - shifts[i] * moves_lower,
                upper + shifts[i] * moves_upper, scales[i] if scales_c else 1.0,
            ),
        )

    def with_derivative(self):
        """Return the function of the program, with a third result if it is differentiated."""
        import jax
        import jax.numpy as jnp

        if self.derivative is None:
            return self.traced
        weights = jnp.asarray(self.weights, self.case.dtype)

        def differentiated(x0, c, lower, upper):
            of_x = lambda c: self.traced(x0, c, lower, upper)[0]  # noqa: E731
            if self.derivative == "jvp":
                third = jax.jvp(of_x, (c,), (weights,))[1]
            elif self.derivative == "grad":
                third = jax.grad(lambda c: (of_x(c) @ weights).sum())(c)
            else:
                third = jax.jacfwd(of_x)(c)
            return (*self.traced(x0, c, lower, upper), third)

        return differentiated


LIMIT_NAMES = {"maxfun", "maxiter"}


def solve_of(case):
    """Return the function (x0, c, lower, upper) -> x, code of a case."""
    import jax
    import jax.numpy as jnp

    import cuda_opt.jax as solver

    raw = case.function[1] if case.fails else case.function.traced
    options = case.options

    def flat(x):
        if case.form == "tree":
            return jnp.concatenate([x["first"].reshape(1), x["rest"].reshape(-1)])
        return x.reshape(1) if case.form == "scalar" else x

    def formed(x):
        if case.form == "tree":
            return {"first": x[0], "rest": x[1:].reshape(1, -1), "name": "a static leaf"}
        return x.reshape(()) if case.form == "scalar" else x

    def fun(x, c):
        return raw(jnp, flat(x), c)

    def with_aux(x, c):
        return fun(x, c), {"twice": 2 * flat(x)}

    def sides(lower, upper):
        if case.bounds == "arrays":
            if case.form == "array":
                return lower, upper
            # In a tree of bounds a number may be given for a whole part.
            return formed(lower), formed(upper)
        return case.bounds

    def code(result):
        return jnp.asarray(result["codes"] if "codes" in result else int(result.task) if isinstance(
            result.task, Task) else result.task).astype(jnp.int32)

    def minimize(x0, c, lower, upper, fun=fun, **form):
        result = solver.minimize(fun, formed(x0), (c,), sides(lower, upper), options=options, **form)
        return flat(result.x), code(result), result

    def solve(x0, c, lower, upper):
        if case.call == "argmin":
            x, result = solver.argmin(
                fun, formed(x0), (c,), sides(lower, upper), options=options, return_result=True
            )
            return flat(x), code(result)
        if case.call == "batch":
            starts, data = jnp.stack([x0, x0 + 0.1]), jnp.stack([c, c * 0.9])
            result = solver.minimize_batch(fun, starts, data, sides(lower, upper), options=options)
            return result.x, code(result)
        if case.call == "has_aux":
            x, status, result = minimize(x0, c, lower, upper, with_aux, has_aux=True)
            return result.aux["twice"] / 2, status
        if case.call == "value_and_grad":
            return minimize(x0, c, lower, upper, jax.value_and_grad(fun), value_and_grad=True)[:2]
        if case.call == "closure":
            result = solver.minimize(lambda x: fun(x, c), formed(x0), (), sides(lower, upper), options=options)
            return flat(result.x), code(result)
        if case.call == "jvp":
            result = minimize(x0, c, lower, upper)
            direction = jnp.ones_like(c)
            slope = jax.jvp(lambda c: minimize(x0, c, lower, upper)[0], (c,), (direction,))[1]
            return slope, result[1]
        if case.call == "inside f":
            # The inner minimum over z is a convex function of y.
            def inner(z, y, c):
                return fun(z, c) + jnp.sum((z - y) ** 2) / 2

            def outer(y, c):
                start = jnp.full_like(y, 0.75)
                return solver.minimize(inner, start, (y, c), options=TIGHT_OF[case.dtype]).fun + jnp.sum((y - 1) ** 2)

            return minimize(x0, c, lower, upper, outer)[:2]
        return minimize(x0, c, lower, upper)[:2]

    return solve


TIGHT_OF = {np.float64: TIGHT, np.float32: {"ftol": 0, "gtol": 1e-5}}


# ---------------------------------------------------------------------------------------------------------------------
# The results that are expected.


@dataclass
class Expected:
    """The expected result of one solve. x is None if it is not known."""

    refused: bool
    code: int = 0
    x: Any = None
    slope: Any = None  # dx/dc, or None if it is not known


def expected(case, x0, c, lower, upper):
    """Solve one problem by NumPy."""
    dtype, n = case.dtype, case.n
    sides = (lower, upper) if case.bounds == "arrays" else case.bounds or (None, None)
    limits = [np.full(n, none) if side is None else np.broadcast_to(side, n) for side, none in zip(
        sides, (-np.inf, np.inf))]
    # The arguments have the program's precision, the accurate minimum is computed in double precision.
    x0, c, lower, upper = (np.asarray(one, dtype) for one in (x0, c, *limits))
    numpy, second = case.function.numpy, case.function.second
    if case.call == "inside f":
        return _expected_of_inner(case, x0, c.astype(float), lower.astype(float), upper.astype(float))

    def fun(x):
        f, g = numpy(x, c.astype(x.dtype))
        return float(f), g

    given = None if case.bounds is None else Bounds(lower, upper)
    try:
        with np.errstate(all="ignore"):
            result = cuda_opt.minimize(fun, x0, bounds=given, options=_options_of(case))
    except ValueError:
        return Expected(True)
    code = int(result.task)
    if not case.function.has_minimum or code == Task.NOT_FINITE:
        return Expected(False, code, np.clip(x0, lower, upper))
    lower, upper, c = lower.astype(float), upper.astype(float), c.astype(float)
    start = np.clip(np.full(n, 0.75), lower, upper)
    if not np.isfinite([fun(start)[0], *fun(start)[1]]).all():
        return Expected(False, code)
    with np.errstate(all="ignore"):
        best = cuda_opt.minimize(fun, start, bounds=Bounds(lower, upper), options=TIGHT)
    x = best.x
    g = numpy(x, c)[1]
    if np.abs(np.clip(x - g, lower, upper) - x).max() > 1e-6:
        return Expected(False, code)
    h, mixed = second(x, c)
    free = (x > lower) & (x < upper)
    # Near a bound, or with a small multiplier, the program may find another set of active variables.
    margin = np.minimum(x - lower, upper - x)
    is_clear = np.where(free, margin > 1e-2, (np.abs(g) > 1e-2) | (lower == upper)).all()
    slope = np.zeros((n, n))
    if free.any():
        slope[free] = -np.linalg.solve(h[np.ix_(free, free)], mixed[free])
    return Expected(False, code, x, slope if is_clear else None)


def _options_of(case):
    """The options of the solve outside: those of ``argmin`` have other defaults."""
    options = dict(case.options)
    if case.call == "argmin":
        options = {"ftol": 0.0, "gtol": 1e-10 if case.dtype == np.float64 else 1e-5, **options}
    return options


def _expected_of_inner(case, x0, c, lower, upper):
    """Minimise over y and z at once where the program has a solve over z inside f(y)."""
    n, numpy = case.n, case.function.numpy
    if not np.isfinite(x0).all() or (lower > upper).any():
        return Expected(True)
    if np.isnan(c).any():
        return Expected(False, int(Task.NOT_FINITE), np.clip(x0, lower, upper))

    def fun(both):
        y, z = both[:n], both[n:]
        f, g = numpy(z, c)
        return float(f + ((z - y) ** 2).sum() / 2 + ((y - 1) ** 2).sum()), np.concatenate(
            [y - z + 2 * (y - 1), g + z - y]
        )

    box = Bounds(np.concatenate([lower, np.full(n, -np.inf)]), np.concatenate([upper, np.full(n, np.inf)]))
    with np.errstate(all="ignore"):
        best = cuda_opt.minimize(fun, np.full(2 * n, 0.75), bounds=box, options=TIGHT)
    return Expected(False, 0, best.x[:n]) if best.success else Expected(False, 0)


def random_arguments(program, random):
    """Return x0, c and the bounds of one run."""
    case = program.case
    n, dtype = case.n, case.dtype
    x0, c = random.normal(size=n) + 0.5, random.uniform(0.5, 2, n)
    if random.random() < 0.7:
        x0 = np.abs(x0) + 0.05  # where all functions are defined
    if random.random() < 0.08:
        x0[random.integers(n)] = random.choice([np.nan, np.inf, -np.inf], p=[0.8, 0.1, 0.1])
    if random.random() < 0.05:
        c[random.integers(n)] = np.nan
    lower = np.where(random.random(n) < 0.4, -np.inf, random.uniform(-1, 0.6, n))
    upper = np.where(random.random(n) < 0.4, np.inf, random.uniform(0.7, 2, n))
    if random.random() < 0.1:
        i = random.integers(n)
        lower[i], upper[i] = 1, 0.5  # crossed
    elif random.random() < 0.1:
        i = random.integers(n)
        lower[i] = upper[i] = 0.6
    return [np.asarray(one, dtype) for one in (x0, c, lower, upper)]


# ---------------------------------------------------------------------------------------------------------------------
# The comparison.


def compare(program, arguments, found):
    """Return a description of the first difference between the results of a program and those expected, or None."""
    case = program.case
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = program.rows(*arguments, 1.0)
        wanted = [expected(case, *row[:4]) for row in rows]
    x, codes = (np.asarray(one) for one in found[:2])
    shape = tuple(program.lengths)
    if x.shape != (*shape, case.n) or codes.shape != shape:
        return f"shapes {x.shape} and {codes.shape} for {shape}"
    if x.dtype != case.dtype:
        return f"x has the dtype {x.dtype}"
    for i, (one, x, code) in enumerate(zip(wanted, x.reshape(-1, case.n), codes.ravel())):
        if (wrong := _wrong(case, one, x, int(code))) is not None:
            return f"solve {i} of {len(wanted)}: {wrong}"
    if program.derivative and len(found) == 3:
        return _wrong_derivative(program, rows, wanted, codes.ravel(), np.asarray(found[2]))
    return None


def _wrong(case, wanted, x, code):
    if wanted.refused:
        return None if code == Task.IMPROPER_INPUT else f"code {code}, but the input is improper"
    is_limit = wanted.code in LIMITS or LIMIT_NAMES & case.options.keys()
    single = case.dtype == np.float32
    allowed = {wanted.code, *((0, *LIMITS) if is_limit else ())}
    # Rounding errors of XLA and of NumPy differ. At a tolerance close to them a line search may fail in one of them.
    tiny = case.options.get("gtol", 1 if case.call != "argmin" else 0) < (2e-5 if single else 1e-8)
    if single or tiny or case.call == "inside f":
        allowed |= {0, Task.LINE_SEARCH_FAILED} if wanted.code in (0, Task.LINE_SEARCH_FAILED) else set()
    if code not in allowed:
        return f"code {code}, but {wanted.code} outside"
    if wanted.code == Task.NOT_FINITE:
        is_start = case.call == "jvp" or np.allclose(x, wanted.x, rtol=1e-6, atol=1e-6)
        return None if is_start else f"x = {x}, but {wanted.x} outside"
    if code == Task.CONVERGED or not is_limit:
        aim, tolerance = wanted.x, 3e-2 if single else 1e-2
        if case.call == "jvp":
            if wanted.slope is None or code != Task.CONVERGED:
                return None
            aim, tolerance = wanted.slope.sum(1), 5e-2 if single else 1e-3
        if aim is not None and not np.allclose(x, aim, rtol=tolerance, atol=tolerance):
            return f"x = {x}, but {aim} outside (codes {code} and {wanted.code})"
    return None


def _wrong_derivative(program, rows, wanted, codes, third):
    if any(one.refused or one.slope is None or code for one, code in zip(wanted, codes)):
        return None
    slopes = np.array([one.slope * row[4] for one, row in zip(wanted, rows)])
    w, n = program.weights, program.case.n
    if program.derivative == "grad":
        aim = np.einsum("i,kij->j", w, slopes)
    else:
        aim = (slopes @ w if program.derivative == "jvp" else slopes).reshape(*program.lengths, *third.shape[-1:] * (
            1 + (program.derivative == "jacfwd")))
    tolerance = 5e-2 if program.case.dtype == np.float32 else 2e-2 if "ftol" not in _options_of(program.case) else 1e-3
    if third.shape != aim.shape or not np.allclose(third, aim, rtol=tolerance, atol=tolerance):
        return f"the derivative is {third.ravel()[: 2 * n]}, but {aim.ravel()[: 2 * n]} outside"
    return None


def run_seed(seed, x64, counts):
    """Run the program of a seed. Yield descriptions of failures."""
    import jax

    from cuda_opt._jax_program import handler

    random = np.random.default_rng(seed)
    case = random_case(random, seed, x64)
    program = Program(case, random)
    before = handler().cuda_opt_xla_waiting()
    counts["programs"] += 1
    counts["programs whose f is NaN for some x or fails when traced"] += case.fails or case.function.is_undefined
    last = None
    for k in range(int(random.integers(2, 4))):
        arguments = random_arguments(program, random)
        if k and last is not None and random.random() < 0.3:
            arguments = last[0]
        counts["runs"] += 1
        traced = [jax.numpy.asarray(one) for one in arguments]
        try:
            found = jax.block_until_ready(program.run(*traced))
        except Exception as error:
            found = error
        if isinstance(found, Exception):
            wrong = _wrong_exception(program, arguments, found)
            counts["runs that raise an exception, as they should"] += wrong is None
        elif case.fails:
            wrong = "no exception"
        else:
            counts["solves"] += int(np.prod(program.lengths, initial=1))
            wrong = compare(program, arguments, found)
            if wrong is None and last is not None and last[0] is arguments:
                counts["repeated runs"] += 1
                if not all(np.array_equal(a, b, equal_nan=True) for a, b in zip(found, last[1])):
                    wrong = "another result for the same arguments"
            last = arguments, found
        if wrong:
            arrays = ", ".join(np.array2string(one, precision=9, separator=",") for one in arguments)
            yield f"run {k}: {wrong}; {program}; arguments {arrays}"
    if (now := handler().cuda_opt_xla_waiting()) != before:
        yield f"{now - before} solves are left waiting; {program}"


def _wrong_exception(program, arguments, error):
    case = program.case
    text = f"{type(error).__name__}: {str(error).strip()[-300:]}"  # JAX adds the traceback of a callback before it
    if case.fails:
        kinds = case.function[2]
        return None if isinstance(error, kinds) else f"another exception, {text}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = [expected(case, *row[:4]) for row in program.rows(*arguments, 1.0)]
    # Outside of transformations, input that is improper raises ValueError.
    if program.is_outside and isinstance(error, ValueError) and any(one.refused for one in wanted):
        return None
    # Outside of programs, so does the derivative of a solve that has not converged. JAX replaces the exception.
    if program.derivative and not program.is_compiled and "has no derivative" in str(error):
        return None if any(one.refused or one.code for one in wanted) else f"an exception, {text}"
    return f"an exception, {text}"


# ---------------------------------------------------------------------------------------------------------------------
# Child processes.


def child(first, last):
    """Run the seeds of one block. Print a line before each and, at the end, the counts."""
    import jax

    x64 = first // BLOCK % 2 == 1
    jax.config.update("jax_enable_x64", x64)
    warnings.simplefilter("ignore")
    logging.disable()  # JAX logs each exception of a callback
    from cuda_opt._jax_program import handler

    if handler() is None:
        print("none", flush=True)
        return
    counts = collections.Counter()
    for seed in range(first, last):
        print("seed", seed, flush=True)
        try:
            for wrong in run_seed(seed, x64, counts):
                print("failure", seed, " ".join(wrong.split()), flush=True)
        except Exception as error:
            print("failure", seed, "the fuzzer:", type(error).__name__, " ".join(str(error).split())[:500], flush=True)
        if seed % 50 == 49:
            jax.clear_caches()  # otherwise the memory of the compiled programs grows
    for name, count in counts.items():
        print("count", count, name, flush=True)


def lines_of(process):
    """Yield the lines that a process prints, and None if it prints nothing for PATIENCE seconds."""
    lines = queue.Queue()

    def read():
        for line in process.stdout:
            lines.put(line)
        lines.put("")

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=PATIENCE)
        except queue.Empty:
            yield None
            return
        if not line:
            return
        yield line


def run_block(first, last, counts):
    """Run the seeds from first to last - 1, none from different blocks, in one child, or in more if it crashes. Return
    the number of failures."""
    failures = 0
    while first < last:
        command = [sys.executable, os.path.abspath(__file__), "--child", str(first), str(last)]
        fewer = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true "
        flags = (fewer if first // BLOCK % 4 > 1 else "") + os.environ.get("XLA_FLAGS", "")
        environment = {**os.environ, "XLA_FLAGS": flags}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        seed, hangs = first - 1, False
        for line in lines_of(process):
            if line is None:
                hangs = True
                process.kill()
                break
            kind, number, *rest = line.split(maxsplit=2)
            if kind == "seed":
                seed = int(number)
            elif kind == "failure":
                failures += 1
                print(f"seed {number}: {rest[0].strip()}", flush=True)
            elif kind == "count":
                counts[rest[0].strip()] += int(number)
            elif kind == "none":
                process.wait()
                raise SystemExit("the handler for XLA was not built, or does not fit this jaxlib")
        status = process.wait()
        if status == 0 and not hangs:
            return failures
        failures += 1
        counts["crashes and hangs"] += 1
        print(f"seed {seed}: the process {'hangs' if hangs else f'ended with status {status}'}", flush=True)
        first = max(seed, first) + 1
    return failures


def main(first=0, last=None):
    last = first + BLOCK if last is None else last
    counts, failures = collections.Counter({"crashes and hangs": 0}), 0
    edges = sorted({first, last, *range(first - first % BLOCK + BLOCK, last, BLOCK)})
    for one, other in zip(edges, edges[1:]):
        found = run_block(one, other, counts)
        failures += found
        print(f"seeds {one} to {other - 1}: {found} failures", flush=True)
    for name, count in sorted(counts.items()):
        print(f"{count} {name}")
    print(f"{failures} failures")
    return min(failures, 100)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*map(int, sys.argv[2:4]))
    else:
        sys.exit(main(*map(int, sys.argv[1:3])))
