"""The inverse Hessian of a solve's correction pairs, restricted to some variables: a preconditioner.

It is written in operators that arrays of NumPy, torch and JAX have alike."""
from __future__ import annotations

from typing import Any


def masked_pairs(module: Any, s: Any, y: Any, initial: Any, free: Any) -> tuple[Any, Any, Any, Any]:
    """The elements of the pairs in ``free``, 1 / s'y of each, and the initial matrix.

    Parameters
    ----------
    module
        numpy, torch or jax.numpy, of which the arrays are
    s, y : arrays of shape (m, n)
        oldest pair first; rows of zeros are no pairs
    initial : array of shape (n,)
        the diagonal of the initial inverse Hessian of the solve
    free : array of bool, of shape (n,)

    Returns
    -------
    s, y
        with zeros outside of free
    rho : array of shape (m,)
        1 / s'y, and 0 for pairs that are left out, since their curvature in free is not positive
    initial
        the diagonal, scaled so that y'H_0 y = s'y for the newest pair in use
    """
    s, y = s * free, y * free
    sy, yy, ss = (s * y).sum(1), (y * y).sum(1), (s * s).sum(1)
    used = (sy > 1e-8 * module.sqrt(ss * yy)) & (yy > 0)
    yhy = (y * initial * y).sum(1)
    one = module.ones_like(sy)
    rho = module.where(used, 1 / module.where(used, sy, one), 0 * one)
    newest = (used.cumsum(0) * used).argmax()
    scale = module.where(used[newest], sy[newest] / module.where(used[newest], yhy[newest], one[0]), one[0])
    return s, y, rho, scale * initial


def apply_pairs(s: Any, y: Any, rho: Any, initial: Any, v: Any) -> Any:
    """H v by the two loops of Nocedal and Wright's algorithm 7.4, with a diagonal initial matrix."""
    m, factors = len(rho), []
    for i in reversed(range(m)):
        factors.append(rho[i] * (s[i] @ v))
        v = v - factors[-1] * y[i]
    v = initial * v
    for i in range(m):
        v = v + (factors[m - 1 - i] - rho[i] * (y[i] @ v)) * s[i]
    return v


def singular(products: Any, residual: Any) -> str:
    """The sentence for a system that conjugate gradients could not solve."""
    return (
        "the Hessian of the free variables is singular or not positive definite at the solution, which therefore has "
        f"no derivative: conjugate gradients ended after {int(products)} Hessian-vector products with a relative "
        f"residual of {float(residual):.1e}"
    )
