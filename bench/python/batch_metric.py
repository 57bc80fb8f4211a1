#!/usr/bin/env python3
"""Usage: batch_metric.py

Evaluations a problem in the mean, of batches with each metric, on the host in double precision, to a projected
gradient's largest component of 1e-8: chained Rosenbrock functions, free and in the box [-1.5, 0.8], and
sum c_i (x_i^2 + x_i^4 / 2) with c_i from 1 to the spread named. The diagonal is that of the inverses of the second
derivatives, of Rosenbrock's without the term that may be negative. 200 random starts each; prints a table."""
import numpy as np

import cuda_opt

STARTS = 200


def rosenbrock(x):
    valley, rest = x[:, 1:] - x[:, :-1] ** 2, 1 - x[:, :-1]
    g = np.zeros_like(x)
    g[:, 1:] += 200 * valley
    g[:, :-1] += -400 * x[:, :-1] * valley - 2 * rest
    return (100 * valley**2 + rest**2).sum(1), g


def rosenbrock_diagonal(x):
    h = np.full_like(x, 2.0)
    h[:, 1:] += 200
    h[:, :-1] += 800 * x[:, :-1] ** 2
    return 1 / h


def scaled(c):
    return (lambda x: ((x**2 + x**4 / 2) @ c, c * (2 * x + 2 * x**3)), lambda x: 1 / (c * (2 + 6 * x**2)))


def mean_evaluations(fun, n, m, bounds, **settings):
    x0 = np.random.default_rng(1).uniform(-2, 2, (STARTS, n))
    options = {"ftol": 0, "gtol": 1e-8, "maxcor": m}
    if "diagonal" not in settings:
        options["INITIAL_HESSIAN"] = settings.pop("INITIAL_HESSIAN", cuda_opt.InitialHessian.SCALAR)
    result = cuda_opt.minimize_batch(fun, x0, bounds=bounds, options=options, **settings)
    return f"{result.nfev.mean():.1f}" + ("" if result.success.all() else f" ({result.success.sum()} converged)")


def main():
    print("| function | n | m | one number | learned | the caller's diagonal |\n|---|---:|---:|---:|---:|---:|")
    cases = [(f"chained Rosenbrock{', in the box' if bounds else ''}", rosenbrock, rosenbrock_diagonal, n, 5, bounds)
             for n in (2, 5, 20, 100) for bounds in (None, cuda_opt.Bounds(-1.5, 0.8))]
    cases += [(f"scales from 1 to {spread:.0e}", *scaled(np.geomspace(1, spread, n)), n, m, None)
              for n, spread, m in ((4, 1e6, 10), (4, 1e6, 3), (20, 1e4, 5), (100, 1e4, 10))]
    for name, fun, diagonal, n, m, bounds in cases:
        row = [mean_evaluations(fun, n, m, bounds),
               mean_evaluations(fun, n, m, bounds, INITIAL_HESSIAN=cuda_opt.InitialHessian.LEARNED),
               mean_evaluations(fun, n, m, bounds, diagonal=diagonal)]
        print(f"| {name} | {n} | {m} | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
