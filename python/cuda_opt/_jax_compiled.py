"""JAX functions that are compiled only once during the lifetime of the user's function.

``jax.jit`` stores compiled code with the function object that it was given. Therefore this module creates one function
object for each of the user's functions and each structure of its arguments. That object has only a weak reference to
the user's function, so that neither the function nor the arrays that it refers to are kept alive."""
from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from typing import Any

import jax


class WeakCache:
    """Stores values by an object and a key. Objects are compared by identity; when an object is deleted, so are its
    values."""

    def __init__(self) -> None:
        self._entries: dict[int, tuple[Any, dict[Hashable, Any]]] = {}

    def values_of(self, owner: Any) -> dict[Hashable, Any]:
        """Return the dictionary of values of an object. If the object does not support weak references, nothing can be
        stored for it, and each call returns a new dictionary."""
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
    """Return ``jax.jit(make(function))``. Calls with the same function and key return the same object.

    Parameters
    ----------
    make : callable
        ``make(function)`` returns the function that is compiled. It is called each time JAX traces. It must use only
        its argument and have no other reference to the user's function.

    Raises
    ------
    TypeError
        if the key, which contains the static leaves of the arguments, is not hashable
    """
    def build() -> Callable[..., Any]:
        reference = _weak(function)

        def traced(*arguments: Any) -> Any:
            return make(reference())(*arguments)

        return jax.jit(traced)

    found: Callable[..., Any] = stored(function, key, build)
    return found


def stored(function: Callable[..., Any], key: Hashable, make: Callable[[], Any]) -> Any:
    """Return ``make()``, which is called only once for a function and a key. Its value must have no reference to the
    function."""
    values = _cache.values_of(function)
    try:
        found = values.get(key)
    except TypeError as error:
        raise TypeError(f"an argument of the function is neither numeric nor hashable: {error}") from None
    if found is None:
        found = values[key] = make()
    return found
