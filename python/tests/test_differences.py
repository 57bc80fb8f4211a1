"""Gradients by finite differences, and the options for them, agree with SciPy's. All points at which f is evaluated
satisfy the bounds."""
import multiprocessing
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from problems import random_seed

import cuda_opt
from cuda_opt._differences import Differences, Objective

METHODS = ["2-point", "3-point", "cs", None]


def smooth(x):
    return np.sum(x**4 - 3 * x**2) + np.prod(np.cos(x)) + np.exp(x[0] / 3)


def points_and_boxes(rng):
    """Generate random points of any size, in boxes of any width. Many points are at a bound or near one."""
    n = int(rng.integers(1, 6))
    width = 10.0 ** rng.integers(-9, 3, n)
    lower = rng.normal(size=n) * 10.0 ** rng.integers(-2, 2)
    upper = lower + width
    x = np.clip(lower + rng.choice([0, 1e-10, 0.3, 0.5, 1 - 1e-9, 1], n) * width, lower, upper)
    open_sides = rng.random((2, n)) < 0.3
    return x, np.where(open_sides[0], -np.inf, lower), np.where(open_sides[1], np.inf, upper)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("options", [{}, {"finite_diff_rel_step": 1e-4}, {"eps": 1e-6}, {"eps": -1e-5}])
def test_finite_differences_agree_with_those_of_scipy(method, options):
    numdiff = pytest.importorskip("scipy.optimize._numdiff")
    rng = np.random.default_rng(random_seed(1))
    for _ in range(100):
        x, lower, upper = points_and_boxes(rng)
        ours = Differences(Objective(smooth, ()), method, lower, upper, len(x), options)
        steps = {"rel_step": options.get("finite_diff_rel_step")}
        if method is None:
            steps = {"abs_step": options.get("eps", 1e-8)}
        seen = []

        def recorded(point):
            seen.append(point.copy())
            return smooth(point)

        theirs = numdiff.approx_derivative(
            recorded, x, method or "2-point", f0=smooth(x), bounds=(lower, upper), **steps
        )
        np.testing.assert_allclose(ours(x, smooth(x)), theirs, rtol=1e-12, atol=1e-14)
        assert ours.evaluations == len(seen) == ours.per_gradient


@pytest.mark.parametrize("jac", [*METHODS, False])
@pytest.mark.parametrize("bounds", [None, [(0, 3)] * 4, [(0, 3), (1, 1), (-1, 1.5), (3, 3)]])
def test_minimize_with_finite_differences_satisfies_the_bounds(jac, bounds):
    seen = []

    def fun(x):
        seen.append(np.array(x))
        return ((x - np.arange(4)) ** 4 + (x - np.arange(4)) ** 2).sum()

    result = cuda_opt.minimize(fun, np.full(4, 0.5), jac=jac, bounds=bounds, options={"gtol": 1e-4})
    expected = np.arange(4.0) if bounds is None else np.clip(np.arange(4.0), *np.array(bounds).T)
    np.testing.assert_allclose(result.x, expected, atol=1e-3)
    assert result.success and result.nfev == len(seen) > result.njev
    if bounds is not None:
        low, high = np.array(bounds, float).T
        assert all((low <= x.real).all() and (x.real <= high).all() for x in seen)
        fixed = low == high
        assert np.isnan(result.jac[fixed]).all() and np.isfinite(result.jac[~fixed]).all()
        np.testing.assert_array_equal(result.x[fixed], low[fixed])


def test_one_evaluation_suffices_if_all_variables_are_fixed():
    result = cuda_opt.minimize(lambda x: float(x @ x), np.zeros(2), jac=None, bounds=[(1, 1), (2, 2)])
    assert (result.fun, result.nfev, result.success) == (5, 1, True) and result.x.tolist() == [1, 2]


def test_steps_of_single_precision_are_used_if_x_or_f_is_float32():
    """Finite differences use the step of single precision if x or f has single precision."""
    for kind in (np.float32, np.float64):
        result = cuda_opt.minimize(lambda x: np.float32(((x - 1) ** 2).sum()), np.zeros(3, kind), jac="2-point")
        assert result.x.dtype == kind
        np.testing.assert_allclose(result.x, 1, atol=1e-2)


def test_maxfun_counts_the_evaluations_for_differences():
    for n, limit in ((3, 50), (3, 0), (3, 7.5), (20, 5)):
        calls = []
        fun = lambda x: (calls.append(1), float(((x - 1) ** 4).sum()))[1]  # noqa: E731
        result = cuda_opt.minimize(fun, np.zeros(n), jac=None, options={"maxfun": limit, "gtol": 0, "ftol": 0})
        assert result.status == 1 and result.nfev == len(calls) <= limit + n + 1
        assert f"the limit of {max(int(np.ceil(limit)), 1)} evaluations of fun is reached, f = " in result.message


@pytest.mark.parametrize("single_f", [False, True])
def test_the_default_step_suits_single_precision(single_f):
    fun = lambda x: (np.float32 if single_f else float)(((x - 3) ** 2).sum())  # noqa: E731
    start = np.array([-1.2, 0, 1e-6], float if single_f else np.float32)
    result = cuda_opt.minimize(fun, start, jac=None)
    assert result.success
    np.testing.assert_allclose(result.x, 3, atol=1e-2)


def test_map_like_workers_receive_all_points_of_a_gradient_at_once():
    """If the option ``workers`` is a map-like function, it receives all points of a gradient in one call."""
    sizes = []

    def batched(fun, points):
        stacked = np.array(list(points))
        sizes.append(len(stacked))
        return ((stacked - 1) ** 2).sum(1)

    calls = []
    fun = lambda x: (calls.append(1), float(((x - 1) ** 2).sum()))[1]  # noqa: E731
    for jac, count in (("2-point", 5), ("3-point", 10), (None, 5)):
        del sizes[:], calls[:]
        result = cuda_opt.minimize(fun, np.zeros(5), jac=jac, options={"workers": batched})
        np.testing.assert_allclose(result.x, 1, atol=1e-5)
        assert set(sizes) == {count} and len(sizes) == result.njev == len(calls)
        assert result.nfev == len(calls) + sum(sizes)


def quartic(x):
    return float(((x - 1) ** 4).sum())


@pytest.mark.parametrize("workers", [1, 2, "pool"])
def test_parallel_workers_give_bitwise_the_serial_result(workers):
    serial = cuda_opt.minimize(quartic, np.zeros(3), jac="2-point")
    if workers == "pool":
        with ThreadPoolExecutor(2) as pool:
            result = cuda_opt.minimize(quartic, np.zeros(3), jac="2-point", options={"workers": pool.map})
    else:
        before = len(multiprocessing.active_children())
        result = cuda_opt.minimize(quartic, np.zeros(3), jac="2-point", options={"workers": workers})
        assert len(multiprocessing.active_children()) == before
    np.testing.assert_array_equal(result.x, serial.x)
    assert result.nfev == serial.nfev


def test_an_exception_of_fun_ends_the_worker_processes():
    before = threading.active_count(), len(multiprocessing.active_children())
    with pytest.raises(ZeroDivisionError):
        cuda_opt.minimize(division_by_zero, np.zeros(3), jac=None, options={"workers": 2})
    assert (threading.active_count(), len(multiprocessing.active_children())) == before


def killed_in_another_process(x, main):
    if os.getpid() != main:
        os.kill(os.getpid(), signal.SIGKILL)
    return quartic(x)


def test_a_killed_worker_process_ends_the_solve():
    """The system kills a process for example if memory is exhausted. The solve then raises an exception, whereas
    ``multiprocessing.Pool`` itself would wait for the values of that process for ever."""
    options = {"workers": 2}
    with pytest.raises(RuntimeError, match="a process of the option workers was killed while it evaluated fun"):
        cuda_opt.minimize(killed_in_another_process, np.zeros(3), (os.getpid(),), jac=None, options=options)


def division_by_zero(x):
    return 1 / 0 if x[1] else 0.0


@pytest.mark.parametrize(
    "options, kind, text",
    [
        ({"workers": 0}, ValueError, "workers is 0: it has to be a map-like function, at least 1, or -1"),
        ({"workers": -2}, ValueError, "workers is -2"),
        ({"workers": "all"}, ValueError, "workers is 'all'"),
        ({"workers": lambda fun, points: 7}, TypeError, "workers returned a int"),
        ({"workers": lambda fun, points: None}, TypeError, "workers returned a NoneType"),
        ({"workers": lambda fun, points: np.array(7.0)}, TypeError, "workers returned a numpy.ndarray"),
        ({"workers": lambda fun, points: [1.0]}, ValueError, "workers returned 1 values for 3 points"),
        ({"workers": lambda fun, points: iter(float, 1)}, ValueError, "workers returned 4 values for 3 points"),
        ({"workers": lambda fun, points: [None] * 3}, TypeError, "the value of the function is a NoneType"),
        ({"workers": lambda fun, points: np.zeros((3, 2))}, ValueError, r"function has the shape \(2,\)"),
        ({"eps": np.nan}, ValueError, "eps has elements that are NaN"),
        ({"eps": [1e-8, 1e-8]}, ValueError, r"eps has the shape \(2,\): it has to be a number, or an array of 3"),
        ({"eps": "small"}, TypeError, "eps is a str"),
        ({"finite_diff_rel_step": np.ones((3, 1)), "jac": "2-point"}, ValueError, "rel_step has the shape"),
        ({"finite_diff_rel_step": 1j, "jac": "3-point"}, TypeError, "finite_diff_rel_step is a complex"),
    ],
)
def test_invalid_options_for_differences_are_rejected(options, kind, text):
    jac = options.pop("jac", None)
    with pytest.raises(kind, match=text):
        cuda_opt.minimize(lambda x: float(x @ x), np.ones(3), jac=jac, options=options)
    options["jac"] = jac


@pytest.mark.parametrize(
    "returned, kind, text",
    [
        (np.zeros(3), ValueError, r"function has the shape \(3,\)"),
        (None, TypeError, "the value of the function is a NoneType"),
        ((1.0, np.zeros(3)), TypeError, "the value of the function is a tuple"),
        (1j, TypeError, "the value of the function is a complex"),
    ],
)
@pytest.mark.parametrize("jac", METHODS)
def test_invalid_values_of_fun_are_rejected_for_each_kind_of_difference(jac, returned, kind, text):
    with pytest.raises(kind, match=text):
        cuda_opt.minimize(lambda x: returned, np.ones(3), jac=jac)


def test_complex_steps_reject_a_function_with_real_values():
    with pytest.raises(TypeError, match="at a complex x is not complex"):
        cuda_opt.minimize(lambda x: float((np.abs(x) ** 2).sum()), np.ones(3), jac="cs")


def test_steps_that_vanish_in_rounding_are_replaced():
    for options in ({"eps": 0}, {"eps": 1e-30}, {"eps": [1e-8, 0, 1e-8]}):
        result = cuda_opt.minimize(lambda x: float(((x - 1e3) ** 2).sum()), np.ones(3), jac=None, options=options)
        np.testing.assert_allclose(result.x, 1e3, rtol=1e-5)


def test_steps_are_shortened_where_f_is_undefined():
    """If gradients are computed by finite differences, a step is shortened if f is undefined at x or at a point of the
    differences."""

    def fun(x):
        with np.errstate(invalid="ignore", divide="ignore"):
            return float(np.sum(x - np.log(x)))

    for jac in ("2-point", "3-point", None):
        result = cuda_opt.minimize(fun, np.full(3, 0.01), jac=jac)
        assert result.success
        np.testing.assert_allclose(result.x, 1, atol=1e-3)
        start = cuda_opt.minimize(lambda x: np.nan, np.ones(3), jac=jac)
        assert start.task is cuda_opt.Task.NOT_FINITE and start.nfev == 1


def test_finite_differences_are_rejected_for_torch_tensors():
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match="jac is '2-point', but x0 is no NumPy array"):
        cuda_opt.minimize(lambda x: (x**2).sum(), torch.ones(3, dtype=torch.float64), jac="2-point")
