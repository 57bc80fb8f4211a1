"""The L-BFGS inverse Hessian approximation of a solve, restricted to some variables, as a preconditioner.

The functions use only operators that arrays of NumPy, torch and JAX have in common."""
from __future__ import annotations

from typing import Any


def masked_pairs(module: Any, s: Any, y: Any, initial: Any, free: Any) -> tuple[Any, Any, Any, Any]:
    """Restrict the correction pairs to the variables in ``free``, and compute 1 / s'y and the initial matrix.

    Parameters
    ----------
    module
        the library of the arrays: numpy, torch or jax.numpy
    s, y : arrays of shape (m, n)
        the pairs, oldest first; rows of zeros stand for missing pairs
    initial : array of shape (n,)
        the diagonal of the initial inverse Hessian of the solve
    free : array of bool, of shape (n,)

    Returns
    -------
    s, y
        the pairs, with zeros for variables that are not free
    rho : array of shape (m,)
        1 / s'y; 0 for a pair whose curvature s'y is not positive, which is therefore not used
    initial
        the diagonal, scaled so that y'H_0 y = s'y for the newest pair in use
    """
    s, y = (module.where(free[None], one, 0 * one) for one in (s, y))
    sy, yy, ss = (s * y).sum(1), (y * y).sum(1), (s * s).sum(1)
    used = (sy > 1e-8 * module.sqrt(ss * yy)) & (yy > 0)
    yhy = (y * initial[None] * y).sum(1)
    one = module.ones_like(sy)
    rho = module.where(used, 1 / module.where(used, sy, one), 0 * one)
    newest = module.where(used, used.cumsum(0), 0).argmax()
    scale = module.where(used[newest], sy[newest] / module.where(used[newest], yhy[newest], one[0]), one[0])
    return s, y, rho, scale * initial


def apply_pairs(s: Any, y: Any, rho: Any, initial: Any, v: Any) -> Any:
    """Return H v, where H is the L-BFGS inverse Hessian, by the two-loop recursion with a diagonal initial matrix
    (Nocedal and Wright, algorithm 7.4)."""
    m, factors = len(rho), []
    for i in reversed(range(m)):
        factors.append(rho[i] * (s[i] @ v))
        v = v - factors[-1] * y[i]
    v = initial * v
    for i in range(m):
        v = v + (factors[m - 1 - i] - rho[i] * (y[i] @ v)) * s[i]
    return v


def singular(products: Any, residual: Any) -> str:
    """Return the error message for a linear system that conjugate gradients could not solve."""
    return (
        "the Hessian of the free variables is singular or not positive definite at the solution, which therefore has "
        f"no derivative: conjugate gradients ended after {int(products)} Hessian-vector products with a relative "
        f"residual of {float(residual):.1e}"
    )
