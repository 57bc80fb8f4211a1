"""Tests JAX arrays that differ from the requested ones. Their precision may follow jax_enable_x64, they may be traced
and have no values, or their layout may not be row-major. The file also tests the forms of bounds for JAX."""
import numpy as np
import pytest

import cuda_opt

jax = pytest.importorskip("jax")
jnp = jax.numpy
import cuda_opt.jax  # noqa: E402


def x64(on):
    return jax.enable_x64(on) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64(on)


@pytest.fixture
def doubles():
    with x64(True):
        yield


@pytest.fixture
def on_host():
    """Run a test on the host, even if JAX has a CUDA device."""
    with jax.default_device(jax.devices("cpu")[0]):
        yield


def parabola(x):
    return jnp.sum((x - jnp.arange(x.size)) ** 2) / 2


def rosenbrock(x):
    return jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def test_float64_arrays_are_rejected_if_jax_enable_x64_is_off(on_host):
    """Double precision is refused while jax_enable_x64 is off. Otherwise JAX would create float32 arrays, to which the
    C library would write doubles, and would compute in float32."""
    with x64(True):
        x0, rows = jnp.ones(1000), jnp.ones((100, 5))
        lower = jnp.zeros(3)
        result = cuda_opt.minimize(jax.value_and_grad(parabola), x0)
    with x64(False):
        for use in (lambda: cuda_opt.Solver(x0), lambda: cuda_opt.minimize(jax.value_and_grad(parabola), x0),
                    lambda: cuda_opt.jax.minimize(parabola, x0), lambda: cuda_opt.jax.minimize_batch(parabola, rows),
                    lambda: cuda_opt.pattern_search(lambda x: (x**2).sum(0), cuda_opt.Bounds(lower, 1)),
                    lambda: result.hess_inv @ jnp.ones(1000)):
            with pytest.raises(TypeError, match="to have elements of float64, but jax_enable_x64 is off"):
                use()


@pytest.mark.parametrize("calls_before", [0, 1, 3])
def test_doubles_that_go_during_a_solve(calls_before, on_host):
    """If jax_enable_x64 is switched off during a solve in double precision, the evaluation in which this happens raises
    an exception, because cuda_opt does not change the settings of JAX."""
    calls = []

    def fun(x):
        calls.append(1)
        if len(calls) > calls_before:
            jax.config.update("jax_enable_x64", False)
        return jax.value_and_grad(rosenbrock)(x)

    def rows(x):
        f, g = jax.vmap(jax.value_and_grad(rosenbrock))(x)
        calls.append(1)
        if len(calls) > calls_before:
            jax.config.update("jax_enable_x64", False)
        return f.astype("float32"), g.astype("float32")

    before = jax.config.jax_enable_x64
    try:
        for use in (lambda: cuda_opt.minimize(fun, jnp.full(50, -1.2)),
                    lambda: cuda_opt.minimize_batch(rows, jnp.full((20, 5), -1.2))):
            calls.clear()
            jax.config.update("jax_enable_x64", True)
            with pytest.raises(TypeError, match="jax_enable_x64 is off"):
                use()
            assert len(calls) == calls_before + 1
    finally:
        jax.config.update("jax_enable_x64", before)


def test_a_float32_solve_does_not_depend_on_jax_enable_x64(on_host):
    """A float32 solve does not depend on jax_enable_x64, and its f is always a double."""
    with x64(False):
        x0 = jnp.zeros(4)
    solver = cuda_opt.Solver(x0)
    for count, _ in enumerate(solver):
        with x64(count % 2 == 0):
            assert solver.x.dtype == jnp.float32
            solver.f, solver.g = jax.value_and_grad(parabola)(solver.x)
            assert float(solver.f) == pytest.approx(float(parabola(solver.x)), rel=1e-6)
            assert isinstance(solver.f, jax.Array if count % 2 == 0 else float)
    np.testing.assert_allclose(solver.x, np.arange(4), atol=1e-4)
    calls = []

    def rows(x, p):
        calls.append(1)
        jax.config.update("jax_enable_x64", len(calls) % 2 == 0)
        return ((x - p[:, None]) ** 2).sum(1), 2 * (x - p[:, None]).astype(jnp.float32)

    before = jax.config.jax_enable_x64
    try:
        jax.config.update("jax_enable_x64", True)
        result = cuda_opt.minimize_batch(rows, jnp.full((9, 5), 20, jnp.float32), indices=True)
    finally:
        jax.config.update("jax_enable_x64", before)
    np.testing.assert_allclose(result.x, np.repeat(np.arange(9)[:, None], 5, 1), atol=1e-3)


def test_a_solve_that_jax_cannot_trace_raises_a_type_error(doubles):
    """If a solve cannot be part of a function that JAX traces, the exception says so."""
    zero, hess_inv = jnp.zeros(3), cuda_opt.jax.minimize(parabola, jnp.ones(3)).hess_inv

    for case in (
        lambda: jax.jit(lambda v: hess_inv @ v)(zero),
        lambda: jax.jit(lambda a: cuda_opt.minimize(lambda x: (parabola(x), x), zero).x)(zero),
    ):
        with pytest.raises(TypeError, match=r"is traced by JAX \(jit, grad, vmap\): "):
            case()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_two_jax_arrays_are_the_pair_of_lower_and_upper_bounds(n, doubles):
    """Two JAX arrays are the pair (lower, upper) for any number of variables. A pair of numbers in a sequence contains
    the bounds of one variable."""
    x0, lower, upper = jnp.ones(n), jnp.arange(n) * 1.0, jnp.arange(n) + 2.0

    def fun(x):
        return ((x - 9) ** 2).sum()

    def both(x):
        return fun(x), 2 * (x - 9)

    for bounds in ((lower, upper), [lower, upper], (np.array(lower), np.array(upper)), (None, upper), (0.0, upper)):
        np.testing.assert_array_equal(cuda_opt.jax.minimize(fun, x0, bounds=bounds).x, upper)
        rows = cuda_opt.jax.minimize_batch(fun, jnp.ones((4, n)), bounds=bounds)
        np.testing.assert_array_equal(rows.x, jnp.tile(upper, (4, 1)))
        if isinstance(bounds[1], jax.Array):
            np.testing.assert_array_equal(cuda_opt.minimize(both, x0, bounds=bounds).x, upper)
    np.testing.assert_array_equal(cuda_opt.jax.minimize(fun, x0, bounds=(0, 3)).x, jnp.full(n, 3.0))
    pairs = [(float(low), float(high)) for low, high in zip(lower, upper)]
    for bounds in (pairs, tuple(pairs), np.array(pairs)):
        np.testing.assert_array_equal(cuda_opt.jax.minimize(fun, x0, bounds=bounds).x, upper)
    tree = cuda_opt.jax.minimize(lambda t: fun(t["a"]), {"a": x0}, bounds=({"a": lower}, {"a": upper}))
    np.testing.assert_array_equal(tree.x["a"], upper)


def test_a_jax_array_that_is_not_row_major_is_rejected(doubles):
    """A gradient whose memory is not row-major is not copied as if it were row-major."""
    layout = pytest.importorskip("jax.experimental.layout")
    if not hasattr(layout, "Format"):
        pytest.skip("this JAX has no Format")
    (device,) = jnp.zeros(3).devices()
    turned = layout.Format(layout.Layout((1, 0)), jax.sharding.SingleDeviceSharding(device))
    values = jax.device_put(jnp.arange(12.0).reshape(3, 4), turned)
    solver = cuda_opt.Solver(jnp.zeros(3))
    assert solver._space.memory(values, "values").strides == (8, 24)
    with pytest.raises(ValueError, match="the gradients is not contiguous"):
        solver._space.admitted(values, "the gradients", (3, 4))
