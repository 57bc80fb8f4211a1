"""The derivative of a bound-constrained minimum by the implicit function theorem.

Let x minimise f(x, t) subject to l <= x <= u. Let F be the set of variables strictly between their bounds, A the set of
the other variables, and H the Hessian of f with respect to x. If H_FF is positive definite and no multiplier of A is 0,
then A is constant for small changes of t, l and u, and

    dx_A = dl_A or du_A,    H_FF dx_F = -(d grad f / dt dt)_F - H_FA dx_A.

The system is solved by conjugate gradients with Hessian-vector products. The preconditioner is the L-BFGS approximation
of the inverse Hessian. It is computed from the components in F of the correction pairs and of the learned diagonal of
the solve. In late iterations s_A = 0, hence y_F = H_FF s_F, so that the pairs can be restricted to F."""
from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._inverse import masked_pairs, singular
from ._jax_callback import STATISTICS, Solve
from ._jax_program import runs_in_program, traced_minimum


def conjugate_gradients(
    product: Callable[[Any], Any], b: Any, precondition: Callable[[Any], Any], tolerance: float, limit: int
) -> tuple[Any, Any, Any, Any]:
    """Solve product(w) = b by preconditioned conjugate gradients.

    Returns
    -------
    w, the number of products, the relative residual, and whether all curvatures p'Hp were positive
    """
    size = jnp.linalg.norm(b)
    epsilon = float(np.finfo(np.dtype(b.dtype)).eps)

    def goes_on(state: Any) -> Any:
        _, r, _, _, k, definite = state
        return (jnp.linalg.norm(r) > tolerance * size) & (k < limit) & definite

    def advance(state: Any) -> Any:
        w, r, p, rz, k, _ = state
        h = product(p)
        curvature = p @ h
        # Where the curvature p'Hp is below its own rounding error, H is singular in floating-point arithmetic.
        definite = curvature > epsilon * jnp.linalg.norm(p) * jnp.linalg.norm(h)
        step = jnp.where(definite, rz / jnp.where(definite, curvature, 1), 0)
        w, r = w + step * p, r - step * h
        z = precondition(r)
        next_rz = r @ z
        return w, r, z + next_rz / jnp.where(rz == 0, 1, rz) * p, next_rz, k + 1, definite

    z = precondition(b)
    # Inside shard_map, JAX requires that all elements of the state are marked as different on each device.
    definite = (size == size) | True
    start = jnp.zeros_like(b), b, z, b @ z, 0, definite
    w, r, _, _, k, definite = jax.lax.while_loop(goes_on, advance, start)
    return w, k, jnp.linalg.norm(r) / jnp.where(size == 0, 1, size), definite


def _apply_pairs(s: Any, y: Any, rho: Any, initial: Any, v: Any) -> Any:
    """Multiply v by the L-BFGS inverse Hessian, as ``apply_pairs`` does. JAX compiles its own loops faster than
    unrolled Python loops."""

    def first(v: Any, pair: Any) -> Any:
        s, y, rho = pair
        factor = rho * (s @ v)
        return v - factor * y, factor

    def second(v: Any, pair: Any) -> Any:
        (s, y, rho), factor = pair
        return v + (factor - rho * (y @ v)) * s, None

    v, factors = jax.lax.scan(first, v, (s, y, rho), reverse=True)
    return jax.lax.scan(second, initial * v, ((s, y, rho), factors))[0]


def restricted(pairs: Any, free: Any) -> Any:
    """Return the arguments of ``_apply_pairs``, restricted to the free variables. ``pairs`` is the array (2 m + 1, n)
    that ``traced_solve`` returns."""
    m = len(pairs) // 2
    return masked_pairs(jnp, pairs[:m], pairs[m:-1], pairs[-1], free)


def _verify(tolerance: float, products: Any, residual: Any, definite: Any, degenerate: Any, active: Any) -> Any:
    """Raise an exception if the Hessian is singular, and warn of degenerate active variables. This function runs on the
    host and returns zeros, which JAX adds to the solution so that the check is not optimised away."""
    every = np.broadcast_arrays(products, residual, definite, degenerate, active)
    zeros = np.zeros(every[1].shape, every[1].dtype)
    products, residual, definite, degenerate, active = map(np.ravel, every)
    if (failed := np.flatnonzero(~definite.astype(bool) | ~(residual <= tolerance))).size:
        raise ValueError(singular(products[failed[0]], residual[failed[0]]))
    if degenerate[most := int(degenerate.argmax())] > 0:
        warnings.warn(
            f"{int(degenerate[most])} of the {int(active[most])} active variables are degenerate: their multiplier is "
            "0, and the derivative is that of one side, on which they stay at their bounds",
            RuntimeWarning, stacklevel=2,
        )
    return zeros


def limits(dtype: Any, n: int) -> tuple[float, float, int]:
    """Return three limits of the conjugate gradient method: the relative residual at which it stops, the largest
    relative residual that is accepted, and the largest number of Hessian-vector products."""
    double = jnp.dtype(dtype) == jnp.float64
    return (1e-10, 1e-6, 10 * n + 100) if double else (1e-5, 1e-2, 10 * n + 100)


def _solve_free(
    verifies: bool, pairs: Any, free: Any, degenerate: Any, product: Callable[[Any], Any], b: Any
) -> Any:
    """Return the solution w of product(w) = b. If conjugate gradients cannot find it, w is NaN, or, with ``verifies``,
    the program calls Python, which raises an exception."""
    tolerance, accepted, limit = limits(b.dtype, b.size)
    inverse = restricted(pairs, free)
    w, products, residual, definite = conjugate_gradients(
        product, b, partial(_apply_pairs, *inverse), tolerance, limit
    )
    # A derivative that is NaN already stays NaN. It does not show that the Hessian is singular.
    finite = jnp.isfinite(b).all()
    w, residual = jnp.where(finite, w, jnp.nan), jnp.where(finite, residual, 0)
    if not verifies:
        return jnp.where(definite & (residual <= accepted), w, jnp.nan)
    active = b.size - free.sum()
    shape: Any = jax.ShapeDtypeStruct
    zero = jax.pure_callback(
        partial(_verify, accepted), shape((), b.dtype), products, residual, definite, degenerate, active,
        vmap_method="broadcast_all",
    )
    return w + zero


@partial(jax.jit, static_argnums=0)
def _tangent(solve: Solve, x: Any, statistics: Any, pairs: Any, primals: Any, tangents: Any) -> Any:
    """Return the tangent (directional derivative) of the minimiser x. It is linear in the tangents of the numeric
    leaves and of the bounds."""
    (numeric, lower, upper), (d_numeric, d_lower, d_upper) = primals, tangents
    evaluate = solve.function.evaluate

    def gradient(x: Any, numeric: Any) -> Any:
        return evaluate(x, numeric)[1]

    g = jax.lax.stop_gradient(gradient(x, numeric))
    free = (x > lower) & (x < upper)
    at_lower = ~free & (x <= lower) & ((x < upper) | (g >= 0))
    dx_active = jnp.where(free, 0, jnp.where(at_lower, d_lower, d_upper))
    _, change = jax.jvp(gradient, (x, numeric), (dx_active, d_numeric))
    _, hessian = jax.linearize(lambda x: gradient(x, numeric), x)

    def product(w: Any) -> Any:
        """Multiply w by the block-diagonal matrix diag(H_FF, I), which is positive definite if H_FF is."""
        return jnp.where(free, hessian(jnp.where(free, w, 0)), w)

    degenerate = jax.lax.stop_gradient(statistics)[STATISTICS.index("degenerate")]
    inner = partial(_solve_free, not runs_in_program(solve), jax.lax.stop_gradient(pairs), free, degenerate)
    w = jax.lax.custom_linear_solve(product, jnp.where(free, -change, 0), inner, symmetric=True)
    return jnp.where(free, w, dx_active)


def _differentiable(solve: Solve, with_pairs: bool) -> Callable[..., tuple[Any, ...]]:
    @jax.custom_jvp
    def found(x0: Any, numeric: Any, lower: Any, upper: Any) -> tuple[Any, ...]:
        return traced_minimum(solve, with_pairs, x0, numeric, lower, upper)

    @found.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        # The solve is itself differentiable, as derivatives of higher order require.
        x, statistics, pairs = _differentiable(solve, True)(*primals)
        dx = _tangent(solve, x, statistics, pairs, primals[1:], tangents[1:])
        results = (x, statistics, pairs)[: 2 + with_pairs]
        return results, (dx, *map(jnp.zeros_like, results[1:]))

    return found


@partial(jax.jit, static_argnums=0)
def minimum(solve: Solve, x0: Any, numeric: Any, lower: Any, upper: Any) -> tuple[Any, Any]:
    """Return x at the minimum and the statistics of the solve. JAX can apply any of its transformations to this
    function."""
    x, statistics = _differentiable(solve, False)(x0, numeric, lower, upper)
    return x, statistics
