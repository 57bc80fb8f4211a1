"""``method=cuda_opt.lbfgsb`` has the conventions of SciPy's L-BFGS-B."""
import copy
import pickle
import warnings

import numpy as np
import pytest

import cuda_opt

optimize = pytest.importorskip("scipy.optimize")
VERSION = tuple(int(part) for part in __import__("scipy").__version__.split(".")[:2])


def solve(fun, x0, method=cuda_opt.lbfgsb, **arguments):
    return optimize.minimize(fun, x0, method=method, **{"jac": True, **arguments})


@pytest.mark.parametrize(
    "options",
    [
        {"maxiter": 3}, {"maxiter": 2.5}, {"maxiter": 1}, {"maxfun": 3}, {"gtol": 1e-3, "ftol": 0},
        {"gtol": 0, "ftol": 1e-3},
    ],
)
def test_messages_and_status_are_those_of_scipy(options, rosenbrock):
    x0 = np.full(5, -1.2)
    theirs, ours = (solve(rosenbrock, x0, method, options=options) for method in ("L-BFGS-B", cuda_opt.lbfgsb))
    assert (ours.message, ours.status, ours.success) == (theirs.message, theirs.status, theirs.success)
    if "maxiter" in options:
        assert ours.nit == theirs.nit


def test_other_return_codes_have_messages_in_the_form_of_scipy(rosenbrock):
    unbounded = solve(lambda x: (-float(x.sum()), -np.ones(3)), np.zeros(3))
    assert unbounded.task is cuda_opt.Task.UNBOUNDED and unbounded.status == 2
    assert unbounded.message.startswith("ABNORMAL") and "lower bound" in unbounded.message
    target = solve(rosenbrock, np.full(5, -1.2), options={"F_TARGET": 1.0})
    assert target.success and target.message.startswith("CONVERGENCE: ")
    late = solve(rosenbrock, np.full(5, -1.2), options={"MAX_SECONDS": 1e-9})
    assert late.status == 1 and late.message.startswith("STOP: CPU EXCEEDING THE TIME LIMIT")


@pytest.mark.parametrize("options", [{"maxiter": 0}, {"maxfun": 0}, {"maxfun": 0.5}])
def test_limits_below_one_allow_at_most_one_iteration(options, rosenbrock):
    result = solve(rosenbrock, np.full(5, -1.2), options=options)
    assert result.status == 1 and not result.success and result.nit <= 1
    own = cuda_opt.minimize(rosenbrock, np.full(5, -1.2), options=options)
    assert own.status == 1 and own.nit <= 1


def test_stop_iteration_in_the_callback_ends_the_solve_as_in_scipy(rosenbrock):
    seen = []

    def callback(intermediate_result):
        seen.append(intermediate_result.fun)
        if len(seen) == 3:
            raise StopIteration

    result = solve(rosenbrock, np.full(5, -1.2), callback=callback)
    assert (result.nit, result.status, result.success) == (3, 99, False) and len(seen) == 3
    assert result.message == "`callback` raised `StopIteration`." and result.fun == seen[-1]
    again = solve(rosenbrock, np.full(5, -1.2))
    assert again.success, "a stop of one solve must not affect the next one"


def test_fun_and_jac_may_overwrite_the_arrays_that_they_receive():
    seen = []

    def fun(x):
        seen.append(x)
        x -= 1
        return float((x**2).sum())

    def jac(x):
        seen.append(x)
        x *= 2
        return x - 2

    result = solve(fun, np.zeros(3), jac=jac)
    np.testing.assert_allclose(result.x, 1, atol=1e-5)
    assert len({x.ctypes.data for x in seen}) == len(seen)


@pytest.mark.parametrize("name", ["xrtol", "return_all", "factr", "METRICS"])
def test_unknown_options_cause_a_warning(name, rosenbrock):
    plain = solve(rosenbrock, np.full(5, -1.2))
    with pytest.warns(optimize.OptimizeWarning, match=f"Unknown solver options: {name}"):
        warned = solve(rosenbrock, np.full(5, -1.2), options={name: 1e-3})
    np.testing.assert_array_equal(warned.x, plain.x)


def test_options_for_differences_cause_no_warning(rosenbrock):
    options = {"eps": 1e-8, "finite_diff_rel_step": None, "iprint": -1}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solve(rosenbrock, np.full(5, -1.2), options=options)
        optimize.minimize(lambda x: rosenbrock(x)[0], np.full(5, -1.2), method=cuda_opt.lbfgsb, options=options)


@pytest.mark.parametrize("jac", [None, False, "2-point", "3-point"])
def test_differences_are_used_if_no_gradient_is_given(jac, rosenbrock):
    """SciPy does not pass the kind of difference ("2-point", ...) to a method that is a function. ``lbfgsb`` then uses
    its default differences."""
    seen = []

    def fun(x):
        seen.append(1)
        return rosenbrock(x)[0]

    result = solve(fun, np.full(4, -1.2), jac=jac, bounds=[(-2, 0.5)] * 4)
    exact = solve(rosenbrock, np.full(4, -1.2), bounds=[(-2, 0.5)] * 4)
    np.testing.assert_allclose(result.x, exact.x, atol=1e-3)
    assert result.nfev == len(seen)


def test_fixed_variables_are_treated_as_in_scipy(rosenbrock):
    bounds = [(-2, 2), (0.5, 0.5), (-2, 2)]
    without = solve(lambda x: rosenbrock(x)[0], np.zeros(3), jac=None, bounds=bounds)
    theirs = solve(lambda x: rosenbrock(x)[0], np.zeros(3), "L-BFGS-B", jac=None, bounds=bounds)
    assert np.isnan(without.jac).tolist() == np.isnan(theirs.jac).tolist() == [False, True, False]
    assert without.hess_inv is None and theirs.hess_inv is None and without.x[1] == 0.5
    np.testing.assert_allclose(without.x, theirs.x, atol=1e-3)
    assert solve(rosenbrock, np.zeros(3), bounds=bounds).hess_inv is not None
    all_fixed = solve(lambda x: float(x @ x), np.zeros(2), jac=None, bounds=[(1, 1), (2, 2)])
    assert (all_fixed.success, all_fixed.fun) == (True, 5)
    assert all_fixed.message == "All independent variables were fixed by bounds."


def test_hess_inv_contains_the_last_correction_pairs(rosenbrock):
    """sk and yk of hess_inv are the last steps and gradient changes, and hess_inv is SciPy's operator with these pairs.
    """
    for options in ({}, {"maxcor": 3}, {"INITIAL_HESSIAN": 0}, {"HISTORY_BITS": 32}, {"maxiter": 2}, {"maxiter": 1}):
        iterates = [np.full(6, -1.2)]
        bounds = [(-2, 0.9)] * 6
        result = solve(rosenbrock, iterates[0], callback=iterates.append, bounds=bounds, options=options)
        h = result.hess_inv
        m = min(options.get("maxcor", 40), result.nit)
        assert isinstance(h, optimize.LbfgsInvHessProduct) and h.n_corrs == m and h.sk.shape == (m, 6)
        gradients = [rosenbrock(x)[1] for x in iterates]
        np.testing.assert_array_equal(h.sk, np.diff(iterates, axis=0)[-m:])
        np.testing.assert_array_equal(h.yk, np.diff(gradients, axis=0)[-m:])
        np.testing.assert_allclose(h @ h.yk[-1], h.sk[-1], rtol=1e-8, atol=1e-13)
        np.testing.assert_allclose(h.todense(), h.todense().T, rtol=1e-9, atol=1e-12)


def test_pairs_without_positive_curvature_are_omitted():
    """f is concave at the start, so that the first step has s'y < 0. That step gives no correction pair."""
    result = solve(lambda x: (float(np.cos(x).sum()), -np.sin(x)), np.full(3, 0.5), bounds=[(0, 6)] * 3)
    h = result.hess_inv
    assert h.n_corrs <= result.nit and (np.einsum("ij,ij->i", h.sk, h.yk) > 0).all()
    converged_at_once = solve(lambda x: (0.0, np.zeros(3)), np.ones(3))
    assert converged_at_once.hess_inv.n_corrs == 0
    np.testing.assert_array_equal(converged_at_once.hess_inv @ np.arange(3.0), np.arange(3.0))


@pytest.mark.parametrize("make", [cuda_opt.minimize, solve])
def test_results_are_instances_of_both_optimize_result_classes(make, rosenbrock):
    result = make(rosenbrock, np.full(5, -1.2))
    for one in (result, copy.copy(result), copy.deepcopy(result), pickle.loads(pickle.dumps(result)), result.copy()):
        assert isinstance(one, optimize.OptimizeResult) and isinstance(one, cuda_opt.OptimizeResult)
        assert type(one) is type(result) and one.fun == one["fun"] == result.fun and "message" in repr(one)
        np.testing.assert_array_equal(one.hess_inv @ np.ones(5), result.hess_inv @ np.ones(5))
    result.extra = 3
    assert result["extra"] == 3
    del result.extra
    with pytest.raises(AttributeError):
        result.extra


def test_lbfgsb_can_be_called_directly(rosenbrock):
    """``lbfgsb`` can be called directly, like the functions in SciPy that implement its own methods."""
    result = cuda_opt.lbfgsb(lambda x, c: c * rosenbrock(x)[0], [0.0, 0.0], 2, jac="3-point", maxiter=100, gtol=1e-6)
    np.testing.assert_allclose(result.x, 1, atol=1e-4)
    for bad in (7, "x", np.zeros(2)):
        with pytest.raises(ValueError, match="jac is"):
            cuda_opt.lbfgsb(rosenbrock, [0.0, 0.0], jac=bad)


def test_minimize_with_the_method_l_bfgs_b_has_the_conventions_of_scipy(rosenbrock):
    """A program for SciPy can import ``minimize`` from cuda_opt instead."""
    x0, settings = np.full(5, -1.2), {"jac": True, "method": "L-BFGS-B", "bounds": [(-2, 2)] * 5}
    empty = {"tol": None, "constraints": (), "hess": None, "hessp": None}
    scipys, ours = (
        minimize(rosenbrock, x0, options={"maxiter": 3}, **settings, **empty)
        for minimize in (optimize.minimize, cuda_opt.minimize)
    )
    assert (ours.message, ours.status, ours.nit) == (scipys.message, scipys.status, scipys.nit)
    assert type(ours.hess_inv) is type(scipys.hess_inv)
    with pytest.raises(ValueError, match="^An upper bound is less than the corresponding lower bound: .* at index 1 "):
        cuda_opt.minimize(rosenbrock, x0, method="L-BFGS-B", bounds=[(0, 1), (1, 0), *[(0, 1)] * 3])
    with pytest.warns(RuntimeWarning, match="uses no second derivatives .hess."):
        cuda_opt.minimize(rosenbrock, x0, method="L-BFGS-B", hess=optimize.rosen_hess)


@pytest.mark.parametrize("keyword", ["constraints", "hess", "hessp"])
def test_without_a_method_arguments_of_scipy_have_to_be_empty(keyword, rosenbrock):
    with pytest.raises(ValueError, match=f"^{keyword} "):
        cuda_opt.minimize(rosenbrock, np.zeros(3), **{keyword: lambda *arguments: None})
    cuda_opt.minimize(rosenbrock, np.zeros(3), **{keyword: () if keyword == "constraints" else None})


@pytest.mark.parametrize("method", ["L-BFGS-B", "BFGS"])
def test_a_method_as_the_fourth_argument_is_answered_by_its_keyword(method, rosenbrock):
    with pytest.raises(ValueError, match=f"^jac is '{method}': .* use the keyword argument method$"):
        cuda_opt.minimize(rosenbrock, np.zeros(3), (), method)


@pytest.mark.parametrize("method", [None, "L-BFGS-B", "l-bfgs-b"])
def test_minimize_accepts_none_and_l_bfgs_b_as_method(method, rosenbrock):
    assert cuda_opt.minimize(rosenbrock, np.zeros(3), method=method).success


@pytest.mark.parametrize("method", ["BFGS", "", 3, cuda_opt.lbfgsb])
def test_minimize_rejects_other_methods(method, rosenbrock):
    with pytest.raises(ValueError, match="method is .*: it has to be None or 'L-BFGS-B'"):
        cuda_opt.minimize(rosenbrock, np.zeros(3), method=method)


@pytest.mark.parametrize("shape", [lambda g: g[:, None], lambda g: g[None], lambda g: g[:, None].tolist(), np.matrix])
@pytest.mark.parametrize("pair", [tuple, list, lambda both: np.array([both[0], both[1]], object)])
def test_fun_may_return_f_and_the_gradient_in_any_form(shape, pair, parabola):
    def fun(x):
        f, g = parabola(x)
        both = np.empty(2, object)
        both[0], both[1] = f, shape(g)
        return both if pair not in (tuple, list) else pair(both)

    for make in (cuda_opt.minimize, solve):
        np.testing.assert_allclose(make(fun, np.ones(4)).x, np.arange(4), atol=1e-5)
