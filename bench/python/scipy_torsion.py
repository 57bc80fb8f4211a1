#!/usr/bin/env python3
"""Usage: scipy_torsion.py N M ITERATIONS

Runs SciPy's L-BFGS-B on elastic-plastic torsion with N variables, a square grid, for bench_host_peers. Prints the
numbers of iterations and of evaluations, the seconds inside SciPy without the evaluations, and f at the end."""
import math
import os
import sys
import time

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402
import scipy.optimize  # noqa: E402

n, m, iterations = map(int, sys.argv[1:4])
side = math.isqrt(n)
if side * side != n:
    sys.exit(f"scipy_torsion.py: the grid is square, and {n} is no square number")
load = 5 / (side + 1) ** 2
evaluating, evaluations = 0.0, 0


def torsion(x):
    """Half the sum of the squared differences along the edges of the grid, with zeros around it, minus the load."""
    global evaluating, evaluations
    begin = time.perf_counter()
    v = np.pad(x.reshape(side, side), 1)
    across, down = np.diff(v[1:-1], axis=1), np.diff(v[:, 1:-1], axis=0)
    f = (np.vdot(across, across) + np.vdot(down, down)) / 2 - load * x.sum()
    g = across[:, :-1] - across[:, 1:] + down[:-1] - down[1:] - load
    evaluating += time.perf_counter() - begin
    evaluations += 1
    return f, g.ravel()


line = np.minimum(np.arange(1, side + 1), np.arange(side, 0, -1)) / (side + 1)
upper = np.minimum.outer(line, line).ravel()  # the distance to the boundary
begin = time.perf_counter()
result = scipy.optimize.minimize(torsion, upper.copy(), jac=True, method="L-BFGS-B",
                                 bounds=scipy.optimize.Bounds(-upper, upper),
                                 options={"maxcor": m, "maxiter": iterations, "ftol": 0, "gtol": 0,
                                          "maxfun": 1000000})
seconds = time.perf_counter() - begin - evaluating
print(result.nit, evaluations, seconds, result.fun)
