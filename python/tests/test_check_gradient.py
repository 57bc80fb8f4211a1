"""``check_gradient`` names the kind of error of a wrong gradient, and accepts a correct one."""
import numpy as np
import pytest
from problems import PROBLEMS, random_seed

import cuda_opt
from cuda_opt import Bounds, Gradient, check_gradient

X = np.random.default_rng(random_seed(5)).uniform(-1.5, 1.5, 40)


def rosen(x):
    """Return the Rosenbrock function and its gradient. The default arguments of this file need a function of the
    module, and not a fixture."""
    a, b = x[1:] - x[:-1] ** 2, 1 - x[:-1]
    g = np.zeros_like(x)
    g[:-1] = -400 * x[:-1] * a - 2 * b
    g[1:] += 200 * a
    return float(100 * (a @ a) + b @ b), g


def changed(change, fun=rosen):
    def altered(x):
        f, g = fun(x)
        return f, change(x, np.array(g))

    return altered


def with_component(index, change):
    def altered(x, g):
        g[index] = change(g[index])
        return g

    return changed(altered)


def test_a_correct_gradient_is_accepted():
    result = check_gradient(rosen, X)
    assert result.success and result.verdict is Gradient.CONSISTENT and result.component is None
    assert "agrees with differences of f along 3 directions" in result.message
    assert result.supplied == pytest.approx(result.difference, rel=1e-7) and result.nfev == 64
    assert result.error < 1e-6 * abs(result.supplied)


@pytest.mark.parametrize("directions", range(5))
def test_a_gradient_with_the_wrong_sign_is_recognised(directions):
    result = check_gradient(changed(lambda x, g: -g), X, seed=random_seed(directions))
    assert result.verdict is Gradient.WRONG_SIGN and not result.success and "wrong sign" in result.message


@pytest.mark.parametrize("factor", [2, 0.5, -3, 1.1, 1e-3])
def test_a_gradient_with_a_wrong_factor_is_recognised(factor):
    result = check_gradient(changed(lambda x, g: factor * g), X)
    assert result.verdict is Gradient.WRONG_FACTOR
    assert f"g is {factor:g} times the gradient" in result.message
    assert result.supplied == pytest.approx(factor * result.difference, rel=1e-5)


@pytest.mark.parametrize("index", [0, 1, 17, 39])
@pytest.mark.parametrize("change", [lambda gi: 0.0, lambda gi: -gi, lambda gi: gi + 5, lambda gi: 1.02 * gi])
def test_one_wrong_component_of_the_gradient_is_found(index, change):
    result = check_gradient(with_component(index, change), X)
    right = rosen(X)[1][index]
    assert result.verdict is Gradient.WRONG_COMPONENT and result.component == index
    assert f"component {index} (counted from 0) of g is" in result.message
    assert result.supplied == pytest.approx(change(right), rel=1e-4, abs=1e-6)
    assert result.difference == pytest.approx(right, rel=1e-4)
    without = check_gradient(with_component(index, change), X, find_component=False)
    assert without.verdict is Gradient.WRONG_COMPONENT and without.component is None
    assert without.nfev < result.nfev <= without.nfev + 4 * 8 + 16


def test_one_wrong_component_among_20000_is_found():
    x = np.random.default_rng(random_seed(6)).uniform(-1.5, 1.5, 20000)
    result = check_gradient(with_component(12345, lambda gi: 0.0), x)
    assert result.verdict is Gradient.WRONG_COMPONENT and result.component == 12345


def test_a_function_of_one_variable_can_be_checked():
    assert check_gradient(lambda x: (float(x[0] ** 2), 2 * x), [3.0]).success
    assert check_gradient(lambda x: (float(x[0] ** 2), 3 * x), [3.0]).verdict is Gradient.WRONG_FACTOR
    assert check_gradient(lambda x: (float(x[0] ** 2), 0 * x), [3.0]).verdict is Gradient.WRONG_COMPONENT


def test_the_gradient_of_the_previous_point_is_recognised():
    before = [np.zeros_like(X)]

    def fun(x):
        f, g = rosen(x)
        before.append(g)
        return f, before[-2]

    result = check_gradient(fun, X)
    assert result.verdict is Gradient.OF_ANOTHER_POINT
    assert "so that g is that of the point before" in result.message


def test_a_gradient_that_is_accumulated_over_calls_is_recognised():
    total = np.zeros_like(X)

    def fun(x):
        f, g = rosen(x)
        total[:] += g
        return f, total

    assert check_gradient(fun, X).verdict is Gradient.OF_ANOTHER_POINT


def test_a_gradient_rounded_to_single_precision_is_recognised():
    result = check_gradient(changed(lambda x, g: g.astype(np.float32).astype(np.float64)), X)
    assert result.verdict is Gradient.SINGLE_PRECISION and "single precision" in result.message
    # A gradient that single precision represents exactly may be correct, for example that of a piecewise linear
    # function.
    assert check_gradient(lambda x: (float(np.abs(x).sum()), np.sign(x)), X).success


@pytest.mark.parametrize("at", [0, 13])
def test_a_kink_of_f_at_x_is_recognised(at):
    x = X.copy()
    x[at] = 0

    def fun(x):
        f, g = rosen(x)
        g[at] += 300 * np.sign(x[at])
        return f + 300 * abs(float(x[at])), g

    result = check_gradient(fun, x)
    assert result.verdict is Gradient.KINK and "f has a kink at x" in result.message
    # The function has its kink only at the point x above, so that its gradient is accepted at the other point X.
    assert check_gradient(fun, X).success


def test_a_noisy_f_gives_the_verdict_undecided():
    rng = np.random.default_rng(random_seed(1))
    results = [check_gradient(lambda x: (rosen(x)[0] + 1e4 * rng.normal(), rosen(x)[1]), X) for _ in range(25)]
    undecided = [result for result in results if result.verdict is Gradient.UNDECIDED]
    # In 1 of 20 draws the differences agree with each other by chance, and the verdict is another one.
    assert len(undecided) > 12 and all("do not settle" in result.message for result in undecided)


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_correct_gradients_of_published_problems_are_accepted(problem):
    rng = np.random.default_rng(random_seed(3))
    start = problem.x0
    for x in (start, start + rng.uniform(-0.1, 0.1, len(start)), cuda_opt.minimize(problem, start).x):
        result = check_gradient(problem, x, bounds=problem.pairs)
        assert result.success, result.message


def test_all_points_of_the_check_satisfy_the_bounds():
    lower, upper = X - np.where(np.arange(40) % 3, 1e-4, 0), X + np.where(np.arange(40) % 5, 0.3, 0)

    def fun(x):
        assert (x >= lower).all() and (x <= upper).all()
        return rosen(x)

    assert check_gradient(fun, X, bounds=Bounds(lower, upper)).success
    # f = sum x log x is undefined for negative x, so that no point may violate the lower bound 0.
    def of_x_log_x(x):
        assert (x >= 0).all()
        with np.errstate(divide="ignore", invalid="ignore"):
            return float((x * np.log(x)).sum()), np.log(x) + 1

    entropy = check_gradient(of_x_log_x, [0, 0, 1.5], bounds=Bounds(0, None))
    assert entropy.success, entropy.message


def test_x_scale_permits_variables_of_very_different_sizes():
    size = 10.0 ** np.linspace(-8, 8, 40)

    def fun(x):
        f, g = rosen(x / size)
        return f, g / size

    assert check_gradient(fun, X * size, x_scale=size).success
    wrong = changed(lambda x, g: np.where(np.arange(40) == 3, 0, g), fun)
    assert check_gradient(wrong, X * size, x_scale=size).component == 3


def test_gradients_of_float32_functions_are_checked():
    def fun(x):
        f, g = rosen(x.astype(np.float64))
        return f, g.astype(np.float32)

    x = X.astype(np.float32)
    assert check_gradient(fun, x).success
    assert check_gradient(changed(lambda x, g: -g, fun), x).verdict is Gradient.WRONG_SIGN
    wrong = changed(lambda x, g: np.where(np.arange(40) == 7, 0, g).astype(np.float32), fun)
    assert check_gradient(wrong, x).component == 7


def test_gradients_of_torch_functions_are_checked_and_x0_is_unchanged():
    torch = pytest.importorskip("torch")
    x0 = torch.tensor(X)

    def fun(x):
        x = x.clone().requires_grad_()
        f = (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
        return f.detach(), torch.autograd.grad(f, x)[0]

    assert check_gradient(fun, x0).success
    np.testing.assert_array_equal(x0.numpy(), X)
    jac = check_gradient(lambda x: fun(x)[0], x0, jac=lambda x: -fun(x)[1])
    assert jac.verdict is Gradient.WRONG_SIGN


def test_gradients_of_jax_functions_are_checked():
    jax = pytest.importorskip("jax")
    before = jax.config.read("jax_enable_x64")
    jax.config.update("jax_enable_x64", True)
    try:
        def f(x):
            return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()

        right, x0 = jax.value_and_grad(f), jax.numpy.array(X)
        assert check_gradient(right, x0).success
        wrong = check_gradient(lambda x: (right(x)[0], right(x)[1].at[11].set(0.0)), x0)
        assert wrong.verdict is Gradient.WRONG_COMPONENT and wrong.component == 11
    finally:
        jax.config.update("jax_enable_x64", before)


@pytest.mark.parametrize(
    ("arguments", "kind", "match"),
    [
        ({"jac": None}, ValueError, "jac is None"),
        ({"x0": np.array([1, np.nan])}, ValueError, "1 components of x are not finite"),
        ({"bounds": Bounds(2, 1)}, ValueError, "the bounds leave no finite x"),
        ({"fun": lambda x: (np.nan, x)}, ValueError, "cannot be evaluated at x: f = nan"),
        ({"fun": lambda x: (1.0, x[:3])}, ValueError, "the gradient has the shape"),
        ({"x_scale": 0}, ValueError, "the scale of all variables is 0"),
        ({"seed": 1.5}, ValueError, "seed is 1.5"),
    ],
)
def test_check_gradient_rejects_invalid_input(arguments, kind, match):
    with pytest.raises(kind, match=match):
        check_gradient(**{"fun": rosen, "x0": X, **arguments})
