#!/usr/bin/env python3
"""Usage: batch.py [--problems N] [--n N] [--bounds]

The chained Rosenbrock functions of bench_batch, from the same random starts, m = 5: SciPy's L-BFGS-B in a loop over
some of the problems, one thread, to ||P g||_inf <= 1e-5; and, where JAX and optax are installed and there are no
bounds, which it does not know, optax's L-BFGS of all problems under vmap, to ||g||_inf <= 1e-5 or 500 iterations, in
double precision. A run before the one that counts compiles."""
import argparse
import os
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402
import scipy.optimize  # noqa: E402

PGTOL = 1e-5
MOST_ITERATIONS = 500


def starts(problems, n):
    """In [-2, 2), from SplitMix64, as bench_batch draws them."""
    with np.errstate(over="ignore"):
        z = np.uint64(0x9E3779B97F4A7C15) * np.arange(1, problems * n + 1, dtype=np.uint64)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return ((z >> np.uint64(11)).astype(float) / 2.0**53 * 4 - 2).reshape(problems, n)


def rosenbrock(x):
    """f and its gradient."""
    here, rest = x[:-1], 1 - x[:-1]
    valley = x[1:] - here * here
    g = np.zeros_like(x)
    g[:-1] = -400 * here * valley - 2 * rest
    g[1:] += 200 * valley
    return 100 * (valley @ valley) + rest @ rest, g


def row(name, problems, seconds, iterations, converged):
    print(
        f"{name:40} {problems:10d} {seconds:9.4f} {problems / seconds:12.4g} {iterations / seconds:12.4g} "
        f"{100 * converged / problems:7.2f} {iterations / problems:10.1f}",
        flush=True,
    )


def with_scipy(x, bounded):
    n = x.shape[1]
    bounds = scipy.optimize.Bounds(np.full(n, -2.0), np.where(np.arange(n) % 4 == 1, 0.5, 2)) if bounded else None
    options = {"maxcor": 5, "ftol": 0, "gtol": PGTOL, "maxiter": 15000, "maxfun": 15000}
    begin = time.perf_counter()
    ends = [
        scipy.optimize.minimize(rosenbrock, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        for start in x
    ]
    seconds = time.perf_counter() - begin
    iterations, converged = sum(end.nit for end in ends), sum(end.status == 0 for end in ends)
    row("SciPy in a loop, 1 thread", len(x), seconds, iterations, converged)


def with_optax(x):
    try:
        import jax
        import optax
    except ImportError as missing:
        print(f"optax is not measured: {missing}")
        return
    jax.config.update("jax_enable_x64", True)
    jnp = jax.numpy

    def f(x):
        return jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    method = optax.lbfgs(memory_size=5)
    value_and_grad = optax.value_and_grad_from_state(f)

    def one(start):
        def step(carry):
            x, state, _, k = carry
            value, grad = value_and_grad(x, state=state)
            updates, state = method.update(grad, state, x, value=value, grad=grad, value_fn=f)
            x = optax.apply_updates(x, updates)
            return x, state, jnp.max(jnp.abs(optax.tree_utils.tree_get(state, "grad"))), k + 1

        first = start, method.init(start), jnp.inf, 0
        _, _, norm, k = jax.lax.while_loop(lambda c: (c[2] > PGTOL) & (c[3] < MOST_ITERATIONS), step, first)
        return norm, k

    run = jax.jit(jax.vmap(one))
    given = jnp.asarray(x)
    jax.block_until_ready(run(given))
    begin = time.perf_counter()
    norm, k = jax.block_until_ready(run(given))
    seconds = time.perf_counter() - begin
    device = jax.devices()[0]
    row(f"optax, vmap, on {device.platform}", len(x), seconds, int(k.sum()), int((norm <= PGTOL).sum()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("--problems", type=int, default=100000, help="of optax")
    parser.add_argument("--n", type=int, default=20)
    parser.add_argument("--bounds", action="store_true", help="a box that holds every fourth variable")
    arguments = parser.parse_args()
    print(f"n = {arguments.n}, {'with' if arguments.bounds else 'without'} bounds")
    print(f"{'':40} {'problems':>10} {'s':>9} {'problems/s':>12} {'iterations/s':>12} {'conv %':>7} {'iterations':>10}")
    x = starts(arguments.problems, arguments.n)
    with_scipy(x[:500], arguments.bounds)
    if not arguments.bounds:
        with_optax(x)


if __name__ == "__main__":
    main()
