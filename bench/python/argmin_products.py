#!/usr/bin/env python3
"""Usage: argmin_products.py [FILE]

Hessian-vector products of the derivative of a minimum: conjugate gradients on H_FF w = v_F to a relative residual of
1e-10 and a random v. The preconditioner is the identity, the learned diagonal of the solve alone, its correction pairs
alone, or both, with m = 10, and the diagonal alone or both with m = 20. Prints a table, and writes it to FILE as
comma-separated values. On the host, in double precision."""
import sys

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

import cuda_opt.jax  # noqa: E402
from cuda_opt._jax_callback import _solve_one, solve_of  # noqa: E402
from cuda_opt._jax_function import function_of  # noqa: E402
from cuda_opt._jax_implicit import _apply_pairs, conjugate_gradients, restricted  # noqa: E402


def logistic(lower, decades):
    """Mean logistic loss of 1000 samples with 600 features, whose scales lie within so many decades, and a ridge."""
    random = np.random.default_rng(0)
    a = random.standard_normal((1000, 600)) * np.logspace(-decades, 0, 600)
    signs = np.sign(a @ random.standard_normal(600) + 5 * random.standard_normal(1000))

    def fun(x):
        return jnp.mean(jax.nn.softplus(-signs * (a @ x))) + 5e-6 * x @ x

    return fun, np.zeros(600), np.full(600, lower), np.full(600, np.inf)


def torsion(side):
    """Elastic-plastic torsion: the integral of |grad u|^2 / 2 - 5 u with |u| at most the distance to the border."""
    h = 1 / (side + 1)
    place = np.arange(1, side + 1) * h
    distance = np.minimum.outer(np.minimum(place, 1 - place), np.minimum(place, 1 - place)).ravel()

    def fun(x):
        u = jnp.pad(x.reshape(side, side), 1)
        return (jnp.sum(jnp.diff(u, axis=0) ** 2) + jnp.sum(jnp.diff(u, axis=1) ** 2)) / 2 - 5 * h * h * jnp.sum(x)

    return fun, distance, -distance, distance


def diffusion(side):
    """x'Ax/2 - b'x of a diffusion whose conductances lie within four decades, in blocks of 5 x 5; x is at least 0."""
    random = np.random.default_rng(0)
    blocks = 10 ** random.uniform(-2, 2, (side // 5 + 1, side // 5 + 1))
    k = np.kron(blocks, np.ones((5, 5)))[: side + 1, : side + 1]
    b = random.standard_normal(side * side)

    def fun(x):
        u = jnp.pad(x.reshape(side, side), 1)
        down, right = jnp.diff(u, axis=0)[:, :-1], jnp.diff(u, axis=1)[:-1]
        return jnp.sum(k * down**2) / 2 + jnp.sum(k * right**2) / 2 - b @ x

    return fun, np.zeros(side * side), np.zeros(side * side), np.full(side * side, np.inf)


PROBLEMS = {
    "logistic regression, n = 600": lambda: logistic(-np.inf, 0),
    "the same, x >= 0": lambda: logistic(0, 0),
    "scales within 2 decades": lambda: logistic(-np.inf, 2),
    "the same, x >= 0 ": lambda: logistic(0, 2),
    "torsion, n = 2500": lambda: torsion(50),
    "diffusion, n = 2500": lambda: diffusion(50),
}


def products(fun, x0, lower, upper, m):
    function, flat, numeric = function_of(fun, x0, (), {}, value_and_grad=False, has_aux=False)
    options = {"ftol": 0.0, "gtol": 1e-10, "maxcor": m, "maxiter": 100000, "maxfun": 100000}
    x, statistics, pairs = _solve_one(solve_of(function, options, None), True, x0, numeric, lower, upper)
    free = (x > lower) & (x < upper)
    v = jnp.where(free, np.random.default_rng(1).standard_normal(x.size), 0)

    @jax.jit
    def count(pairs):
        _, hessian = jax.linearize(jax.grad(fun), jnp.asarray(x))
        inverse = restricted(pairs, jnp.asarray(free))

        def product(w):
            return jnp.where(free, hessian(jnp.where(free, w, 0)), w)

        return conjugate_gradients(product, v, lambda r: _apply_pairs(*inverse, r), 1e-10, 20 * x.size)[1:3]

    both, none = jnp.asarray(pairs), jnp.zeros_like(pairs).at[-1].set(1)
    diagonal, pairs_alone = none.at[-1].set(both[-1]), both.at[-1].set(1)
    counts = []
    for preconditioner in (none, diagonal, pairs_alone, both):
        products, residual = count(preconditioner)
        assert residual <= 1e-10
        counts.append(int(products))
    return int(free.sum()), int(statistics[1]), *counts


def main(file=None):
    print("| problem | in F | evaluations | none | diagonal | pairs | both | diagonal, m = 20 | both, m = 20 |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    rows = ["problem,free,evaluations,none,diagonal_10,pairs_10,both_10,diagonal_20,both_20"]
    for name, make in PROBLEMS.items():
        problem = make()
        *_, diagonal, _, both = products(*problem, 20)
        numbers = *products(*problem, 10), diagonal, both
        print(f"| {name.strip()} | {' | '.join(map(str, numbers))} |", flush=True)
        rows.append(f'"{name.strip()}",{",".join(map(str, numbers))}')
    if file:
        with open(file, "w") as out:
            out.write("\n".join(rows) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
