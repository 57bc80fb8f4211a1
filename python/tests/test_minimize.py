"""``minimize`` has SciPy's conventions, both when it is called directly and when SciPy's ``minimize`` calls it as a
method."""
import copy
import pickle
from functools import partial

import numpy as np
import pytest
from problems import random_seed

import cuda_opt

# ONE_NUMBER selects the scalar initial Hessian, which L-BFGS-B 3.0 and SciPy also use.
ONE_NUMBER = {"INITIAL_HESSIAN": cuda_opt.InitialHessian.SCALAR}
# The minimiser of the function ``parabola`` in the box [0, 3]^8.
NEAREST = np.array([0, 1, 2, 3, 3, 3, 3, 3])


def test_minimize_converges_by_default_and_fills_the_result(rosenbrock):
    result = cuda_opt.minimize(rosenbrock, np.full(6, -1.2))
    assert result.success is True and result.status == 0 and result.task is cuda_opt.Task.CONVERGED
    np.testing.assert_allclose(result.x, 1, atol=1e-4)
    assert isinstance(result.fun, float) and result.fun == rosenbrock(result.x)[0]
    np.testing.assert_array_equal(result.jac, rosenbrock(result.x)[1])
    assert result.nfev == result.njev >= result.nit > 1
    assert result.message.startswith("converged")
    assert {"x", "fun", "jac", "nit", "nfev", "status", "message", "success", "hess_inv"} <= result.keys()
    assert "converged" in repr(result)


def test_minimize_ends_at_the_same_iteration_as_scipy(rosenbrock):
    """SciPy also solves the problem from a start that is changed by rounding errors. Where the two numbers of
    iterations differ, rounding decides, and ours is not compared. In 60 iterations an error of 1e-15 grows to 1e-8."""
    optimize = pytest.importorskip("scipy.optimize")
    compared = 0
    for options in ({}, {"ftol": 1e-4}, {"gtol": 1e-1, "ftol": 0}, {"maxiter": 5}, {"maxcor": 3}):
        x0 = np.full(10, -1.2)
        theirs, changed = (optimize.minimize(rosenbrock, start, jac=True, method="L-BFGS-B", options=options)
                           for start in (x0, x0 * (1 + 1e-15)))
        ours = cuda_opt.minimize(rosenbrock, x0, options={**ONE_NUMBER, "ROBUST": 0, "maxcor": 10, **options})
        assert ours.status == theirs.status, options
        if theirs.nit == changed.nit:
            compared += 1
            assert ours.nit == theirs.nit, options
            assert ours.fun == pytest.approx(theirs.fun, rel=1e-5, abs=1e-9)
    assert compared >= 1


def test_x0_is_not_changed_and_gradients_are_copied(parabola):
    x0 = np.full(8, 9.0)
    kept = []

    def fun(x):
        f, g = parabola(x)
        kept.append((g, g.copy()))
        return f, g

    result = cuda_opt.minimize(fun, x0)
    np.testing.assert_array_equal(x0, 9)
    for g, copy in kept:
        np.testing.assert_array_equal(g, copy)
        assert not np.shares_memory(g, result.jac)


def test_the_x_of_an_evaluation_is_read_only(parabola):
    def fun(x):
        x[0] = 1

    with pytest.raises(ValueError, match="read-only"):
        cuda_opt.minimize(fun, np.zeros(3))


class Column:
    """An object like a pandas series, which becomes an array only through its method ``__array__``."""

    def __array__(self, dtype=None, copy=None):
        return np.arange(8)


@pytest.mark.parametrize(
    "x0",
    [[0] * 8, tuple(range(8)), np.zeros(8, int), np.zeros((8, 2))[:, 0], np.zeros(8, ">f8"), Column()],
)
def test_lists_integers_and_other_byte_orders_become_doubles(x0, parabola):
    assert cuda_opt.minimize(parabola, x0).x.dtype == np.float64


def test_x0_may_be_a_single_number():
    for x0 in (3, 3.0, np.float64(3), np.array(3.0), [3]):
        result = cuda_opt.minimize(lambda x: ((x[0] - 1) ** 2, 2 * (x - 1)), x0)
        assert result.x == pytest.approx([1])


def test_a_float32_x0_is_solved_in_single_precision():
    seen = set()

    def fun(x):
        seen.add(x.dtype)
        g = x - np.arange(8, dtype=np.float32)
        return np.sum(g.astype(float) ** 2) / 2, g

    result = cuda_opt.minimize(fun, np.zeros(8, np.float32), bounds=cuda_opt.Bounds(0, np.full(8, 3, np.float32)))
    assert seen == {np.dtype(np.float32)} == {result.x.dtype, result.jac.dtype}
    np.testing.assert_array_equal(result.x, NEAREST)


def all_bounds():
    yield "numbers", cuda_opt.Bounds(0, 3)
    yield "arrays", cuda_opt.Bounds(np.zeros(8), np.full(8, 3.0))
    yield "a number and an array", cuda_opt.Bounds(0, np.full(8, 3.0))
    yield "an array and a number", cuda_opt.Bounds(np.zeros(8), 3)
    yield "no lower", cuda_opt.Bounds(None, 3)
    yield "lists", cuda_opt.Bounds([0] * 8, [3] * 8)
    yield "lists with None", cuda_opt.Bounds([0] * 4 + [None] * 4, [3] * 8)
    yield "pairs", [(0, 3)] * 8
    yield "pairs with None", [(None, 3)] * 4 + [(0, 3)] * 4
    yield "an array of pairs", np.tile([0.0, 3.0], (8, 1))
    yield "zip", zip([0] * 8, [3] * 8)
    yield "infinite", [(-np.inf, 3)] * 8


@pytest.mark.parametrize("bounds", [pytest.param(bounds, id=name) for name, bounds in all_bounds()])
def test_all_forms_of_bounds_give_the_constrained_minimum(bounds, parabola):
    evaluated = []

    def fun(x):
        evaluated.append(x.copy())
        return parabola(x)

    result = cuda_opt.minimize(fun, np.full(8, 7.0), bounds=bounds)
    np.testing.assert_allclose(result.x, NEAREST, atol=1e-5)
    assert np.max(evaluated) <= 3


@pytest.mark.filterwarnings("error")
def test_bounds_objects_of_scipy_are_accepted(parabola):
    optimize = pytest.importorskip("scipy.optimize")
    for bounds in (optimize.Bounds(0, 3), optimize.Bounds(np.zeros(8), np.full(8, 3)), optimize.Bounds([0], [3])):
        for result in (
            cuda_opt.minimize(parabola, np.ones(8), bounds=bounds),
            optimize.minimize(parabola, np.ones(8), jac=True, method=cuda_opt.lbfgsb, bounds=bounds),
        ):
            np.testing.assert_allclose(result.x, NEAREST, atol=1e-5)


def test_equal_bounds_fix_a_variable(parabola):
    result = cuda_opt.minimize(parabola, np.zeros(4), bounds=[(None, None), (5, 5), (None, None), (0, 0)])
    np.testing.assert_allclose(result.x, [0, 5, 2, 0], atol=1e-5)


def test_jac_as_a_function_gives_bitwise_the_same_result(parabola):
    together = cuda_opt.minimize(parabola, np.ones(8))
    apart = cuda_opt.minimize(lambda x: parabola(x)[0], np.ones(8), jac=lambda x: parabola(x)[1])
    np.testing.assert_array_equal(together.x, apart.x)


@pytest.mark.parametrize("jac", ["4-point", 1, 0, np.zeros(8), "CS"])
def test_an_invalid_jac_is_rejected(jac, parabola):
    with pytest.raises(ValueError, match="jac is .*: it has to be True"):
        cuda_opt.minimize(parabola, np.ones(8), jac=jac)


def test_args_are_passed_to_fun_and_jac(parabola):
    def fun(x, centre, scale):
        return scale * float(np.sum((x - centre) ** 2)), 2 * scale * (x - centre)

    assert cuda_opt.minimize(fun, np.zeros(3), args=(4, 2.5)).x == pytest.approx([4, 4, 4])
    one = cuda_opt.minimize(lambda x, c: fun(x, c, 1), np.zeros(3), args=np.array([1, 2, 3]))
    assert one.x == pytest.approx([1, 2, 3])
    apart = cuda_opt.minimize(lambda x, *a: fun(x, *a)[0], np.zeros(3), (4, 2), jac=lambda x, *a: fun(x, *a)[1])
    assert apart.x == pytest.approx([4, 4, 4])


@pytest.mark.parametrize("value", [1.5, np.float32(1.5), np.array(1.5), np.array([1.5]), np.array([[1.5]]), 1])
def test_f_may_be_a_number_or_an_array_of_one_element(value):
    result = cuda_opt.minimize(lambda x: (value, np.zeros(2)), np.zeros(2))
    assert result.fun == float(np.ravel(value)[0]) and result.success


@pytest.mark.parametrize(
    "form", [np.asarray, list, tuple, lambda g: g.astype(np.float32), lambda g: np.repeat(g, 2)[::2]]
)
def test_the_gradient_may_be_a_sequence_or_any_array(form, parabola):
    result = cuda_opt.minimize(lambda x: (parabola(x)[0], form(parabola(x)[1])), np.ones(8))
    np.testing.assert_allclose(result.x, np.arange(8), atol=1e-5)


def test_a_callback_receives_an_intermediate_result_per_iteration(rosenbrock):
    seen = []

    def callback(intermediate_result):
        seen.append(intermediate_result)

    result = cuda_opt.minimize(rosenbrock, np.full(4, -1.2), callback=callback)
    assert [one.nit for one in seen] == list(range(1, result.nit + 1))
    for one in seen:
        assert one.fun == rosenbrock(one.x)[0]
    assert seen[-1].fun == result.fun
    assert all(later.fun <= earlier.fun for earlier, later in zip(seen, seen[1:]))


def test_a_callback_without_intermediate_result_receives_x(rosenbrock):
    seen = []
    result = cuda_opt.minimize(rosenbrock, np.full(4, -1.2), callback=seen.append)
    assert len(seen) == result.nit
    np.testing.assert_array_equal(seen[-1], result.x)
    assert not np.shares_memory(seen[-1], result.x)


def test_stop_iteration_in_the_callback_ends_the_solve(rosenbrock):
    def callback(intermediate_result):
        if intermediate_result.nit == 3:
            raise StopIteration

    result = cuda_opt.minimize(rosenbrock, np.full(4, -1.2), callback=callback)
    assert (result.nit, result.success, result.status, result.task) == (3, False, 99, cuda_opt.Task.STOPPED)
    assert result.fun == rosenbrock(result.x)[0] < rosenbrock(np.full(4, -1.2))[0]


def test_maxiter_and_maxfun_limit_the_solve(rosenbrock):
    x0 = np.full(10, -1.2)
    for option, task, count in (("maxiter", "ITERATION_LIMIT", "nit"), ("maxfun", "EVALUATION_LIMIT", "nfev")):
        result = cuda_opt.minimize(rosenbrock, x0, options={option: 4})
        assert (result.success, result.status, result.task.name, result[count]) == (False, 1, task, 4)
    assert cuda_opt.minimize(rosenbrock, x0, options={"maxiter": None, "maxfun": np.inf}).success


def test_tol_sets_the_tolerances_unless_options_do(rosenbrock):
    counts = [cuda_opt.minimize(rosenbrock, np.full(6, -1.2), tol=tol).nit for tol in (1e-1, 1e-6, 1e-14)]
    assert counts[0] < counts[1] < counts[2]
    assert cuda_opt.minimize(rosenbrock, np.full(6, -1.2), tol=1e-1, options={"ftol": 0, "gtol": 1e-9}).nit > counts[1]


def test_settings_of_the_library_may_be_options(rosenbrock):
    options = {"F_TARGET": 1.0, "HISTORY_BITS": 32, "THREADS": 1}
    result = cuda_opt.minimize(rosenbrock, np.full(6, -1.2), options=options)
    assert result.success and 1e-3 < result.fun <= 1


def test_disp_prints_the_log(rosenbrock, capsys):
    cuda_opt.minimize(rosenbrock, np.full(6, -1.2))
    assert capsys.readouterr().out == ""
    result = cuda_opt.minimize(rosenbrock, np.full(6, -1.2), options={"disp": True})
    assert len(capsys.readouterr().out.splitlines()) > result.nit


def test_steps_are_shortened_where_f_is_undefined():
    """f contains log x and is undefined outside its domain. Steps that leave the domain are shortened."""

    def fun(x):
        with np.errstate(invalid="ignore", divide="ignore"):
            return float(np.sum(x - np.log(x))), 1 - 1 / x

    result = cuda_opt.minimize(fun, np.full(3, 0.01))
    assert result.success and result.x == pytest.approx([1, 1, 1], abs=1e-4)
    start = cuda_opt.minimize(lambda x: (10**400, x), np.ones(3))
    assert start.task is cuda_opt.Task.NOT_FINITE
    start = cuda_opt.minimize(lambda x: (np.nan, x), np.ones(3))
    assert not start.success and start.task is cuda_opt.Task.NOT_FINITE and start.status == 2
    np.testing.assert_array_equal(start.x, 1)


def test_hess_inv_approximates_the_inverse_hessian_of_a_quadratic():
    """The L-BFGS matrix would be the inverse of the Hessian after n exact line searches. With inexact ones, it is close
    to it, symmetric and positive definite."""
    a = np.diag([1.0, 2, 3, 4]) + 0.3
    result = cuda_opt.minimize(lambda x: (float(x @ a @ x) / 2, a @ x), np.arange(1.0, 5), tol=1e-14)
    h = np.stack([result.hess_inv @ e for e in np.eye(4)])
    np.testing.assert_allclose(h, h.T, atol=1e-12)
    assert np.linalg.eigvalsh(h).min() > 0
    np.testing.assert_allclose(h @ a, np.eye(4), atol=0.3)
    np.testing.assert_array_equal(result.hess_inv @ np.zeros(4), np.zeros(4))
    # The product H v is linear for components of very different sizes.
    v = np.array([1e150, -1e-150, 3.0, 0])
    np.testing.assert_allclose(result.hess_inv @ v, h @ v, rtol=1e-12)


@pytest.mark.parametrize("bits", [64, 32, 16])
@pytest.mark.parametrize("size", [1e300, 1e40, 1e-40, 1e-300, 1e-320])
def test_products_with_hess_inv_are_linear_for_vectors_of_any_size(bits, size, rosenbrock):
    """The product H v is linear for very large and very small v, and H does not change. The result has the precision of
    the correction pairs."""
    x0 = np.full(5, -1.2)
    h = cuda_opt.minimize(rosenbrock, x0, options={"HISTORY_BITS": bits}).hess_inv
    v = np.array([0.5, -2, 1, 3, 0])
    product = h @ v
    digits = {64: 1e-3 if size < 1e-300 else 1e-12, 32: 1e-3, 16: 0.02}[bits]  # 1e-320 has three digits
    np.testing.assert_allclose((h @ (v * size)) / size, product, rtol=digits, atol=digits * abs(product).max())
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="v has elements that are NaN or infinite"):
            h @ np.array([0, 0, bad, 0, 0])
    np.testing.assert_array_equal(h @ v, product)


def test_products_raise_if_hess_inv_is_lost_in_rounding_errors():
    """If curvatures range from 1e-140 to 1e140, H is lost in rounding errors: of ten matrices at least three, from
    each of 40 random starts. Products H v then raise an exception instead of using another matrix."""
    d, lost = np.array([1, 1e-140, 1e140]), 0
    for iterations in range(2, 12):
        options = {**ONE_NUMBER, "maxiter": iterations, "gtol": 0, "ftol": 0}
        h = cuda_opt.minimize(lambda x: (float(x @ (d * x)) / 2, d * x), np.ones(3), options=options).hess_inv
        for v in np.array([[0, 0, 1], [1, 1e-20, 1e20], [1e20, 1, -1e-20]]):
            try:
                product = h @ v
                assert product @ v > 0
            except ArithmeticError:
                lost += 1
                for same in (h, pickle.loads(pickle.dumps(h)), copy.deepcopy(h)):
                    with pytest.raises(ArithmeticError, match="lost in rounding errors"):
                        same @ np.ones(3)
                break
    assert lost > 0


def test_products_with_hess_inv_are_linear_in_single_precision(rosenbrock):
    h = cuda_opt.minimize(rosenbrock, np.full(5, -1.2, np.float32)).hess_inv
    v = np.array([0.5, -2, 1, 3, 0], np.float32)
    product = h @ v
    assert product.dtype == np.float32
    # In single precision 1e-42 is a subnormal number with three digits.
    for size in np.float32([1e37, 1e-37, 1e-42]):
        np.testing.assert_allclose((h @ (v * size)) / size, product, rtol=1e-2)
    np.testing.assert_array_equal(h @ v, product)


@pytest.mark.parametrize("bounds", [None, [(-2, 0.9)] * 5])
def test_hess_inv_agrees_with_the_bfgs_formula_for_the_last_pairs(bounds, rosenbrock):
    """hess_inv is the result of the BFGS formula with the steps between the last iterates, starting from the identity
    times s'y / y'y."""
    iterates, m = [], 4
    options = {**ONE_NUMBER, "maxcor": m, "maxiter": 12}
    result = cuda_opt.minimize(
        rosenbrock, np.full(5, -1.2), bounds=bounds, callback=iterates.append, options=options
    )
    pairs = []
    for before, after in zip(iterates[-m - 1 :], iterates[-m:]):
        pairs.append((after - before, rosenbrock(after)[1] - rosenbrock(before)[1]))
    s, y = pairs[-1]
    h = np.eye(5) * (s @ y) / (y @ y)
    for s, y in pairs:
        v = np.eye(5) - np.outer(y, s) / (s @ y)
        h = v.T @ h @ v + np.outer(s, s) / (s @ y)
    ours = np.stack([result.hess_inv @ e for e in np.eye(5)])
    np.testing.assert_allclose(ours, h, rtol=1e-6, atol=1e-9)


def test_hess_inv_is_a_linear_operator_of_scipy(rosenbrock):
    linalg = pytest.importorskip("scipy.sparse.linalg")
    result = cuda_opt.minimize(rosenbrock, np.full(5, -1.2))
    operator = result.hess_inv
    assert isinstance(operator, linalg.LinearOperator) and operator.shape == (5, 5)
    np.testing.assert_allclose(operator.todense() @ result.x, operator @ result.x, rtol=1e-10)
    np.testing.assert_allclose(operator.H @ result.x, operator @ result.x, rtol=1e-10)


def test_hess_inv_of_a_constant_function_is_the_identity():
    result = cuda_opt.minimize(lambda x: (0.0, np.zeros(3)), np.ones(3))
    np.testing.assert_array_equal(result.hess_inv @ np.arange(3.0), np.arange(3.0))


def test_scipy_s_minimize_accepts_lbfgsb_as_a_method(rosenbrock):
    optimize = pytest.importorskip("scipy.optimize")
    seen = []

    def callback(intermediate_result):
        seen.append(intermediate_result.fun)

    x0 = np.full(6, -1.2)
    options = {"gtol": 1e-8, "ftol": 0}
    ours = cuda_opt.minimize(rosenbrock, x0, options=options)
    together = optimize.minimize(rosenbrock, x0, jac=True, method=cuda_opt.lbfgsb, callback=callback, options=options)
    np.testing.assert_array_equal(together.x, ours.x)
    assert isinstance(together, optimize.OptimizeResult) and len(seen) == together.nit
    for tol in (1e-2, 1e-9):
        apart = optimize.minimize(
            lambda x, c: c * rosenbrock(x)[0], x0, (2,), cuda_opt.lbfgsb, lambda x, c: c * rosenbrock(x)[1], tol=tol
        )
        twice = cuda_opt.minimize(lambda x: tuple(2 * part for part in rosenbrock(x)), x0, tol=tol)
        np.testing.assert_array_equal(apart.x, twice.x)
    np.testing.assert_allclose(apart.x, 1, atol=1e-4)
    constraint = {"type": "eq", "fun": lambda x: x[0]}
    with pytest.raises(ValueError, match="constraints"):
        optimize.minimize(rosenbrock, x0, jac=True, method=cuda_opt.lbfgsb, constraints=constraint)


def test_scipy_s_basinhopping_accepts_lbfgsb_as_a_method(rosenbrock):
    optimize = pytest.importorskip("scipy.optimize")
    settings = {"method": cuda_opt.lbfgsb, "jac": True}
    result = optimize.basinhopping(rosenbrock, np.full(3, -1.2), niter=3, minimizer_kwargs=settings)
    np.testing.assert_allclose(result.x, 1, atol=1e-3)


def test_results_have_classes_of_cuda_opt_without_scipy(rosenbrock, monkeypatch):
    monkeypatch.delitem(__import__("sys").modules, "scipy.optimize", raising=False)
    monkeypatch.delitem(__import__("sys").modules, "scipy.sparse.linalg", raising=False)
    result = cuda_opt.minimize(rosenbrock, np.full(3, -1.2))
    assert type(result) is cuda_opt.OptimizeResult and type(result.hess_inv) is cuda_opt.InverseHessian
    assert result.x is result["x"] and "x" in dir(result)
    with pytest.raises(AttributeError):
        result.nonsense
    assert (result.hess_inv @ np.ones(3)).shape == (3,)


def test_the_default_initial_hessian_is_a_learned_diagonal(rosenbrock):
    x0 = np.full(30, -1.2)

    def run(minimise, **options):
        return minimise(rosenbrock, x0, jac=True, options=options).x.tolist()

    learned = run(cuda_opt.minimize)
    assert learned == run(cuda_opt.minimize, INITIAL_HESSIAN=cuda_opt.InitialHessian.LEARNED)
    assert learned != run(cuda_opt.minimize, **ONE_NUMBER)
    optimize = pytest.importorskip("scipy.optimize")
    by_scipy = partial(optimize.minimize, method=cuda_opt.lbfgsb)
    assert run(by_scipy) == learned and run(by_scipy, **ONE_NUMBER) == run(cuda_opt.minimize, **ONE_NUMBER)


@pytest.mark.parametrize("n, m", [(2, 40), (1000, 40), (1002, 10)])
def test_maxcor_is_chosen_by_n_unless_it_is_given(n, m, rosenbrock):
    start = np.tile([-1.2, 1], n // 2)
    chosen, given, other = (
        cuda_opt.minimize(rosenbrock, start, options={"maxfun": 60, **options})
        for options in ({}, {"maxcor": m}, {"maxcor": 12})
    )
    assert (chosen.maxcor, given.maxcor, other.maxcor) == (m, m, 12)
    np.testing.assert_array_equal(chosen.x, given.x)


def test_report_iterates_without_a_callback_does_not_end_a_solve(rosenbrock):
    """The setting REPORT_ITERATES without a callback does not end a solve."""
    plain = cuda_opt.minimize(rosenbrock, np.full(4, -1.2))
    reported = cuda_opt.minimize(rosenbrock, np.full(4, -1.2), options={"REPORT_ITERATES": 1})
    assert reported.success and reported.nit == plain.nit
    np.testing.assert_array_equal(reported.x, plain.x)


def test_hess_inv_without_pairs_checks_its_vectors():
    """Without correction pairs hess_inv is the identity matrix. It accepts the same vectors as any other hess_inv."""
    hess_inv = cuda_opt.minimize(lambda x: (x @ x, 2 * x), np.zeros(50)).hess_inv
    v = np.arange(50.0)
    product = hess_inv @ v
    np.testing.assert_array_equal(product, v)
    product[:] = 7
    assert v[1] == 1
    for wrong, kind, text in ((np.ones(7), ValueError, "shape|dimension"), (np.full(50, np.nan), ValueError, "NaN"),
                              (np.full(50, np.inf), ValueError, "infinite"), (v + 1j, TypeError, "complex128")):
        with pytest.raises(kind, match=text):
            getattr(hess_inv, "_inverse", hess_inv) @ wrong


def test_a_solve_of_a_noisy_f_converges_if_its_noise_level_is_given():
    random = np.random.default_rng(random_seed(1))

    def noisy(x):
        return ((x - 1) ** 4).sum() + 1e-2 * random.uniform(-1, 1), 4 * (x - 1) ** 3

    for _ in range(10):
        with_level = cuda_opt.minimize(noisy, np.zeros(5), options={"noise_abs": 1e-2, "ftol": 0})
        assert with_level.success and np.abs(with_level.jac).max() <= 1e-5
    # Without the level, a few solves may succeed by chance.
    assert sum(cuda_opt.minimize(noisy, np.zeros(5), options={"ftol": 0}).success for _ in range(10)) < 5
    relative = cuda_opt.minimize(
        lambda x: (noisy(x)[0] + 1, noisy(x)[1]), np.zeros(5), options={"noise": 1e-2, "ftol": 0}
    )
    assert relative.success and np.abs(relative.jac).max() <= 1e-5
    for name in ("noise", "noise_abs"):
        with pytest.raises(ValueError, match=name):
            cuda_opt.minimize(noisy, np.zeros(5), options={name: -1})
