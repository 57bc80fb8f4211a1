"""Ends of a solve that are true: no success far from a minimum, and the best point at every end. Each property is
checked over many problems, with ``minimize``, ``minimize_batch`` and the defaults of C (``Solver``)."""
import numpy as np
import pytest
from problems import random_seed

from cuda_opt import Bounds, Solver, Task, minimize, minimize_batch


def by_minimize(fun, starts, bounds=None, **options):
    results = [minimize(fun, x, bounds=bounds, **options) for x in starts]
    return [(r.task, float(r.fun), r.x, r.jac, r.message) for r in results]


def by_batch(fun, starts, bounds=None, **options):
    r = minimize_batch(fun, starts, bounds=bounds, **options)
    return [(Task(int(code)), float(f), x, g, r.message_of(k))
            for k, (code, f, x, g) in enumerate(zip(r.codes, r.fun, r.x, r.jac))]


def by_solver(fun, starts, bounds=None):
    found = []
    for start in starts:
        solver = Solver(start.copy(), 5, bounds=bounds)
        while (task := solver.step()) == Task.EVALUATE_FG:
            solver.f, solver.g = fun(solver.x)
        found.append((Task(task), float(solver.f), solver.x, solver.g, solver.message))
    return found


EVERY_WAY = pytest.mark.parametrize("solve", [by_minimize, by_batch, by_solver])


# ---- success by ROUNDING where one variable is many orders of magnitude smaller than the others


def fit(model, data, lower, upper):
    """The squares of model - data, for one p or many. ``model`` returns its values and their derivatives by each
    component of p."""

    def fun(p):
        values, derivatives = model(*np.moveaxis(p[..., None], -2, 0))
        r = values - data
        return (r * r).sum(-1), 2 * np.stack([(r * d).sum(-1) for d in derivatives], -1)

    return fun, np.array(lower), np.array(upper)


def saturation(unit):
    """Hill's curve v / (1 + (k / c)^s) + b, where k and the concentrations c are of the order of ``unit``."""
    c = unit * np.array([0.1, 0.3, 1, 2, 5, 10, 30, 100, 300])

    def model(v, k, b, s):
        u = (k / c) ** s
        q = 1 / (1 + u)
        w = v * q * q * u
        return v * q + b, (q, -w * s / k, 1 + 0 * q, -w * np.log(k / c))

    data = 80 / (1 + (4 * unit / c) ** 1.5) + 5 + np.array([1, -2, 1, 0, 2, -1, 1, -1, 1])
    return fit(model, data, [0, 1e-4 * unit, -50, 0.1], [500, 1e5 * unit, 50, 10])


def decay(unit):
    """v exp(-(t / k)^s) + b, with times t and k of the order of ``unit``."""
    t = unit * np.array([1, 2, 4, 6, 9, 14, 25, 50.0])

    def model(v, k, b, s):
        z = (t / k) ** s
        e = np.exp(-z)
        return v * e + b, (e, v * e * z * s / k, 1 + 0 * e, -v * e * z * np.log(t / k))

    return fit(model, 40 * np.exp(-((t / (8 * unit)) ** 3)) + 2, [-100, 1e-2 * unit, -100, 0.2],
               [200, 1e3 * unit, 100, 10])


@EVERY_WAY
@pytest.mark.parametrize("problem", [saturation(1e-9), decay(1e-9), decay(1e-8)])
def test_rounding_does_not_end_a_solve_where_the_relative_gradient_is_large(problem, solve):
    fun, lower, upper = problem
    rng = np.random.default_rng(random_seed(1))
    starts = np.stack([rng.uniform(10, 100, 20), upper[1] * 10 ** rng.uniform(-4, -1, 20), rng.uniform(-20, 20, 20),
                       rng.uniform(0.5, 3, 20)], -1)
    for task, f, x, g, message in solve(fun, np.clip(starts, lower, upper), Bounds(lower, upper)):
        if task == Task.CONVERGED and "no lower f" in message and f > 1e-3:
            assert abs(x * (x - np.clip(x - g, lower, upper))).max() <= f / 100, message


# ---- noise

NOISY = {
    "cosh": (np.cosh, np.sinh),
    "exponentials": (lambda z: np.exp(-2 * z) + 2 * z, lambda z: 2 - 2 * np.exp(-2 * z)),
    "fourth powers": (lambda z: z * z / 2 + z**4, lambda z: z + 4 * z**3),
}


@pytest.mark.parametrize("solve", [by_minimize, by_batch])
@pytest.mark.parametrize("name", NOISY)
def test_with_a_noise_level_no_success_is_far_above_the_minimum(name, solve):
    value, slope = NOISY[name]
    rng = np.random.default_rng(random_seed(2))
    for _ in range(25):
        n, level = int(rng.integers(2, 8)), 10.0 ** rng.integers(-6, -2)
        weight, centre = 10 ** rng.uniform(-3, 3, n), rng.normal(0, 2, n)

        def fun(x):
            noise = level * rng.uniform(-1, 1, x.shape[:-1])
            return (weight * value(x - centre)).sum(-1) + noise, weight * slope(x - centre)

        def exact(x):
            return (weight * value(x - centre)).sum()

        least = exact(np.clip(centre, -1, 1))
        if 2.2e-9 * max(1, least) > level:  # FACTR may hold
            continue
        for task, _, x, _, message in solve(fun, np.zeros((1, n)), Bounds(-1, 1), options={"noise_abs": level}):
            assert task != Task.CONVERGED or exact(x) - least <= 100 * level, message


# ---- single precision


def design(kind, rng, n):
    points = rng.uniform(-1, 1, 3 * n)
    if kind == "powers":
        return 100 * points[:, None] ** np.arange(n)
    if kind == "exponentials":
        return 10 * np.exp(np.outer(points, np.linspace(-3, 3, n)))
    return 30 * np.cos(np.outer(points, np.arange(n)) + rng.uniform(0, 6, n))


@pytest.mark.parametrize("solve", [by_minimize, by_batch])
def test_stiff_fits_in_single_precision_end_as_success(solve):
    rng = np.random.default_rng(random_seed(3))
    failed = 0
    for kind in 40 * ["powers", "exponentials", "cosines"]:
        n = int(rng.integers(2, 7))
        basis, true = design(kind, rng, n), rng.uniform(-2, 2, n)

        def fun(c):
            residual = (c.astype(float) - true) @ basis.T
            return (residual * residual).sum(-1), (2 * residual @ basis).astype(np.float32)

        at_nearest = fun(true.astype(np.float32))[0]
        ((task, f, *_),) = solve(fun, np.zeros((1, n), np.float32))
        failed += task != Task.CONVERGED and f <= 10 * at_nearest
    # Chance decides single solves. With four seeds 3 to 7 of 120 failed, and 42 to 45 before the rule for rounding.
    assert failed <= 21


# ---- bounds, boxes and limits in batches; tests/parity/verdicts.cpp has those of single solves


@pytest.mark.parametrize("power", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("solve", [by_minimize, by_batch])
def test_bounds_with_infinite_slopes_are_reached(power, solve):
    weight = np.arange(1.0, 6)

    def fun(x):
        with np.errstate(divide="ignore"):
            slope = -power * (3 - x[..., :1]) ** (power - 1)
        rest = x[..., 1:] - 1
        return (3 - x[..., 0]) ** power + (weight * rest**2).sum(-1), np.concatenate([slope, 2 * weight * rest], -1)

    starts = np.array([[2.0, 3, 3, 3, 3, 3], [3.0, 0, 0, 0, 0, 0], [1.0, 1, 1, 1, 1, 1]])
    for task, f, x, g, message in solve(fun, starts, Bounds(-4, 3)):
        assert task == Task.CONVERGED and f < 1e-6, message
        assert x[0] == 3 and g[0] == 0


@pytest.mark.parametrize("unit", [1e-7, 1e-9, 3e-12])
@pytest.mark.parametrize("solve", [by_minimize, by_batch])
def test_a_box_narrower_than_pgtol_does_not_end_the_solve(unit, solve):
    centre = np.array([3, 7, 12, -1])

    def fun(x):
        z = x / unit - centre
        return (z * z).sum(-1), 2 * z / unit

    starts = unit * np.array([[1.0, 1, 1, 1], [9, 9, 9, 9], [5, 2, 8, 4]])
    for task, f, _, _, message in solve(fun, starts, Bounds(unit, 9 * unit)):
        assert task == Task.CONVERGED and f == pytest.approx(13, rel=1e-6), message
    for task, _, _, _, message in solve(fun, starts[:1], Bounds(unit, 9 * unit), options={"maxfun": 1}):
        assert task == Task.EVALUATION_LIMIT and "box" in message and "x_scale" in message


def test_a_batch_returns_the_lowest_f_at_a_limit():
    rng = np.random.default_rng(random_seed(4))
    for limit in range(2, 12):
        lowest = np.full(30, np.inf)

        def fun(x, p, lowest=lowest):
            f = np.sin(3 * x).sum(-1) + 0.3 * (x * x).sum(-1) + 0.3 * (x[:, :-1] * x[:, 1:]).sum(-1)
            zero = 0 * x[:, :1]
            near = np.concatenate([x[:, 1:], zero], 1) + np.concatenate([zero, x[:, :-1]], 1)
            lowest[p] = np.minimum(lowest[p], f)
            return f, 3 * np.cos(3 * x) + 0.6 * x + 0.3 * near

        r = minimize_batch(fun, rng.uniform(-3, 3, (30, 4)), options={"maxfun": limit}, indices=True)
        ended = r.codes == Task.EVALUATION_LIMIT
        assert ended.any()
        np.testing.assert_array_equal(r.fun[ended], lowest[ended])
        np.testing.assert_allclose(fun(r.x, np.arange(30))[0][ended], r.fun[ended], rtol=1e-13)
