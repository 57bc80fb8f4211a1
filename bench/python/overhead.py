#!/usr/bin/env python3
"""Usage: overhead.py [--n N ...] [--rounds ROUNDS]

What a minimiser takes besides the evaluations: microseconds an evaluation, of this package's minimize and of SciPy's
L-BFGS-B, beside one another on the extended Rosenbrock function in the box -2 <= x <= (0.9, 2, 0.9, 2, ...), m = 10,
one thread, in processor time. Both go on until f does not fall, 60 evaluations at most; the time within the function is
subtracted, all else counts. Of the rounds, in which they take turns, the least time of each counts."""
import argparse
import os
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402
import scipy  # noqa: E402
import scipy.optimize  # noqa: E402

import cuda_opt  # noqa: E402


class Rosenbrock:
    """sum over pairs of 100 (x_2 - x_1^2)^2 + (1 - x_1)^2, and how long its evaluations took."""

    def __init__(self):
        self.seconds, self.evaluations = 0.0, 0

    def __call__(self, x):
        begin = time.process_time()
        a, b = x[1::2] - x[::2] ** 2, 1 - x[::2]
        g = np.empty_like(x)
        g[::2] = -400 * x[::2] * a - 2 * b
        g[1::2] = 200 * a
        f = 100 * (a @ a) + b @ b
        self.evaluations += 1
        self.seconds += time.process_time() - begin
        return f, g


def ours(fun, x0, bounds, options):
    own = {"THREADS": 1, "INITIAL_HESSIAN": cuda_opt.InitialHessian.SCALAR}  # SciPy's
    return cuda_opt.minimize(fun, x0, bounds=bounds, options={**options, **own})


def with_scipy(fun, x0, bounds, options):
    return scipy.optimize.minimize(fun, x0, jac=True, method="L-BFGS-B", bounds=bounds, options=options)


def overhead(minimise, n):
    """Seconds an evaluation outside the function, and evaluations."""
    fun = Rosenbrock()
    x0 = np.tile([-1.2, 1.0], n // 2)
    bounds = scipy.optimize.Bounds(np.full(n, -2.0), np.tile([0.9, 2.0], n // 2))
    options = {"maxcor": 10, "ftol": 0, "gtol": 0, "maxfun": 60}
    begin = time.process_time()
    result = minimise(fun, x0, bounds, options)
    seconds = time.process_time() - begin
    assert result.nfev == fun.evaluations
    return (seconds - fun.seconds) / fun.evaluations, fun.evaluations


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, nargs="+", default=[10, 1000, 100_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    print(f"cuda_opt {cuda_opt.version}, SciPy {scipy.__version__}, NumPy {np.__version__}")
    print(f"{'n':>9} {'ours, us':>12} {'SciPy, us':>12} {'ours/SciPy':>11}   evaluations")
    for n in arguments.n:
        solves = max(1, 100 // max(1, n // 10)) if n < 1000 else 1
        least, counts = {}, {}
        for _ in range(arguments.rounds):
            for minimise in (ours, with_scipy):
                for _ in range(solves):
                    seconds, counts[minimise] = overhead(minimise, n)
                    least[minimise] = min(least.get(minimise, seconds), seconds)
        a, b = least[ours], least[with_scipy]
        print(f"{n:9} {1e6 * a:12.2f} {1e6 * b:12.2f} {a / b:11.2f}   {counts[ours]}, {counts[with_scipy]}", flush=True)


if __name__ == "__main__":
    main()
