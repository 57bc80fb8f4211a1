"""Compares the derivative of a minimiser subject to bounds, by ``cuda_opt.jax.argmin``, with differences of minimisers.
"""
import warnings

import numpy as np
import pytest
from problems import random_seed

import cuda_opt

jax = pytest.importorskip("jax")
jnp = jax.numpy
from cuda_opt._jax_program import handler  # noqa: E402
from cuda_opt.jax import argmin, minimize  # noqa: E402

Bounds = cuda_opt.Bounds
pytestmark = pytest.mark.usefixtures("doubles")


def random(*shape, seed=1):
    return np.random.default_rng(random_seed(seed)).standard_normal(shape)


def regression():
    """Return a penalised least-squares problem as a function of its data t. It is not quadratic."""
    a = random(80, 30)
    return lambda x, t: 0.5 * jnp.sum((a @ x - t) ** 2) + 0.1 * jnp.sum(x**4), 30, random(80, seed=2), (-0.05, 0.3)


def logistic():
    """Return logistic regression with nonnegative weights, as a function of the logarithm t of the ridge parameter of
    each weight."""
    a, signs = random(200, 20), np.sign(random(200, seed=3))
    return (
        lambda x, t: jnp.sum(jax.nn.softplus(-signs * (a @ x))) + jnp.sum(jnp.exp(t) * x**2),
        20, 0.3 * random(20, seed=4), (0, None),
    )


def obstacle():
    """Return the energy of a membrane (p-Laplacian) of 8 x 8 points between two obstacles, as a function of its load t.
    """

    def energy(x, t):
        u = jnp.pad(x.reshape(8, 8), 1)
        steep = jnp.diff(u, axis=0)[:, :-1] ** 2 + jnp.diff(u, axis=1)[:-1] ** 2
        return jnp.sum((steep + 0.01) ** 2 / 4) + jnp.sum(steep) - 0.1 * t @ x

    return energy, 64, 1 + 0.3 * random(64, seed=5), (0, 0.1)


def allocation():
    """Return an allocation problem: shares by a softmax, as a function of t. A strictly convex penalty is added,
    because the problem would otherwise not be convex."""
    return (
        lambda x, t: -t @ jax.nn.softmax(x) + 0.5 * jnp.sum((x - jnp.sin(t)) ** 2) + 0.1 * jnp.sum(jnp.cos(x)),
        12, random(12, seed=6), (-0.8, 0.8),
    )


def rosenbrock():
    """Return chained Rosenbrock functions, which are badly conditioned, as a function of their right-hand sides t."""
    return (
        lambda x, t: jnp.sum(20 * (x[1:] - x[:-1] ** 2) ** 2 + (t[:-1] - x[:-1]) ** 2),
        10, 1 + 0.1 * random(10, seed=7), (-1, 0.9),
    )


PROBLEMS = [regression, logistic, obstacle, allocation, rosenbrock]


def difference(f, e):
    """Return the derivative f'(0) by central differences of fourth order with the step e."""
    return (8 * (f(e) - f(-e)) - (f(2 * e) - f(-2 * e))) / (12 * e)


def active_in(box, x):
    lower, upper = (none if side is None else side for side, none in zip(box, (-np.inf, np.inf)))
    return np.array((x <= lower) | (x >= upper))


def steady_step(active_at, first=3e-4):
    """Return a step of the difference within which no variable reaches or leaves a bound, since x has a kink there."""
    steps = [e for e in (first, first / 10) if (active_at(-2 * e) == active_at(0)).all()
             and (active_at(2 * e) == active_at(0)).all()]
    if not steps:
        pytest.skip("with this seed, x has a kink at its data")
    return steps[0]


@pytest.mark.parametrize("problem", PROBLEMS)
def test_derivatives_by_data_agree_with_differences(problem):
    fun, n, t, box = problem()
    x0, direction = jnp.full(n, 0.05), jnp.asarray(random(t.size, seed=8))
    t = jnp.asarray(t)

    @jax.jit
    def x(t):
        return argmin(fun, x0, t, Bounds(*box))

    active = active_in(box, x(t))
    assert 0 < active.sum() < n
    e = steady_step(lambda e: active_in(box, x(t + e * direction)))
    expected = difference(lambda e: x(t + e * direction), e)
    scale = jnp.abs(expected).max()
    assert (jnp.abs(jax.jvp(x, (t,), (direction,))[1] - expected) <= 1e-6 * scale).all()
    jacobian = jax.jacrev(x)(t)
    assert (jnp.abs(jacobian @ direction - expected) <= 1e-6 * scale).all()
    np.testing.assert_array_equal(jacobian[active], 0)
    if problem is allocation:
        np.testing.assert_allclose(jax.jacfwd(x)(t), jacobian, atol=1e-7 * np.abs(jacobian).max())

    def loss(t):
        return jnp.sum(jnp.sin(3 * x(t)))

    slope, gradient = difference(lambda e: loss(t + e * direction), e), jax.jit(jax.grad(loss))(t)
    assert abs(gradient @ direction - slope) <= 1e-6 * jnp.linalg.norm(gradient) * jnp.linalg.norm(direction)
    several = jnp.stack([t, t + 0.01 * direction])
    gradients = jax.jit(jax.vmap(jax.grad(loss)))(several)
    for one, gradient in zip(several, gradients):
        np.testing.assert_allclose(gradient, jax.grad(loss)(one), atol=1e-6 * np.abs(gradient).max())


def test_derivatives_by_bounds_agree_with_differences():
    """If a bound changes, the variables at this bound change with it, and these affect the free variables. Variables
    with equal bounds are active as well."""
    fun, n, t, _ = regression()
    t, lower, upper = jnp.asarray(t), jnp.full(n, -0.05), jnp.full(n, 0.3)
    upper = upper.at[3].set(-0.05)
    direction = jnp.asarray(random(n, seed=9)).at[3].set(0.7)

    def loss(lower, upper):
        return jnp.sum(jnp.sin(3 * argmin(fun, jnp.zeros(n), t, (lower, upper)) + jnp.arange(n)))

    def slope_along(by_lower, by_upper):
        def box(e):
            return lower + e * by_lower, upper + e * by_upper

        e = steady_step(lambda e: active_in(box(e), argmin(fun, jnp.zeros(n), t, box(e))), 5e-5)
        return difference(lambda e: loss(*box(e)), e)

    by_lower, by_upper = jax.jit(jax.grad(loss, (0, 1)))(lower, upper)
    both, size = by_lower + by_upper, jnp.linalg.norm(direction)
    assert abs(both @ direction - slope_along(direction, direction)) <= 1e-6 * jnp.linalg.norm(both) * size
    other = direction.at[3].set(0)
    for gradient, moved in ((by_lower, (other, 0)), (by_upper, (0, other))):
        slope = slope_along(*moved)
        if gradient.at[3].set(0).any():
            assert abs(gradient @ other - slope) <= 1e-6 * jnp.linalg.norm(gradient) * size
        # No variable is at this bound, so that only the tolerance of the solves contributes to the difference.
        else:
            assert abs(slope) <= 1e-5
    assert (by_lower[3] == 0) != (by_upper[3] == 0)


def test_second_derivatives_agree_with_differences_of_gradients():
    fun, n, t, box = allocation()
    t, direction = jnp.asarray(t), jnp.asarray(random(n, seed=8))

    def loss(t):
        return jnp.sum(jnp.sin(3 * argmin(fun, jnp.zeros(n), t, box)))

    gradient = jax.jit(jax.grad(loss))
    e = steady_step(lambda e: active_in(box, argmin(fun, jnp.zeros(n), t + e * direction, box)))
    expected = difference(lambda e: gradient(t + e * direction), e)
    found = jax.jvp(gradient, (t,), (direction,))[1]
    assert (jnp.abs(found - expected) <= 1e-6 * jnp.abs(expected).max()).all()


def test_argmin_accepts_trees_integers_and_auxiliary_output():
    """Data and x0 may be trees. Integers and static leaves in the data have no derivative."""

    def fun(x, data, name):
        assert name == "quadratic"
        return jnp.sum((x["a"] - data["centre"][data["which"]]) ** 2) + (x["b"] - data["w"]) ** 2, x["a"].sum()

    data = {"centre": jnp.array([0.5, 3.0, 0.25]), "which": jnp.array([2, 1]), "w": 0.3}

    def found(centre, w):
        given = {**data, "centre": centre, "w": w}
        x, result = argmin(fun, {"a": jnp.zeros(2), "b": jnp.zeros(())}, (given, "quadratic"),
                           Bounds(None, {"a": 1, "b": None}), has_aux=True, return_result=True)
        return x["a"].sum() + 2 * x["b"], (result.degenerate, result.success, result.aux)

    gradient, (degenerate, success, aux) = jax.jit(jax.grad(found, (0, 1), has_aux=True))(data["centre"], data["w"])
    np.testing.assert_allclose(gradient[0], [0, 0, 1], atol=1e-9)
    np.testing.assert_allclose(gradient[1], 2, atol=1e-9)
    assert degenerate == 0 and bool(success) and aux == pytest.approx(1.25)


def test_a_supplied_gradient_does_not_change_the_derivative():
    def both(x, t):
        return jnp.sum((x - t) ** 4 + x**2), 4 * (x - t) ** 3 + 2 * x

    def x(t, value_and_grad):
        fun = both if value_and_grad else lambda x, t: both(x, t)[0]
        return argmin(fun, jnp.zeros(3), t, value_and_grad=value_and_grad)

    t = jnp.array([0.5, -1.0, 2.0])
    np.testing.assert_allclose(jax.jacrev(x)(t, True), jax.jacrev(x)(t, False), atol=1e-9)


def test_argmin_warns_of_degenerate_active_variables():
    """If a multiplier is 0, x has a kink as a function of the data, and ``argmin`` warns. The derivative is the
    one-sided one for which x stays at its bound."""

    def fun(x, t):
        return jnp.sum((x - t) ** 2)

    t = jnp.array([-1.0, 0.0, 2.0])

    def x(t):
        return argmin(fun, -jnp.ones(3), t, Bounds(0, None), return_result=True)

    assert x(t)[1].degenerate == 1
    with pytest.warns(RuntimeWarning, match="1 of the 2 active variables are degenerate"):
        jacobian = jax.jacrev(lambda t: x(t)[0])(t)
    np.testing.assert_allclose(jacobian, np.diag([0, 0, 1]), atol=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jax.block_until_ready(jax.jacrev(lambda t: x(t)[0])(t.at[1].set(-0.5)))


@pytest.mark.parametrize("jit", [True, False])
def test_a_singular_hessian_of_the_free_variables_has_no_derivative(jit):
    def x(t):
        return argmin(lambda x, t: (x[0] + x[1] - t) ** 2 + (x[2] - t) ** 2, jnp.ones(3), t)[0]

    gradient = jax.jit(jax.grad(x)) if jit else jax.grad(x)
    if jit and handler() is not None:  # a program that calls no Python cannot raise
        assert jnp.isnan(gradient(1.0))
    else:
        with pytest.raises(Exception, match="singular or not positive definite at the solution, which therefore has"):
            jax.block_until_ready(gradient(1.0))
    # The derivative of a value that all minimisers share is found, and forward mode finds one of the possible changes.
    total = jax.grad(lambda t: argmin(lambda x, t: (2 * x.sum() - t) ** 2, jnp.ones(3), t).sum())
    assert (jax.jit(total) if jit else total)(1.0) == pytest.approx(0.5)
    assert jax.jacfwd(x)(1.0) == pytest.approx(0.5)
    # If the variables with singular curvature are active, the derivative exists.
    held = jax.grad(lambda t: argmin(lambda x, t: (x[0] - t) ** 2 - x[1], jnp.ones(2), t, (0, 5))[0])(1.0)
    assert held == pytest.approx(1)


def test_derivatives_in_single_and_double_precision_agree():
    jax.config.update("jax_enable_x64", False)
    fun, n, t, box = allocation()
    x = jax.jit(lambda t: argmin(fun, jnp.zeros(n, jnp.float32), t, box))
    single = jax.jacrev(x)(jnp.asarray(t, jnp.float32))
    assert single.dtype == jnp.float32
    jax.config.update("jax_enable_x64", True)
    double = jax.jacrev(lambda t: argmin(fun, jnp.zeros(n), t, box))(jnp.asarray(t))
    np.testing.assert_allclose(single, double, atol=1e-3)


def test_minimize_and_argmin_have_the_same_derivative():
    fun, n, t, box = allocation()
    settings = {"tol": 1e-10}
    by_minimize = jax.grad(lambda t: minimize(fun, jnp.zeros(n), (t,), box, **settings).x.sum())(jnp.asarray(t))
    by_argmin = jax.grad(lambda t: argmin(fun, jnp.zeros(n), t, box).sum())(jnp.asarray(t))
    np.testing.assert_allclose(by_minimize, by_argmin, atol=1e-7)


def test_the_derivative_by_the_start_is_zero():
    fun, n, t, box = allocation()
    by_start = jax.grad(lambda x0: argmin(fun, x0, jnp.asarray(t), box).sum())(jnp.zeros(n))
    np.testing.assert_array_equal(by_start, 0)
