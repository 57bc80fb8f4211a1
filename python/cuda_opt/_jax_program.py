"""Solves that are part of a compiled JAX program, on the host and on CUDA.

The program is a ``lax.while_loop``. Its body evaluates f and the gradient at x and calls the handler of
``python/xla/handler.cpp``, which continues the solve in the C library and returns the next x. No Python runs, and the
arrays stay on their device. Under ``vmap`` one loop solves all problems.

The handler is a library of its own. It is compiled if XLA's headers, which are part of jaxlib, are there when cuda_opt
is built. Without it, and on other platforms, the solve is a callback (``_jax_callback``)."""
from __future__ import annotations

import ctypes
import math
import os
import re
from collections.abc import Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_batching import custom_vmap
from jax.extend.core import Primitive
from jax.interpreters import mlir

from ._backends import backends
from ._constants import INTEGERS, REALS
from ._jax_callback import Solve, traced_solve
from ._library import library
from ._options import Options, chooses_hessian, options_of
from ._solver import Solver

_BEGIN, _ADVANCE, _END = "cuda_opt_begin", "cuda_opt_advance", "cuda_opt_end"

# A call of a handler. Its side effect is declared to XLA, which therefore performs each call once. It is not declared
# to JAX, as ``jax.ffi.ffi_call`` would do: JAX executes programs with declared side effects by its Python code instead
# of its C++ code, which takes 0.1 ms more per execution (docs/notes/jax_programs.md).
_call: Any = Primitive("cuda_opt")
_call.multiple_results = True
_call.def_abstract_eval(lambda *_, results, lower: results)
mlir.register_lowering(_call, lambda context, *operands, results, lower: lower(context, *operands))


def _caller(name: str, *results: tuple[tuple[int, ...], Any], aliases: Any = None) -> Callable[..., Any]:
    """Return a function that calls a handler with arrays and attributes. The results have these shapes and types."""
    ffi: Any = jax.ffi
    rule = ffi.ffi_lowering(name, has_side_effect=True, operand_output_aliases=aliases)
    shapes = tuple(jax.core.ShapedArray(shape, np.dtype(dtype)) for shape, dtype in results)
    return lambda *arrays, **attributes: _call.bind(*arrays, results=shapes, lower=partial(rule, **attributes))


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
    for name in _BEGIN, _ADVANCE, _END:
        for platform in "cpu", "CUDA":
            function = getattr(found, name.replace("cuda_opt", "cuda_opt_xla") + "_" + platform)
            ffi.register_ffi_target(name, ffi.pycapsule(function), platform=platform)
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    found.cuda_opt_xla_waiting.restype = found.cuda_opt_xla_lend.restype = number
    found.cuda_opt_xla_lend.argtypes = [*4 * [pointer], number, number, ctypes.c_int32, ctypes.c_int32]
    found.cuda_opt_xla_take_back.argtypes = [number, pointer, pointer]
    return found


@lru_cache(maxsize=None)
def _solves_on_cuda() -> bool:
    return backends()["cuda"].works


def solves_on(device: Any) -> bool:
    """Return whether solves within programs are possible on a device."""
    return device.platform == "cpu" or (device.platform in ("gpu", "cuda") and _solves_on_cuda())


def _has_gpu() -> bool:
    """Return whether JAX has a GPU on which the C library can solve."""
    try:
        return solves_on(jax.local_devices(backend="cuda")[0])
    except RuntimeError:
        return False


_NO_SETTINGS: dict[str, Any] = {
    "m": np.int32(0), "kept_pairs": np.int32(0), "reals": np.array([]),
    "batches": False, "bounded": False, "chooses_hessian": True,
    **{name: np.array([], np.int64) for name in ("integer_keys", "integers", "real_keys")},
}


def _attributes(solve: Solve, options: Options, n: int, with_pairs: bool) -> dict[str, Any]:
    items = options.settings.items()
    integers = {INTEGERS[name]: int(value) for name, value in items if name in INTEGERS}
    reals = {REALS[name]: float(value) for name, value in items if name in REALS}
    return {
        "m": np.int32(options.m),
        "kept_pairs": np.int32(solve.most_pairs(n) if with_pairs else 0),
        "batches": solve.is_batch(n),
        "bounded": solve.bounded,
        "chooses_hessian": chooses_hessian(dict(solve.options)),
        "integer_keys": np.array(list(integers), np.int64),
        "integers": np.array(list(integers.values()), np.int64),
        "real_keys": np.array(list(reals), np.int64),
        "reals": np.array(list(reals.values()), np.float64),
    }


def runs_in_program(solve: Solve) -> bool:
    """Return whether the solve needs no Python: JAX is compiling a program, there is a handler, and there is no log."""
    if not solve.in_program or handler() is None or bool(getattr(jax.config, "jax_disable_jit", False)):
        return False
    return not options_of(dict(solve.options), None).disp


def traced_minimum(solve: Solve, pairs: bool, x0: Any, numeric: Any, lower: Any, upper: Any) -> tuple[Any, ...]:
    """Return what ``traced_solve`` returns, without a callback if the solve needs no Python and runs on the host or on
    CUDA."""
    options = options_of(dict(solve.options), None)
    # This solver raises the errors of invalid settings while JAX traces.
    Solver(np.zeros(1, x0.dtype), options.m, **options.settings).close()
    callback = partial(traced_solve, solve, pairs)
    if not runs_in_program(solve):
        return callback(x0, numeric, lower, upper)
    attributes = _attributes(solve, options, x0.size, pairs)

    def program(x0: Any, numeric: Any, lower: Any, upper: Any) -> tuple[Any, ...]:
        def evaluate(x: Any, numeric: Any) -> Any:
            f, g, _ = solve.function.evaluate(x, numeric)
            return jnp.reshape(f, ()), g.astype(x.dtype)

        x, g, info, rows = solve_in_program(evaluate, attributes, x0, numeric, lower, upper)
        task, iterations, evaluations, test = info
        active = ((x <= lower) | (x >= upper)) & (lower < upper)
        degenerate = (active & (jnp.abs(g) <= solve.degenerate_below)).sum(dtype=jnp.int32)
        statistics = jnp.stack([iterations, evaluations, task, test, degenerate]).astype(x.dtype)
        return (x, statistics, rows)[: 2 + pairs]

    vary = _varying_like((x0, numeric, lower, upper))

    def varying(solve: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arrays: vary(solve(*arrays))

    platforms = {name: varying(program) for name in (("cpu", "cuda") if _has_gpu() else ("cpu",))}
    arguments = vary((x0, numeric, lower, upper))
    found: tuple[Any, ...] = jax.lax.platform_dependent(*arguments, **platforms, default=varying(callback))
    return found


def solve_in_program(
    evaluate: Callable[[Any, Any], tuple[Any, Any]], attributes: dict[str, Any], x0: Any, numeric: Any, lower: Any,
    upper: Any,
) -> tuple[Any, Any, Any, Any]:
    """Minimise inside the program that JAX is tracing.

    Parameters
    ----------
    evaluate : callable
        ``evaluate(x, numeric)`` returns f and the gradient at x.
    attributes : dict
        The keyword arguments of ``advance``, as ``_attributes`` returns them. If ``kept_pairs`` is k > 0, the last k
        correction pairs are returned as well.
    x0, lower, upper : arrays of shape (..., n)
        One problem, or several along further axes, which x, f and the gradient in ``evaluate`` then have too.

    Returns
    -------
    x; the gradient there; an array (..., 4) of integers: the return code, the numbers of iterations and evaluations,
    and the stopping test; the array (..., 2 k + 1, n) of ``traced_solve``, or with k = 0 one without elements
    """

    @custom_vmap
    def solve(x0: Any, numeric: Any, lower: Any, upper: Any) -> Any:
        return _loop(evaluate, attributes, x0, numeric, lower, upper)

    @solve.def_vmap
    def _(count: int, mapped: Any, x0: Any, numeric: Any, lower: Any, upper: Any) -> Any:
        rows = [
            array if is_mapped else jnp.broadcast_to(array, (count, *array.shape))
            for array, is_mapped in zip((x0, lower, upper), (mapped[0], *mapped[2:]))
        ]
        of_each = jax.vmap(evaluate, (0, [0 if is_mapped else None for is_mapped in mapped[1]]))
        return solve_in_program(of_each, attributes, rows[0], numeric, *rows[1:]), (True,) * 4

    found: tuple[Any, Any, Any, Any] = solve(x0, list(numeric), lower, upper)
    return found


def _loop(
    evaluate: Callable[[Any, Any], tuple[Any, Any]], attributes: dict[str, Any], x0: Any, numeric: Any, lower: Any,
    upper: Any,
) -> tuple[Any, Any, Any, Any]:
    k, axes = int(attributes["kept_pairs"]), x0.shape[:-1]
    of_info, of_pairs = ((*axes, 4), jnp.int32), ((*axes, 2 * k + 1 if k else 0, x0.shape[-1]), x0.dtype)
    if math.prod(x0.shape) == 0:
        return x0, x0, jnp.zeros(*of_info), jnp.zeros(*of_pairs)
    (number,) = _caller(_BEGIN, ((2,), jnp.int32))()
    start = start_in_box(x0, lower, upper)
    x, g, _, _ = advance_to_the_end(number, evaluate, attributes, start, numeric, lower, upper)
    info, pairs = _caller(_END, of_info, of_pairs)(number, x)
    return x, g, info, pairs


def start_in_box(x0: Any, lower: Any, upper: Any) -> Any:
    """Return the start, projected into the box. Elements of x0 that are not finite are unchanged, because the library
    then refuses the start. fmin and fmax ignore a bound that is NaN, which the library refuses as well."""
    return jnp.where(jnp.isfinite(x0), jnp.fmin(jnp.fmax(x0, lower), upper), x0)


def advance_to_the_end(
    number: Any, evaluate: Callable[[Any, Any], tuple[Any, Any]], attributes: dict[str, Any], x0: Any, numeric: Any,
    lower: Any, upper: Any,
) -> tuple[Any, Any, Any, Any]:
    """Perform the loop of the solve with this number, from x0, which is in the box. Return x, the gradient, f as
    ``_bytes_of_double`` does, and a token that is 0."""
    f, of_x = _bytes_of_double(jnp.zeros(x0.shape[:-1], x0.dtype)), (x0.shape, x0.dtype)
    advance = _caller(_ADVANCE, ((), jnp.int32), of_x, (f.shape, f.dtype), of_x, aliases={1: 1, 2: 2, 3: 3})

    # The state (x, g, f, token) must be ordered unlike the results of ``advance``, (token, x, f, g). With equal orders,
    # XLA uses the call itself as the result of the loop's body. Its loop-invariant code motion has then mistaken the
    # call's operands for the elements of the state, regarded x as constant, and evaluated f and g only once, before the
    # loop.
    def body(state: Any) -> Any:
        f, g = evaluate(state[0], numeric)
        settings = {**_NO_SETTINGS, **attributes}
        token, x, f, g = advance(number, state[0], _bytes_of_double(f), g, lower, upper, **settings)
        return vary((x, g, f, token))

    vary = _varying_like((x0, numeric, lower, upper))
    number, numeric, lower, upper = vary((number, numeric, lower, upper))
    found: tuple[Any, Any, Any, Any] = jax.lax.while_loop(
        lambda state: state[3] == number[0], body, vary((x0, jnp.zeros_like(x0), f, number[0]))
    )
    return found


def _axes_of(array: Any) -> frozenset[str]:
    """Return the axes of ``shard_map`` along which an array is marked as different on each device. Versions of JAX
    before 0.6 do not mark arrays."""
    kind = jax.typeof(array) if hasattr(jax, "typeof") else None
    axes: Any = getattr(kind, "vma", None) or getattr(getattr(kind, "manual_axis_type", None), "varying", None)
    return axes or frozenset()


def _varying_like(tree: Any) -> Callable[[Any], Any]:
    """Return a function that marks arrays as different on each device along all axes of ``shard_map`` along which an
    array of this tree is. Each device solves its own problem. If x were marked as equal on all devices, JAX would add
    up the gradients of all devices."""
    leaves = [leaf for leaf in map(jnp.ravel, jax.tree_util.tree_leaves(tree)) if leaf.size]
    axes = frozenset().union(*map(_axes_of, leaves))
    if not axes:
        return lambda arrays: arrays
    false = sum(((leaf[0] != leaf[0]) & False for leaf in leaves), jnp.array(False))  # marked as all leaves together
    return lambda arrays: jax.tree_util.tree_map(
        lambda array: array if _axes_of(array) == axes else jnp.where(false, array, array), arrays
    )


def _bytes_of_double(f: Any) -> Any:
    """Return numbers as doubles. Without ``jax_enable_x64`` JAX has none: the bits of the doubles are then computed
    from those of the single-precision numbers, as two integers each."""
    if bool(getattr(jax.config, "jax_enable_x64")):
        return f.astype(jnp.float64)
    bits = jax.lax.bitcast_convert_type(f.astype(jnp.float32), jnp.uint32)
    exponent, mantissa = (bits >> 23) & 0xFF, bits & 0x7FFFFF
    # A subnormal number has the exponent 0 and no leading 1: its mantissa is shifted until it has one.
    shift = jax.lax.clz(mantissa) - 8
    is_normal, is_zero = exponent > 0, (exponent == 0) & (mantissa == 0)
    mantissa = jnp.where(is_normal | is_zero, mantissa, (mantissa << shift) & 0x7FFFFF)
    wide = jnp.where(is_normal, exponent + 896, 897 - shift)
    wide = jnp.where(exponent == 0xFF, 0x7FF, jnp.where(is_zero, 0, wide))
    return jnp.stack([mantissa << 29, (bits & np.uint32(1 << 31)) | wide << 20 | mantissa >> 3], -1)
