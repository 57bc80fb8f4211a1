#!/usr/bin/env python3
"""Usage: batch_frameworks.py [--device cuda|cpu] [--n N] [--problems K ...] [--repetitions R]

Seconds of minimize_batch in torch and in JAX for the same chained Rosenbrock functions from the same random starts,
double precision, m = 5, to ||P g||_inf <= 1e-5: the first call, which compiles in JAX, and the median of R further
calls, in which the two take turns. The function is written by hand in torch; JAX differentiates and compiles it.
Prints a table in CSV."""
import argparse
import os
import statistics
import sys
import time
from pathlib import Path

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
sys.path[:0] = [str(Path(__file__).parents[2] / "python")]

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402

import cuda_opt  # noqa: E402
import cuda_opt.jax  # noqa: E402

OPTIONS = {"maxcor": 5, "gtol": 1e-5}


def in_torch(x):
    here, rest = x[:, :-1], 1 - x[:, :-1]
    valley = x[:, 1:] - here * here
    g = torch.zeros_like(x)
    g[:, :-1] = -400 * here * valley - 2 * rest
    g[:, 1:] += 200 * valley
    return (100 * valley * valley + rest * rest).sum(1), g


def in_jax(x):
    valley, rest = x[1:] - x[:-1] ** 2, 1 - x[:-1]
    return 100 * (valley @ valley) + rest @ rest


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--n", type=int, default=20)
    parser.add_argument("--problems", type=int, nargs="+", default=[1000, 100000])
    parser.add_argument("--repetitions", type=int, default=5)
    given = parser.parse_args()
    jax.config.update("jax_enable_x64", True)
    place = jax.devices("gpu" if given.device == "cuda" else "cpu")[0]
    print("framework,n,problems,bounds,rounds,first_s,median_s,converged")
    for problems in given.problems:
        starts = np.random.default_rng(1).uniform(-2, 2, (problems, given.n))
        for upper in (None, 0.5):
            x0 = starts if upper is None else np.minimum(starts, upper)
            bounds = None if upper is None else cuda_opt.Bounds(-2.0, upper)
            of_torch, of_jax = torch.tensor(x0, device=given.device), jax.device_put(x0, place)
            solves = {
                "torch": lambda: cuda_opt.minimize_batch(in_torch, of_torch, bounds=bounds, options=OPTIONS),
                "JAX": lambda: cuda_opt.jax.minimize_batch(in_jax, of_jax, bounds=bounds, options=OPTIONS),
            }
            seconds, results = {name: [] for name in solves}, {}
            for _ in range(given.repetitions + 1):
                for name, solve in solves.items():
                    begin = time.perf_counter()
                    results[name] = solve()
                    jnp.asarray(0).block_until_ready()
                    if given.device == "cuda":
                        torch.cuda.synchronize()
                    seconds[name].append(time.perf_counter() - begin)
            for name, times in seconds.items():
                result = results[name]
                print(
                    f"{name},{given.n},{problems},{'yes' if bounds else 'no'},{result.rounds},{times[0]:.4f},"
                    f"{statistics.median(times[1:]):.4f},{result.success.mean():.4f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
