"""torch tensors as the solver's arrays, on the host and on CUDA devices."""
from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

from . import _driver
from ._captured_torch import TorchRecorder
from ._constants import BACKEND_CUDA, BACKEND_HOST
from ._gate import Memory, admit, wrong_shape
from ._space import INDICES, Array, Space, bits_of, integers_at, name_of


def _resolved(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor whose memory contains its actual values. torch negates and conjugates lazily, by setting a bit.
    """
    return tensor.detach().resolve_conj().resolve_neg()


def _bytes_of_storage(tensor: torch.Tensor) -> int:
    of_torch_2: Any = getattr(tensor, "untyped_storage", None)
    storage = of_torch_2() if of_torch_2 else tensor.storage()
    return int(storage.nbytes())


class TorchSpace(Space):
    """Creates and copies tensors on the device of x0. The stream is torch's current one when the space is created."""

    def __init__(self, x0: torch.Tensor) -> None:
        # _indices is the device copy of the problem indices of a batch.
        self._indices: Any = None
        self.device, self.dtype = x0.device, x0.dtype
        self.bits = bits_of(str(x0.dtype).removeprefix("torch."))
        if self.device.type == "cuda":
            self.backend = BACKEND_CUDA
            self.stream = torch.cuda.current_stream(self.device).cuda_stream
        elif self.device.type == "cpu":
            self.backend = BACKEND_HOST
        else:
            raise TypeError(f"x0 is on the device {self.device}: it has to be on the host (cpu) or a CUDA device")
        self.check(x0, "x0")

    def within(self) -> AbstractContextManager[Any]:
        return torch.cuda.device(self.device) if self.backend == BACKEND_CUDA else nullcontext()

    def empty(self, *shape: int, double: bool = False) -> Array:
        return torch.empty(shape, dtype=torch.float64 if double else self.dtype, device=self.device)

    def copy_of(self, array: Array) -> Array:
        return _resolved(array).clone(memory_format=torch.contiguous_format)

    def take(self, array: Array, what: str, written: bool = False) -> Array:
        self.check(array, what)
        if not written:
            array = _resolved(array)
        elif array.is_neg() or array.is_conj():
            raise ValueError(f"{what} is a lazily negated or conjugated tensor: pass {what}.resolve_neg()")
        super().take(array, what, written)
        return array.detach()

    def memory(self, array: Array, what: str) -> Memory:
        self.check(array, what)
        element, strides = array.element_size(), array.stride()
        size = _bytes_of_storage(array) - element * array.storage_offset()
        dtype = str(array.dtype).removeprefix("torch.")
        in_bytes = tuple(element * stride for stride in strides)
        return Memory(array.data_ptr(), dtype, tuple(array.shape), in_bytes, size, device=array.device)

    def place(self, array: Array) -> Any:
        return array.data_ptr(), _bytes_of_storage(array)

    def bytes_of(self, owner: Array) -> int:
        return _bytes_of_storage(owner)

    def check(self, array: Any, what: str) -> None:
        if not isinstance(array, torch.Tensor):
            raise TypeError(f"{what} is a {name_of(array)}, but x0 is a torch tensor")
        if array.device != self.device:
            raise ValueError(f"{what} is on the device {array.device}, but x0 on {self.device}")
        if array.layout != torch.strided:
            raise TypeError(f"{what} has the layout {array.layout}: it has to be a dense tensor (torch.strided)")

    def from_numpy(self, array: Any) -> Array:
        # The values are copied without torch's NumPy interface, because torch may be compiled without NumPy, or for
        # another version of NumPy.
        elements = torch.frombuffer(bytearray(array.tobytes()), dtype=torch.float64)
        return elements.reshape(array.shape).to(self.device, self.dtype)

    def view(self, array: Array) -> Array:
        # A new tensor is returned each time, so that requires_grad_() affects one evaluation only.
        return array.detach()

    # Tensors that were created in torch.inference_mode() have no version.
    def protected(self, array: Array) -> Array:
        return array.clone() if array.is_inference() else self.view(array)

    def version(self, array: Array) -> int:
        return 0 if array.is_inference() else int(array._version)

    def chosen(self, array: Array, rows: Any) -> Array:
        return array[rows.tolist()]

    def indices(self, address: int, active: int, rows: int) -> Array:
        if self.backend == BACKEND_HOST:
            return torch.frombuffer(integers_at(address, rows), dtype=torch.int64).clone()
        if self._indices is None or self._indices.numel() < rows:
            self._indices = torch.empty(rows, dtype=torch.int64, device=self.device)
        # The integers are copied, because a view of memory at an address would need NumPy, for which torch may not have
        # been compiled.
        copied = self._indices[:rows]
        to = admit(self.memory(copied, INDICES), INDICES, "int64", (rows,), device=self.device)
        with _driver.current(self.device.index or 0):
            _driver.copy(to, address, 8 * rows, self.stream or 0)
        return copied

    def recorder(self) -> TorchRecorder:
        if self.backend == BACKEND_HOST:
            raise ValueError(f"cuda_graph is True, but x0 is on the device {self.device}, which is no CUDA device")
        return TorchRecorder(self.device)

    def put_number(self, to: Array, value: Any, what: str) -> None:
        if not isinstance(value, torch.Tensor):
            to.fill_(self.number_of(value, what))
            return
        if value.numel() != 1:
            raise ValueError(f"{what} has the shape {tuple(value.shape)}: it has to be one number")
        if value.is_complex():
            raise TypeError(f"{what} has elements of {value.dtype}: it has to be a real number")
        to.copy_(value.detach().reshape(()))

    def put(self, to: Array, values: Any, what: str) -> None:
        self.check(values, what)
        if values.shape != to.shape:
            raise wrong_shape(what, values.shape, to.shape)
        if values.is_complex():
            raise TypeError(f"{what} has elements of {values.dtype}: they have to be real numbers")
        if values.data_ptr() != to.data_ptr() or not values.is_contiguous() or values.is_neg():
            to.copy_(values.detach())
