"""Tests ``minimize`` with a diagonal of the inverse Hessian that the caller supplies as an array or as a function of x.
"""
import pickle

import numpy as np
import pytest

import cuda_opt
from cuda_opt import InitialHessian, Task, minimize

SCALE = 10.0 ** np.arange(8)


def badly_scaled(x, power=4):
    """Return f = sum s_i (x_i - 1)^2 / 2 + (x_i - 1)^4 and its gradient, where the scales s_i range from 1 to 1e7."""
    off = x - 1
    return float(SCALE @ off**2) / 2 + float((off**power).sum()), SCALE * off + power * off ** (power - 1)


def inverse_curvature(x, power=4):
    return 1 / (SCALE + power * (power - 1) * (x - 1) ** (power - 2))


def solve(**arguments):
    return minimize(badly_scaled, np.zeros(8), options={"ftol": 0, **arguments.pop("options", {})}, **arguments)


def test_an_exact_diagonal_solves_a_quadratic_in_two_iterations():
    """With power = 2, f is quadratic, and the diagonal is its inverse Hessian. The first direction leads to the
    minimiser, but the first step may be shorter. The step of the second iteration is complete."""
    plain, array = solve(args=(2,)), solve(args=(2,), diagonal=1 / (SCALE + 2))
    function = solve(args=(2,), diagonal=inverse_curvature)
    for result in (plain, array, function, solve(diagonal=1 / SCALE), solve(diagonal=inverse_curvature)):
        assert result.success
        np.testing.assert_allclose(result.x, 1, atol=1e-4)
    assert array.nit == function.nit == 2 < plain.nit


def test_diagonal_is_called_at_each_iterate_or_once_per_solve():
    calls = []

    def counted(x, *args):
        calls.append(args)
        return inverse_curvature(x, *args)

    each = solve(diagonal=counted, args=(4,))
    assert each.nit <= len(calls) <= each.nit + 1 and set(calls) == {(4,)}
    calls.clear()
    solve(diagonal=counted, options={"DIAGONAL_EVERY": 0})
    assert len(calls) == 1


def test_minimize_with_a_diagonal_matches_a_loop_with_solver():
    """``minimize`` with a diagonal makes the same evaluations as a loop with ``Solver`` that uses the same diagonal."""
    ours = minimize(badly_scaled, np.zeros(8), diagonal=inverse_curvature, options={"ftol": 0, "maxcor": 5})
    solver = cuda_opt.Solver(np.zeros(8), 5, diagonal=True, FACTR=0, MAXFEV=20)
    for task in solver:
        if task is Task.SUPPLY_DIAGONAL:
            solver.diagonal[:] = inverse_curvature(solver.x)
        else:
            solver.f, solver.g = badly_scaled(solver.x)
    np.testing.assert_array_equal(ours.x, solver.x)
    assert ours.nfev == solver["EVALUATIONS"]


@pytest.mark.parametrize("diagonal", [1 / (SCALE + 2), inverse_curvature])
def test_hess_inv_is_an_exact_diagonal_and_can_be_pickled(diagonal):
    """If H y = s for a pair (s, y), the BFGS update with this pair does not change H."""
    result = solve(args=(2,), diagonal=diagonal)
    v = np.arange(1.0, 9)
    product = result.hess_inv @ v
    np.testing.assert_allclose(product, v / (SCALE + 2), rtol=1e-8)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(result)).hess_inv @ v, product)


def test_a_diagonal_works_in_single_precision():
    result = minimize(badly_scaled, np.zeros(8, np.float32), diagonal=(1 / SCALE).astype(np.float32))
    assert result.success and result.x.dtype == np.float32
    np.testing.assert_allclose(result.x, 1, atol=1e-2)


def test_a_diagonal_may_be_a_torch_tensor_or_return_one():
    torch = pytest.importorskip("torch")
    scale = torch.tensor(SCALE)

    def fun(x):
        off = x - 1
        return (scale * off**2).sum() / 2 + (off**4).sum(), scale * off + 4 * off**3

    for diagonal in (1 / scale, lambda x: 1 / (scale + 12 * (x - 1) ** 2)):
        result = minimize(fun, torch.zeros(8, dtype=torch.float64), diagonal=diagonal, options={"ftol": 0})
        assert result.success
        np.testing.assert_allclose(result.x.numpy(), 1, atol=1e-4)


@pytest.mark.parametrize(
    ("arguments", "kind", "match"),
    [
        ({"diagonal": 3.0}, TypeError, "diagonal is a float: it has to be an array or a function"),
        ({"diagonal": np.ones(7)}, ValueError, r"the diagonal has the shape \(7,\), not \(8,\)"),
        ({"diagonal": lambda x: x[:3]}, ValueError, r"the diagonal has the shape \(3,\), not \(8,\)"),
        ({"diagonal": np.ones(8), "options": {"INITIAL_HESSIAN": InitialHessian.LEARNED}}, ValueError, "is given, but"),
        ({"diagonal": np.ones(8), "options": {"DIAGCO": 0}}, ValueError, "a diagonal is given, but"),
        ({"options": {"INITIAL_HESSIAN": InitialHessian.DIAGONAL}}, ValueError, "diagonal is not given"),
        ({"options": {"METRIC": 1}}, ValueError, "diagonal is not given"),
        ({"options": {"DIAGCO": 1}}, ValueError, "diagonal is not given"),
    ],
)
def test_invalid_diagonals_are_rejected(arguments, kind, match):
    with pytest.raises(kind, match=match):
        solve(**arguments)


def test_a_negative_element_of_a_diagonal_gives_bad_diagonal():
    bad = np.ones(8)
    bad[3] = -1
    result = solve(diagonal=bad)
    assert result.task is Task.BAD_DIAGONAL and not result.success and "index 3" in result.message
    # An exception that the function ``diagonal`` raises is raised unchanged.
    with pytest.raises(ZeroDivisionError):
        solve(diagonal=lambda x: 1 / 0)


@pytest.mark.parametrize("library", ["numpy", "torch", "jax.numpy"])
def test_the_diagonal_of_a_solver_may_be_assigned(library):
    module = pytest.importorskip(library)
    curvature = module.asarray([1.0, 10, 100, 1000])
    for assigns in (True, False):
        solver = cuda_opt.Solver(0 * curvature, 5, diagonal=True, PGTOL=1e-3)
        for task in solver:
            if task is cuda_opt.Task.SUPPLY_DIAGONAL:
                solver.diagonal = (1 if assigns else -1) / curvature
                assert abs(np.asarray(solver.diagonal) * np.asarray(curvature)).max() == 1
            else:
                solver.f, solver.g = 0.5 * (curvature * (solver.x - 1) ** 2).sum(), curvature * (solver.x - 1)
        assert solver.status is (cuda_opt.Task.CONVERGED if assigns else cuda_opt.Task.BAD_DIAGONAL)
        assert solver["ITERATIONS"] <= 2  # an exact diagonal needs no more


def test_assigning_an_invalid_diagonal_raises_an_exception():
    solver = cuda_opt.Solver(np.ones(3), diagonal=True)
    with pytest.raises(ValueError, match="the diagonal has the shape"):
        solver.diagonal = np.ones(4)
    solver = cuda_opt.Solver(np.ones(3))
    assert solver.diagonal is None
    with pytest.raises(AttributeError, match="diagonal=True"):
        solver.diagonal = np.ones(3)
