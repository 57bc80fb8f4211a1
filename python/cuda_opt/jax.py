"""``minimize`` and ``minimize_batch`` for functions of JAX, which differentiates and compiles them."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from ._batch import minimize_batch as _minimize_batch
from ._bounds import Bounds
from ._minimize import minimize as _minimize
from ._space import as_array
from ._space_jax import check_precision


def _raveled(side: Any, x0: Any) -> Any:
    """A side's bounds as one array of x0's order: a number for all, or a tree like x0 of numbers and arrays."""
    if side is None or isinstance(side, (int, float)):
        return side

    def broadcast(x: Any, bound: Any) -> jax.Array:
        return jnp.broadcast_to(jnp.asarray(bound, x.dtype), x.shape)

    full = jax.tree_util.tree_map(broadcast, x0, side)  # ValueError where the trees differ
    return ravel_pytree(full)[0]


def _is_pair(value: Any) -> bool:
    """Whether it is the (lower, upper) pair of one variable, as in SciPy."""
    numbers = (int, float, np.integer, np.floating, type(None))
    return isinstance(value, (tuple, list)) and len(value) == 2 and all(isinstance(side, numbers) for side in value)


def _two_sides(bounds: Any) -> Any:
    """Convert a pair (lower, upper) to Bounds; return other forms unchanged. A sequence of pairs of numbers is not such
    a pair."""
    if isinstance(bounds, (tuple, list)) and len(bounds) == 2 and not all(map(_is_pair, bounds)):
        return Bounds(*bounds)
    return bounds


def minimize(
    fun: Callable[..., Any],
    x0: Any,
    args: Any = (),
    bounds: Any = None,
    callback: Callable[..., Any] | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    value_and_grad: bool = False,
    jit: bool = True,
    tol: float | None = None,
) -> Any:
    """Minimise a function written in JAX, on x0's device.

    Parameters
    ----------
    fun : callable
        ``fun(x, *args)`` gives a scalar, in operations of JAX. Its gradient is made by ``jax.value_and_grad``.
    x0 : jax.Array of any shape, or a tree of them
        The start, float64 (which JAX has with ``jax_enable_x64``) or float32; fun gets x in this form. Arrays of a tree
        have to be of one precision.
    args : tuple
        Further arguments of fun, traced where it is compiled. Default: none.
    bounds : Bounds, pair (lower, upper), or sequence of pairs of numbers
        ``lb`` and ``ub``, and lower and upper, are numbers, None, or pytrees with the structure of x0. As in SciPy,
        each pair in a sequence of pairs of numbers holds the bounds of one variable, also if there are two variables:
        ``[(0, 2), (1, 3)]``. A tuple or list of two arrays is a pair (lower, upper). Default: none.
    value_and_grad : bool
        True: fun gives its value and its gradient, in x0's form, itself. Default False.
    jit : bool
        Whether to compile fun, once for each call of ``minimize``. Default True.
    callback : callable
        ``callback(intermediate_result=...)`` at each iterate, as in ``cuda_opt.minimize``; x is of x0's form.
    options, tol
        as in ``cuda_opt.minimize``

    Returns
    -------
    OptimizeResult
        as of ``cuda_opt.minimize``, with ``x`` and ``jac`` of x0's form.

    Notes
    -----
    x and g are memory of the solver, exchanged by DLPack: the x that fun gets is valid during that evaluation. Copy it
    (``jnp.array(x)``) to keep it, which functions without side effects need not.
    """
    x0 = jax.tree_util.tree_map(lambda leaf: leaf if isinstance(leaf, jax.Array) else jnp.asarray(as_array(leaf)), x0)
    dtypes = {leaf.dtype for leaf in jax.tree_util.tree_leaves(x0)}
    if len(dtypes) != 1:
        raise TypeError("the arrays of x0 have to be of one precision, and at least one")
    flat, unravel = ravel_pytree(x0)
    if flat.dtype not in dtypes:
        check_precision(64, "x0")
    if not isinstance(args, tuple):
        args = (args,)

    def of_flat(x: jax.Array, *rest: Any) -> Any:
        if not value_and_grad:
            return jax.value_and_grad(lambda x, *rest: fun(unravel(x), *rest))(x, *rest)
        f, g = fun(unravel(x), *rest)
        return f, ravel_pytree(g)[0]

    bounds = _two_sides(bounds)
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        bounds = Bounds(_raveled(bounds.lb, x0), _raveled(bounds.ub, x0))

    def report(intermediate_result: Any) -> None:
        intermediate_result["x"] = unravel(intermediate_result["x"])
        if callback is not None:
            callback(intermediate_result=intermediate_result)

    evaluate = jax.jit(of_flat) if jit else of_flat
    result = _minimize(evaluate, flat, args, True, bounds, report if callback else None, options, tol=tol)
    result["x"], result["jac"] = unravel(result["x"]), unravel(result["jac"])
    return result


def minimize_batch(
    fun: Callable[..., Any],
    x0: Any,
    data: Any = (),
    bounds: Any = None,
    callback: Callable[..., Any] | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    value_and_grad: bool = False,
    diagonal: Callable[..., Any] | None = None,
    jit: bool = True,
    tol: float | None = None,
) -> Any:
    """Minimise many small functions written in JAX at once, each for itself, on x0's device. It needs
    ``jax_enable_x64``.

    Parameters
    ----------
    fun : callable
        ``fun(x, *data)`` gives a scalar of one problem: x is of shape (n,), and data what is that problem's of the data
        below. ``jax.vmap`` and ``jax.value_and_grad`` make of it what evaluates all that have not ended.
    x0 : jax.Array of shape (count, n)
        The starts, float64 or float32, a problem a row.
    data : tuple
        The problems' own: arrays, or trees of them, of shape (count, ...). What is the same for all fun has of itself.
        Default: none.
    value_and_grad : bool
        True: fun gives its value and its gradient itself. Default False.
    diagonal : callable
        ``diagonal(x, *data)`` gives, of one problem, guesses of 1 / (second derivative of fun by x_i), all positive, of
        shape (n,): the metric that the model of fun starts from. Default: none.
    jit : bool
        Whether to compile fun and diagonal, for each power of two of problems that are left. Default True.
    bounds : Bounds, pair (lower, upper), or sequence of pairs of numbers
        as in ``cuda_opt.minimize_batch``; a pair as in ``minimize``
    callback, options, tol
        as in ``cuda_opt.minimize_batch``

    Returns
    -------
    OptimizeResult
        as of ``cuda_opt.minimize_batch``
    """
    data = jax.tree_util.tree_map(jnp.asarray, data if isinstance(data, tuple) else (data,))
    count = jnp.shape(x0)[0] if jnp.ndim(x0) else 0
    for leaf in jax.tree_util.tree_leaves(data):
        if leaf.shape[:1] != (count,):
            raise ValueError(f"an array of data has the shape {leaf.shape}, but x0 has {count} problems")

    def of_active(one: Callable[..., Any]) -> Callable[..., Any]:
        def evaluate(x: jax.Array, p: jax.Array, data: Any) -> Any:
            return jax.vmap(one)(x, *jax.tree_util.tree_map(lambda leaf: leaf[p], data))

        return jax.jit(evaluate) if jit else evaluate

    evaluate = of_active(fun if value_and_grad else jax.value_and_grad(fun))
    weigh = of_active(diagonal) if callable(diagonal) else diagonal
    start = x0 if isinstance(x0, jax.Array) else jnp.asarray(as_array(x0))
    return _minimize_batch(
        evaluate, start, (data,), True, _two_sides(bounds), callback, options, indices=True, diagonal=weigh, tol=tol
    )
