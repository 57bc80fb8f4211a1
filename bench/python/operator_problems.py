#!/usr/bin/env python3
"""Usage: operator_problems.py [SIDE ...] [--starts K] [--identity]

Evaluations of ``cuda_opt.minimize`` with an operator as initial Hessian and with the scalar, on fields of SIDE x SIDE
points (default: 30 60 120), as a Markdown table. The operator is the inverse Laplacian, restricted to the free
variables or of their rows and columns; with --identity it is the identity. Each number is the median over K starts
(default 5) that differ by 1e-8 (relative) and 1e-10. Requires SciPy."""
from __future__ import annotations

import argparse
from statistics import median

import numpy as np
import scipy.fft
import scipy.sparse as sparse
import scipy.sparse.linalg as sparse_linalg

import cuda_opt


def projected_gradient(x, g, lower, upper):
    return np.abs(np.where(g > 0, np.minimum(g, x - lower), np.maximum(g, x - upper))).max()


class Problem:
    """A field u on a square grid; n = side**2 and h = 1 / (side + 1). fun(x) is f and its gradient."""

    def __init__(self, name, side, start=0.0, lower=-np.inf, upper=np.inf, tolerance=None):
        self.name, self.side, self.h = name, side, 1 / (side + 1)
        n = side * side
        self.lower, self.upper = np.broadcast_to(lower, n).astype(float), np.broadcast_to(upper, n).astype(float)
        self.start = np.clip(np.broadcast_to(start, n).astype(float), self.lower, self.upper)
        self.border = np.zeros((side + 2, side + 2))
        self.tolerance = tolerance

    def with_tolerance(self):
        if self.tolerance is None:
            g = self.fun(self.start)[1]
            self.tolerance = 1e-6 * projected_gradient(self.start, g, self.lower, self.upper)
        return self

    def with_border(self, x):
        u = self.border.copy()
        u[1:-1, 1:-1] = x.reshape(self.side, self.side)
        return u


class Torsion(Problem):
    """The integral of |grad u|^2 / 2 - 5 u, where |u| is at most the distance to the border."""

    def __init__(self, side):
        near = np.minimum(np.arange(1, side + 1), np.arange(side, 0, -1)) / (side + 1)
        distance = np.minimum(near[:, None], near[None, :]).ravel()
        super().__init__("torsion", side, distance, -distance, distance, 1e-6 / (side + 1))

    def fun(self, x):
        u = self.with_border(x)
        product = (4 * u[1:-1, 1:-1] - u[:-2, 1:-1] - u[2:, 1:-1] - u[1:-1, :-2] - u[1:-1, 2:]).ravel()
        load = 5 * self.h**2
        return 0.5 * x @ product - load * x.sum(), product - load


class MinimalSurface(Problem):
    """The area of a surface with two triangles per cell and given values on the border. The obstacle is u >= 1 on the
    middle square of half the side."""

    def __init__(self, side, obstacle=False):
        t = np.linspace(0, 1, side + 2)
        lower = np.full((side, side), -np.inf)
        middle = np.abs(t[1:-1] - 0.5) <= 0.25
        if obstacle:
            lower[np.ix_(middle, middle)] = 1
        name = "minimal surface over an obstacle" if obstacle else "minimal surface"
        super().__init__(name, side, np.maximum(lower.ravel(), 0), lower.ravel())
        self.border[0] = self.border[-1] = 1 - (2 * t - 1) ** 2

    def fun(self, x):
        u, h = self.with_border(x), self.h
        g, area = np.zeros_like(u), 0.0
        corners = [np.s_[:-1, :-1], np.s_[1:, :-1], np.s_[:-1, 1:]], [np.s_[1:, 1:], np.s_[:-1, 1:], np.s_[1:, :-1]]
        for corner, one, other in corners:
            a, b = (u[one] - u[corner]) / h, (u[other] - u[corner]) / h
            s = np.sqrt(1 + a * a + b * b)
            area += 0.5 * h * h * s.sum()
            g[one] += 0.5 * h * a / s
            g[other] += 0.5 * h * b / s
            g[corner] -= 0.5 * h * (a + b) / s
        return area, g[1:-1, 1:-1].ravel()


class PLaplacian(Problem):
    """The integral of (|grad u|^2 + 1e-4)^2 / 4 - u, with 0 <= u <= 1/4."""

    def __init__(self, side):
        bump = np.sin(np.pi * np.arange(1, side + 1) / (side + 1))
        super().__init__("p-Laplacian", side, 0.01 * np.outer(bump, bump).ravel(), 0, 0.25)

    def fun(self, x):
        u, h = self.with_border(x), self.h
        down, right = (u[1:, :-1] - u[:-1, :-1]) / h, (u[:-1, 1:] - u[:-1, :-1]) / h
        q = down**2 + right**2 + 1e-4
        g = np.zeros_like(u)
        g[1:, :-1] += q * down * h
        g[:-1, 1:] += q * right * h
        g[:-1, :-1] -= q * (down + right) * h
        return h * h * ((q * q).sum() / 4 - x.sum()), g[1:-1, 1:-1].ravel() - h * h


def restricted_inverse(side):
    """The inverse Laplacian by sine transforms, restricted to the free variables."""
    w = 2 - 2 * np.cos(np.pi * np.arange(1, side + 1) / (side + 1))
    eigenvalues = w[:, None] + w[None, :]

    def apply(v, free):
        field = scipy.fft.dstn(v.reshape(side, side), type=1) / eigenvalues
        return np.where(free, scipy.fft.idstn(field, type=1).ravel(), 0.0)

    return apply


def inverse_of_free(side):
    """The inverse of the Laplacian's rows and columns of the free variables, which is factorised when they change."""
    line = sparse.diags([-np.ones(side - 1), 2 * np.ones(side), -np.ones(side - 1)], [-1, 0, 1])
    identity = sparse.identity(side)
    laplacian = sparse.csr_matrix(sparse.kron(line, identity) + sparse.kron(identity, line))
    kept = {"free": None}

    def apply(v, free):
        if kept["free"] is None or not np.array_equal(kept["free"], free):
            kept["free"], index = free.copy(), np.flatnonzero(free)
            block = sparse.csc_matrix(laplacian[index][:, index])
            kept["factors"] = sparse_linalg.splu(block, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
        z = np.zeros_like(v)
        z[free] = kept["factors"].solve(np.ascontiguousarray(v[free]))
        return z

    return apply


def evaluations(problem, seed, **arguments):
    """The evaluations and applications of a solve from a perturbed start."""
    random = np.random.default_rng(seed)
    moves = random.standard_normal((2, problem.start.size))
    start = np.clip(problem.start * (1 + 1e-8 * moves[0]) + 1e-10 * moves[1], problem.lower, problem.upper)
    options = {"gtol": problem.tolerance, "ftol": 0, "maxcor": 10, "maxfun": 20000, "maxiter": 20000}
    options |= arguments.pop("options", {})
    result = cuda_opt.minimize(
        problem.fun, start, bounds=cuda_opt.Bounds(problem.lower, problem.upper), options=options, **arguments
    )
    assert result.success, result.message
    return result.nfev


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sides", nargs="*", type=int, default=[30, 60, 120])
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--identity", action="store_true")
    given = parser.parse_args()
    print("| problem | n | scalar | learned diagonal | operator | applications |\n|---|---:|---:|---:|---:|---:|")
    for side in given.sides:
        restricted, of_free = restricted_inverse(side), inverse_of_free(side)
        cases = (MinimalSurface(side), restricted), (PLaplacian(side), restricted)
        cases += (Torsion(side), of_free), (MinimalSurface(side, True), of_free)
        for problem, operator in cases:
            problem.with_tolerance()
            if given.identity:
                operator = np.where
            applications = []

            def apply(v, free):
                applications[-1] += 1
                return np.where(free, v, 0.0) if operator is np.where else operator(v, free)

            counts = {kind: [] for kind in ("scalar", "learned", "operator")}
            for seed in range(given.starts):
                scalar = {"options": {"INITIAL_HESSIAN": cuda_opt.InitialHessian.SCALAR}}
                counts["scalar"].append(evaluations(problem, seed, **scalar))
                counts["learned"].append(evaluations(problem, seed))
                applications.append(0)
                counts["operator"].append(evaluations(problem, seed, preconditioner=apply))
            row = [f"{median(values):.0f}" for values in (*counts.values(), applications)]
            print(f"| {problem.name} | {side**2:,} | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
