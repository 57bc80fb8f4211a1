#!/usr/bin/env python3
"""Usage: many_variables.py [--n N] [--starts K] [--json FILE]

Evaluations of f and g on problems of N variables: the scalar initial Hessian with m = 10, the learned one with m = 10,
and the defaults, which are m = 40 up to 1,000 variables. All ratios are relative to the scalar.
Each problem has K starts: the standard one, and others with 1 % of noise. A solve ends where the largest component of
P g is at most 1e-5 max(1, min(max |g_0|, 1000) / 10), or after 6000 evaluations; the tests of f are off. The problems
are those of Moré, Garbow and Hillstrom (1981), Lukšan and Vlček (1999) and Andrei (2008) that have any number of
variables, among them several with blocks of few variables, and some with coefficients that we chose. Needs JAX."""
import argparse
import json
import math
import statistics
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2] / "python")]

import cuda_opt  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

jax.config.update("jax_enable_x64", True)
MOST = 6000
SETTINGS = {
    "scalar": {"INITIAL_HESSIAN": 0, "maxcor": 10},
    "learned": {"maxcor": 10},
    "default": {},
}


def blocks(*columns):
    """A function of all variables: the sum of `column` over the blocks of two or four variables."""
    *sizes, function = columns
    return lambda x: jnp.sum(function(*x.reshape(-1, sizes[0]).T))


def rosenbrock(coefficient, power=2):
    return blocks(2, lambda a, b: coefficient * (b - a**power) ** 2 + (1 - a) ** 2)


def beale(a, b):
    return (1.5 - a * (1 - b)) ** 2 + (2.25 - a * (1 - b**2)) ** 2 + (2.625 - a * (1 - b**3)) ** 2


def freudenstein(a, b):
    return (a - 13 + ((5 - b) * b - 2) * b) ** 2 + (a - 29 + ((b + 1) * b - 14) * b) ** 2


def psc1(a, b):
    return (a**2 + b**2 + a * b) ** 2 + jnp.sin(a) ** 2 + jnp.cos(b) ** 2


def wood(scale):
    def of_block(a, b, c, d):
        return (100 * scale * (b - a**2) ** 2 + (1 - a) ** 2 + 90 * scale * (d - c**2) ** 2 + (1 - c) ** 2
                + 10.1 * ((b - 1) ** 2 + (d - 1) ** 2) + 19.8 * (b - 1) * (d - 1))
    return of_block


def powell(scale):
    def of_block(a, b, c, d):
        return scale * ((a + 10 * b) ** 2 + 5 * (c - d) ** 2 + (b - 2 * c) ** 4 + 10 * (a - d) ** 4)
    return of_block


def chained_cragg_levy(x):
    a, b, c, d = x[:-3:2], x[1:-2:2], x[2:-1:2], x[3::2]
    return jnp.sum((jnp.exp(a) - b) ** 4 + 100 * (b - c) ** 6 + jnp.tan(c - d) ** 4 + a**8 + (d - 1) ** 2)


def broyden_banded(x):
    near = sum(jnp.roll(x, k) * (1 + jnp.roll(x, k)) for k in range(-1, 6))
    return jnp.sum(((2 + 5 * x**2) * x + 1 + near) ** 2)


def problems(n):
    """{name: (f, start, lower, upper)}"""
    i, total = jnp.arange(1.0, n + 1), jnp.sum
    random, side = np.random.default_rng(5), math.isqrt(n)
    varied, decades = jnp.linspace(0.5, 2, n // 4), jnp.asarray(10 ** random.uniform(-2, 2, n))
    shapes = (side + 1, side + 2), (side + 2, side + 1)
    down, right = (jnp.asarray(10 ** random.uniform(-2, 2, shape)) for shape in shapes)

    def diffusion(x):
        u = jnp.pad(x[: side * side].reshape(side, side), 1)
        flow = total(down * jnp.diff(u, axis=0) ** 2) + total(right * jnp.diff(u, axis=1) ** 2)
        return 0.5 * flow - total(x[: side * side]) / side + 0.5 * total(x[side * side:] ** 2)

    def weighted_blocks(x):
        rows = x.reshape(-1, 4)
        return total(decades * ((rows + 0.5 * jnp.roll(rows, 1, 1)).reshape(-1) - 1) ** 2)

    found = {
        "rosenbrock": (rosenbrock(100), (-1.2, 1)),
        "rosenbrock, varied": (rosenbrock(jnp.geomspace(50, 200, n // 2)), (-1.2, 1)),
        "white holst": (rosenbrock(100, power=3), (-1.2, 1)),
        "generalised rosenbrock": (lambda x: total(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[1:]) ** 2), None),
        "beale": (blocks(2, beale), (1, 0.8)),
        "freudenstein roth": (blocks(2, freudenstein), (0.5, -2)),
        "himmelblau": (blocks(2, lambda a, b: (a**2 + b - 11) ** 2 + (a + b**2 - 7) ** 2), (1, 1)),
        "maratos": (blocks(2, lambda a, b: a + 100 * (a**2 + b**2 - 1) ** 2), (1.1, 0.1)),
        "psc1": (blocks(2, psc1), (3, 0.1)),
        "wood": (blocks(4, wood(1)), (-3, -1, -3, -1)),
        "wood, varied": (blocks(4, wood(varied)), (-3, -1, -3, -1)),
        "powell singular": (blocks(4, powell(1)), (3, -1, 0, 1)),
        "powell singular, varied": (blocks(4, powell(varied)), (3, -1, 0, 1)),
        "cragg levy": (chained_cragg_levy, (1, 2, 2, 2)),
        "broyden banded": (broyden_banded, (-1,)),
        "fletchcr": (lambda x: total(100 * (x[1:] - x[:-1] + 1 - x[:-1] ** 2) ** 2), (0,)),
        "liarwhd": (lambda x: total(4 * (x**2 - x[0]) ** 2 + (x - 1) ** 2), (4,)),
        "nonscomp": (lambda x: (x[0] - 1) ** 2 + total(4 * (x[1:] - x[:-1] ** 2) ** 2), (3,)),
        "tridia": (lambda x: (x[0] - 1) ** 2 + total(i[1:] * (2 * x[1:] - x[:-1]) ** 2), (1,)),
        "quartic": (lambda x: total((x - i) ** 4), (2,)),
        "power": (lambda x: total((i * x) ** 2) / n, (1,)),
        "quadratic, six decades": (lambda x: 0.5 * total(jnp.geomspace(1, 1e6, n) * x**2), (1,)),
        "perturbed quadratic": (lambda x: total(i * x**2) + total(x) ** 2 / 100, (0.5,)),
        "raydan": (lambda x: total(i / 10 * (jnp.exp(x) - x)), (1,)),
        "hager": (lambda x: total(jnp.exp(x) - jnp.sqrt(i) * x), (1,)),
        "diffusion": (diffusion, (0,)),
        "weighted blocks": (weighted_blocks, (0,)),
    }
    free = {name: (f, np.asarray(i) / (n + 1) if x is None else np.tile(np.array(x, float), n // len(x)), None, None)
            for name, (f, x) in found.items()}
    for name in "wood, varied", "perturbed quadratic", "diffusion", "tridia":
        f, x, _, _ = free[name]
        random = np.random.default_rng(4)
        lower, upper = -0.5 + 0.8 * random.random(n), 0.2 + 1.5 * random.random(n)
        free[name + ", box"] = f, x, np.minimum(x, lower), np.maximum(x, upper)
    return free


def ratio(evaluations, of_scalar):
    """A failure of one counts as 10 times the evaluations of the other, or as all that were allowed."""
    if evaluations == math.inf:
        return 1 if of_scalar == math.inf else 10
    return evaluations / min(of_scalar, MOST)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.splitlines()[0].removeprefix("Usage: "))
    parser.add_argument("--n", type=int, default=1000, help="a multiple of 4")
    parser.add_argument("--starts", type=int, default=6)
    parser.add_argument("--json", help="file for the numbers of evaluations")
    given = parser.parse_args()
    if given.n % 4 or given.n < 16 or given.starts < 2:
        parser.error("N must be a multiple of 4, and at least 16; K must be at least 2")
    counts = {}
    print(f"n = {given.n}, medians of evaluations over {given.starts} starts\n"
          f"{'':26}" + "".join(f"{key:>17}" for key in SETTINGS))
    for name, (f, standard, lower, upper) in problems(given.n).items():
        value_and_grad = jax.jit(jax.value_and_grad(f))
        box = None if lower is None else cuda_opt.Bounds(lower, upper)

        def fun(x):
            value, gradient = value_and_grad(x)
            return float(value), np.asarray(gradient)

        counts[name] = {key: [] for key in SETTINGS}
        for seed in range(given.starts):
            random = np.random.default_rng(100 + seed)
            noise = 0.01 * random.standard_normal((2, given.n)) if seed else np.zeros((2, given.n))
            x = standard * (1 + noise[0]) + noise[1]
            x = x if box is None else np.clip(x, lower, upper)
            gtol = 1e-5 * max(1, min(np.abs(fun(x)[1]).max(), 1000) / 10)
            for key, setting in SETTINGS.items():
                end = cuda_opt.minimize(fun, x, bounds=box,
                                        options={"ftol": 0, "gtol": gtol, "maxfun": MOST, "maxiter": MOST, **setting})
                counts[name][key].append(end.nfev if end.success else math.inf)
        print(f"{name:26}" + "".join(f"{statistics.median(counts[name][key]):>17g}" for key in SETTINGS), flush=True)
    for key in list(SETTINGS)[1:]:
        ratios = {name: [ratio(a, b) for a, b in zip(of[key], of["scalar"])] for name, of in counts.items()}
        every = [ratio for row in ratios.values() for ratio in row]
        medians = {name: statistics.median(row[1:]) for name, row in ratios.items()}
        worst = max(medians, key=medians.get)
        mean = math.exp(statistics.fmean(map(math.log, every)))
        print(f"{key}: {mean:.3f} of the evaluations of scalar, geometric mean; largest median of a problem, without"
              f" its standard start: {medians[worst]:.2f} ({worst})")
    if given.json:
        Path(given.json).write_text(json.dumps(counts))


if __name__ == "__main__":
    main()
