"""Calls of the CUDA driver that copy between arrays. They serve array libraries that have no function for such a copy.
"""
from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import POINTER, c_char_p, c_int, c_size_t, c_uint64, c_void_p
from functools import lru_cache

_PROTOTYPES = {
    "cuInit": (ctypes.c_uint,),
    "cuDevicePrimaryCtxRetain": (POINTER(c_void_p), c_int),
    "cuCtxPushCurrent_v2": (c_void_p,),
    "cuCtxPopCurrent_v2": (POINTER(c_void_p),),
    "cuMemcpyDtoDAsync_v2": (c_uint64, c_uint64, c_size_t, c_void_p),
    "cuMemcpyHtoDAsync_v2": (c_uint64, c_void_p, c_size_t, c_void_p),
    "cuStreamSynchronize": (c_void_p,),
    "cuGetErrorString": (c_int, POINTER(c_char_p)),
}


@lru_cache(maxsize=None)
def _driver() -> ctypes.CDLL:
    driver = ctypes.CDLL("libcuda.so.1")
    for name, arguments in _PROTOTYPES.items():
        getattr(driver, name).argtypes = arguments
    return driver


def _call(name: str, *arguments: object) -> None:
    driver = _driver()
    if code := getattr(driver, name)(*arguments):
        text = c_char_p()
        driver.cuGetErrorString(code, ctypes.byref(text))
        raise RuntimeError(f"{name}: {text.value.decode() if text.value else code}")


@lru_cache(maxsize=None)
def _context(device: int) -> c_void_p:
    """Return the primary context of the device, which all CUDA libraries share. It is retained until the process ends.
    """
    context = c_void_p()
    _call("cuInit", 0)
    _call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    return context


@contextmanager
def current(device: int) -> Iterator[None]:
    """Make a device current in this thread during a ``with`` block. The functions below use the current device."""
    ignored = c_void_p()
    _call("cuCtxPushCurrent_v2", _context(device))
    try:
        yield
    finally:
        _call("cuCtxPopCurrent_v2", ctypes.byref(ignored))


def copy(to: int, source: int, size: int, stream: int) -> None:
    """Copy ``size`` bytes within device memory, in stream order, without waiting for the copy."""
    _call("cuMemcpyDtoDAsync_v2", to, source, size, stream)


def copy_in(to: int, source: int, size: int, stream: int) -> None:
    """Copy ``size`` bytes from host memory to device memory. When this returns, the host memory may be overwritten."""
    _call("cuMemcpyHtoDAsync_v2", to, source, size, stream)


def synchronize(stream: int) -> None:
    """Wait until all work on the CUDA stream is complete."""
    _call("cuStreamSynchronize", stream)
