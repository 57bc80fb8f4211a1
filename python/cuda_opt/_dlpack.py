"""Reads the memory, type and shape of an array from its DLPack capsule (version 0), without consuming the capsule."""
from __future__ import annotations

import ctypes
from typing import Any

from ._gate import Memory

# DLPack's numbers of device types.
HOST, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_get_pointer.restype, _get_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def memory_of(array: Any) -> Memory:
    """Return the address, type, shape and other properties of an array that has ``__dlpack__``. The array keeps its
    memory."""
    capsule = array.__dlpack__()
    tensor = ctypes.cast(_get_pointer(capsule, b"dltensor"), ctypes.POINTER(_Tensor)).contents
    shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))
    element = tensor.bits // 8
    strides = tuple(tensor.strides[axis] * element for axis in range(tensor.ndim)) if tensor.strides else None
    kind = {0: "int", 1: "uint", 2: "float", 5: "complex"}.get(tensor.code, "unknown")
    device = (tensor.device_type, tensor.device_id)
    return Memory((tensor.data or 0) + tensor.byte_offset, f"{kind}{tensor.bits}", shape, strides, device=device)
