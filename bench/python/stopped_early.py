"""Usage: stopped_early.py

Two counts for the test ROUNDING in single precision (docs/termination.md, "ROUNDING and the relative gradient"). The
first: stiff fits without residual that end as a failure although f is at most ten times f at the rounded minimiser. The
second: solves whose values of f are made to stay above the lowest one after some evaluations, and which converge by
ROUNDING with f above 1e-6, where the minimum is 0."""
import numpy as np

import cuda_opt


def cosines(rng, n, size):
    points = rng.uniform(-1, 1, 2 * n)
    return size * np.cos(np.outer(points, np.arange(n)) + rng.uniform(0, 6, n))


def squares(basis, true):
    def fun(x):
        residual = basis @ (x - true)
        return residual @ residual, 2 * basis.T @ residual

    return fun


def fails_at_the_best_x(seed):
    rng = np.random.default_rng([3, seed])
    n = int(rng.integers(2, 9))
    basis = cosines(rng, n, 300)
    true = rng.uniform(-2, 2, n)
    exact = squares(basis, true)
    result = cuda_opt.minimize(single(exact), np.zeros(n, np.float32))
    return not result.success and result.fun <= 10 * exact(true.astype(np.float32).astype(float))[0]


def single(exact):
    def fun(x):
        f, g = exact(x.astype(float))
        return float(f), g.astype(np.float32)

    return fun


def problem(rng, n, kind):
    """A function with the minimum 0, and a start."""
    if kind == 0:
        basis = cosines(rng, n, 10 ** rng.uniform(0, 3))
        return squares(basis, rng.uniform(-2, 2, n)), np.zeros(n)
    if kind == 1:
        steepness = 10 ** rng.uniform(1, 6)

        def valley(x):
            a, b, g = x[1:] - x[:-1] ** 2, 1 - x[:-1], np.zeros(n)
            g[1:] += 2 * steepness * a
            g[:-1] -= 4 * steepness * a * x[:-1] + 2 * b
            return steepness * (a @ a) + b @ b, g

        return valley, rng.uniform(-2, 2, n)
    q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    hessian, sizes, centre = (q * 10 ** rng.uniform(-4, 4, n)) @ q.T, 10 ** rng.uniform(-2, 2, n), rng.normal(size=n)

    def quadratic(x):
        z = x / sizes - centre
        h = hessian @ z
        return z @ h / 2, h / sizes

    return quadratic, sizes * rng.normal(size=n)


def ends_far_off(seed):
    rng = np.random.default_rng([77, seed])
    n, kind = int(rng.integers(2, 9)), seed % 3
    exact, start = problem(rng, n, kind)
    last, values = int(rng.integers(2, 40)), []

    def stopped(x):
        f, g = exact(x)
        values.append(f)
        return (f if len(values) <= last else max(f, min(values[:last])) * 1.001), g

    with np.errstate(over="ignore", invalid="ignore"):
        result = cuda_opt.minimize(single(stopped), start.astype(np.float32), options={"maxfun": 2000})
        f = exact(result.x.astype(float))[0]
    return result.success and "no lower f" in result.message and f > 1e-6


print(sum(map(fails_at_the_best_x, range(300))), "of 300 fits fail at their best x")
far = [seed for seed in range(2000) if ends_far_off(seed)]
print(len(far), "of 2000 stopped solves end as a success by ROUNDING above 1e-6")
