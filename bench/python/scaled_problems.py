#!/usr/bin/env python3
"""Usage: scaled_problems.py LIBRARY [--m M] [--csv FILE]

Whether scales undo bad units: the problems of bench_metric, with each variable multiplied by a power of ten at random
between 1e-6 and 1e6, solved in four ways to the same point: as they are; in their bad units; in bad units with
x_scale; and as they are, from starts moved by 1e-9 of themselves, which shows what rounding errors do. LIBRARY is
build/bench/libmetric_problems_interface.so. A problem is solved where ||P g||_inf <= 1e-6 in the problem's own units,
within 10,000 evaluations; other tests are off. CUDA_OPT_LIBRARY and PYTHONPATH say which cuda_opt."""
import argparse
import ctypes
import math
import sys
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[2] / "python")]

import cuda_opt  # noqa: E402

PGTOL, EVALUATIONS = 1e-6, 10000
WAYS = ("own units", "moved", "bad units", "x_scale")


class Problem:
    def __init__(self, library, k):
        n = library.small_problem_size(k)
        self.library, self.k, self.name = library, k, library.small_problem_name(k).decode()
        self.start, self.lower, self.upper = np.zeros(n), np.zeros(n), np.zeros(n)
        for which in ("start", "lower", "upper"):
            getattr(library, f"small_problem_{which}")(k, getattr(self, which).ctypes.data_as(ctypes.c_void_p))

    def __call__(self, x):
        x, g = np.ascontiguousarray(x), np.empty_like(x)
        f = self.library.small_problem_evaluate(self.k, *(a.ctypes.data_as(ctypes.c_void_p) for a in (x, g)))
        return f, g

    def norm(self, x):
        g = self(x)[1]
        return float(np.abs(x - np.clip(x - g, self.lower, self.upper)).max())


def solve(problem, way, units, options):
    """Evaluations, f, and ||P g||_inf at the end, both in the problem's own units."""
    scale = units if way in ("bad units", "x_scale") else np.ones_like(units)
    start = problem.start
    if way == "moved":
        start = start * (1 + 1e-9 * np.sin(7.0 * np.arange(len(start)) + 1))

    def fun(x):
        f, g = problem(np.clip(x / scale, problem.lower, problem.upper))  # x / scale may leave the box by a rounding
        return f, g / scale

    bounds = cuda_opt.Bounds(problem.lower * scale, problem.upper * scale)
    with np.errstate(all="ignore"):
        x_scale = scale if way == "x_scale" else None
        result = cuda_opt.minimize(fun, start * scale, bounds=bounds, x_scale=x_scale, options=options)
        y = np.clip(result.x / scale, problem.lower, problem.upper)
        return result.nfev, result.fun, problem.norm(y)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--m", type=int, default=10)
    parser.add_argument("--csv")
    arguments = parser.parse_args()
    library = ctypes.CDLL(arguments.library)
    library.small_problem_name.restype, library.small_problem_evaluate.restype = ctypes.c_char_p, ctypes.c_double
    options = {"maxcor": arguments.m, "gtol": PGTOL, "ftol": 0, "maxiter": None, "maxfun": EVALUATIONS}
    rng = np.random.default_rng(1)
    rows, solved = [], {way: {} for way in WAYS}
    for k in range(library.small_problems_count()):
        problem = Problem(library, k)
        units = 10.0 ** rng.integers(-6, 7, len(problem.start))
        for way in WAYS:
            evaluations, f, norm = solve(problem, way, units, options)
            good = norm <= PGTOL and math.isfinite(f)
            rows.append((problem.name, len(problem.start), way, evaluations, f, norm, int(good)))
            if good:
                solved[way][k] = evaluations
    if arguments.csv:
        with open(arguments.csv, "w") as file:
            file.write("problem,n,way,evaluations,f,pg,solved\n")
            file.writelines(f'"{row[0]}",{row[1]},"{row[2]}",' + f"{row[3]},{row[4]:.9g},{row[5]:.3g},{row[6]}" + "\n"
                            for row in rows)
    own = solved[WAYS[0]]
    print(f"{library.small_problems_count()} problems, m = {arguments.m}, units 1e-6 to 1e6")
    print(f"{'':12s}{'solved':>8s}{'lost':>6s}{'won':>6s}{'evaluations / own units':>26s}")
    for way, found in solved.items():
        both = own.keys() & found.keys()
        factor = math.exp(sum(math.log(found[k] / own[k]) for k in both) / len(both)) if both else math.nan
        print(f"{way:12s}{len(found):8d}{len(own.keys() - found.keys()):6d}{len(found.keys() - own.keys()):6d}"
              f"{factor:26.3f}")


if __name__ == "__main__":
    main()
