"""Complex variables in cuda_opt.jax."""
import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402

import cuda_opt  # noqa: E402
import cuda_opt.jax as solver  # noqa: E402

pytestmark = pytest.mark.usefixtures("doubles")
MATRIX = np.array([[2, 1j], [-1j, 3]])
AIM = np.array([1 + 2j, -1j])


def fun(z):
    """A convex function of two complex numbers."""
    return jnp.real(jnp.vdot(z, MATRIX @ z) - 2 * jnp.vdot(AIM, z)) + jnp.sum(jnp.abs(z) ** 4) / 10


def by_numpy(bounds=None):
    """Return the minimum of fun as a function of four real numbers."""

    def of_reals(x):
        z = x.view(complex)
        g = 2 * (MATRIX @ z - AIM) + 0.4 * abs(z) ** 2 * z
        return float((z.conj() @ MATRIX @ z - 2 * AIM.conj() @ z).real + (abs(z) ** 4).sum() / 10), g.view(float)

    return cuda_opt.minimize(of_reals, np.zeros(4), bounds=bounds, tol=1e-10).x.view(complex)


@pytest.mark.parametrize("wrap", [lambda solve: solve, jax.jit], ids=["outside", "jit"])
def test_complex_variables_are_pairs_of_real_ones(wrap):
    start, options = jnp.zeros(2, complex), {"ftol": 0, "gtol": 1e-10}
    for arguments in ({"fun": fun}, {"fun": jax.value_and_grad(fun), "value_and_grad": True}):
        result = wrap(lambda z: solver.minimize(x0=z, options=options, **arguments))(start)  # noqa: B023
        np.testing.assert_allclose(result.x, by_numpy(), atol=1e-8)
    early = wrap(lambda z: solver.minimize(fun, z, options={"maxiter": 1}))(start)
    np.testing.assert_allclose(early.jac, jax.grad(fun)(early.x), atol=1e-12)


def test_complex_variables_have_bounds_for_their_parts():
    real, options = (0.0, 0.4), {"ftol": 0, "gtol": 1e-10}
    x = solver.minimize(fun, jnp.zeros(2, complex), bounds=real, options=options).x
    np.testing.assert_allclose(x, by_numpy(cuda_opt.Bounds(*real)), atol=1e-8)
    upper = np.array([0.3 + 10j, 5 - 1j])
    x = solver.minimize(fun, jnp.zeros(2, complex), bounds=(None, jnp.asarray(upper)), options=options).x
    np.testing.assert_allclose(x, by_numpy(cuda_opt.Bounds(None, upper.view(float))), atol=1e-8)
    x = solver.minimize(fun, jnp.zeros(2, complex), bounds=(None, list(upper)), options=options).x
    np.testing.assert_allclose(x, by_numpy(cuda_opt.Bounds(None, upper.view(float))), atol=1e-8)
    with pytest.raises(TypeError, match="^a bound has elements of complex128, but x0 has real numbers$"):
        solver.minimize(lambda x: jnp.sum(x**2), jnp.zeros(2), bounds=(1j, None))


def test_trees_may_have_complex_leaves_of_one_precision():
    def both(tree):
        return fun(tree["z"]) + (tree["a"] - 1) ** 2 + jnp.abs(tree["c"] - 1j) ** 2

    x = solver.minimize(both, {"z": jnp.zeros(2, complex), "a": 0.0, "c": 0j}, tol=1e-10).x
    np.testing.assert_allclose(x["z"], by_numpy(), atol=1e-8)
    assert (x["a"], x["c"]) == (pytest.approx(1), pytest.approx(1j))
    assert x["c"].dtype == solver.minimize(lambda z: jnp.abs(z - 1) ** 2, 0j).x.dtype == complex
    with pytest.raises(TypeError, match="float32 and float64: they have to be of one precision"):
        solver.minimize(both, {"z": jnp.zeros(2, jnp.complex64), "a": jnp.zeros(()), "c": 0j})


@pytest.mark.parametrize("is_closure", [False, True])
def test_argmin_of_complex_variables_is_differentiable(is_closure):
    def near(c):
        if is_closure:
            x = solver.argmin(lambda z: fun(z) + jnp.sum(jnp.abs(z - c) ** 2), jnp.zeros(2, complex))
        else:
            x = solver.argmin(lambda z, c: fun(z) + jnp.sum(jnp.abs(z - c) ** 2), jnp.zeros(2, complex), c)
        return jnp.real(x[0])

    c, h = jnp.array([0.3 + 0.1j, 0.2 - 0.5j]), 1e-5
    for k in range(2):
        real, imaginary = ((near(c.at[k].add(h * part)) - near(c.at[k].add(-h * part))) / (2 * h) for part in (1, 1j))
        for slope in (jax.grad(near), jax.jit(jax.grad(near))):
            assert slope(c)[k] == pytest.approx(complex(real, -imaginary), abs=1e-6)
