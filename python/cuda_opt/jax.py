"""``minimize``, ``minimize_batch`` and ``argmin`` for functions written in JAX. JAX differentiates and compiles these
functions."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._batch import minimize_batch as _minimize_batch
from ._bounds import Bounds, _from_pairs
from ._constants import Task
from ._jax_callback import (
    STATISTICS, Solve, constants, refuse_tracer, solve_now, solve_of, statistics_of, warn_of_failures,
)
from ._jax_compiled import compiled
from ._jax_driven import minimize_batch_driven, minimize_driven
from ._jax_function import Function, function_of, refers_to_tracers
from ._jax_host import host_of, minimize_on_host
from ._jax_implicit import minimum
from ._jax_trees import (
    as_variable, broadcast_bounds, check_elements, flat_bounds, flat_scales, is_traced, is_tracing, sides_of,
    two_sides,
)
from ._minimize import minimize as _minimize
from ._options import options_of, with_defaults
from ._result import Result
from ._space import as_array, name_of


class TracedResult(Result):
    """The result of ``minimize`` and ``minimize_batch`` inside a function that JAX transforms. It is a pytree of
    arrays."""

    x: Any
    fun: Any
    jac: Any
    nit: Any
    nfev: Any
    status: Any
    success: Any
    task: Any
    stop_test: Any
    degenerate: Any
    aux: Any


def _with_pairs(options: Any, n: int) -> Any:
    """Return the options with the default number of correction pairs. JAX compiles f, and an evaluation of a compiled
    f of a few hundred variables usually takes less time than the sweeps over 40 pairs."""
    is_library_choice = n <= 200 or not isinstance(options or {}, Mapping)
    return options if is_library_choice else {"maxcor": 10, **(options or {})}


def _flatten(result: TracedResult) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    names = tuple(sorted(result))
    return tuple(result[name] for name in names), names


jax.tree_util.register_pytree_node(
    TracedResult, _flatten, lambda names, values: TracedResult(zip(names, values))
)


def _traced(
    function: Function, flat: Any, numeric: Any, bounds: Any, options: Any, tol: float | None, warns: bool = False
) -> TracedResult:
    """Return the result of a solve that JAX may trace. f, the gradient and aux are evaluated once more at x, inside the
    function that JAX transforms, so that JAX can differentiate them."""
    solve, variables = solve_of(function, options, tol, warns, bounds is not None), function.form.variables
    numeric = [jnp.asarray(leaf) for leaf in numeric]
    arguments = flat, numeric, *broadcast_bounds(bounds, flat)
    function.check(flat, numeric)
    if is_traced(arguments) or is_tracing():
        x, statistics = minimum(solve, *arguments)
        f, g, aux = function.evaluate(x, numeric)
    else:
        x, statistics = _solved_now(solve, bounds, *arguments)
        f, g, aux = function.compiled()(x, numeric)
    counts = {name: statistics[i].astype(int) for i, name in enumerate(STATISTICS)}
    limit = (counts["task"] <= int(Task.ITERATION_LIMIT)) & (counts["task"] >= int(Task.TIME_LIMIT))
    converged = counts["task"] == int(Task.CONVERGED)
    status = jnp.where(converged, 0, jnp.where(limit, 1, 2))
    x, jac = variables.tree(x), variables.gradient(g)
    result = TracedResult(x=x, fun=f, jac=jac, status=status, success=converged, **counts)
    if function.form.has_aux:
        result["aux"] = aux
    return result


def _solved_now(solve: Solve, bounds: Any, flat: Any, numeric: Any, lower: Any, upper: Any) -> tuple[Any, Any]:
    """Return what ``solve_now`` returns, by a program if possible."""
    result = minimize_driven(solve.function, flat, numeric, bounds, dict(solve.options), None, None)
    if result is None:
        return solve_now(solve, flat, numeric, lower, upper)
    warn_of_failures(solve, np.array([int(result.task)]))
    counts = result.nit, result.nfev, int(result.task), int(result.stop_test)
    arrays = map(np.asarray, (result.x, result.jac, lower, upper))
    return result.x, jnp.asarray(statistics_of(solve, flat.dtype, counts, *arrays))


def _refuse_scales(x_scale: Any) -> None:
    if x_scale is not None:
        raise TypeError(
            "x_scale is given, but JAX is tracing the solve (jit, grad, vmap): divide x0 and the bounds by x_scale, "
            "multiply x by x_scale in fun, and multiply the x of the result by x_scale"
        )


def minimize(
    fun: Callable[..., Any],
    x0: Any,
    args: Any = (),
    bounds: Any = None,
    callback: Callable[..., Any] | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    kwargs: Mapping[str, Any] | None = None,
    value_and_grad: bool = False,
    has_aux: bool = False,
    jit: bool = True,
    tol: float | None = None,
    x_scale: Any = None,
) -> Any:
    """Minimise a function written in JAX, on x0's device, or inside a function that JAX transforms.

    Parameters
    ----------
    fun : callable
        ``fun(x, *args, **kwargs)`` computes a scalar by JAX operations. ``jax.value_and_grad`` provides its gradient.
        Like ``jax.jit``, the solver compiles it once for each function object and each structure and shape of x0, args
        and kwargs. Therefore pass data that changes as an argument, and the same function object each time.
    x0 : number, jax.Array of any shape, or a tree of them
        The start; fun receives x in this form. Numbers and arrays are the variables. Other leaves (functions, strings,
        True and False) are static: fun receives them unchanged. All floating-point arrays must have the same
        precision, float64 (which requires ``jax_enable_x64``) or float32, in which the problem is solved. Python
        numbers, and arrays of integers or bool, are converted to that precision, or to JAX's default precision if x0
        contains nothing else. A complex number counts as two variables, its real and imaginary parts. A real bound
        applies to both parts; the two parts of a complex bound apply to one each. ``jac`` is then the gradient that JAX
        defines, df/dx - i df/dy.
    args : tuple
        Further arguments of fun, as trees. Their numbers and arrays are traced; their other leaves are static and must
        be hashable. Default: none.
    kwargs : dict
        Keyword arguments of fun, under the same rules as args. Default: none.
    bounds : Bounds, pair (lower, upper), or sequence of pairs of numbers
        ``lb`` and ``ub``, and lower and upper, are numbers, None, or trees like x0. In place of a leaf or of a subtree
        of x0, such a tree may have a number, an array that broadcasts to the shape of the leaves, or None for no
        bound. As in SciPy, each pair in a sequence of pairs of numbers contains the bounds of one variable, even if
        there are two variables: ``[(0, 2), (1, 3)]``. A tuple or list of two arrays is a pair (lower, upper). Default:
        none.
    value_and_grad : bool
        True: fun itself returns its value and its gradient, the latter in x0's form. For complex variables it is the
        gradient df/dx - i df/dy, as ``jax.grad`` returns it. Default False.
    has_aux : bool
        True: fun returns ``(f, aux)``, and with value_and_grad ``((f, aux), gradient)``. The result contains ``aux`` at
        x, for which fun is evaluated once more. Default False.
    jit : bool
        False: fun is not compiled, and its Python code runs in each evaluation. Default True.
    callback : callable
        is called as ``callback(intermediate_result=...)`` at each iterate, as in ``cuda_opt.minimize``. Its x has
        x0's form.
    options, tol
        as in ``cuda_opt.minimize``, except that the default of ``maxcor`` is 40 on the host if n is at most 200, and 10
        otherwise: with more variables, on a GPU, and under ``vmap``
    x_scale : number, or tree like x0
        The typical size of each variable, as in ``cuda_opt.minimize``; the tree may have numbers and arrays as one of
        bounds may. It is not available inside a function that JAX transforms. Default: 1.

    Returns
    -------
    OptimizeResult
        The fields of ``cuda_opt.minimize``, with ``x`` and ``jac`` in x0's form. Inside a function that JAX transforms,
        the result is a ``TracedResult``.

    Raises
    ------
    TypeError
        if arrays differ in precision, if callback or x_scale is given inside a function that JAX transforms, or if
        JAX is tracing tol or an option

    Notes
    -----
    Inside ``jit``, ``scan`` and ``cond`` the solve and its derivatives are a part of the compiled program on the host
    and on a GPU. Inside ``vmap``, ``grad``, ``jacfwd`` and ``jacrev`` without ``jit``, with the option ``disp``, and
    where the handler for XLA was not built, the solve is a callback on the host, for which fun is compiled
    (docs/python.md). ``vmap`` solves all problems as one batch if the conditions in docs/python.md hold, and one by
    one otherwise. The derivatives are those of ``argmin``. The result contains ``x``, ``fun``, ``jac``, ``nit``,
    ``nfev``, ``status``, ``success``, ``task`` (a value of ``Task``), ``stop_test`` (a value of ``StopTest``) and
    ``degenerate``, the number of active variables whose multiplier is 0. It contains neither ``message`` nor
    ``hess_inv``.

    Outside these transformations the loop of the solve is a compiled program as well, unless there is a callback or
    ``disp``, jit is False, or fun calls Python (``jax.pure_callback``, ``jax.debug.print``). Then each evaluation is
    one call of the compiled function. On a GPU, x and g are exchanged by DLPack, so that the x that fun receives is
    only valid during that evaluation. A function with side effects that stores x must copy it (``jnp.array(x)``).
    """
    form = {"value_and_grad": value_and_grad, "has_aux": has_aux}
    options, tol = constants(options, tol)
    function, flat, numeric = function_of(fun, x0, args, kwargs, **form)
    variables = function.form.variables
    bounds = flat_bounds(bounds, flat, variables)
    options = _with_pairs(options, flat.size)
    if is_traced((flat, numeric, sides_of(bounds), x_scale)) or is_tracing():
        if callback is not None:
            raise TypeError("callback is given, but JAX is tracing the solve (jit, grad, vmap): there are no callbacks")
        _refuse_scales(x_scale)
        return _traced(function, flat, numeric, bounds, options, tol)

    def report(intermediate_result: Any) -> None:
        intermediate_result["x"] = variables.tree(intermediate_result["x"])
        if callback is not None:
            callback(intermediate_result=intermediate_result)

    both = function.compiled() if jit else function.evaluate

    def evaluate(x: jax.Array) -> Any:
        f, g, _ = both(x, numeric)
        refuse_tracer(f)
        return f, g

    following = report if callback else None
    x_scale = flat_scales(x_scale, flat, variables)
    result = None
    if callback is None and jit and not options_of(options or {}, tol).disp:
        result = minimize_driven(function, flat, numeric, bounds, options, tol, x_scale)
    if result is None and jit and host_of(flat):
        result = minimize_on_host(evaluate, flat, bounds, following, options, tol, x_scale)
    elif result is None:
        result = _minimize(evaluate, flat, (), True, bounds, following, options, tol=tol, x_scale=x_scale)
    if has_aux:
        result["aux"] = both(result["x"], numeric)[2]
    result["x"], result["jac"] = variables.tree(result["x"]), variables.gradient(result["jac"])
    return result


def argmin(
    fun: Callable[..., Any],
    x0: Any,
    data: Any = (),
    bounds: Any = None,
    *,
    kwargs: Mapping[str, Any] | None = None,
    tol: float | None = None,
    options: Mapping[str, Any] | None = None,
    has_aux: bool = False,
    value_and_grad: bool = False,
    return_result: bool = False,
) -> Any:
    """Return the x that minimises ``fun(x, *data)`` subject to bounds, as a differentiable function of data and bounds.

    ``argmin`` works in ``jit``, ``vmap``, ``grad``, ``jacfwd``, ``jacrev``, ``scan`` and ``cond``, in forward and in
    reverse mode, and for derivatives of any order. Values in the closure of fun that JAX is tracing are treated as
    data.

    Parameters
    ----------
    fun, x0, bounds, kwargs, has_aux, value_and_grad
        as for ``minimize``. fun must be twice differentiable at x. The derivative with respect to x0 is 0.
    data : tuple, array or tree
        as for args of ``minimize``
    tol : float
        Tolerance for the largest component of the projected gradient. Default: 1e-10, or 1e-5 if x0 is float32.
    options
        as for ``minimize``, except that ``ftol`` is 0 by default, since the derivative is exact only at a minimum
    return_result : bool
        True: return x and the ``TracedResult`` of ``minimize``. Its ``success`` is true if the solve has converged, and
        its ``degenerate`` is the number of active variables with a multiplier of at most ten times tol. Default False.

    Returns
    -------
    x, or (x, result)

    Raises
    ------
    TypeError
        if JAX is tracing tol or an option
    ValueError
        during differentiation, if the linear system below cannot be solved, because the Hessian of the free variables
        is singular or not positive definite at x (docs/argmin.md). Inside a compiled program that runs without Python
        (see ``minimize``) the derivative is NaN instead, and there are no warnings. Inside other compiled functions
        JAX raises its own exception with this message.

    Warns
    -----
    RuntimeWarning
        if the solve has not converged and return_result is False; during differentiation, if active variables are
        degenerate. x then has only one-sided derivatives. The derivative returned is the one for which these variables
        stay at their bounds.

    Notes
    -----
    Let F be the variables strictly inside the box, A those at a bound, and H the Hessian of fun with respect to x. Then

        dx_A = d bound_A,    H_FF dx_F = -(d grad fun)_F - H_FA dx_A.

    The system is solved by conjugate gradients with Hessian-vector products. The preconditioner is the inverse
    L-BFGS matrix, from the correction pairs of the solve and its learned diagonal. Under ``vmap`` with at most 4096
    variables there is no preconditioner.
    """
    options, tol = constants(options, tol)
    function, flat, numeric = function_of(fun, x0, data, kwargs, value_and_grad=value_and_grad, has_aux=has_aux)
    tolerance = tol if tol is not None else 1e-10 if flat.dtype == jnp.float64 else 1e-5
    chosen = with_defaults(_with_pairs(options, flat.size), ftol=0.0, gtol=tolerance)
    flat_box = flat_bounds(bounds, flat, function.form.variables)
    result = _traced(function, flat, numeric, flat_box, chosen, None, not return_result)
    return (result.x, result) if return_result else result.x


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
    x_scale: Any = None,
) -> Any:
    """Minimise many small functions written in JAX, independently of each other, in one call on x0's device.

    Parameters
    ----------
    fun : callable
        ``fun(x, *data)`` returns a scalar for one problem: x has shape (n,), and data is that problem's part of the
        data below. ``jax.vmap`` and ``jax.value_and_grad`` evaluate it for all problems that have not ended.
    x0 : jax.Array of shape (count, n)
        The starts, float64 or float32, one row per problem. Integers are converted to JAX's default precision.
    data : tuple
        Arrays of shape (count, ...), or trees of them, with one row per problem. fun refers to data that all problems
        share by its closure. Default: none.
    value_and_grad : bool
        True: fun itself returns its value and its gradient. Default False.
    diagonal : callable
        ``diagonal(x, *data)`` returns, for one problem, estimates of 1 / (second derivative of fun with respect to
        x_i), all positive, of shape (n,). They are the diagonal of the initial inverse Hessian H_0. Default: none.
    jit : bool
        True: compile fun and diagonal, once for each function object and each power of two of problems that have not
        ended. Default True.
    bounds : Bounds, pair (lower, upper), or sequence of pairs of numbers
        as in ``cuda_opt.minimize_batch``; a pair as in ``minimize``
    callback, options, tol, x_scale
        as in ``cuda_opt.minimize_batch``

    Returns
    -------
    BatchResult
        as for ``cuda_opt.minimize_batch``. Inside a function that JAX transforms, a ``TracedResult`` of ``minimize``
        whose arrays have a leading axis for the problems; ``callback``, ``diagonal`` and ``x_scale`` are not
        available there.
    """
    data = jax.tree_util.tree_map(jnp.asarray, data if isinstance(data, tuple) else (data,))
    options, tol = constants(options, tol)
    x0 = _starts(x0)
    count = x0.shape[0]
    for leaf in jax.tree_util.tree_leaves(data):
        if leaf.shape[:1] != (count,):
            raise ValueError(f"an array of data has the shape {leaf.shape}, but x0 has {count} problems")
    bounds = two_sides(bounds)
    if bounds is not None and not (hasattr(bounds, "lb") and hasattr(bounds, "ub")):
        bounds = _from_pairs(bounds, x0.shape[1])
    if is_traced((x0, data, sides_of(bounds), x_scale)) or refers_to_tracers(fun) or is_tracing():
        if callback is not None or diagonal is not None:
            raise TypeError(
                "callback or diagonal is given, but JAX is tracing the solve (jit, grad, vmap): there are none inside"
            )
        _refuse_scales(x_scale)
        return _traced_batch(fun, x0, data, bounds, value_and_grad, options, tol)

    # Without data, fun does not need the indices of the problems, and each round launches two kernels fewer.
    has_data = bool(jax.tree_util.tree_leaves(data))

    def of_active(one: Callable[..., Any], differentiate: bool) -> Callable[..., Any]:
        def make(one: Callable[..., Any]) -> Callable[..., Any]:
            both = jax.value_and_grad(one) if differentiate else one

            def evaluate_with_data(x: jax.Array, p: jax.Array, data: Any) -> Any:
                return jax.vmap(both)(x, *jax.tree_util.tree_map(lambda leaf: leaf[p], data))

            def evaluate(x: jax.Array, data: Any) -> Any:
                return jax.vmap(lambda x: both(x, *data))(x)

            return evaluate_with_data if has_data else evaluate

        return compiled(one, ("minimize_batch", differentiate, has_data), make) if jit else make(one)

    if callback is None and diagonal is None and x_scale is None and jit:

        def of_all(one: Callable[..., Any]) -> Callable[..., Any]:
            return lambda x, data: jax.vmap(one if value_and_grad else jax.value_and_grad(one))(x, *data)

        key = "minimize_batch", value_and_grad
        result = minimize_batch_driven(fun, compiled(fun, key, of_all), key, x0, data, bounds, options, tol)
        if result is not None:
            return result
    evaluate = of_active(fun, not value_and_grad)
    weigh = of_active(diagonal, False) if callable(diagonal) else diagonal
    return _minimize_batch(
        evaluate, x0, (data,), True, bounds, callback, options, indices=has_data, diagonal=weigh, tol=tol,
        x_scale=x_scale,
    )


def _starts(x0: Any) -> jax.Array:
    """x0 of a batch as an array of floating-point numbers.

    Raises
    ------
    TypeError, ValueError
        it is not an array of two axes of float64 or float32 or integers, or one of them has no elements
    """
    array = x0 if isinstance(x0, jax.Array) else as_array(x0)
    if not hasattr(array, "shape"):
        raise TypeError(f"x0 is a {name_of(x0)}: it has to be an array of shape (problems, variables)")
    start = as_variable(array, float)
    shape = start.shape
    if start.ndim != 2 or not start.size:
        raise ValueError(f"x0 has the shape {shape}: it has to have two, (problems, variables), neither of them 0")
    check_elements(start)
    return start


def _traced_batch(
    fun: Callable[..., Any], x0: Any, data: Any, bounds: Any, value_and_grad: bool, options: Any, tol: float | None
) -> Any:
    """Return the result of a batch that JAX traces. It is ``minimize`` for one problem, mapped over all problems by
    ``vmap``."""
    form = {"value_and_grad": value_and_grad, "options": options, "tol": tol}
    lower, upper = (side if isinstance(side, float) else jnp.asarray(side) for side in sides_of(bounds))
    axes = tuple(0 if getattr(side, "ndim", 0) == 2 else None for side in (lower, upper))

    def one(x: Any, data: Any, lower: Any, upper: Any) -> TracedResult:
        return minimize(fun, x, data, Bounds(lower, upper), **form)

    return jax.vmap(one, (0, 0, *axes))(x0, data, lower, upper)
