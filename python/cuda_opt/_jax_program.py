"""Solves that are part of a compiled JAX program, on the host.

The program is a ``lax.while_loop``. Its body evaluates f and the gradient at x and calls the handler of
``python/xla/handler.cpp``, which continues the solve in the C library and returns the next x. No Python runs. The
handler is a library of its own. It is compiled if XLA's headers, which are part of jaxlib, are there when cuda_opt is
built. Without it, and on other platforms, the solve is a callback (``_jax_callback``)."""
from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._constants import INTEGERS, REALS
from ._jax_callback import Solve, traced_solve
from ._library import library
from ._options import Options, options_of

_BEGIN, _ADVANCE, _PAIRS = "cuda_opt_begin", "cuda_opt_advance", "cuda_opt_pairs"


def _version_of_xla() -> int:
    """Return 1000 major + minor of the interface for handlers in this jaxlib. XLA writes it only in its headers."""
    header = Path(jax.ffi.include_dir(), "xla/ffi/api/c_api.h").read_text()
    numbers = re.findall(r"#define XLA_FFI_API_M(?:AJOR|INOR) (\d+)", header)
    return 1000 * int(numbers[0]) + int(numbers[1])


@lru_cache(maxsize=None)
def handler() -> Any:
    """Return the library of the handler after it has been registered with JAX, or None if it cannot be used: there is
    none, JAX has no interface for handlers (before 0.5), or its interface is older than the handler. Once XLA has
    refused a handler, the host cannot be used at all, so that the versions are compared first."""
    path = os.environ.get("CUDA_OPT_XLA") or str(Path(library._name).parent / "libcuda_opt_xla.so")
    try:
        found = ctypes.CDLL(path)
        if found.cuda_opt_xla_version() > _version_of_xla():
            return None
    except (OSError, AttributeError, IndexError):
        return None
    ffi: Any = jax.ffi
    for name in _BEGIN, _ADVANCE, _PAIRS:
        function = getattr(found, name.replace("cuda_opt", "cuda_opt_xla"))
        ffi.register_ffi_target(name, ffi.pycapsule(function), platform="cpu")
    found.cuda_opt_xla_waiting.restype = ctypes.c_int64
    return found


def _attributes(options: Options, batches: bool, pairs: int) -> dict[str, Any]:
    items = options.settings.items()
    integers = {INTEGERS[name]: int(value) for name, value in items if name in INTEGERS}
    reals = {REALS[name]: float(value) for name, value in items if name in REALS}
    return {
        "m": np.int32(options.m),
        "batches": batches,
        "kept_pairs": np.int32(pairs),
        "integer_keys": np.array(list(integers), np.int64),
        "integers": np.array(list(integers.values()), np.int64),
        "real_keys": np.array(list(reals), np.int64),
        "reals": np.array(list(reals.values()), np.float64),
    }


def runs_in_program(solve: Solve) -> bool:
    """Return whether the solve needs no Python: JAX is compiling a program, there is a handler, and there is no log."""
    return solve.in_program and handler() is not None and not options_of(dict(solve.options), None).disp


def traced_minimum(solve: Solve, pairs: bool, x0: Any, numeric: Any, lower: Any, upper: Any) -> tuple[Any, ...]:
    """Return what ``traced_solve`` returns, without a callback if the solve needs no Python and runs on a host."""
    options = options_of(dict(solve.options), None)
    callback = partial(traced_solve, solve, pairs)
    if not runs_in_program(solve):
        return callback(x0, numeric, lower, upper)
    kept = solve.most_pairs(x0.size) if pairs else 0
    attributes = _attributes(options, solve.is_batch(x0.size), kept)

    def program(x0: Any, numeric: Any, lower: Any, upper: Any) -> tuple[Any, ...]:
        def evaluate(x: Any) -> Any:
            return solve.function.evaluate(x, numeric)[:2]

        x, g, (task, iterations, evaluations, _), *rows = solve_in_program(evaluate, x0, lower, upper, attributes)
        active = ((x <= lower) | (x >= upper)) & (lower < upper)
        degenerate = (active & (jnp.abs(g) <= solve.degenerate_below)).sum()
        return x, jnp.stack([iterations, evaluations, task, degenerate]).astype(x.dtype), *rows

    found: tuple[Any, ...] = jax.lax.platform_dependent(x0, numeric, lower, upper, cpu=program, default=callback)
    return found


def solve_in_program(
    evaluate: Callable[[Any], tuple[Any, Any]], x0: Any, lower: Any, upper: Any, attributes: dict[str, Any]
) -> tuple[Any, ...]:
    """Minimise inside the program that JAX is tracing, for a host.

    Parameters
    ----------
    evaluate : callable
        ``evaluate(x)`` returns f and the gradient at x, of shape (n,).
    x0, lower, upper : arrays of shape (n,)
    attributes : dict
        The keyword arguments of ``advance``, as ``_attributes`` returns them. If ``kept_pairs`` is k > 0, the last k
        correction pairs are returned as well.

    Returns
    -------
    x, the gradient there, an array of integers (the return code, the numbers of iterations and evaluations, and the
    stopping test), and with k > 0 the array (2 k + 1, n) of ``traced_solve``
    """
    double = bool(getattr(jax.config, "jax_enable_x64"))
    shape: Any = jax.ShapeDtypeStruct
    of_f, of_info = shape((), jnp.float64 if double else jnp.float32), shape((4,), jnp.int32)
    ffi: Any = jax.ffi
    begin = ffi.ffi_call(_BEGIN, shape((2,), jnp.int32), has_side_effect=True)
    advance = ffi.ffi_call(
        _ADVANCE, (of_info, shape(x0.shape, x0.dtype), of_f, shape(x0.shape, x0.dtype)), has_side_effect=True,
        vmap_method="broadcast_all",
    )
    number = begin()

    # The state (x, g, f, info) must be ordered unlike the results of ``advance``, (info, x, f, g). With equal orders,
    # XLA uses the call itself as the result of the loop's body. Its motion of loop-invariant code has then mistaken the
    # call's operands for the elements of the state, regarded x as constant, and evaluated f and g only once, before the
    # loop.
    def body(state: Any) -> Any:
        x, _, _, _ = state
        f, g = evaluate(x)
        info, x, f, g = advance(number, x, jnp.reshape(f, ()).astype(of_f.dtype), g, lower, upper, **attributes)
        return x, g, f, info

    start = jnp.clip(x0, lower, upper), jnp.zeros_like(x0), jnp.zeros((), of_f.dtype), jnp.ones(4, jnp.int32)
    x, g, _, info = jax.lax.while_loop(lambda state: state[3][0] > 0, body, start)
    if not (m := attributes["kept_pairs"]):
        return x, g, info
    of_pairs = shape((2 * int(m) + 1, x0.size), x0.dtype)
    pairs = ffi.ffi_call(_PAIRS, of_pairs, has_side_effect=True, vmap_method="broadcast_all")
    return x, g, info, pairs(number, x)
