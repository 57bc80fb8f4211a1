#!/usr/bin/env python3
"""Usage: jax_overhead.py

Processor time in milliseconds of a second call of cuda_opt.jax.minimize on the host, beside that of as many calls of
the compiled jax.value_and_grad, each the least of 100: Rosenbrock's function of 10 variables in a box, for one
iteration and to the end."""
import time

import jax
import jax.numpy as jnp

import cuda_opt.jax

jax.config.update("jax_enable_x64", True)


def rosenbrock(x):
    return jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def least(call):
    times = []
    for _ in range(100):
        begin = time.process_time()
        call()
        times.append(time.process_time() - begin)
    return 1e3 * min(times)


def main():
    x0, both = jnp.full(10, -1.2), jax.jit(jax.value_and_grad(rosenbrock))
    print("| evaluations | the call, ms | its evaluations, ms | overhead, ms |\n|---:|---:|---:|---:|")
    for limit in (1, 15000):
        def solve():
            return cuda_opt.jax.minimize(rosenbrock, x0, (), (-1.5, 0.8), options={"maxiter": limit, "THREADS": 1})

        count = solve().nfev
        call, evaluations = least(solve), least(lambda: [jax.block_until_ready(both(x0)) for _ in range(count)])
        print(f"| {count} | {call:.2f} | {evaluations:.2f} | {call - evaluations:.2f} |")


if __name__ == "__main__":
    main()
