"""Determines which backends work on this machine, and why the others do not."""
from __future__ import annotations

import ctypes
import os
import platform
from ctypes import byref, c_double, c_int, c_void_p
from typing import Any, NamedTuple

from ._constants import BACKEND_CUDA, BACKEND_HOST, Task
from ._library import library, version

# These numbers are values of the enumerations CUresult and CUdevice_attribute in the header cuda.h.
_NO_DEVICE = 100
_CAPABILITY_MAJOR, _CAPABILITY_MINOR = 75, 76


class Backend(NamedTuple):
    """States whether one backend (CUDA or host) of the library works on this machine."""

    works: bool
    """``works`` is True if a small problem was minimised on this backend."""
    device: str
    """``device`` is the name of the processor, or of the GPU with its compute capability; it is empty if there is none.
    """
    reason: str
    """``reason`` states in one sentence why the backend does not work; it is empty if the backend works."""


def backends() -> dict[str, Backend]:
    """Determine which backends work on this machine.

    A problem of two variables is minimised on each backend. On CUDA this creates a context on the current device, if
    the process has none yet, which takes a few tenths of a second.

    Returns
    -------
    dict
        ``"host"`` and ``"cuda"``, each with a ``Backend``: ``works``, ``device``, and ``reason`` if it does not work.
    """
    host_failure = _trial(BACKEND_HOST)
    driver = _load_driver()
    cuda_failure = _trial(BACKEND_CUDA)
    reason, device = _explain(cuda_failure, driver)
    return {
        "host": Backend(not host_failure, f"{os.cpu_count()} processors ({platform.machine()})", host_failure),
        "cuda": Backend(not cuda_failure, device, reason),
    }


def report() -> str:
    """Return the text that ``python -m cuda_opt`` prints."""
    lines = [f"cuda_opt {version}"]
    for name, backend in backends().items():
        where = f" on {backend.device}" if backend.device else ""
        lines.append(f"{name}: works{where}" if backend.works else f"{name}: does not work: {backend.reason}")
    return "\n".join(lines)


def _trial(backend: int) -> str:
    """Minimise |x - (1, 2)|^2 / 2 on the backend. Return '' on success, and the library's error message otherwise."""
    handle = c_void_p()
    x, g, f = (c_double * 2)(), (c_double * 2)(), c_double()
    addresses: list[c_void_p] = []
    try:
        code = library.cuda_opt_create(byref(handle), 2, 1, backend)
        for array in (x, f, g):
            addresses.append(c_void_p())
            code = code or library.cuda_opt_alloc(handle, byref(addresses[-1]), ctypes.sizeof(array))
        on_x, on_f, on_g = addresses
        code = code or library.cuda_opt_copy_in(handle, on_x, byref(x), ctypes.sizeof(x))
        while code >= 0:
            code = library.cuda_opt_solve(handle, on_x, on_f, on_g)
            if code != Task.EVALUATE_FG:
                break
            code = library.cuda_opt_copy_out(handle, byref(x), on_x, ctypes.sizeof(x))
            g[0], g[1] = x[0] - 1, x[1] - 2
            f.value = (g[0] * g[0] + g[1] * g[1]) / 2
            code = code or library.cuda_opt_copy_in(handle, on_f, byref(f), ctypes.sizeof(f))
            code = code or library.cuda_opt_copy_in(handle, on_g, byref(g), ctypes.sizeof(g))
        return "" if code == Task.CONVERGED else str(library.cuda_opt_message(handle).decode(errors="replace"))
    finally:
        for address in addresses:
            library.cuda_opt_free(handle, address)
        library.cuda_opt_destroy(byref(handle))


def _load_driver() -> Any:
    """Load libcuda.so, the library of the NVIDIA driver. Return None if it is missing. The driver reports facts that
    the error message of cuda_opt does not contain."""
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None


def _explain(failure: str, driver: Any) -> tuple[str, str]:
    """Return two strings: the reason why the CUDA backend does not work, or '' if it works, and the name of the GPU."""
    built_without = "built without CUDA" in failure
    if built_without:
        failure = "this library was built without CUDA; install cuda-opt-cu13, or build it with nvcc"
    if driver is None:
        return failure if not failure or built_without else "there is no NVIDIA driver: libcuda.so.1 is not found", ""
    status, count, supported = driver.cuInit(0), c_int(), c_int()
    if status == 0:
        status = driver.cuDeviceGetCount(byref(count))
    if status not in (0, _NO_DEVICE):
        return failure and f"the NVIDIA driver does not start: its error is {status}", ""
    if count.value == 0:
        return failure if built_without else "the NVIDIA driver finds no GPU", ""
    device, capability = _first_device(driver)
    if built_without or not failure:
        return failure, device
    if capability < (8, 0):
        return f"{device} is too old: compute capability 8.0 or later is needed", device
    driver.cuDriverGetVersion(byref(supported))
    # This message means that the driver finds a GPU, but is too old for the CUDA runtime with which the library was
    # built.
    if "no driver for it" in failure:
        newest = f"{supported.value // 1000}.{supported.value % 1000 // 10}"
        reason = f"the NVIDIA driver is too old: it supports CUDA {newest}, and the library was built with a later one"
        return reason, device
    return f"{failure}; the GPU is {device}", device


def _first_device(driver: Any) -> tuple[str, tuple[int, int]]:
    """Return the name of GPU 0 together with its compute capability as one string, and the capability as (major,
    minor)."""
    device, major, minor = c_int(), c_int(), c_int()
    name = ctypes.create_string_buffer(256)
    driver.cuDeviceGet(byref(device), 0)
    driver.cuDeviceGetName(name, len(name), device)
    driver.cuDeviceGetAttribute(byref(major), _CAPABILITY_MAJOR, device)
    driver.cuDeviceGetAttribute(byref(minor), _CAPABILITY_MINOR, device)
    capability = (major.value, minor.value)
    return f"{name.value.decode(errors='replace')} (compute capability {major.value}.{minor.value})", capability
