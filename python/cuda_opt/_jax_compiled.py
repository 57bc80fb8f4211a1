"""Functions of JAX that are compiled once, for as long as the user's function lives.

``jax.jit`` keeps what it has compiled with the function object that it was given. So one such object is made for each
user's function, and for each structure of its arguments. It refers to the user's function weakly, so that neither the
functions nor the arrays that they refer to are kept alive."""
from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from typing import Any

import jax


class WeakCache:
    """Values by object and key. An object is identified by its identity, and its values are dropped with it."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[Any, dict[Hashable, Any]]] = {}

    def values_of(self, owner: Any) -> dict[Hashable, Any]:
        """The values of an object; a new dictionary for objects that have no weak references."""
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
    """``jax.jit(make(function))``, the same object for the same function and key.

    Parameters
    ----------
    make : callable
        Given the function, returns what is to be compiled; called each time JAX traces. It must not refer to the
        function by other ways.

    Raises
    ------
    TypeError
        the key, which has the static leaves of arguments, is not hashable
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
