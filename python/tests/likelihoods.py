"""Maximum likelihood fits with four parameters. Each provides f, which is minus the logarithm of the likelihood, its
gradient and its Hessian. The data are random, with one set for each seed."""
from dataclasses import dataclass
from typing import Any, Callable

import numpy as np


@dataclass
class Fit:
    fun: Callable[[Any], Any]  # f and its gradient
    hessian: Callable[[Any], Any]
    x0: Any

    def standard_errors(self, x):
        """Return the square roots of the diagonal of the inverse Hessian at x."""
        return np.sqrt(np.diag(np.linalg.inv(self.hessian(x))))


def covariates(random, count):
    """Return four covariates: a constant, a normal variable, a uniform one from 0 to 10, and a binary one."""
    columns = [np.ones(count), random.standard_normal(count), 10 * random.random(count), random.integers(0, 2, count)]
    return np.stack(columns, 1).astype(float)


def logistic(seed):
    """Return a logistic regression with 400 observations."""
    random = np.random.default_rng(seed)
    a = covariates(random, 400)
    y = (random.random(400) < 1 / (1 + np.exp(-a @ [-1.0, 0.8, 0.2, 0.5]))).astype(float)

    def fun(x):
        z = a @ x
        return float(np.logaddexp(0, z).sum() - y @ z), a.T @ (1 / (1 + np.exp(-z)) - y)

    def hessian(x):
        p = 1 / (1 + np.exp(-a @ x))
        return (a.T * (p * (1 - p))) @ a

    return Fit(fun, hessian, np.zeros(4))


def poisson(seed):
    """Return a Poisson regression with 300 counts."""
    random = np.random.default_rng(seed)
    a = covariates(random, 300)
    y = random.poisson(np.exp(a @ [0.2, 0.4, 0.1, -0.3])).astype(float)

    def fun(x):
        z = a @ x
        return float(np.exp(z).sum() - y @ z), a.T @ (np.exp(z) - y)

    return Fit(fun, lambda x: (a.T * np.exp(a @ x)) @ a, np.zeros(4))


def decay(seed):
    """Return the fit of a exp(-b t) + c to 200 points with normal noise of unknown standard deviation sigma. The
    variables are a, b, c and log(sigma)."""
    random = np.random.default_rng(seed)
    t = np.linspace(0, 5, 200)
    y = 2 * np.exp(-1.3 * t) + 0.5 + 0.1 * random.standard_normal(200)

    def parts(x):
        e = np.exp(-x[1] * t)
        return x[0] * e + x[2] - y, np.stack([e, -x[0] * t * e, np.ones(200)]), np.exp(-2 * x[3]), e

    def fun(x):
        off, slopes, weight, _ = parts(x)
        squares = off @ off
        return float(200 * x[3] + weight * squares / 2), np.array([*(weight * (slopes @ off)), 200 - weight * squares])

    def hessian(x):
        off, slopes, weight, e = parts(x)
        h = np.zeros((4, 4))
        h[:3, :3] = weight * (slopes @ slopes.T)
        h[0, 1] -= weight * (off @ (t * e))
        h[1, 0] = h[0, 1]
        h[1, 1] += weight * x[0] * (off @ (t**2 * e))
        h[3, :3] = h[:3, 3] = -2 * weight * (slopes @ off)
        h[3, 3] = 2 * weight * (off @ off)
        return h

    return Fit(fun, hessian, np.array([1.0, 1, 0, 0]))


FITS = {"logistic regression": logistic, "Poisson regression": poisson, "decay with unknown noise": decay}
