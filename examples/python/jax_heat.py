#!/usr/bin/env python3
"""Usage: jax_heat.py [--n N] [--steps K] [--picture FILE]

The conductivity of a rod from temperatures measured over time: JAX differentiates through K implicit time steps of the
heat equation u_t = (c u_x)_x on N cells, whose ends are held at 1 and 0. The unknowns are c in each cell, of which is
known that 0.1 <= c <= 2, and the scale of the sensors, between 0.5 and 1.5: a tree of two arrays. The picture needs
matplotlib."""
import argparse

import jax
import jax.numpy as jnp

import cuda_opt
import cuda_opt.jax

jax.config.update("jax_enable_x64", True)


def temperatures(c, steps):
    """Of all cells after each step, shape (steps, n), from 0 everywhere."""
    n = c.size
    between = jnp.concatenate([2 * c[:1], 2 * c[1:] * c[:-1] / (c[1:] + c[:-1]), 2 * c[-1:]]) * n**2
    step = 0.2 / steps
    below, above = -step * between[:-1], -step * between[1:]
    diagonal = 1 - below - above
    hot = jnp.zeros(n).at[0].set(-below[0])  # the end that is held at 1
    lower, upper = below.at[0].set(0), above.at[-1].set(0)

    def advance(u, _):
        u = jax.lax.linalg.tridiagonal_solve(lower, diagonal, upper, (u + hot)[:, None])[:, 0]
        return u, u

    return jax.lax.scan(advance, jnp.zeros(n), None, steps)[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--picture")
    arguments = parser.parse_args()
    n, steps = arguments.n, arguments.steps

    place = (jnp.arange(n) + 0.5) / n
    truth = jnp.where((place > 0.3) & (place < 0.5), 0.3, jnp.where(place > 0.75, 2.0, 1.0))
    noise = 1e-4 * jax.random.normal(jax.random.key(0), (steps, n))
    measured = 0.9 * (temperatures(truth, steps) + noise)

    def misfit(unknown):
        c = unknown["conductivity"]
        difference = unknown["scale"] * temperatures(c, steps) - measured
        steepness = jnp.sqrt(jnp.diff(c) ** 2 + 1e-6)
        return jnp.sum(difference**2) / 2 + 1e-4 * jnp.sum(steepness)

    result = cuda_opt.jax.minimize(
        misfit,
        {"conductivity": jnp.full(n, 0.7), "scale": jnp.ones(())},
        bounds=cuda_opt.Bounds({"conductivity": 0.1, "scale": 0.5}, {"conductivity": 2.0, "scale": 1.5}),
        options={"maxiter": 1000, "ftol": 1e-12, "gtol": 1e-8, "maxcor": 20},
    )
    found = result.x["conductivity"]
    error = float(jnp.sqrt(jnp.mean((found - truth) ** 2)))
    print(f"{result.message}\n{result.nit} iterations, f = {result.fun:.6g}")
    print(f"scale {float(result.x['scale']):.3f} (0.9), root mean square error of the conductivity {error:.3f}")

    if arguments.picture:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        figure, axes = pyplot.subplots(figsize=(8, 4))
        # Thick and pale below thin and dark: both are seen where they agree.
        axes.plot(place, truth, color="tab:blue", alpha=0.4, linewidth=5, label="truth")
        axes.plot(place, found, color="tab:red", linewidth=1.2, label="found")
        axes.set(xlabel="position (lengths of the rod)", ylabel="conductivity c (lengths² per unit of time)", ylim=0)
        axes.legend()
        figure.tight_layout()
        figure.savefig(arguments.picture, dpi=120)
        print(arguments.picture)


if __name__ == "__main__":
    main()
