"""Tests ``minimize`` and ``Solver`` with an operator as initial inverse Hessian."""
from pathlib import Path

import numpy as np
import pytest

import cuda_opt
from cuda_opt import Bounds, InitialHessian, Task, minimize

SIDE = 16


def laplacian(x):
    u = np.zeros((SIDE + 2, SIDE + 2))
    u[1:-1, 1:-1] = x.reshape(SIDE, SIDE)
    return (4 * u[1:-1, 1:-1] - u[:-2, 1:-1] - u[2:, 1:-1] - u[1:-1, :-2] - u[1:-1, 2:]).ravel()


MATRIX = np.array([laplacian(row) for row in np.eye(SIDE**2)])
LOAD = 0.02 + 0.01 * np.sin(np.arange(SIDE**2.0))
OPTIONS = {"gtol": 1e-8, "ftol": 0}


def quadratic(x):
    product = MATRIX @ x
    return 0.5 * x @ product - LOAD @ x, product - LOAD


def inverse(v, free):
    """Return the product of v and the inverse of the submatrix of MATRIX that belongs to the free variables."""
    assert v.shape == free.shape == (SIDE**2,) and free.dtype == bool and not v[~free].any()
    out = np.zeros_like(v)
    out[free] = np.linalg.solve(MATRIX[np.ix_(free, free)], v[free])
    return out


@pytest.mark.parametrize("bounds", [None, Bounds(0, 0.3)])
def test_an_exact_operator_reduces_the_number_of_evaluations(bounds):
    """Without bounds the first direction leads to the minimiser. The first step may be shorter, and the step of the
    second iteration is complete."""
    plain = minimize(quadratic, np.zeros(SIDE**2), bounds=bounds, options=OPTIONS)
    result = minimize(quadratic, np.zeros(SIDE**2), bounds=bounds, options=OPTIONS, preconditioner=inverse)
    assert plain.success and result.success
    np.testing.assert_allclose(result.x, plain.x, atol=1e-6)
    assert result.nfev < plain.nfev  # with bounds 15 and 54
    if bounds is None:
        assert result.nit <= 2
        np.testing.assert_allclose(result.x, np.linalg.solve(MATRIX, LOAD), atol=1e-6)


def test_the_example_of_operator_md_needs_fewer_evaluations(capsys):
    page = (Path(__file__).parents[2] / "docs/operator.md").read_text()
    exec(page.split("```python\n")[1].split("```")[0], {})
    words = capsys.readouterr().out.split()
    assert words[0] == "evaluations:" and int(words[4]) < int(words[1])  # 61 and 332


def test_minimize_with_an_operator_matches_a_loop_with_solver():
    result = minimize(quadratic, np.zeros(SIDE**2), options={**OPTIONS, "maxcor": 5}, preconditioner=inverse)
    solver = cuda_opt.Solver(np.zeros(SIDE**2), 5, preconditioner=True, FACTR=0, PGTOL=1e-8, MAXFEV=20)
    applications = 0
    for task in solver:
        if task is Task.APPLY_OPERATOR:
            solver.operator_out[:] = inverse(solver.operator_in, solver.operator_free != 0)
            applications += 1
        else:
            solver.f, solver.g = quadratic(solver.x)
    assert solver.status is Task.CONVERGED and solver["EVALUATIONS"] == result.nfev
    assert applications == solver["OPERATOR_APPLICATIONS"] > 0 and solver["OPERATOR_REFUSALS"] == 0
    np.testing.assert_array_equal(solver.x, result.x)


def test_hess_inv_after_a_solve_with_an_operator_has_positive_curvature():
    result = minimize(quadratic, np.zeros(SIDE**2), options={**OPTIONS, "maxiter": 4}, preconditioner=inverse)
    v = np.arange(SIDE**2.0)
    assert v @ (result.hess_inv @ v) > 0


def test_an_operator_works_in_single_precision():
    start = np.zeros(SIDE**2, np.float32)
    result = minimize(quadratic, start, options={"gtol": 1e-3}, preconditioner=lambda v, free: inverse(1.0 * v, free))
    assert result.success and result.x.dtype == np.float32


@pytest.mark.parametrize("library", ["torch", "jax.numpy"])
def test_an_operator_receives_arrays_of_the_library_of_x0(library):
    module = pytest.importorskip(library)
    start = module.zeros(8)
    scale = module.asarray([10.0**k for k in range(-3, 5)], dtype=start.dtype)

    def fun(x):
        return 0.5 * (scale * (x - 1) ** 2).sum(), scale * (x - 1)

    def precondition(v, free):
        assert type(v) is type(start) and type(free) is type(start)
        return module.where(free, v / scale, 0 * v)

    # In single precision, x near 1 has errors of 6e-8, and the gradient has errors of 1e-3.
    result = minimize(fun, start, bounds=Bounds(-2, 3), options={"gtol": 1e-2}, preconditioner=precondition)
    assert result.success and result.nit <= 2


@pytest.mark.parametrize("library", ["numpy", "torch", "jax.numpy"])
def test_the_result_of_the_operator_may_be_assigned(library):
    module = pytest.importorskip(library)
    curvature = module.asarray([1.0, 10, 100, 1000])
    solver = cuda_opt.Solver(0 * curvature, 5, preconditioner=True, PGTOL=1e-3)
    for task in solver:
        if task is Task.APPLY_OPERATOR:
            solver.operator_out = solver.operator_in / curvature * solver.operator_free
        else:
            solver.f, solver.g = 0.5 * (curvature * (solver.x - 1) ** 2).sum(), curvature * (solver.x - 1)
    assert solver.status is Task.CONVERGED and solver["ITERATIONS"] <= 2
    assert abs(np.asarray(solver.x) - 1).max() < 1e-3


def test_operator_in_and_operator_free_are_read_only():
    solver = cuda_opt.Solver(np.ones(3), preconditioner=True)
    for array in (solver.operator_in, solver.operator_free):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 1
    with pytest.raises(ValueError, match="the result of the operator has the shape"):
        solver.operator_out = np.ones(4)


def test_a_solver_rejects_a_diagonal_together_with_an_operator():
    with pytest.raises(ValueError, match="only one initial Hessian"):
        cuda_opt.Solver(np.ones(3), diagonal=True, preconditioner=True)
    solver = cuda_opt.Solver(np.ones(3))
    assert solver.operator_in is solver.operator_out is solver.operator_free is None
    with pytest.raises(AttributeError, match="preconditioner=True"):
        solver.operator_out = np.ones(3)


def test_the_model_is_restricted_to_the_free_variables():
    """With one correction pair, the last vector to which the operator is applied at an iterate is
    q = g - (s'g / s'y) y on the free variables, so that s'q = 0. Some variables reach their bounds on the path to the
    Cauchy point, so that the free variables are not all variables."""
    n = 40
    curvature, upper = 100.0 ** np.linspace(0, 1, n), 1 + 0.5 * np.sin(7 * np.arange(n))
    start = 0.5 * np.cos(3 * np.arange(n))
    solver = cuda_opt.Solver(start.copy(), 1, bounds=Bounds(-0.5, upper), preconditioner=True, REPORT_ITERATES=1)
    iterates, tested, is_new = [start], 0, False
    for task in solver:
        if task is Task.APPLY_OPERATOR:
            q, free, is_new = solver.operator_in.copy(), solver.operator_free != 0, True
            solver.operator_out = q / curvature**0.8
        elif task is Task.NEW_ITERATE:
            iterates.append(solver.x.copy())
        else:
            if is_new and len(iterates) > 1:
                s = (iterates[-1] - iterates[-2])[free]
                assert abs(s @ q[free]) <= 1e-8 * np.linalg.norm(s) * np.linalg.norm(gradient)
                tested += not free.all()
            is_new = False
            z = solver.x - 1
            gradient = curvature * np.sinh(z) + z.sum()
            solver.f, solver.g = curvature @ (np.cosh(z) - 1) + z.sum() ** 2 / 2, gradient
    assert solver.status is Task.CONVERGED and tested >= 4


def test_a_step_that_was_cut_is_not_lengthened_again():
    def fun(x):
        if x[0] > 0.05:
            return np.nan, np.zeros(2)
        return 2500 * x[0] ** 2 - x[0] - x[1], np.array([5000 * x[0] - 1, -1.0])

    # The first trial point is about (0.7, 0.001), where f is undefined. After two cuts f is defined, but too large.
    solver = cuda_opt.Solver(np.zeros(2), 5, bounds=Bounds(-np.inf, [np.inf, 0.001]), preconditioner=True)
    trials = []
    for task in solver:
        if task is Task.APPLY_OPERATOR:
            solver.operator_out[:] = solver.operator_in
        else:
            solver.f, solver.g = fun(solver.x)
            if solver["ITERATIONS"] == 0:
                trials.append(solver.x[0])
    assert solver.status is Task.CONVERGED and solver["CUTS"] == 2
    assert len(trials) >= 4 and trials[1:] == sorted(trials[1:], reverse=True)


def test_an_operator_that_is_not_positive_definite_gives_bad_operator():
    result = minimize(quadratic, np.zeros(SIDE**2), preconditioner=lambda v, free: -v)
    assert result.task is Task.BAD_OPERATOR and not result.success and "inner product" in result.message


@pytest.mark.parametrize(
    "arguments, kind, words",
    [
        ({"preconditioner": np.ones(3)}, TypeError, "preconditioner is a numpy.ndarray"),
        ({"preconditioner": lambda v, free: v[:3]}, ValueError, "the result of the operator has the shape"),
        ({"preconditioner": inverse, "diagonal": np.ones(SIDE**2)}, ValueError, "both a diagonal and a preconditioner"),
        ({"preconditioner": inverse, "options": {"INITIAL_HESSIAN": InitialHessian.SCALAR}}, ValueError, "contradicts"),
        ({"options": {"INITIAL_HESSIAN": InitialHessian.OPERATOR}}, ValueError, "no preconditioner is given"),
        ({"preconditioner": inverse, "x_scale": 2.0}, ValueError, "both a preconditioner and x_scale are given"),
    ],
)
def test_invalid_operators_and_conflicting_arguments_are_rejected(arguments, kind, words):
    with pytest.raises(kind, match=words):
        minimize(quadratic, np.zeros(SIDE**2), **arguments)


def test_an_exception_of_the_operator_is_raised_unchanged():
    def fail(v, free):
        raise KeyError("of the operator")

    with pytest.raises(KeyError, match="of the operator"):
        minimize(quadratic, np.zeros(SIDE**2), preconditioner=fail)


def test_a_solver_with_an_operator_has_no_checkpoint():
    solver = cuda_opt.Solver(np.zeros(SIDE**2), preconditioner=True)
    next(solver)
    with pytest.raises(cuda_opt.Error, match="has no checkpoint"):
        solver.save()


def test_settings_that_contradict_the_operator_are_rejected():
    for settings in ({"INITIAL_HESSIAN": InitialHessian.SCALAR}, {"METRIC": 2}, {"DIAGCO": 1}):
        with pytest.raises(ValueError, match=f"preconditioner is True, .* but {next(iter(settings))} is"):
            cuda_opt.Solver(np.ones(3), preconditioner=True, **settings)
    solver = cuda_opt.Solver(np.ones(3), preconditioner=True, INITIAL_HESSIAN=InitialHessian.OPERATOR, DIAGCO=0)
    assert solver["INITIAL_HESSIAN"] == InitialHessian.OPERATOR


@pytest.mark.parametrize("inference", [False, True])
def test_a_torch_operator_that_changes_v_in_place_is_detected(inference):
    """The solver needs v after the operator, and torch has no read-only tensors. A change of v is therefore detected
    afterwards, except in inference mode, where the operator receives a copy."""
    torch = pytest.importorskip("torch")
    curvature = torch.tensor([1.0, 10, 100, 1000], dtype=torch.float64)

    def fun(x):
        return 0.5 * (curvature * (x - 1) ** 2).sum(), curvature * (x - 1)

    def solve(preconditioner):
        with torch.inference_mode(inference):
            start = torch.zeros(4, dtype=torch.float64)
            return minimize(fun, start, options={"gtol": 1e-8}, preconditioner=preconditioner)

    expected = solve(lambda v, free: v / curvature)
    assert expected.success
    if inference:  # the operator receives a copy of v
        assert torch.equal(solve(lambda v, free: v.div_(curvature)).x, expected.x)
        return
    for in_place in (lambda v, free: v.div_(curvature), lambda v, free: torch.div(v, curvature, out=v)):
        with pytest.raises(ValueError, match="preconditioner has changed v in place"):
            solve(in_place)


def test_a_numpy_operator_cannot_change_v_in_place():
    def divide(v, free):
        v /= 2
        return v

    with pytest.raises(ValueError, match="read-only"):
        minimize(quadratic, np.zeros(SIDE**2), preconditioner=divide)
