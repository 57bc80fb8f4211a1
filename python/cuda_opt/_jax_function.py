"""Represents the user's JAX function as a function of one flat array x and of the numeric leaves of its arguments."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from ._jax_compiled import compiled
from ._jax_trees import Structure, Variables, is_traced, separate, variables_of
from ._solver import GRADIENT, OBJECTIVE
from ._space import name_of


def _pair(returned: Any, rule: str) -> Any:
    """Return what the user's function has returned. Raises TypeError if it is not a pair."""
    if not isinstance(returned, (tuple, list)) or len(returned) != 2:
        what = "jax.Array" if isinstance(returned, jax.Array) else name_of(returned)
        raise TypeError(f"the function returned a {what}: with {rule}")
    return returned


@dataclass(frozen=True)
class Form:
    """The form of the user's function: the structure of its variables, arguments and result, without values of arrays.
    It is hashable."""

    variables: Variables
    # ``arguments`` is the tree (args, kwargs) without its numeric leaves.
    arguments: Structure
    value_and_grad: bool
    has_aux: bool

    def value(self, fun: Callable[..., Any], x: Any, numeric: Any) -> Any:
        """Call the user's function at the flat array x. Return f, or (f, aux) if it has auxiliary results."""
        args, kwargs = self.arguments.join(numeric)
        return fun(self.variables.tree(x), *args, **kwargs)

    def evaluate(self, fun: Callable[..., Any], x: Any, numeric: Any) -> tuple[Any, Any, Any]:
        """Evaluate the user's function at the flat array x. Return f, the gradient as a flat array, and aux or None."""
        if self.value_and_grad:
            both = self.value(fun, x, numeric)
            value, gradient = _pair(both, "value_and_grad=True it returns its value and its gradient")
            gradient = self.variables.flat(gradient, conjugate=True)
        else:
            value, gradient = jax.value_and_grad(lambda x: self.value(fun, x, numeric), has_aux=self.has_aux)(x)
        f, aux = _pair(value, "has_aux=True its value is (f, aux)") if self.has_aux else (value, None)
        if jnp.size(f) != 1:
            raise ValueError(f"{OBJECTIVE} has the shape {jnp.shape(f)}: it has to be one number")
        for what, array in ((OBJECTIVE, f), (GRADIENT, gradient)):
            if jnp.iscomplexobj(array):
                raise TypeError(f"{what} has elements of {jnp.result_type(array)}: they have to be real numbers")
        return f, gradient, aux


@dataclass(frozen=True, eq=False)
class Function:
    """A user's function together with its form. ``compiled()`` returns ``evaluate(x, numeric)`` compiled by JAX, once
    for each function and form."""

    fun: Callable[..., Any]
    form: Form

    def evaluate(self, x: Any, numeric: Any) -> tuple[Any, Any, Any]:
        return self.form.evaluate(self.fun, x, numeric)

    def compiled(self) -> Callable[..., Any]:
        form = self.form
        return compiled(self.fun, form, lambda fun: lambda x, numeric: form.evaluate(fun, x, numeric))

    def check(self, x: Any, numeric: Any) -> None:
        """Trace the function, unless JAX has stored its trace. Raises the exceptions of ``evaluate``, and those of the
        user's function, outside of callbacks, whose exceptions JAX replaces by its own."""
        compiled: Any = self.compiled()
        compiled.eval_shape(x, numeric)

    def compiled_batch(self, axes: tuple[int | None, ...]) -> Callable[..., Any]:
        """Return the compiled function ``evaluate(x, p, numeric)`` for many problems, where p contains the indices of
        problems.

        Row i of x belongs to problem p[i]. A leaf of ``numeric`` has one row per problem if its entry in ``axes`` is 0.
        If the entry is None, the leaf is the same for all problems."""
        form = self.form

        def make(fun: Callable[..., Any]) -> Callable[..., Any]:
            def evaluate(x: Any, p: Any, numeric: Any) -> Any:
                rows = [leaf if axis is None else leaf[p] for leaf, axis in zip(numeric, axes)]
                return jax.vmap(lambda x, rows: form.evaluate(fun, x, rows)[:2], (0, list(axes)))(x, rows)

            return evaluate

        return compiled(self.fun, (form, axes), make)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Function) and self.fun is other.fun and self.form == other.form

    def __hash__(self) -> int:
        return hash((id(self.fun), self.form))


def function_of(
    fun: Callable[..., Any], x0: Any, args: Any, kwargs: Any, *, value_and_grad: bool, has_aux: bool
) -> tuple[Function, jax.Array, list[Any]]:
    """Return the user's function with its form, x0 as one flat array, and the numeric leaves of args and kwargs."""
    flat, variables = variables_of(x0)
    numeric, arguments = separate((args if isinstance(args, tuple) else (args,), dict(kwargs or {})))
    function = Function(fun, Form(variables, arguments, value_and_grad, has_aux))
    return _without_closure(function, flat, numeric) if refers_to_tracers(fun) else (function, flat, numeric)


def refers_to_tracers(function: Any, depth: int = 4) -> bool:
    """Return whether the closure, the default arguments or the partial arguments of a function contain traced values.
    """
    if depth == 0:
        return False
    values = [cell.cell_contents for cell in getattr(function, "__closure__", None) or () if _is_filled(cell)]
    values += [getattr(function, name, None) for name in ("__defaults__", "__kwdefaults__", "args", "keywords")]
    values += [getattr(function, name, None) for name in ("func", "__wrapped__", "__self__")]
    leaves = jax.tree_util.tree_leaves([value for value in values if value is not None])
    return is_traced(leaves) or any(callable(leaf) and refers_to_tracers(leaf, depth - 1) for leaf in leaves)


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _without_closure(function: Function, flat: Any, numeric: list[Any]) -> tuple[Function, jax.Array, list[Any]]:
    """Return a function that receives the traced values of its closure as additional arguments, x0, and the numeric
    leaves.

    ``jax.closure_convert`` would leave integers, and arrays that only ``vmap`` traces, in the closure."""
    form, fun = function.form, function.fun
    trace = jax.make_jaxpr(lambda x, numeric: form.value(fun, x, numeric), return_shape=True)
    closed, shapes = trace(flat, numeric)
    jaxpr, structure = closed.jaxpr, jax.tree_util.tree_structure(shapes)
    variables = form.variables
    leaves, arguments = separate(((numeric, list(map(jnp.asarray, closed.consts))), {}))

    def opened(x: Any, numeric: Any, hoisted: Any) -> Any:
        call = jaxpr_as_fun(ClosedJaxpr(jaxpr, hoisted))
        return jax.tree_util.tree_unflatten(structure, call(variables.flat(x), *map(jnp.asarray, numeric)))

    return Function(opened, Form(variables, arguments, form.value_and_grad, form.has_aux)), flat, leaves
