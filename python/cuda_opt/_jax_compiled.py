"""JAX functions that are compiled only once during the lifetime of the user's function.

``jax.jit`` stores compiled code with the function object that it was given. Therefore one such object is created for
each of the user's functions and each structure of its arguments. It has only a weak reference to the user's function,
so that neither the function nor the arrays that it refers to are kept alive."""
from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from typing import Any

import jax


class WeakCache:
    """Values by object and key. Objects are compared by identity, and the values are deleted with the object."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[Any, dict[Hashable, Any]]] = {}

    def values_of(self, owner: Any) -> dict[Hashable, Any]:
        """The values of an object; a new dictionary each time if it does not support weak references."""
        entry = self._entries.get(id(owner))
        if entry is not None and entry[0]() is owner:
            return entry[1]
        number, values = id(owner), {}  # type: tuple[int, dict[Hashable, Any]]
        entries = self._entries

        def forget(_: Any) -> None:
            entries.pop(number, None)

        try:
            self._entries[number] = weakref.ref(owner, forget), values
        except TypeError:
            pass
        return values


def _weak(function: Callable[..., Any]) -> Callable[[], Any]:
    try:
        return weakref.ref(function)
    except TypeError:
        return lambda: function


_cache = WeakCache()


def compiled(
    function: Callable[..., Any], key: Hashable, make: Callable[[Callable[..., Any]], Callable[..., Any]]
) -> Callable[..., Any]:
    """Return ``jax.jit(make(function))``, which is the same object for the same function and key.

    Parameters
    ----------
    make : callable
        Returns the function to be compiled for the function given. It is called each time JAX traces, and must not
        refer to the function in any other way.

    Raises
    ------
    TypeError
        if the key, which contains the static leaves of the arguments, is not hashable
    """
    values = _cache.values_of(function)
    try:
        found = values.get(key)
    except TypeError as error:
        raise TypeError(f"an argument of the function is neither numeric nor hashable: {error}") from None
    if found is None:
        reference = _weak(function)

        def traced(*arguments: Any) -> Any:
            return make(reference())(*arguments)

        found = values[key] = jax.jit(traced)
    return found
