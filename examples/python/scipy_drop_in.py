#!/usr/bin/env python3
"""Usage: scipy_drop_in.py [--n N] [--picture FILE]

A rope of N points is pulled taut over a hill and under a ceiling: SciPy's minimize, by its own L-BFGS-B and then by
this package's, which is one argument. The picture needs matplotlib."""
import argparse
import os
import time

# One thread for BLAS, for both methods, so that the times can be compared. NumPy reads these.
for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np
from scipy.optimize import Bounds, minimize

import cuda_opt


def energy(x):
    """(n + 1)/2 sum (x_(i+1) - x_i)^2 with 0 at both ends, and its gradient."""
    n = len(x)
    rise = np.diff(x, prepend=0, append=0)
    return (n + 1) / 2 * float(rise @ rise), (n + 1) * (rise[:-1] - rise[1:])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=3000)
    parser.add_argument("--picture")
    arguments = parser.parse_args()

    t = np.linspace(-0.5, 0.5, arguments.n + 2)[1:-1]
    hill, ceiling = 1 - 16 * t**2, np.where(t > 0.2, 0.45, 2.0)
    box = Bounds(hill, np.maximum(hill, ceiling))
    problem = {"fun": energy, "x0": np.zeros(arguments.n), "jac": True, "bounds": box}
    options = {"maxcor": 20, "ftol": 0, "gtol": 1e-6, "maxiter": 20000, "maxfun": 20000}
    ropes = []
    for name, method in (("SciPy's L-BFGS-B", "L-BFGS-B"), ("cuda_opt.lbfgsb", cuda_opt.lbfgsb)):
        begin = time.perf_counter()
        result = minimize(**problem, method=method, options=options)
        seconds = time.perf_counter() - begin
        print(f"{name:17} f = {result.fun:.9f}  {result.nit} iterations  {seconds:.2f} s  {result.message}")
        ropes.append((name, result.x))

    if arguments.picture:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        figure, axes = pyplot.subplots(figsize=(8, 4))
        axes.fill_between(t, -3.2, hill, color="0.8", label="hill")
        axes.fill_between(t, np.maximum(hill, ceiling), 2.2, where=ceiling < 2, color="0.6", label="ceiling")
        # The ropes coincide: the second line is thinner, and dashed.
        styles = {"color": "tab:blue", "linewidth": 5, "alpha": 0.4}, {"color": "tab:red", "linestyle": "--"}
        for (name, x), style in zip(ropes, styles):
            axes.plot(t, x, label=f"rope, {name}", **style)
        axes.set(xlabel="horizontal position (m)", ylabel="height (m)", ylim=(-0.2, 1.5))
        axes.legend()
        figure.tight_layout()
        figure.savefig(arguments.picture, dpi=120)
        print(arguments.picture)


if __name__ == "__main__":
    main()
