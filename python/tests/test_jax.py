"""Tests solves with JAX arrays on the host, and on a CUDA device if JAX has one."""
import contextlib
import ctypes
import os

import numpy as np
import pytest
from problems import random_seed

import cuda_opt

jax = pytest.importorskip("jax")
jnp = jax.numpy
import cuda_opt.jax  # noqa: E402


@pytest.fixture(params=["float32", "float64"])
def dtype(request):
    """Run a test in single and in double precision. JAX has double precision only if jax_enable_x64 is on."""
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", request.param == "float64")
    yield jnp.dtype(request.param)
    jax.config.update("jax_enable_x64", before)


@pytest.fixture
def on_host():
    """Run a test on the host, even if JAX has a CUDA device."""
    with jax.default_device(jax.devices("cpu")[0]):
        yield


def parabola(x):
    return jnp.sum((x - jnp.arange(x.size)) ** 2) / 2


def test_minimize_returns_jax_arrays_of_the_precision_of_x0(dtype):
    seen = []
    x0 = jnp.full(8, 7, dtype)
    result = cuda_opt.jax.minimize(parabola, x0, bounds=cuda_opt.Bounds(0, 3),
                                   callback=lambda intermediate_result: seen.append(intermediate_result.x))
    assert isinstance(result.x, jax.Array) and result.x.dtype == dtype and result.success
    np.testing.assert_allclose(result.x, [0, 1, 2, 3, 3, 3, 3, 3], atol=1e-5)
    np.testing.assert_allclose(result.jac, jax.grad(parabola)(result.x), atol=1e-6)
    np.testing.assert_array_equal(seen[-1], result.x)
    assert len(seen) == result.nit
    np.testing.assert_array_equal(x0, 7)
    assert isinstance(result.hess_inv @ x0, jax.Array)


def rosenbrock(x):
    return jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def test_jax_arrays_give_bitwise_the_result_of_numpy_arrays(on_host):
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        both = jax.jit(jax.value_and_grad(rosenbrock))

        def fun(x):
            f, g = both(np.array(x))
            return float(f), np.array(g)

        x0 = np.full(6, -1.2)
        by_numpy = cuda_opt.minimize(fun, x0)
        by_jax = cuda_opt.minimize(both, jnp.array(x0))
        np.testing.assert_array_equal(by_jax.x, by_numpy.x)
        np.testing.assert_array_equal(cuda_opt.jax.minimize(rosenbrock, jnp.array(x0)).x, by_numpy.x)


def test_x0_and_bounds_may_be_pytrees(dtype):
    def fun(tree, centre):
        return jnp.sum((tree["a"] - centre) ** 2) + jnp.sum((tree["b"] - 1) ** 4)

    x0 = {"a": jnp.zeros((2, 3), dtype), "b": jnp.zeros((), dtype)}
    bounds = cuda_opt.Bounds({"a": -jnp.ones(3), "b": 0.0}, {"a": jnp.full((2, 1), 2.0), "b": 0.5})
    result = cuda_opt.jax.minimize(fun, x0, (5.0,), bounds)
    np.testing.assert_allclose(result.x["a"], np.full((2, 3), 2))
    assert result.x["b"] == 0.5 and result.jac["a"].shape == (2, 3)
    with pytest.raises(ValueError):
        cuda_opt.jax.minimize(fun, x0, (5.0,), cuda_opt.Bounds({"a": 0}, None))
    with pytest.raises(TypeError, match="of one precision"):
        cuda_opt.jax.minimize(fun, {"a": x0["a"], "b": jnp.zeros((), jnp.float16)}, (5.0,))


def test_a_function_with_its_own_gradient_works_with_and_without_jit(dtype):
    calls = []

    def fun(x):
        calls.append(type(x))
        return parabola(x), x - jnp.arange(4, dtype=dtype)

    compiled = cuda_opt.jax.minimize(fun, jnp.zeros(4, dtype), value_and_grad=True)
    assert len(calls) == 1
    plain = cuda_opt.jax.minimize(fun, jnp.zeros(4, dtype), value_and_grad=True, jit=False)
    assert len(calls) == 1 + plain.nfev
    np.testing.assert_allclose(plain.x, compiled.x, atol=1e-6)


def test_each_evaluation_has_new_values_in_the_memory_of_the_solver(dtype):
    """JAX may cache values with an array, for example a copy on the host. The array x has the same address in each
    evaluation, but no cached values of the previous point."""
    points = []

    def fun(x):
        points.append((x.unsafe_buffer_pointer(), tuple(float(value) for value in x)))
        return jax.value_and_grad(rosenbrock)(x)

    result = cuda_opt.minimize(fun, jnp.full(3, -1.2, dtype), options={"maxiter": 8})
    assert len({address for address, _ in points}) == 1
    assert len({values for _, values in points}) == result.nfev


def test_solver_converges_with_jax_arrays(dtype):
    solver = cuda_opt.Solver(jnp.zeros(4, dtype))
    both = jax.jit(jax.value_and_grad(parabola))
    for _ in solver:
        solver.f, solver.g = both(solver.x)
    np.testing.assert_allclose(solver.x, np.arange(4), atol=1e-4)
    assert isinstance(solver.g, jax.Array) and solver.status is cuda_opt.Task.CONVERGED
    assert solver.f == pytest.approx(solver["F"]) and isinstance(solver.f, float if dtype == jnp.float32 else jax.Array)


def test_pattern_search_accepts_jax_arrays_of_float64_only(dtype):
    lower = jnp.full(2, -5, dtype)
    fun = jax.jit(lambda x: jnp.sum(x**2 - 10 * jnp.cos(2 * jnp.pi * x) + 10, 0))
    if dtype == jnp.float32:
        with pytest.raises(TypeError, match="float64"):
            cuda_opt.pattern_search(fun, cuda_opt.Bounds(lower, 5))
        return
    result = cuda_opt.pattern_search(fun, cuda_opt.Bounds(lower, 5), 300)
    assert isinstance(result.x, jax.Array) and result.fun == pytest.approx(0, abs=1e-6)


def test_invalid_jax_arrays_are_rejected(dtype):
    x0 = jnp.zeros(3, dtype)
    for returned, kind, text in (
        ((0.0, np.zeros(3)), TypeError, "the gradient is a numpy.ndarray, but x0 is a JAX array"),
        ((0.0, jnp.zeros(2)), ValueError, r"the gradient has the shape \(2,\)"),
        ((0.0, x0 + 1j), TypeError, "the gradient has elements of complex"),
        ((x0, x0), ValueError, r"the value of the function has the shape \(3,\)"),
    ):
        with pytest.raises(kind, match=text):
            cuda_opt.minimize(lambda x: returned, x0)
    for start, kind, text in (
        (jnp.zeros(3, jnp.float16), TypeError, "x0 has elements of float16"),
        (jnp.zeros((3, 1), dtype), ValueError, r"x0 has the shape \(3, 1\)"),
    ):
        with pytest.raises(kind, match=text):
            cuda_opt.minimize(lambda x: (0.0, x), start)

    with pytest.raises(TypeError, match="x0 is traced by JAX"):
        jax.jit(lambda x: cuda_opt.minimize(jax.value_and_grad(parabola), x).x)(x0)

    class Broken(Exception):
        pass

    def fun(x):
        raise Broken

    with pytest.raises(Broken):
        cuda_opt.jax.minimize(fun, x0)
    with pytest.raises(ValueError, match="the lower bound has 2 elements"):
        cuda_opt.minimize(lambda x: (0.0, x), x0, bounds=cuda_opt.Bounds(jnp.zeros(2, dtype), None))


def test_device_memory_is_copied_in_order_by_the_cuda_driver(dtype, on_host, monkeypatch):
    """Tests the code for device memory with host memory in its place. The host waits for x in each evaluation, and the
    arrays of asynchronous copies are kept until these copies are complete."""
    from cuda_opt import _driver
    from cuda_opt._constants import BACKEND_CUDA

    calls = []

    @contextlib.contextmanager
    def current(device):
        calls.append("current")
        yield

    def copy(to, source, size, stream):
        calls.append("copy" if size != 8 else "copy 8")
        ctypes.memmove(to, source, size)

    monkeypatch.setattr(_driver, "current", current)
    monkeypatch.setattr(_driver, "copy", copy)
    monkeypatch.setattr(_driver, "copy_in", copy)
    monkeypatch.setattr(_driver, "synchronize", lambda stream: calls.append("synchronize"))
    solver = cuda_opt.Solver(jnp.zeros(4, dtype))
    space = solver._space
    space.backend = BACKEND_CUDA
    for _ in solver:
        calls.clear()
        x = solver.x
        # The list _read is empty when all copies that read earlier arrays are complete.
        assert not space._read
        solver.f, solver.g = f, g = jax.value_and_grad(parabola)(x)
        assert [call for call in calls if call != "current"] == ["synchronize", "copy 8", "copy"]
        assert [id(one) for one in space._read] == ([id(f), id(g)] if dtype == jnp.float64 else [id(g)])
    assert solver.status is cuda_opt.Task.CONVERGED
    np.testing.assert_allclose(solver.x, np.arange(4), atol=1e-4)


def test_each_evaluation_has_a_new_array_without_cached_values():
    """Values that JAX caches with an array, for example a copy on the host, are not used in the next evaluation."""
    solver, seen = cuda_opt.Solver(jnp.full(4, 7.0)), []
    for _ in solver:
        x = solver.x
        assert all(x is not one for one, _ in seen) and x.unsafe_buffer_pointer() == solver._arguments[0].value
        seen.append((x, np.array(x)))
        solver.f, solver.g = jax.value_and_grad(parabola)(x)
    assert len(seen) > 2 and len({tuple(values) for _, values in seen}) == len(seen)


def test_repeated_solves_do_not_increase_the_memory_of_the_process():
    """Arrays that are exported by DLPack are released after their use, so that the memory of the process does not grow.
    """
    both = jax.jit(jax.value_and_grad(parabola))
    x0 = jnp.zeros(20000)

    def solve(times):
        for _ in range(times):
            cuda_opt.minimize(both, x0, options={"maxiter": 3, "THREADS": 1})

    def pages():
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    solve(20)
    before = pages()
    solve(100)
    # If the memory of x were lost in each evaluation, the process would grow by 40 MB.
    assert pages() - before < 20e6


@pytest.fixture
def doubles():
    with jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64():
        yield


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_minimize_batch_accepts_jax_functions(kind, doubles):
    """``cuda_opt.jax.minimize_batch`` and ``cuda_opt.minimize_batch`` accept JAX functions. Rows beyond the active
    problems repeat the last active row."""
    rows = []

    def one(x, wanted, weight):
        return jnp.sum((x - wanted) ** 2) * weight

    def both(x, p):
        assert x.shape == (len(p), 4) and p.dtype == jnp.int64
        rows.append(np.array(p))
        g = 2 * (x - data[0][p]) * data[1][p, None]
        return jnp.sum((x - data[0][p]) ** 2, 1) * data[1][p], g

    wanted = jnp.arange(4, dtype=kind) + jnp.arange(6, dtype=kind)[:, None]
    data, x0 = (wanted, jnp.arange(1, 7, dtype=kind)), jnp.full((6, 4), 7, kind)
    row, all_rows = jnp.full(4, 0.5, kind), jnp.full((6, 4), 3, kind)
    # The minimisers of the last three problems of the batch are at a corner of the box.
    expected = np.clip(np.array(wanted), 0.5, 3)
    for bounds in (cuda_opt.Bounds(row, all_rows), cuda_opt.Bounds(0.5, np.full(4, 3))):
        for result in (
            cuda_opt.jax.minimize_batch(one, x0, data, bounds),
            cuda_opt.jax.minimize_batch(jax.value_and_grad(one), x0, data, bounds, value_and_grad=True, jit=False),
            cuda_opt.minimize_batch(both, x0, bounds=bounds, indices=True),
        ):
            assert isinstance(result.x, jax.Array) and result.x.dtype == kind and result.fun.dtype == jnp.float64
            np.testing.assert_allclose(result.x, expected, atol=1e-5)
            assert result.success.all() and isinstance(result.jac, jax.Array)
    assert len(rows[0]) == 6 and {len(p) for p in rows} <= {1, 2, 4, 6}
    assert any(len(p) > len(np.unique(p)) for p in rows) and all((np.diff(p) >= 0).all() for p in rows)
    result = cuda_opt.jax.minimize_batch(one, x0.at[1, 1].set(jnp.inf), data, cuda_opt.Bounds(0.5, 3))
    assert result.codes.tolist() == [0, cuda_opt.Task.IMPROPER_INPUT, 0, 0, 0, 0] and bool(jnp.isnan(result.fun[1]))


def test_jax_and_numpy_batches_find_the_same_minima(doubles):
    def fun(x):
        a, b = x[:, 1:] - x[:, :-1] ** 2, 1 - x[:, :-1]
        g = np.zeros_like(x)
        g[:, :-1] = -400 * x[:, :-1] * a - 2 * b
        g[:, 1:] += 200 * a
        return (100 * a**2 + b**2).sum(1), g

    x0 = np.random.default_rng(random_seed(0)).uniform(-2, 2, (70, 5))
    # The default initial Hessian differs between host and CUDA.
    options = {"ftol": 0, "gtol": 1e-9, "INITIAL_HESSIAN": cuda_opt.InitialHessian.LEARNED}
    box = cuda_opt.Bounds(-1.5, 0.8)
    by_numpy = cuda_opt.minimize_batch(fun, x0, bounds=box, options=options)
    by_jax = cuda_opt.jax.minimize_batch(rosenbrock, jnp.array(x0), bounds=box, options=options)
    assert by_jax.success.all() and by_numpy.success.all()
    # Some problems have two minima, and rounding errors may decide at which of them a solve ends.
    same = np.abs(by_numpy.fun - by_jax.fun) < 1e-9
    assert same.mean() > 0.95
    np.testing.assert_allclose(by_jax.x[same], by_numpy.x[same], atol=1e-6)


@pytest.mark.parametrize("jit", [True, False])
def test_an_exact_diagonal_solves_a_quadratic_batch_in_two_iterations(jit, doubles):
    """The function ``diagonal`` returns the exact inverse curvatures of a separable quadratic function, so that at most
    two iterations are needed."""
    scales = jnp.outer(jnp.arange(1.0, 6), 10.0 ** jnp.arange(4))
    x0 = jnp.ones((5, 4))

    def one(x, scale):
        return scale @ x**2 / 2

    def diagonal(x, scale):
        assert x.shape == scale.shape == (4,)
        return 1 / scale

    run = {"options": {"ftol": 0, "gtol": 1e-9}, "jit": jit}
    plain = cuda_opt.jax.minimize_batch(one, x0, scales, **run)
    given = cuda_opt.jax.minimize_batch(one, x0, scales, diagonal=diagonal, **run)
    assert plain.success.all() and given.success.all()
    assert given.nit.max() <= 2 < plain.nit.min()
    np.testing.assert_allclose(given.x, 0, atol=1e-12)


def test_minimize_batch_rejects_invalid_jax_input(doubles):
    x0 = jnp.zeros((6, 4))
    for settings, kind, text in (
        ({"diagonal": x0}, ValueError, r"diagonal is a jax.*: it has to be a function"),
        ({"diagonal": lambda x: x[0]}, ValueError, r"the array of diagonals has the shape \(6,\), not \(6, 4\)"),
        ({"data": (jnp.zeros(5),)}, ValueError, r"an array of data has the shape \(5,\), but x0 has 6 problems"),
        ({"x0": jnp.zeros(4)}, ValueError, r"x0 has the shape \(4,\)"),
        ({"fun": lambda x: x}, TypeError, "scalar"),
        ({"x0": jnp.zeros((6, 4), complex)}, TypeError, "x0 has elements of complex128"),
    ):
        with pytest.raises(kind, match=text):
            cuda_opt.jax.minimize_batch(**{"fun": parabola, "x0": x0, **settings})
    with pytest.raises(ValueError, match=r"the array of gradients has the shape \(4,\), not \(6, 4\)"):
        cuda_opt.minimize_batch(lambda x: (x[:, 0], x[0]), x0)
    without = jax.enable_x64(False) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64(False)
    with without:  # JAX then has no doubles for f
        single = cuda_opt.jax.minimize_batch(parabola, np.zeros((6, 4)))
    assert single.success.all() and single.x.dtype == single.fun.dtype == np.float32
