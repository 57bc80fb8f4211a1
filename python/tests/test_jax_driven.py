"""Solves outside jit whose loop is a compiled program, and solves on several devices. Skipped without a handler."""
from __future__ import annotations

import gc
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import cuda_opt

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402

import cuda_opt.jax as solver  # noqa: E402
from cuda_opt import _idle_solvers  # noqa: E402
from cuda_opt._jax_program import handler, solves_on  # noqa: E402

if handler() is None or not solves_on(jax.devices()[0]):
    pytest.skip("there is no handler for XLA that fits this jaxlib and its device", allow_module_level=True)
pytestmark = pytest.mark.usefixtures("doubles")


def chain(x, coefficient):
    return jnp.sum(coefficient * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def run(program, **environment):
    """Run a program in a process of its own and return its output."""
    import os

    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], env={**os.environ, **environment}, capture_output=True,
        text=True, timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("box", [None, (-0.5, 0.8)])
def test_a_solve_has_the_same_results_as_one_whose_evaluations_are_calls(dtype, box):
    x0, calls, before = jnp.linspace(-1, 1, 12).astype(dtype), [], handler().cuda_opt_xla_waiting()

    def note(intermediate_result):
        calls.append(intermediate_result.nit)

    driven = solver.minimize(chain, x0, (3.0,), box)
    called = solver.minimize(chain, x0, (3.0,), box, note)  # callbacks need Python
    inside = jax.jit(lambda x: solver.minimize(chain, x, (3.0,), box))(x0)
    assert len(calls) == called.nit and type(driven) is type(called)
    tolerance = 1e-6 if dtype == np.float64 else 1e-2
    for other in (called, inside):
        assert driven.keys() >= {*other.keys()} - {"degenerate"} and driven.x.dtype == other.x.dtype
        np.testing.assert_allclose(driven.x, other.x, atol=tolerance)
        assert driven.success and other.success and int(other.stop_test) in {*map(int, cuda_opt.StopTest)} - {0}
    v = jnp.ones(12, dtype)
    assert (driven.hess_inv @ v).shape == (12,)
    # In single precision, rounding decides which pairs are in the history. It may differ even between the two programs,
    # because XLA compiles f with other operations around it.
    if dtype == np.float64:
        assert driven.nfev == inside.nfev and driven.stop_test == int(inside.stop_test)
        np.testing.assert_allclose(driven.hess_inv @ v, called.hess_inv @ v, rtol=0.2, atol=0.2)
    assert handler().cuda_opt_xla_waiting() == before


def test_a_later_solve_of_the_same_kind_uses_the_solver_of_a_deleted_result():
    x0, v = jnp.linspace(-1, 1, 12), jnp.ones(12)
    box = cuda_opt.Bounds(jnp.full(12, -0.5), jnp.full(12, 0.8))
    first = solver.minimize(chain, x0, (3.0,), box)
    x, product = np.array(first.x), np.array(first.hess_inv @ v)
    # first.hess_inv has its solver still, and its products have changed the settings of that solver.
    second = solver.minimize(chain, x0, (3.0,), box)
    third = solver.minimize(chain, x0, (7.0,), options={"maxiter": 3})
    np.testing.assert_array_equal(second.x, x)
    np.testing.assert_array_equal(first.hess_inv @ v, product)
    del first, second, third
    gc.collect()
    idle = list(_idle_solvers._idle)
    assert idle
    del idle
    free = solver.minimize(chain, x0, (3.0,))
    again = solver.minimize(chain, x0, (3.0,), box)
    assert free.success and np.max(np.abs(free.x - x)) > 0.1  # the former bounds are gone
    np.testing.assert_array_equal(again.x, x)
    np.testing.assert_array_equal(again.hess_inv @ v, product)
    assert again.nfev > 3 and again.message and free.message  # the other limit is not that of this solve


def test_options_that_are_arrays_may_change_between_solves():
    most, x0 = np.array(3), jnp.linspace(-1, 1, 12)
    options = {"MAX_ITERATIONS": most, "MAX_SECONDS": np.array(100.0)}
    assert solver.minimize(chain, x0, (3.0,), options=options).nit == 3
    gc.collect()
    most[...] = 4
    assert solver.minimize(chain, x0, (3.0,), options=options).nit == 4
    gc.collect()
    options["MAX_SECONDS"][...] = -5
    with pytest.raises(ValueError, match="MAX_SECONDS is -5"):
        solver.minimize(chain, x0, (3.0,), options=options)


def test_a_solve_without_compiled_functions():
    x0 = jnp.linspace(-1, 1, 12)
    with jax.disable_jit():
        interpreted = solver.minimize(chain, x0, (3.0,))
        minimum = solver.argmin(chain, x0, (3.0,))
    np.testing.assert_allclose(interpreted.x, 1, atol=1e-4)
    np.testing.assert_allclose(minimum, 1, atol=1e-4)


def test_few_and_small_solvers_are_kept():
    def solve(n):
        return solver.minimize(chain, jnp.zeros(n), (3.0,), options={"maxiter": 1, "maxcor": 3})

    before = len(_idle_solvers._idle)
    results = [solve(n) for n in range(20, 30)] + [solve(10**6)]
    del results
    gc.collect()
    assert before <= len(_idle_solvers._idle) <= 4 and all(one.n < 10**6 for _, one in _idle_solvers._idle)


def test_a_batch_has_the_same_minima_as_one_whose_evaluations_are_calls():
    x0 = jnp.asarray(np.random.default_rng(1).uniform(-1, 1, (20, 4)))
    c, rounds = jnp.linspace(1, 20, 20), []
    options = {"gtol": 1e-9, "ftol": 0}
    driven = solver.minimize_batch(chain, x0, (c,), options=options)
    called = solver.minimize_batch(
        chain, x0, (c,), None, lambda intermediate_result: rounds.append(intermediate_result.rounds), options
    )
    assert driven.success.all() and driven.rounds == driven.nfev.max() and len(rounds) == called.rounds
    np.testing.assert_allclose(driven.x, called.x, atol=1e-6)
    assert driven.message_of(3) and (driven.stop_test == int(cuda_opt.StopTest.PGTOL)).all()


def test_an_exception_of_python_code_in_f_passes_through():
    before = handler().cuda_opt_xla_waiting()

    def check(f):
        raise KeyError("this one")

    def fun(x):
        f = jnp.sum(x**2)
        return f + jax.pure_callback(check, jax.ShapeDtypeStruct((), f.dtype), jax.lax.stop_gradient(f))

    with pytest.raises(Exception, match="this one"):
        solver.minimize(fun, jnp.ones(3))
    with pytest.raises(TypeError, match="in the trace"):
        solver.minimize(lambda x: (_ for _ in ()).throw(TypeError("in the trace")), jnp.ones(3))
    assert handler().cuda_opt_xla_waiting() == before


SLOW = """
    import os, signal, threading, time
    import jax, jax.numpy as jnp
    jax.config.update("jax_enable_x64", True)
    import cuda_opt.jax as solver
    from cuda_opt._jax_program import handler

    def fun(x):  # each evaluation takes some milliseconds, and the solve does not end
        y = jax.lax.fori_loop(0, 3000, lambda i, y: jnp.sin(y) + x, x)
        return jnp.sum((y - 1) ** 2) + jnp.sum(x ** 4)

    x, endless = jnp.zeros(500), {"ftol": 0, "gtol": 0, "ROUNDING": 0, "maxiter": 10**8, "maxfun": 10**8}
    solver.minimize(fun, x, options={"maxfun": 2})
"""


def test_ctrl_c_ends_a_solve_within_a_second():
    """The descriptor that was set before also receives the signal, and is set again afterwards. The parent process may
    ignore SIGINT, as it does if a shell has started it in the background."""
    assert run(SLOW + """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    end, ours = os.pipe()
    os.set_blocking(ours, False)
    signal.set_wakeup_fd(ours)
    began = []
    def interrupt():
        time.sleep(0.5)
        began.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=interrupt).start()
    try:
        solver.minimize(fun, x, options=endless)
    except KeyboardInterrupt:
        took = time.monotonic() - began[0]
        assert signal.set_wakeup_fd(-1) == ours and os.read(end, 1) == bytes([signal.SIGINT])
        print(took < 1, handler().cuda_opt_xla_waiting())
    """) == "True 0\n"


def test_a_process_can_be_terminated_during_a_program():
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(SLOW + """
    print("begins", flush=True)
    jax.jit(lambda x: solver.minimize(fun, x, options=endless).x)(x).block_until_ready()
    """)], stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"begins\n"
    time.sleep(0.3)
    child.send_signal(signal.SIGTERM)
    assert child.wait(30) == -signal.SIGTERM
    child.stdout.close()


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="the host's devices are simulated")
def test_each_of_several_devices_solves_its_own_problem():
    assert run("""
    import jax, jax.numpy as jnp, numpy as np
    jax.config.update("jax_enable_x64", True)
    import cuda_opt.jax as solver
    fun = lambda x, c: jnp.sum((x - c) ** 2) + jnp.sum(x ** 4)
    one = lambda c: solver.minimize(fun, jnp.zeros(3), (c,)).x
    c = jnp.arange(4.0)
    expected = np.stack([one(each) for each in c])
    np.testing.assert_allclose(jax.pmap(one)(c), expected, atol=1e-8)
    mesh = jax.sharding.Mesh(np.array(jax.devices()), "i")
    spec = jax.sharding.PartitionSpec("i")
    mapped = {"mesh": mesh, "in_specs": spec, "out_specs": spec}
    if hasattr(jax, "shard_map"):
        shard_map = jax.shard_map
    else:
        from jax.experimental.shard_map import shard_map
        mapped["check_rep"] = False
    each = shard_map(lambda c: one(c[0])[None], **mapped)
    np.testing.assert_allclose(jax.jit(each)(c), expected, atol=1e-8)
    slope = jax.grad(lambda c: solver.argmin(fun, jnp.zeros(3), (c,)).sum())
    slopes = shard_map(lambda c: slope(c[0])[None], **mapped)
    np.testing.assert_allclose(jax.jit(slopes)(c), np.stack([slope(each) for each in c]), atol=1e-8)
    there = jax.device_put(c[2], jax.devices()[1])
    x0 = jax.device_put(jnp.zeros(3), jax.devices()[1])
    for found in (jax.jit(one)(there), solver.minimize(fun, x0, (there,)).x):
        assert found.devices() == {jax.devices()[1]}
        np.testing.assert_allclose(found, expected[2], atol=1e-8)
    assert solver.minimize_batch(fun, x0[None], there[None]).x.devices() == {jax.devices()[1]}
    given = jax.jit(lambda x: solver.minimize(fun, x, (1.0,)).x, donate_argnums=0)
    np.testing.assert_allclose(given(jnp.zeros(3)), expected[1], atol=1e-8)
    print("same")
    """, XLA_FLAGS="--xla_force_host_platform_device_count=4") == "same\n"


def test_a_noise_level_is_estimated_under_vmap():
    """A batch does not estimate noise, so that the problems are solved one by one."""
    solve = jax.jit(jax.vmap(lambda c: solver.minimize(chain, jnp.zeros(4), (c,), options={"NOISE_AUTO": 1}).x))
    np.testing.assert_allclose(solve(jnp.array([1.0, 5.0])), 1, atol=1e-3)
