"""Defines small test problems, some of them with bounds. Most are from More, Garbow, Hillstrom, ACM TOMS 7 (1981)
17, and their names contain the numbers of that paper. f is a sum of squared residuals, and a complex step provides its
gradient. ``random_seed`` returns the seeds of all tests that draw random numbers."""
import os
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np



def random_seed(number=0):
    """Return the seed of random numbers in a test. The environment variable CUDA_OPT_TEST_SEED, a nonnegative integer,
    selects other seeds for all tests."""
    return number + 1000 * int(os.environ.get("CUDA_OPT_TEST_SEED", 0))


# The imaginary part of a complex step is far below the rounding errors of the real part.
STEP = 1e-40


@dataclass
class Problem:
    """The problem of minimising the sum of squares of residuals(x) subject to bounds."""

    name: str
    residuals: Callable[[Any], Any]
    start: Any
    lower: Any = None
    upper: Any = None

    @property
    def x0(self):
        return np.array(self.start, float)

    @property
    def pairs(self):
        """Return the bounds as SciPy's sequence of pairs, or None if there are none."""
        n = len(self.x0)
        if self.lower is None and self.upper is None:
            return None
        sides = (np.broadcast_to(none if side is None else side, n)
                 for side, none in ((self.lower, -np.inf), (self.upper, np.inf)))
        return list(zip(*(side.tolist() for side in sides)))

    def __call__(self, x):
        """Return f(x) and the gradient, which is computed by complex steps."""
        moved = x + 1j * STEP * np.eye(len(x))
        columns = np.array([np.sum(np.asarray(self.residuals(point)) ** 2).imag / STEP for point in moved])
        return float(np.sum(np.asarray(self.residuals(x)) ** 2)), columns

    def value(self, x):
        return self(x)[0]

    def gradient(self, x):
        return self(x)[1]


def rosenbrock(x):
    return np.concatenate([10 * (x[1::2] - x[::2] ** 2), 1 - x[::2]])


def freudenstein_roth(x):
    return [-13 + x[0] + ((5 - x[1]) * x[1] - 2) * x[1], -29 + x[0] + ((x[1] + 1) * x[1] - 14) * x[1]]


def beale(x):
    return [y - x[0] * (1 - x[1] ** i) for i, y in ((1, 1.5), (2, 2.25), (3, 2.625))]


def helical_valley(x):
    theta = np.arctan(x[1] / x[0]) / (2 * np.pi) + (0.5 if x[0].real < 0 else 0)
    return [10 * (x[2] - 10 * theta), 10 * (np.sqrt(x[0] ** 2 + x[1] ** 2) - 1), x[2]]


def bard(x):
    y = [0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39, 0.37, 0.58, 0.73, 0.96, 1.34, 2.10, 4.39]
    u = np.arange(1, 16)
    v = 16 - u
    return y - (x[0] + u / (v * x[1] + np.minimum(u, v) * x[2]))


def gaussian(x):
    y = [0.0009, 0.0044, 0.0175, 0.0540, 0.1295, 0.2420, 0.3521]
    y = np.array([*y, 0.3989, *reversed(y)])
    t = (8 - np.arange(1, 16)) / 2
    return x[0] * np.exp(-x[1] * (t - x[2]) ** 2 / 2) - y


def box_three_dimensional(x):
    t = np.arange(1, 11) / 10
    return np.exp(-t * x[0]) - np.exp(-t * x[1]) - x[2] * (np.exp(-t) - np.exp(-10 * t))


def powell_singular(x):
    a, b, c, d = x[::4], x[1::4], x[2::4], x[3::4]
    parts = [a + 10 * b, np.sqrt(5) * (c - d), (b - 2 * c) ** 2, np.sqrt(10) * (a - d) ** 2]
    return np.concatenate(parts)


def wood(x):
    return [10 * (x[1] - x[0] ** 2), 1 - x[0], np.sqrt(90) * (x[3] - x[2] ** 2), 1 - x[2],
            np.sqrt(10) * (x[1] + x[3] - 2), (x[1] - x[3]) / np.sqrt(10)]


def kowalik_osborne(x):
    y = [0.1957, 0.1947, 0.1735, 0.1600, 0.0844, 0.0627, 0.0456, 0.0342, 0.0323, 0.0235, 0.0246]
    u = np.array([4, 2, 1, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625])
    return y - x[0] * (u**2 + u * x[1]) / (u**2 + u * x[2] + x[3])


def brown_dennis(x):
    t = np.arange(1, 21) / 5
    return (x[0] + t * x[1] - np.exp(t)) ** 2 + (x[2] + x[3] * np.sin(t) - np.cos(t)) ** 2


def biggs_exp6(x):
    t = np.arange(1, 14) / 10
    y = np.exp(-t) - 5 * np.exp(-10 * t) + 3 * np.exp(-4 * t)
    return x[2] * np.exp(-t * x[0]) - x[3] * np.exp(-t * x[1]) + x[5] * np.exp(-t * x[4]) - y


def watson(x):
    n = len(x)
    t = np.arange(1, 30)[:, None] / 29
    j = np.arange(n)
    first = ((j[1:] * t ** (j[1:] - 1)) * x[1:]).sum(1) - ((t**j) * x).sum(1) ** 2 - 1
    return np.concatenate([first, [x[0], x[1] - x[0] ** 2 - 1]])


def penalty_1(x):
    return np.concatenate([np.sqrt(1e-5) * (x - 1), [np.sum(x**2) - 0.25]])


def variably_dimensioned(x):
    s = np.sum(np.arange(1, len(x) + 1) * (x - 1))
    return np.concatenate([x - 1, [s, s**2]])


def trigonometric(x):
    n = len(x)
    i = np.arange(1, n + 1)
    return n - np.sum(np.cos(x)) + i * (1 - np.cos(x)) - np.sin(x)


def brown_almost_linear(x):
    n = len(x)
    return np.concatenate([x[:-1] + np.sum(x) - (n + 1), [np.prod(x) - 1]])


def discrete_boundary_value(x):
    n = len(x)
    h = 1 / (n + 1)
    t = np.arange(1, n + 1) * h
    y = np.concatenate([[0], x, [0]])
    return 2 * x - y[:-2] - y[2:] + h**2 * (x + t + 1) ** 3 / 2


def discrete_integral_equation(x):
    n = len(x)
    h = 1 / (n + 1)
    t = np.arange(1, n + 1) * h
    cube = (x + t + 1) ** 3
    kernel = np.where(t[None, :] <= t[:, None], (1 - t[:, None]) * t[None, :], t[:, None] * (1 - t[None, :]))
    return x + h / 2 * (kernel * cube).sum(1)


def broyden_tridiagonal(x):
    y = np.concatenate([[0], x, [0]])
    return (3 - 2 * x) * x - y[:-2] - 2 * y[2:] + 1


def broyden_banded(x):
    n = len(x)
    parts = x * (1 + x)
    near = [sum(parts[j] for j in range(max(0, i - 5), min(n, i + 2)) if j != i) for i in range(n)]
    return x * (2 + 5 * x**2) + 1 - np.array(near)


def linear_full_rank(x):
    m = 2 * len(x)
    return np.concatenate([x, np.zeros(m - len(x))]) - 2 / m * np.sum(x) - 1


def chebyquad(x):
    n = len(x)
    before, now, sums = np.ones_like(x), 2 * x - 1, []
    for i in range(1, n + 1):
        sums.append(np.mean(now) + (1 / (i**2 - 1) if i % 2 == 0 else 0))
        before, now = now, 2 * (2 * x - 1) * now - before
    return np.array(sums)



def _between(n):
    t = np.arange(1, n + 1) / (n + 1)
    return t * (t - 1)


PROBLEMS = [
    Problem("1, Rosenbrock", rosenbrock, [-1.2, 1]),
    Problem("1, walled off", rosenbrock, [-1.2, 1], upper=[0.5, np.inf]),
    Problem("2, Freudenstein and Roth", freudenstein_roth, [0.5, -2]),
    Problem("2, in a box", freudenstein_roth, [0.5, -2], lower=-1, upper=10),
    Problem("5, Beale", beale, [1, 1]),
    Problem("5, in a box", beale, [1, 1], lower=[0.6, 0.5], upper=[10, 100]),
    Problem("7, helical valley", helical_valley, [-1, 0, 0]),
    Problem("7, in a box", helical_valley, [-1, 0, 0], lower=[-100, -1, -1], upper=[0.8, 1, 1]),
    Problem("8, Bard", bard, [1, 1, 1]),
    Problem("9, Gaussian", gaussian, [0.4, 1, 0]),
    Problem("12, Box", box_three_dimensional, [0, 10, 20]),
    Problem("12, in a box", box_three_dimensional, [0, 10, 20], lower=[0, 5, 0], upper=[2, 9.5, 20]),
    Problem("13, Powell's singular", powell_singular, [3, -1, 0, 1]),
    Problem("14, Wood", wood, [-3, -1, -3, -1]),
    Problem("14, in a box", wood, [-3, -1, -3, -1], lower=-100, upper=[0, 10, 100, 100]),
    Problem("15, Kowalik and Osborne", kowalik_osborne, [0.25, 0.39, 0.415, 0.39]),
    Problem("16, Brown and Dennis", brown_dennis, [25, 5, -5, -1]),
    Problem("18, Biggs' EXP6, in a box", biggs_exp6, [1, 2, 1, 1, 1, 1], lower=0, upper=[2, 8, 1, 7, 5, 5]),
    Problem("20, Watson", watson, [0] * 6),
    Problem("21, extended Rosenbrock", rosenbrock, [-1.2, 1] * 10),
    Problem("21, in a box", rosenbrock, [-1.2, 1] * 10, lower=-1.1, upper=[0.7, 2] * 10),
    Problem("22, extended Powell", powell_singular, np.repeat([[3.0, -1, 0, 1]], 3, 0).T.ravel()),
    Problem("23, penalty I", penalty_1, np.arange(1, 11)),
    Problem("25, variably dimensioned", variably_dimensioned, 1 - np.arange(1, 11) / 10),
    Problem("26, trigonometric, in a box", trigonometric, [0.1] * 10, lower=0.02, upper=1),
    Problem("27, Brown's almost linear", brown_almost_linear, [0.5] * 10),
    Problem("28, discrete boundary value", discrete_boundary_value, _between(10)),
    Problem("28, x <= -0.05", discrete_boundary_value, _between(10), upper=-0.05),
    Problem("29, discrete integral equation", discrete_integral_equation, _between(10)),
    Problem("30, Broyden tridiagonal", broyden_tridiagonal, [-1] * 10),
    Problem("30, in a box", broyden_tridiagonal, [-1] * 10, lower=-0.55, upper=2),
    Problem("31, Broyden banded", broyden_banded, [-1] * 10),
    Problem("32, linear, full rank", linear_full_rank, [1] * 10),
    Problem("35, Chebyquad", chebyquad, np.arange(1, 8) / 8),
    Problem("35, in a box", chebyquad, np.arange(1, 9) / 9, lower=0.1, upper=0.7),
]
