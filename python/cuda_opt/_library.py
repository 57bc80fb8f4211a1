"""Loads the C library with ctypes, declares the prototypes of its functions, and converts its error codes to
exceptions."""
from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_char_p, c_double, c_float, c_int, c_int32, c_int64, c_void_p
from pathlib import Path

from ._constants import Task

LogFunction = ctypes.CFUNCTYPE(None, c_void_p, c_char_p)

_HANDLE, _REAL, _SINGLE = c_void_p, c_double, c_float
_PROTOTYPES = {
    "create": (c_int, POINTER(_HANDLE), c_int64, c_int32, c_int32),
    "create_f32": (c_int, POINTER(_HANDLE), c_int64, c_int32, c_int32),
    "create_search": (c_int, POINTER(_HANDLE), c_int64, c_int64, c_int32),
    "destroy": (None, POINTER(_HANDLE)),
    "set_bounds": (c_int, _HANDLE, c_void_p, c_void_p),
    "set_bounds_f32": (c_int, _HANDLE, c_void_p, c_void_p),
    "set_uniform_bounds": (c_int, _HANDLE, _REAL, _REAL),
    "set_uniform_bounds_f32": (c_int, _HANDLE, _SINGLE, _SINGLE),
    "set_scales": (c_int, _HANDLE, c_void_p),
    "set_scales_f32": (c_int, _HANDLE, c_void_p),
    "set_uniform_scale": (c_int, _HANDLE, _REAL),
    "set_diagonal": (c_int, _HANDLE, c_void_p),
    "set_diagonal_f32": (c_int, _HANDLE, c_void_p),
    "set_operator": (c_int, _HANDLE, c_void_p, c_void_p, c_void_p),
    "set_operator_f32": (c_int, _HANDLE, c_void_p, c_void_p, c_void_p),
    "get_diagonal": (c_int, _HANDLE, c_void_p),
    "get_diagonal_f32": (c_int, _HANDLE, c_void_p),
    "set_stream": (c_int, _HANDLE, c_void_p),
    "set_log": (c_int, _HANDLE, LogFunction, c_void_p),
    "solve": (c_int, _HANDLE, c_void_p, c_void_p, c_void_p),
    "solve_f32": (c_int, _HANDLE, c_void_p, c_void_p, c_void_p),
    "reset": (c_int, _HANDLE),
    "warm_start": (c_int, _HANDLE),
    "save": (c_int, _HANDLE, c_void_p, POINTER(c_int64)),
    "load": (c_int, _HANDLE, c_void_p, c_int64, c_void_p, c_void_p, c_void_p),
    "load_f32": (c_int, _HANDLE, c_void_p, c_int64, c_void_p, c_void_p, c_void_p),
    "request_stop": (c_int, _HANDLE),
    "set_int": (c_int, _HANDLE, c_int32, c_int64),
    "set_real": (c_int, _HANDLE, c_int32, c_double),
    "get_int": (c_int, _HANDLE, c_int32, POINTER(c_int64)),
    "get_real": (c_int, _HANDLE, c_int32, POINTER(c_double)),
    "message": (c_char_p, _HANDLE),
    "backend": (c_int, _HANDLE),
    "version": (c_char_p,),
    "search_set_steps": (c_int, _HANDLE, c_void_p),
    "search_solve": (c_int, _HANDLE, c_void_p, c_void_p),
    "search_walk": (c_int, _HANDLE, c_int64, c_void_p, c_void_p),
    "search_ranked": (c_int, _HANDLE, c_int64, POINTER(c_int64)),
    "check_gradient": (c_int, _HANDLE, c_void_p, c_void_p, c_void_p, c_int64, c_int32),
    "check_gradient_f32": (c_int, _HANDLE, c_void_p, c_void_p, c_void_p, c_int64, c_int32),
    "check_result": (c_int, _HANDLE, POINTER(c_int32), POINTER(c_int64), *3 * (POINTER(c_double),)),
    "create_batch": (c_int, POINTER(_HANDLE), c_int64, c_int64, c_int32, c_int32),
    "create_batch_f32": (c_int, POINTER(_HANDLE), c_int64, c_int64, c_int32, c_int32),
    "batch_set_bounds": (c_int, _HANDLE, c_void_p, c_void_p),
    "batch_set_bounds_f32": (c_int, _HANDLE, c_void_p, c_void_p),
    "batch_set_diagonal": (c_int, _HANDLE, c_void_p),
    "batch_set_diagonal_f32": (c_int, _HANDLE, c_void_p),
    "batch_solve": (c_int, _HANDLE, c_void_p, c_void_p, c_void_p),
    "batch_solve_f32": (c_int, _HANDLE, c_void_p, c_void_p, c_void_p),
    "batch_active": (c_void_p, _HANDLE),
    "batch_get_int": (c_int, _HANDLE, c_int32, c_void_p),
    "batch_get_real": (c_int, _HANDLE, c_int32, c_void_p),
    "batch_message": (c_char_p, _HANDLE, c_int64),
    "set_ranks": (c_int, _HANDLE, c_int32, c_int32, c_int64, c_int64),
    "gather": (c_int, _HANDLE, POINTER(c_void_p), POINTER(c_void_p), POINTER(c_int64)),
    "gather_failed": (c_int, _HANDLE, c_char_p),
    "fail_rank": (c_int, _HANDLE, c_char_p),
    "segments": (c_int64, c_int64),
    "segment": (c_int64, c_int64, c_int64),
    "alloc": (c_int, _HANDLE, POINTER(c_void_p), c_int64),
    "free": (c_int, _HANDLE, c_void_p),
    "copy_in": (c_int, _HANDLE, c_void_p, c_void_p, c_int64),
    "copy_out": (c_int, _HANDLE, c_void_p, c_void_p, c_int64),
    "synchronize": (c_int, _HANDLE),
}


class Error(RuntimeError):
    """An error code of the C library, as an exception. The text is the library's message, and ``code`` is the ``Task``.
    """

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.code = Task(code)

    def __reduce__(self) -> tuple[type[Error], tuple[int, str]]:
        return type(self), (int(self.code), str(self))


class ImproperInput(Error, ValueError):
    """A number, a bound, a start or a setting is outside its valid range."""


class OutOfMemory(Error, MemoryError):
    """The workspace does not fit into memory; the message contains the requested number of bytes."""


def error(code: int, sentence: str) -> Error:
    """Return the exception that corresponds to a negative return code of the C library."""
    kind = {Task.IMPROPER_INPUT: ImproperInput, Task.OUT_OF_MEMORY: OutOfMemory}.get(Task(code), Error)
    return kind(code, sentence)


def _load() -> ctypes.CDLL:
    """Load the C library. Its path is the value of CUDA_OPT_LIBRARY, otherwise the file in the package's wheel,
    otherwise the name by which the system finds it."""
    named = os.environ.get("CUDA_OPT_LIBRARY")
    # meson-python names the folder of the library after the distribution. There are two distributions: cuda-opt-cu13
    # with CUDA, and cuda-opt without CUDA.
    folders = [Path(__file__).parents[1] / f".{wheel}.mesonpy.libs" for wheel in ("cuda_opt_cu13", "cuda_opt")]
    packaged = [str(path) for folder in folders if (path := folder / "cuda_opt/libcuda_opt.so.0").exists()]
    name = named or next(iter(packaged), "libcuda_opt.so.0")
    try:
        library = ctypes.CDLL(name)
    except OSError as problem:
        raise ImportError(
            f"the library of cuda_opt cannot be loaded: {problem}; install the package with pip, "
            "or set CUDA_OPT_LIBRARY to the file libcuda_opt.so of a build"
        ) from None
    for function, (result, *arguments) in _PROTOTYPES.items():
        entry = getattr(library, f"cuda_opt_{function}", None)
        if entry is None:
            raise ImportError(
                f"{name} has no function cuda_opt_{function}: it is not a library of cuda_opt, or it was built from "
                "another version than the Python package; build it again, or unset CUDA_OPT_LIBRARY"
            )
        entry.restype, entry.argtypes = result, arguments
    return library


library = _load()
version: str = library.cuda_opt_version().decode()
