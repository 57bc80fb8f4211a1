"""Solves that are part of a compiled JAX program (``python/xla``). Skipped where there is no handler."""
from __future__ import annotations

import collections
import threading

import numpy as np
import pytest

import cuda_opt

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

import cuda_opt.jax as solver  # noqa: E402
from cuda_opt._jax_program import handler  # noqa: E402

if handler() is None:
    pytest.skip("the handler for XLA was not built, or does not fit this jaxlib", allow_module_level=True)
ON_HOST = jax.default_backend() == "cpu"
if not ON_HOST and not cuda_opt.backends()["cuda"].works:
    pytest.skip("the library has no CUDA, so that solves on the GPU are callbacks", allow_module_level=True)
pytestmark = pytest.mark.usefixtures("doubles")


def chain(x, coefficient):
    return jnp.sum(coefficient * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def in_program(**options):
    return jax.jit(lambda x, c, lower, upper: solver.minimize(chain, x, (c,), (lower, upper), options=options))


def problem(seed, n=None, dtype=float):
    random = np.random.default_rng(seed)
    n = n or int(random.integers(2, 30))
    lower = np.where(random.random(n) < 0.5, -np.inf, random.uniform(-2, 0.5, n))
    upper = np.where(random.random(n) < 0.5, np.inf, random.uniform(0.5, 2, n))
    sides = (random.normal(size=n), random.uniform(1, 100), lower, upper)
    return tuple(jnp.asarray(side, dtype) for side in sides)


def waiting():
    return handler().cuda_opt_xla_waiting()


def on_host(x, c):
    """The chained function and its gradient by NumPy. XLA may round differently in each program that contains f."""
    x, c = np.asarray(x), np.asarray(c)
    a, b, g = x[1:] - x[:-1] ** 2, 1 - x[:-1], np.zeros_like(x)
    g[1:] += 2 * c * a
    g[:-1] -= 4 * c * a * x[:-1] + 2 * b
    return (c * a * a + b * b).sum(), g


def by_numpy(x, c):
    shapes = jax.ShapeDtypeStruct((), x.dtype), jax.ShapeDtypeStruct(x.shape, x.dtype)
    return jax.pure_callback(on_host, shapes, x, c)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("options", [{}, {"maxcor": 3, "INITIAL_HESSIAN": 0}, {"maxfun": 7}, {"HISTORY_BITS": 32}])
def test_a_solve_in_a_program_has_the_bits_of_one_outside(dtype, options):
    chosen = {"options": options, "value_and_grad": True}
    program = jax.jit(lambda x, c, lower, upper: solver.minimize(by_numpy, x, (c,), (lower, upper), **chosen))
    for seed in range(5):
        x, c, lower, upper = problem(seed, 2 + 3 * seed, dtype)
        found = program(x, c, lower, upper)
        if ON_HOST:
            bounds = cuda_opt.Bounds(np.asarray(lower), np.asarray(upper))
            expected = cuda_opt.minimize(lambda x: on_host(x, c), np.asarray(x), bounds=bounds, options=options)
        else:
            expected = solver.minimize(by_numpy, x, (c,), (lower, upper), **chosen)
        np.testing.assert_array_equal(found.x, expected.x)
        assert (int(found.nit), int(found.nfev), int(found.task)) == (expected.nit, expected.nfev, int(expected.task))
    assert waiting() == 0


def test_the_program_calls_no_python():
    x, c, lower, upper = problem(1, 5)
    single = in_program().lower(x, c, lower, upper).compile().as_text()
    mapped = jax.jit(jax.vmap(lambda c: solver.minimize(chain, x, (c,)).x)).lower(jnp.ones(3)).compile().as_text()
    slope = jax.grad(lambda c: solver.argmin(chain, x, (c,), (lower, upper)).sum())
    slopes = [jax.jit(f).lower(at).compile().as_text() for f, at in ((slope, c), (jax.vmap(slope), jnp.ones(3)))]
    for text in (single, mapped, *slopes):
        assert "cuda_opt_advance" in text and "callback" not in text


def test_jax_knows_no_side_effects_of_a_solve():
    """JAX would execute such a program by its Python code, and would not differentiate it inside ``checkpoint``."""

    def least(c):
        return chain(solver.argmin(chain, jnp.zeros(4), (c,)), 2 * c)

    assert not jax.make_jaxpr(least)(3.0).effects
    slope, expected = (float(jax.jit(jax.grad(one))(3.0)) for one in (jax.checkpoint(least), least))
    assert slope == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_the_default_number_of_pairs_depends_on_the_number_of_variables():
    start = jnp.tile(jnp.array([-1.2, 1.0]), 101)
    for n, m in (200, 40 if ON_HOST else 10), (202, 10):
        assert solver.minimize(chain, start[:n], (100.0,)).maxcor == m
        of_default, of_m = (
            jax.jit(lambda x: solver.minimize(chain, x, (100.0,), options=options).x) for options in ({}, {"maxcor": m})
        )
        np.testing.assert_array_equal(of_default(start[:n]), of_m(start[:n]))


def test_f_is_evaluated_at_each_point_of_a_long_solve():
    """XLA's motion of invariant code out of loops has taken f and its gradient for constants, if the call had its
    results in the order of the loop's state. The solve then ended at once."""
    x = jnp.tile(jnp.array([-1.2, 1.0]), 20)
    result = in_program(maxcor=10)(x, 100.0, jnp.full(40, -jnp.inf), jnp.full(40, jnp.inf))
    assert result.success and int(result.nfev) > 30 and float(result.fun) < 1e-6
    np.testing.assert_allclose(result.x, 1, atol=1e-2)


def test_limits_and_undefined_starts_are_return_codes():
    x, c, lower, upper = problem(2, 6)
    assert in_program(maxiter=1)(x, c, lower, upper).task == cuda_opt.Task.ITERATION_LIMIT
    for start in (x * jnp.nan, x.at[1].set(jnp.inf), x.at[0].set(-jnp.inf)):
        assert in_program()(start, c, lower, upper).task == cuda_opt.Task.IMPROPER_INPUT
        assert in_program()(start, c, -jnp.ones(6), jnp.ones(6)).task == cuda_opt.Task.IMPROPER_INPUT
    assert in_program()(x, c * jnp.nan, lower, upper).task == cuda_opt.Task.NOT_FINITE
    assert in_program()(x, c, upper + 1, upper).task == cuda_opt.Task.IMPROPER_INPUT
    assert waiting() == 0


def test_problems_along_axes_of_vmap_are_solved_independently():
    x = jnp.asarray(np.random.default_rng(3).normal(size=(4, 5, 6)))
    c = jnp.linspace(1, 50, 5)
    nested = jax.vmap(jax.vmap(lambda x, c: solver.minimize(chain, x, (c,)), (0, 0)), (0, None))
    found = jax.jit(nested)(x, c)
    rows = solver.minimize_batch(chain, x.reshape(20, 6), (jnp.tile(c, 4),))
    assert found.x.shape == (4, 5, 6) and found.success.all()
    np.testing.assert_allclose(found.x.reshape(20, 6), rows.x, atol=1e-6)
    one_by_one = jax.jit(jax.vmap(lambda c: solver.minimize(chain, x[0, 0], (c,), options={"HISTORY_BITS": 32})))(c)
    assert one_by_one.success.all()
    crossed = jax.vmap(lambda upper: solver.minimize(chain, x[0, 0], (1.0,), (-1, upper)).task)(jnp.array([-2.0, 1]))
    assert list(crossed) == [cuda_opt.Task.IMPROPER_INPUT, cuda_opt.Task.CONVERGED]


def test_derivatives_in_a_program_agree_with_central_differences():
    """20 problems with some variables at a bound, by jit(vmap(grad))."""
    random = np.random.default_rng(6)
    n, count = 8, 20
    coupling = jnp.asarray(0.3 * random.normal(size=(n, n)))
    centres, weights = jnp.asarray(2 * random.normal(size=(count, n))), jnp.asarray(random.normal(size=n))

    def convex(x, t):
        return jnp.sum(jnp.cosh(x - t)) + jnp.sum((coupling @ x) ** 2)

    def value(t):
        return weights @ solver.argmin(convex, jnp.zeros(n), (t,), (-0.6, 0.8))

    values = jax.jit(jax.vmap(value))
    slopes = jax.jit(jax.vmap(jax.grad(value)))(centres)
    step = 1e-5
    for i in range(n):
        moved = step * jnp.eye(n)[i]
        expected = (values(centres + moved) - values(centres - moved)) / (2 * step)
        np.testing.assert_allclose(slopes[:, i], expected, atol=1e-5)
    single = jax.jit(jax.grad(value))  # without vmap, the correction pairs precondition the linear system
    np.testing.assert_allclose(single(centres[0]), slopes[0], atol=1e-8)
    assert waiting() == 0


@pytest.mark.skipif(not ON_HOST, reason="on CUDA a solve keeps no pairs for derivatives")
def test_the_pairs_of_a_solve_in_a_program_are_those_of_one_outside():
    from cuda_opt._jax_callback import solve_of, traced_solve
    from cuda_opt._jax_function import function_of
    from cuda_opt._jax_program import traced_minimum

    for options in ({}, {"maxcor": 3}):
        x, c, lower, upper = problem(8, 9)
        function, flat, numeric = function_of(by_numpy, x, (c,), None, value_and_grad=True, has_aux=False)

        def both(x, numeric, lower, upper):
            solve = solve_of(function, options, None)
            arguments = x, numeric, lower, upper
            return traced_minimum(solve, True, *arguments), traced_solve(solve, True, *arguments)

        ours, expected = jax.jit(both)(flat, numeric, lower, upper)
        for one, other in zip(ours, expected):
            np.testing.assert_array_equal(one, other)


def test_solves_in_scans_conditions_and_in_the_f_of_another_solve():
    x, _, lower, upper = problem(4, 8)

    def minimum(c):
        return solver.minimize(chain, x, (c,), (lower, upper)).fun

    summed = jax.jit(lambda c: jax.lax.scan(lambda total, c: (total + minimum(c), None), 0.0, c)[0])
    scanned = summed(jnp.arange(1.0, 4))
    np.testing.assert_allclose(scanned, sum(minimum(float(c)) for c in (1, 2, 3)), rtol=1e-6)
    branch = jax.jit(lambda c: jax.lax.cond(c > 2, minimum, lambda c: -minimum(c), c))
    np.testing.assert_allclose([branch(3.0), branch(1.0)], [minimum(3.0), -minimum(1.0)], rtol=1e-6)
    twice = jax.jit(lambda c: minimum(c) + minimum(2 * c))(1.5)
    np.testing.assert_allclose(twice, minimum(1.5) + minimum(3.0), rtol=1e-6)

    def outer(y):  # its minimum over y is at the y with the least inner minimum, (y - 2)^2
        return solver.minimize(lambda z, y: jnp.sum((z - y) ** 2) + (y[0] - 2) ** 2, jnp.zeros(3), (y,)).fun

    np.testing.assert_allclose(jax.jit(lambda: solver.minimize(outer, jnp.zeros(1)).x)(), [2], atol=1e-5)
    assert waiting() == 0


def test_threads_that_run_one_program_at_once_get_their_own_results():
    run, problems = in_program(maxcor=5), [problem(seed, 12) for seed in range(8)]
    expected, found = [np.asarray(run(*one).x) for one in problems], [[] for _ in problems]

    def work(k):
        for _ in range(20):
            found[k].append(np.asarray(run(*problems[k]).x))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(problems))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for x, others in zip(expected, found):
        assert len(others) == 20 and all(np.array_equal(x, other) for other in others)


@pytest.mark.skipif(not ON_HOST, reason="the expected results are those of the host")
def test_random_programs_agree_with_numpy():
    """The programs of a few seeds of ``fuzz_jax.py``, which can run many more."""
    import fuzz_jax

    counts = collections.Counter()
    for seed in range(200, 208):
        assert list(fuzz_jax.run_seed(seed, True, counts)) == []
    assert counts["programs"] == 8 and counts["solves"] > 30


def test_a_program_that_ends_by_an_exception_does_not_disturb_the_next_one():
    x, c, lower, upper = problem(5, 10)
    undisturbed = in_program()
    expected, calls = np.asarray(undisturbed(x, c, lower, upper).x), []

    def check(f):
        calls.append(f)
        if len(calls) % 4 == 0:
            raise ValueError("not this one")
        return f

    def raises(x, c):
        f = chain(x, c)
        checked = jax.pure_callback(check, jax.ShapeDtypeStruct((), f.dtype), jax.lax.stop_gradient(f))
        return f + 0 * jax.lax.stop_gradient(checked)

    program = jax.jit(lambda x, c: solver.minimize(raises, x, (c,)).x)
    before = waiting()
    for _ in range(300):
        with pytest.raises(Exception, match="not this one"):
            jax.block_until_ready(program(x, c))
        np.testing.assert_array_equal(undisturbed(x, c, lower, upper).x, expected)
    assert before <= waiting() <= 256


def test_calls_that_fit_no_solve_are_errors():
    """The handlers are called without the loop around them."""
    shape, count, vector = jax.ShapeDtypeStruct, jax.ShapeDtypeStruct((), jnp.int32), jax.ShapeDtypeStruct((2,), float)
    none = {name: np.array([], np.int64) for name in ("integer_keys", "integers", "real_keys")}
    settings = {"m": np.int32(5), "kept_pairs": np.int32(0), "batches": False, "bounded": True, "reals": np.array([])}
    settings["chooses_hessian"] = True

    def caller(name, shapes, **attributes):
        call = jax.ffi.ffi_call("cuda_opt_" + name, shapes, has_side_effect=True)
        return jax.jit(lambda *arrays: call(*arrays, **attributes))

    begin, end = caller("begin", shape((2,), jnp.int32)), caller("end", (shape((4,), jnp.int32), shape((0,), float)))
    advance = caller("advance", (count, vector, shape((), float), vector), **settings, **none)
    zeros, others = jnp.zeros(2), waiting()
    box = zeros - 1, zeros + 1
    number = begin()
    for _ in range(300):  # XLA may draw the numbers of many solves before it begins the first
        begin()
    token, x, _, _ = advance(number, zeros, 0.0, zeros, *box)  # the gradient is 0
    ended = [begin() for _ in range(300)]
    for one in ended:  # and it may ask for the results after the last of many solves
        advance(one, zeros, 0.0, zeros, *box)
    info, _ = end(number, x)
    assert int(token) == 0 and int(info[0]) == cuda_opt.Task.CONVERGED and not x.any()
    for stranger in (number, number + 1000):
        for call in (lambda: advance(stranger, zeros, 0.0, zeros, *box), lambda: end(stranger, zeros)):
            with pytest.raises(Exception, match="there is no solve"):
                jax.block_until_ready(call())
    assert waiting() == 300 + others
    assert all(int(end(one, x)[0][0]) == 0 for one in ended)
    before, longer = waiting(), shape((3,), float)
    unequal = caller("advance", (count, vector, shape((), float), longer), **settings, **none)
    with pytest.raises(Exception, match="g or a bound has 3 elements, but the solve needs 2"):
        jax.block_until_ready(unequal(begin(), zeros, 0.0, jnp.zeros(3), *box))
    number = begin()
    assert advance(number, zeros, 1.0, zeros + 1, *box)[0] == number[0]
    with pytest.raises(Exception, match="has not ended: XLA has put its number where that of another solve was"):
        jax.block_until_ready(end(number, zeros))
    assert waiting() == before
