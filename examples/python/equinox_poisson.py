#!/usr/bin/env python3
"""Usage: equinox_poisson.py [--samples K] [--picture FILE]

An adapter for estimators whose solver is an object with init_state, update and run, as in JAXopt: run(params, *data)
returns the parameters and a state. BoxSolver below is such an object. The model is an Equinox module, whose arrays are
the variables and whose functions are static. It describes the rate of a Poisson process, such as the spikes of a
neuron, by a constant and a sum of bumps, none of which is negative. The picture needs matplotlib."""
import argparse
from typing import Any, NamedTuple

import equinox
import jax
import jax.numpy as jnp

import cuda_opt.jax

jax.config.update("jax_enable_x64", True)


class State(NamedTuple):
    """The state that the solver returns: the number of iterations and of evaluations, the loss, and its gradient."""

    iter_num: Any
    evaluations: Any
    value: Any
    grad: Any
    converged: Any


class BoxSolver:
    """Minimise fun(params, *data) over a tree of parameters within bounds.

    bounds is a pair (lower, upper) of numbers or of trees like params. The further options are those of
    cuda_opt.minimize, by SciPy's names, such as maxiter and gtol."""

    def __init__(self, fun, bounds=None, tol=None, **options):
        self.fun, self.bounds, self.tol, self.options = fun, bounds, tol, options

    def init_state(self, init_params, *data):
        value, grad = equinox.filter_value_and_grad(self.fun)(init_params, *data)
        return State(0, 1, value, grad, False)

    def run(self, init_params, *data):
        return self._solve(init_params, data, {})

    def update(self, params, state, *data):
        """Perform one iteration, along the negative gradient, since no correction pairs are kept between calls."""
        params, after = self._solve(params, data, {"maxiter": 1})
        return params, after._replace(
            iter_num=state.iter_num + after.iter_num, evaluations=state.evaluations + after.evaluations
        )

    def _solve(self, params, data, more):
        options = {**self.options, **more}
        result = cuda_opt.jax.minimize(self.fun, params, data, self.bounds, options=options, tol=self.tol)
        return result.x, State(result.nit, result.nfev, result.fun, result.jac, result.success)


def bell(squares):
    return jnp.exp(-squares / 2)


class Rate(equinox.Module):
    """The rate at time t: a constant and bumps of equal width, each with a weight."""

    weights: jax.Array
    constant: jax.Array
    shape: Any  # a function, and therefore static

    def __call__(self, t):
        centres = jnp.linspace(0, 1, self.weights.size)
        return self.constant + self.shape(((t[:, None] - centres) * self.weights.size) ** 2) @ self.weights


def loss(rate, t, counts):
    """The mean negative logarithm of the likelihood of the counts, up to a constant."""
    expected = rate(t)
    return jnp.mean(expected - counts * jnp.log(expected))


class Estimator:
    """The rate of counts. The solver is a parameter of the estimator."""

    def __init__(self, solver):
        self.solver = solver

    def fit(self, t, counts):
        start = Rate(jnp.ones(24), jnp.ones(()), bell)
        self.rate, self.state = self.solver.run(start, t, counts)
        return self


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--picture")
    arguments = parser.parse_args()

    t = jnp.linspace(0, 1, arguments.samples)
    truth = 0.2 + 4 * jnp.exp(-0.5 * ((t - 0.3) / 0.05) ** 2) + 2 * jnp.exp(-0.5 * ((t - 0.7) / 0.08) ** 2)
    counts = jax.random.poisson(jax.random.key(0), truth).astype(float)
    bounds = Rate(0, 1e-3, bell), None  # one lower bound for all weights, and one for the constant
    estimator = Estimator(BoxSolver(loss, bounds, gtol=1e-8, ftol=0.0)).fit(t, counts)
    rate, state = estimator.rate, estimator.state
    error = jnp.sqrt(jnp.mean((rate(t) - truth) ** 2))
    print(f"converged: {state.converged}, loss {state.value:.6f} after {state.iter_num} iterations")
    print(f"{(rate.weights == 0).sum()} of {rate.weights.size} weights are 0, root mean square error {error:.4f}")

    if arguments.picture:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        figure, axes = pyplot.subplots(figsize=(8, 4.5))
        axes.plot(t, counts, ".", color="0.7", label="counts")
        axes.plot(t, truth, ":", color="0.2", label="truth")
        axes.plot(t, rate(t), color="tab:red", label="fit")
        axes.bar(jnp.linspace(0, 1, 24), rate.weights, 0.012, color="tab:red", alpha=0.3, label="weights")
        axes.set(xlabel="time", ylabel="counts per sample, and weights")
        axes.legend()
        figure.savefig(arguments.picture, dpi=120)
        print(arguments.picture)


if __name__ == "__main__":
    main()
