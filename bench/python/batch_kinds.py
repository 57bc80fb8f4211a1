#!/usr/bin/env python3
"""Usage: batch_kinds.py [SEEDS]

Rounds and mean evaluations of batches of eight kinds with a scalar and with the learned diagonal, on the host in double
precision, m = 10, to a projected gradient's largest component of 1e-6 of the start's median one. 100 problems in each
batch, SEEDS (default 3) batches of each kind; prints a table of the sums over the seeds. "Higher" counts problems that
end at a value of f that is higher than with the other by 1e-6 max(1, abs f); where f has several minima, that is
chance."""
import sys

import numpy as np

import cuda_opt

COUNT = 100


def rosenbrock(random):
    def fun(x, p):
        valley, rest = x[:, 1:] - x[:, :-1] ** 2, 1 - x[:, :-1]
        g = np.zeros_like(x)
        g[:, 1:] += 200 * valley
        g[:, :-1] += -400 * x[:, :-1] * valley - 2 * rest
        return (100 * valley**2 + rest**2).sum(1), g

    return fun, random.uniform(-1.5, 0.8, (COUNT, 20)), cuda_opt.Bounds(-1.5, 0.8)


def decays(random):
    """Fits of a1 exp(-r1 t) + a2 exp(-r2 t) + c to 40 noisy values, all of them at least 0."""
    t = np.linspace(0, 5, 40)
    truth = random.uniform([1, 0.1, 1, 1, 0], [3, 0.6, 3, 4, 0.5], (COUNT, 5))

    def curve(x):
        fast, slow = np.exp(-x[:, 1:2] * t), np.exp(-x[:, 3:4] * t)
        return x[:, :1] * fast + x[:, 2:3] * slow + x[:, 4:], fast, slow

    data = curve(truth)[0] + 0.02 * random.standard_normal((COUNT, 40))

    def fun(x, p):
        y, fast, slow = curve(x)
        r = y - data[p]
        g = [r * fast, -r * x[:, :1] * t * fast, r * slow, -r * x[:, 2:3] * t * slow, r]
        return (r**2).sum(1) / 2, np.stack([one.sum(1) for one in g], 1)

    return fun, np.tile([1.0, 0.5, 1.0, 2.0, 0.1], (COUNT, 1)), cuda_opt.Bounds(0, 10)


def regressions(random, scale):
    """Logistic regressions of 80 samples on 15 features, whose scales spread over so many decades."""
    a = random.standard_normal((COUNT, 80, 15)) * np.logspace(-scale, 0, 15)
    signs = np.where(random.random((COUNT, 80)) < 0.5, -1.0, 1.0)

    def fun(x, p):
        z = -signs[p] * np.einsum("kij,kj->ki", a[p], x)
        g = np.einsum("ki,kij->kj", -signs[p] / (1 + np.exp(-z)), a[p]) / 80
        return np.logaddexp(0, z).mean(1) + 5e-5 * (x**2).sum(1), g + 1e-4 * x

    return fun, np.zeros((COUNT, 15)), None


def least_squares(random):
    """Non-negative least squares with condition numbers of 1e4."""
    u = np.linalg.qr(random.standard_normal((COUNT, 30, 30)))[0]
    a = u * np.logspace(0, -2, 30) @ np.swapaxes(np.linalg.qr(random.standard_normal((COUNT, 30, 30)))[0], 1, 2)
    b = random.standard_normal((COUNT, 30))

    def fun(x, p):
        r = np.einsum("kij,kj->ki", a[p], x) - b[p]
        return (r**2).sum(1) / 2, np.einsum("kij,ki->kj", a[p], r)

    return fun, np.ones((COUNT, 30)), cuda_opt.Bounds(0, None)


def acquisition(random):
    """Multi-start maximisation of a Gaussian mixture in [0, 1]^6 plus a slope: several minima."""
    centres, weights = random.random((12, 6)), random.random(12)

    def fun(x, p):
        away = x[:, None] - centres
        bumps = weights * np.exp(-(away**2).sum(2) / 0.18)
        return -bumps.sum(1) + 0.1 * x.sum(1), (bumps[:, :, None] * away / 0.09).sum(1) + 0.1

    return fun, random.random((COUNT, 6)), cuda_opt.Bounds(0, 1)


def counts(random):
    """Poisson regressions with log link, 60 counts, 8 features."""
    a = random.standard_normal((COUNT, 60, 8)) * np.logspace(-1, 0.3, 8) / 2
    y = random.poisson(np.exp(np.clip(np.einsum("kij,kj->ki", a, random.standard_normal((COUNT, 8))), -5, 3)))

    def fun(x, p):
        z = np.einsum("kij,kj->ki", a[p], x)
        rate = np.exp(z)
        return (rate - y[p] * z).mean(1) + 1e-3 * (x**2).sum(1), (
            np.einsum("ki,kij->kj", rate - y[p], a[p]) / 60 + 2e-3 * x
        )

    return fun, np.zeros((COUNT, 8)), None


def springs(random):
    """Chains of 24 masses that hang on springs whose constants spread over two decades."""
    k, rest = 10 ** random.uniform(0, 2, (COUNT, 25)), 1.0

    def fun(x, p):
        first, last = np.zeros((len(x), 1, 2)), np.tile([[20.0, 0]], (len(x), 1, 1))
        points = np.concatenate([first, x.reshape(-1, 24, 2), last], 1)
        along = np.diff(points, axis=1)
        length = np.sqrt((along**2).sum(2) + 1e-6)
        pull = (k[p] * (length - rest) / length)[:, :, None] * along
        g = pull[:, :-1] - pull[:, 1:]
        g[:, :, 1] += 1.0
        f = (k[p] * (length - rest) ** 2).sum(1) / 2 + points[:, 1:-1, 1].sum(1)
        return f, g.reshape(len(x), 48)

    line = np.stack([np.linspace(0, 20, 26)[1:-1], np.zeros(24)], 1).reshape(-1)
    return fun, line + 0.1 * random.standard_normal((COUNT, 48)), None


KINDS = {
    "chained Rosenbrock in a box, n = 20": rosenbrock,
    "sums of two decays, n = 5": decays,
    "logistic regression, n = 15": lambda random: regressions(random, 0),
    "the same, scales over 2 decades": lambda random: regressions(random, 2),
    "non-negative least squares, n = 30": least_squares,
    "mixture of Gaussians, n = 6": acquisition,
    "Poisson regression, n = 8": counts,
    "chains of springs, n = 48": springs,
}


def main(seeds=3):
    print("| kind | rounds, scalar | learned | evaluations, scalar | learned | not converged | higher |")
    print("|---|---:|---:|---:|---:|---|---|")
    for name, make in KINDS.items():
        rounds, evaluations, failed, higher = np.zeros(2), np.zeros(2), np.zeros(2, int), np.zeros(2, int)
        for seed in range(int(seeds)):
            fun, x0, box = make(np.random.default_rng(seed))
            gtol = 1e-6 * float(np.median(np.abs(fun(x0, np.arange(COUNT))[1]).max(1)))
            values = []
            for i, metric in enumerate((cuda_opt.InitialHessian.SCALAR, cuda_opt.InitialHessian.LEARNED)):
                options = {"ftol": 0, "gtol": gtol, "INITIAL_HESSIAN": metric, "maxfun": 5000}
                result = cuda_opt.minimize_batch(fun, x0, bounds=box, indices=True, options=options)
                rounds[i] += result.rounds
                evaluations[i] += result.nfev.mean() / int(seeds)
                failed[i] += int((~result.success).sum())
                values.append(result.fun)
            margin = 1e-6 * np.maximum(1, np.abs(values[0]))
            higher += [int((values[0] > values[1] + margin).sum()), int((values[1] > values[0] + margin).sum())]
        cells = [*map("{:.0f}".format, rounds), *map("{:.1f}".format, evaluations),
                 f"{failed[0]}, {failed[1]}", f"{higher[0]}, {higher[1]}"]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
