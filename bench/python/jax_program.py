#!/usr/bin/env python3
"""Usage: jax_program.py

Microseconds of an evaluation in a second call of a jitted function that calls cuda_opt.jax.minimize, m = 10, on the
host: with the handler of python/xla, as a callback, and outside of jit; beside f and its gradient alone in a loop of
the program. f is Rosenbrock's function of pairs with coefficients from 50 to 200. Each is the least of five calls."""
import os
import subprocess
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2] / "python")]

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

import cuda_opt.jax  # noqa: E402

jax.config.update("jax_enable_x64", True)
SIZES = 10, 100, 1000, 10000, 100000
OPTIONS = {"maxcor": 10, "ftol": 0, "gtol": 1e-5, "maxfun": 200}


def pairs(x, c):
    a, b = x[::2], x[1::2]
    return jnp.sum(c * (b - a * a) ** 2 + (1 - a) ** 2)


def least(call):
    times = []
    for _ in range(6):
        begin = time.perf_counter()
        jax.block_until_ready(call())
        times.append(time.perf_counter() - begin)
    return 1e6 * min(times[1:])


def alone(x, c, count):
    both = jax.value_and_grad(pairs)
    return jax.lax.fori_loop(0, count, lambda _, x: x - 1e-9 * both(x, c)[1], x)


def rows():
    run = jax.jit(lambda x, c: cuda_opt.jax.minimize(pairs, x, (c,), options=OPTIONS))
    loop = jax.jit(alone, static_argnums=2)
    for n in SIZES:
        x, c = jnp.tile(jnp.array([-1.2, 1.0]), n // 2), jnp.linspace(50.0, 200.0, n // 2)
        evaluations = int(run(x, c).nfev)
        inside = least(lambda: run(x, c).x) / evaluations
        outside = least(lambda: cuda_opt.jax.minimize(pairs, x, (c,), options=OPTIONS).x) / evaluations
        print(n, evaluations, inside, outside, least(lambda: loop(x, c, evaluations)) / evaluations, flush=True)


def main():
    if len(sys.argv) > 1:
        return rows()
    found = {}
    for name, handler in ("program", os.environ.get("CUDA_OPT_XLA")), ("callback", "none"):
        environment = {**os.environ, **({"CUDA_OPT_XLA": handler} if handler else {})}
        command = [sys.executable, __file__, "rows"]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        found[name] = [line.split() for line in done.stdout.splitlines()]
    print("| n | evaluations | f and g alone | in the program | as a callback | outside of jit |\n" + 6 * "|---:" + "|")
    for one, other in zip(found["program"], found["callback"]):
        numbers = (one[4], one[2], other[2], one[3])
        print(f"| {int(one[0]):,} | {one[1]} | " + " | ".join(f"{float(number):.1f}" for number in numbers) + " |")
    return None


if __name__ == "__main__":
    main()
