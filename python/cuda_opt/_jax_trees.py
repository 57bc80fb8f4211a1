"""JAX pytrees: separates their numeric leaves, which JAX traces, from the static leaves, and handles trees of bounds.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._bounds import Bounds, _from_pairs, replace_none
from ._gate import wrong_shape
from ._solver import GRADIENT
from ._space import bits_of, name_of
from ._space_jax import check_precision

NUMBERS = (int, float, complex, np.generic)
_ONE = np.float32(1)


def is_traced(tree: Any) -> bool:
    """Return whether JAX is tracing a leaf of the tree."""
    return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree_util.tree_leaves(tree))


def is_tracing() -> bool:
    """Return whether JAX is tracing the calling code. While it does so, new arrays have no values."""
    return isinstance(jax.lax.neg(_ONE), jax.core.Tracer)


def is_numeric(leaf: Any) -> bool:
    """Return whether a leaf is a number or an array, which JAX can trace."""
    return isinstance(leaf, (*NUMBERS, jax.Array, np.ndarray)) or hasattr(leaf, "__jax_array__")


def _is_variable(leaf: Any) -> bool:
    """Return whether a leaf of x0 is a variable of the problem. A Python bool is a static flag."""
    return is_numeric(leaf) and not isinstance(leaf, bool)


@dataclass(frozen=True)
class Structure:
    """A tree without its numeric leaves. It is hashable if its static leaves are."""

    tree: Any  # JAX's PyTreeDef
    # For each static leaf, ``static`` contains its position among all leaves of the tree and its value.
    static: tuple[tuple[int, Any], ...]

    def join(self, numeric: Sequence[Any]) -> Any:
        """Return the complete tree, with ``numeric`` as the values of its numeric leaves."""
        static, remaining = dict(self.static), iter(numeric)
        leaves = [static[i] if i in static else next(remaining) for i in range(self.tree.num_leaves)]
        return jax.tree_util.tree_unflatten(self.tree, leaves)


def separate(tree: Any, traced: Callable[[Any], bool] = is_numeric) -> tuple[list[Any], Structure]:
    """Return the leaves for which ``traced`` is true, by default the numeric ones, and the tree without them."""
    leaves, definition = jax.tree_util.tree_flatten(tree)
    static = tuple((i, leaf) for i, leaf in enumerate(leaves) if not traced(leaf))
    return [leaf for leaf in leaves if traced(leaf)], Structure(definition, static)


def as_variable(leaf: Any, default: Any) -> Any:
    """Return a leaf of x0 as a JAX array. Python numbers, and arrays of integers or bool, are converted to the real
    dtype ``default``, and a complex Python number to the complex dtype of the same precision."""
    if isinstance(leaf, complex) and not isinstance(leaf, np.generic):
        return jnp.zeros((), default) + leaf
    if isinstance(leaf, (int, float)) and not isinstance(leaf, np.generic):
        return jnp.asarray(leaf, default)
    if not isinstance(leaf, jax.Array):
        if isinstance(leaf, np.ndarray) and leaf.dtype.kind not in "fiubc":
            raise TypeError(f"x0 has elements of {leaf.dtype}: they have to be float64, float32 or integers")
        leaf = jnp.asarray(leaf)
    return leaf.astype(default) if jnp.issubdtype(leaf.dtype, jnp.integer) or leaf.dtype == bool else leaf


def check_elements(array: Any) -> None:
    """Raise TypeError if the elements of x0 are neither float64 nor float32, or if JAX cannot compute with them."""
    check_precision(bits_of(array.dtype.name), "x0")


@dataclass(frozen=True)
class Variables:
    """Maps the elements of a one-dimensional array of real numbers to the numeric leaves (the variables) of a tree such
    as x0. The real and the imaginary part of a complex number are neighbours in that array."""

    structure: Structure
    shapes: tuple[tuple[int, ...], ...]
    are_complex: tuple[bool, ...]

    @property
    def is_flat(self) -> bool:
        """Return whether x0 itself is an array of real numbers with one axis."""
        return len(self.shapes) == 1 and len(self.shapes[0]) == 1 and not self.are_complex[0]

    @property
    def size(self) -> int:
        return sum(math.prod(shape) << is_complex for shape, is_complex in zip(self.shapes, self.are_complex))

    def tree(self, x: Any, conjugate: bool = False) -> Any:
        """Return the tree in x0's form whose variables are the elements of x, or their conjugates."""
        if self.is_flat:
            return self.structure.join([x])
        parts, first = [], 0
        for shape, is_complex in zip(self.shapes, self.are_complex):
            last = first + (math.prod(shape) << is_complex)
            part = x[first:last].reshape((*shape, 2) if is_complex else shape)
            if is_complex:
                part = jax.lax.complex(part[..., 0], -part[..., 1] if conjugate else part[..., 1])
            parts.append(part)
            first = last
        return self.structure.join(parts)

    def gradient(self, g: Any) -> Any:
        """Return a gradient as a tree in x0's form. For a complex number x + i y it is df/dx - i df/dy, as in JAX."""
        return self.tree(g, conjugate=True)

    def flat(self, tree: Any, conjugate: bool = False) -> Any:
        """Return the leaves of a tree in x0's form, or their conjugates, as an array with one axis.

        Raises
        ------
        TypeError, ValueError
            the gradient has other leaves than x0, or leaves of another shape
        """
        found = {path: leaf for path, leaf in jax.tree_util.tree_leaves_with_path(tree) if _is_variable(leaf)}
        if self.is_flat and len(found) == 1:
            ((n,),), (leaf,) = self.shapes, found.values()
            if jnp.shape(leaf) not in ((n,), (n, 1), (1, n)) and not n == jnp.size(leaf) == 1:
                raise wrong_shape(GRADIENT, jnp.shape(leaf), (n,))
            return leaf.reshape(-1) if hasattr(leaf, "reshape") else jnp.ravel(leaf)
        array: Any = jax.ShapeDtypeStruct
        numbers = self.structure.join([array(shape, float) for shape in self.shapes])
        wanted = {
            path: leaf.shape for path, leaf in jax.tree_util.tree_leaves_with_path(numbers)
            if isinstance(leaf, array)
        }
        if found.keys() != wanted.keys():
            paths = [sorted(map(jax.tree_util.keystr, paths.keys())) for paths in (found, wanted)]
            raise TypeError(f"the gradient has the leaves {paths[0]}, but x0 has the variables {paths[1]}")
        for path, shape in wanted.items():
            if jnp.shape(found[path]) != shape:
                leaf = f"the gradient's leaf {jax.tree_util.keystr(path)}" if path else "the gradient"
                raise ValueError(f"{leaf} has the shape {jnp.shape(found[path])}, not {shape}")
        leaves = [found[path] for path in wanted]
        return jnp.concatenate([
            _reals((jnp.conj(leaf) if conjugate else jnp.asarray(leaf)) + 0j) if is_complex else jnp.ravel(leaf)
            for leaf, is_complex in zip(leaves, self.are_complex)
        ])


def _real_dtype(dtype: Any) -> Any:
    """Return the type of the real and imaginary parts of a type's numbers."""
    return np.empty(0, dtype).real.dtype if jnp.issubdtype(dtype, jnp.complexfloating) else dtype


def _reals(array: Any) -> Any:
    """Return an array's elements as real numbers, along one axis."""
    return jnp.ravel(jnp.stack([array.real, array.imag], -1) if jnp.iscomplexobj(array) else array)


def variables_of(x0: Any) -> tuple[jax.Array, Variables]:
    """Return x0 as an array with one axis, and the ``Variables`` that map it to the tree.

    Raises
    ------
    TypeError
        if there are no variables, or if they are not all float64 and complex128, or all float32 and complex64
    ValueError
        if all arrays are empty
    """
    leaves, structure = separate(x0, _is_variable)
    given = [leaf.dtype for leaf in leaves if hasattr(leaf, "dtype") and jnp.issubdtype(leaf.dtype, jnp.inexact)]
    arrays = [as_variable(leaf, _real_dtype(given[0]) if given else float) for leaf in leaves]
    if not arrays:
        raise TypeError("x0 has neither numbers nor arrays: there are no variables")
    if len(kinds := {_real_dtype(array.dtype).name for array in arrays}) != 1:
        raise TypeError(f"x0 has arrays of {' and '.join(sorted(kinds))}: they have to be of one precision")
    if not any(array.size for array in arrays):
        raise ValueError(f"x0 has the shape {arrays[0].shape}: it has to have at least one element")
    shapes = tuple(array.shape for array in arrays)
    are_complex = tuple(map(jnp.iscomplexobj, arrays))
    parts = [_reals(array) if array.ndim != 1 or jnp.iscomplexobj(array) else array for array in arrays]
    check_elements(parts[0])
    flat = parts[0] if len(parts) == 1 else jnp.concatenate(parts)
    return flat, Variables(structure, shapes, are_complex)


def is_pair(value: Any) -> bool:
    """Return whether the value is the (lower, upper) pair of one variable, as in SciPy."""
    numbers = (int, float, np.integer, np.floating, type(None))
    return isinstance(value, (tuple, list)) and len(value) == 2 and all(isinstance(side, numbers) for side in value)


def two_sides(bounds: Any) -> Any:
    """Convert a pair (lower, upper) to ``Bounds``, and return all other forms of bounds unchanged. Two pairs of
    numbers, such as ((0, 1), (2, 3)), are the bounds of two variables and not the two sides."""
    if isinstance(bounds, (tuple, list)) and len(bounds) == 2 and not all(map(is_pair, bounds)):
        return Bounds(*bounds)
    return bounds


def _numbers(side: Any, infinity: float) -> Any:
    """Return a side of the bounds in which ``infinity`` replaces None, also inside lists. Integers become
    floating-point numbers, because they may be too large for JAX's integers."""
    if isinstance(side, (list, tuple)):
        side = replace_none(side, infinity)
        side = jnp.asarray(side) if is_traced(side) else np.asarray(side)
    if isinstance(side, (np.ndarray, np.generic)) and side.dtype.kind not in "fcb":
        if side.dtype.kind in "SU":
            raise TypeError(f"a bound has elements of {side.dtype}: they have to be real numbers")
        return side.astype(np.float64)
    return infinity if side is None else float(side) if isinstance(side, int) else side


def sides_of(bounds: Any) -> tuple[Any, Any]:
    """Return the lower and the upper bounds in ``Bounds`` or an object like it, without any None."""
    lower, upper = (None, None) if bounds is None else (bounds.lb, bounds.ub)
    return _numbers(lower, -math.inf), _numbers(upper, math.inf)


def _children(tree: Any) -> tuple[list[Any], Any]:
    """Return the children of a tree's root, and the structure of the root without them. A leaf is its own child."""
    return jax.tree_util.tree_flatten(tree, is_leaf=lambda node: node is not tree)


def _bound_of(variable: Any, bound: Any) -> Any:
    """Return a bound with the shape and the type of a variable. For a complex variable a real bound applies to the
    real and to the imaginary part. The real part of a complex bound applies to the real part, and so on."""
    if jnp.iscomplexobj(variable) and not jnp.iscomplexobj(bound):
        bound = bound.astype(_real_dtype(variable.dtype))
        bound = jax.lax.complex(bound, bound)
    return jnp.broadcast_to(bound, variable.shape).astype(variable.dtype)


def _spread(side: Any, x: Any, infinity: float) -> list[Any]:
    """Return the bounds of all variables of the tree x, one array per variable, with that variable's shape."""
    variables, structure = separate(x, _is_variable)
    if not variables:
        return []
    one_leaf = structure.tree.num_leaves == 1 and jax.tree_util.all_leaves([x])
    if side is None or is_numeric(side) or one_leaf:
        bound = jnp.asarray(_numbers(side, infinity))
        if bound.dtype.kind == "c" and not all(map(jnp.iscomplexobj, variables)):
            raise TypeError(f"a bound has elements of {bound.dtype}, but x0 has real numbers")
        return [_bound_of(leaf, bound) for leaf in variables]
    (sides, kind), (parts, wanted) = _children(side), _children(x)
    if kind != wanted:
        raise ValueError(f"a side of the bounds has a {name_of(side)} where x0 has a {name_of(x)}: it has to be a tree "
                         "like x0, or a number, an array or None in the place of a whole part of x0")
    return [leaf for one, part in zip(sides, parts) for leaf in _spread(one, part, infinity)]


def _flat_side(side: Any, x: Any, infinity: float) -> Any:
    if side is None or isinstance(side, (int, float)):
        return side
    leaves = list(map(_reals, _spread(side, x, infinity)))
    return jnp.concatenate(leaves) if len(leaves) != 1 else leaves[0]


def flat_bounds(bounds: Any, flat: jax.Array, variables: Variables) -> Any:
    """Convert bounds in x0's form to bounds of the flat array. Each side of the result is a number for all variables,
    None, or an array."""
    bounds = two_sides(bounds)
    if bounds is None:
        return None
    if not (hasattr(bounds, "lb") and hasattr(bounds, "ub")):
        return _from_pairs(bounds, variables.size)
    x = variables.tree(flat)
    return Bounds(_flat_side(bounds.lb, x, -math.inf), _flat_side(bounds.ub, x, math.inf))


def flat_scales(x_scale: Any, flat: jax.Array, variables: Variables) -> Any:
    """Convert scales in x0's form to scales of the flat array: a number for all variables, None, or an array."""
    return _flat_side(x_scale, variables.tree(flat), 1.0)


def broadcast_bounds(bounds: Any, flat: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Return the lower and the upper bounds as arrays with x0's shape and precision; a missing bound is infinite."""
    sides = map(jnp.asarray, sides_of(bounds))
    lower, upper = (jnp.broadcast_to(side, flat.shape).astype(flat.dtype) for side in sides)
    return lower, upper
