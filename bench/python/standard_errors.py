#!/usr/bin/env python3
"""Usage: standard_errors.py [--csv FILE]

Standard errors of maximum likelihood fits with four parameters (python/tests/likelihoods.py), from hess_inv of
cuda_opt.minimize and of SciPy's L-BFGS-B, each with its default options. They are compared with those of the exact
inverse Hessian at the same point. The error of a fit is the largest factor by which one of the four is too large or too
small. For each model, 200 sets of random data; the table has the share of the fits with an error of at most 1.1 and
1.25, the median and the largest error."""
import argparse
import csv
import sys
from pathlib import Path

import numpy as np
import scipy
import scipy.optimize

sys.path[:0] = [str(Path(__file__).parents[2] / part) for part in ("python", "python/tests")]

import cuda_opt  # noqa: E402
from likelihoods import FITS  # noqa: E402

SOLVERS = {
    "cuda_opt": cuda_opt.minimize,
    "SciPy": lambda fun, x0: scipy.optimize.minimize(fun, x0, jac=True, method="L-BFGS-B"),
}


def error(fit, solve):
    result = solve(fit.fun, fit.x0)
    found = np.sqrt([e @ (result.hess_inv @ e) for e in np.eye(len(fit.x0))])
    exact = fit.standard_errors(result.x)
    return np.maximum(found / exact, exact / found).max()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--csv")
    arguments = parser.parse_args()
    rows = []
    for solver, solve in SOLVERS.items():
        of_all = []
        for name, model in FITS.items():
            errors = [error(model(seed), solve) for seed in range(200)]
            of_all += errors
            rows.append((name, solver, errors))
        rows.append(("all", solver, of_all))
    table = [["model", "solver", "fits", "within_1.1", "within_1.25", "median", "largest"]]
    for name, solver, errors in rows:
        errors = np.array(errors)
        shares = [f"{np.mean(errors <= most):.3f}" for most in (1.1, 1.25)]
        table.append([name, solver, len(errors), *shares, f"{np.median(errors):.3f}", f"{errors.max():.2f}"])
    for row in table:
        print("{:26} {:10} {:>6} {:>11} {:>12} {:>8} {:>9}".format(*row))
    print(f"SciPy {scipy.__version__}, NumPy {np.__version__}")
    if arguments.csv:
        with open(arguments.csv, "w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(table)


if __name__ == "__main__":
    main()
