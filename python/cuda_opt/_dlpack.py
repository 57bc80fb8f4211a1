"""What a DLPack capsule says of an array (version 0 of the protocol), without taking it over."""
from __future__ import annotations

import ctypes
from typing import Any

from ._gate import Memory

HOST, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13  # kinds of device memory that a capsule names


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
    """The memory of an array that offers ``__dlpack__``; it stays the array's."""
    capsule = array.__dlpack__()
    tensor = ctypes.cast(_get_pointer(capsule, b"dltensor"), ctypes.POINTER(_Tensor)).contents
    shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))
    element = tensor.bits // 8
    strides = tuple(tensor.strides[axis] * element for axis in range(tensor.ndim)) if tensor.strides else None
    kind = {0: "int", 1: "uint", 2: "float", 5: "complex"}.get(tensor.code, "unknown")
    device = (tensor.device_type, tensor.device_id)
    return Memory((tensor.data or 0) + tensor.byte_offset, f"{kind}{tensor.bits}", shape, strides, device=device)
