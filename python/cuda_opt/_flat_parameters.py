"""Stores the parameters of a torch model as views of one buffer, and their gradients as views of another buffer."""
from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from ._bounds import Bounds
from ._space import name_of

_PARTS = {torch.complex64: torch.float32, torch.complex128: torch.float64}


def real_dtype(tensor: torch.Tensor) -> torch.dtype:
    """Return the dtype of the tensor's elements. For a complex tensor this is the dtype of the real and imaginary
    parts."""
    return _PARTS.get(tensor.dtype, tensor.dtype)


def _numbers(tensor: torch.Tensor) -> torch.Tensor:
    """Return a real tensor unchanged, and a complex tensor as a real view of shape (..., 2)."""
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


class FlatParameters:
    """Makes all parameters of a torch model views of one buffer ``x``. After ``attach`` their gradients are views of a
    second buffer ``g``.

    A complex parameter occupies pairs of real numbers. Complex parameters come first in the buffers, so that every pair
    begins at an even index, as torch requires.

    Raises
    ------
    ValueError
        if the parameters differ in precision or device
    """

    def __init__(self, parameters: list[torch.Tensor]) -> None:
        self.parameters = parameters
        for number, parameter in enumerate(parameters):
            first = parameters[0]
            if (real_dtype(parameter), parameter.device) != (real_dtype(first), first.device):
                raise ValueError(
                    f"parameter {number} has elements of {parameter.dtype} on {parameter.device}, "
                    f"but the first of {first.dtype} on {first.device}: all have to be alike"
                )
        self._order = sorted(range(len(parameters)), key=lambda number: not parameters[number].is_complex())
        numbers = [_numbers(parameters[number].detach()).reshape(-1) for number in self._order]
        self.x = torch.cat(numbers) if numbers else torch.empty(0, dtype=torch.float64)
        # g, the gradient buffer, is a placeholder until attach() is called.
        self.g = self.x
        self._values = self._views(self.x)
        self._places: list[torch.Tensor] = []
        self._versions: list[int] = []
        # The value of torch's version counter of g when its elements were last set to zero.
        self._zeroed = -1
        # The value of torch's version counter of g at the end of the last step.
        self._left = -1

    def _views(self, buffer: torch.Tensor) -> list[torch.Tensor]:
        """Return one view of the buffer for each parameter, with the shape and type of the parameter."""
        views: list[torch.Tensor] = [buffer] * len(self.parameters)
        at = 0
        for number in self._order:
            parameter = self.parameters[number]
            is_complex = parameter.is_complex()
            count = parameter.numel() * (2 if is_complex else 1)
            part = buffer[at : at + count]
            if is_complex:
                part = torch.view_as_complex(part.view(*parameter.shape, 2))
            views[number] = part.view(parameter.shape)
            at += count
        return views

    def attach(self, g: torch.Tensor) -> None:
        """Make the parameters views of the buffer x, and their gradients views of the buffer g. Existing gradients are
        copied."""
        self.g = g.zero_()
        self._places = self._views(g)
        for parameter, values in zip(self.parameters, self._values):
            parameter.data = values
        self.take_gradients()
        self.leave()

    def note_versions(self) -> None:
        """Store the version counters of the parameters. torch increments a counter at each in-place change."""
        self._versions = [parameter._version for parameter in self.parameters]

    def leave(self) -> None:
        """Store the version counters of the parameters and of the gradient at the end of a step."""
        self.note_versions()
        self._left = self.g._version

    @torch.no_grad()
    def take_parameters(self) -> bool:
        """Make every parameter a view of the buffer again, if other code has given it new memory. The new values are
        kept. Return whether any values have changed, in new memory or in place.

        Raises
        ------
        TypeError, ValueError
            if the dtype, device or shape of a parameter differs from that of its view
        """
        changed = self._versions != [parameter._version for parameter in self.parameters]
        for number, (parameter, values) in enumerate(zip(self.parameters, self._values)):
            if parameter.data_ptr() == values.data_ptr() and parameter.stride() == values.stride():
                if (parameter.dtype, parameter.shape) == (values.dtype, values.shape):
                    continue
            if (parameter.dtype, parameter.device) != (values.dtype, values.device):
                raise TypeError(
                    f"parameter {number} has elements of {parameter.dtype} on {parameter.device}, but had "
                    f"{values.dtype} on {values.device} when LBFGSB was made: make a new one after such a change"
                )
            if parameter.shape != values.shape:
                raise ValueError(
                    f"parameter {number} has the shape {tuple(parameter.shape)}, but had {tuple(values.shape)} when "
                    "LBFGSB was made: make a new one after such a change"
                )
            if not torch.equal(values, parameter):
                changed = True
                values.copy_(parameter)
            parameter.data = values
        return changed

    def take_gradients(self) -> bool:
        """Make every gradient a view of the buffer again, if the user's code has replaced it by another tensor. Return
        whether any gradient had been replaced."""
        replaced = False
        for parameter, place in zip(self.parameters, self._places):
            gradient = parameter.grad
            if gradient is place:
                continue
            if gradient is None:
                place.zero_()
            elif gradient.layout != torch.strided:
                place.copy_(gradient.detach().to_dense())
                replaced = True
            elif gradient.data_ptr() != place.data_ptr() or gradient.stride() != place.stride():
                place.copy_(gradient.detach())
                replaced = True
            parameter.grad = place
        return replaced

    def zero(self) -> None:
        """Set all gradients to zero."""
        self.g.zero_()
        self._zeroed = self.g._version

    def put_back(self) -> None:
        """Make the gradients views of the buffer again. The tensors that have replaced them are not read."""
        for parameter, place in zip(self.parameters, self._places):
            parameter.grad = place

    def zero_before_closure(self) -> torch.Tensor | None:
        """Set all gradients to zero, so that ``check_written`` can determine whether the closure has written any.
        Return a copy of the gradients if other code has written them since the last step, and None otherwise.
        """
        untouched = self.g._version == self._left
        replaced = self.take_gradients()
        kept = None if untouched and not replaced else self.g.clone()
        self.zero()
        return kept

    def check_written(self, loss: Any, kept: torch.Tensor | None) -> None:
        """Raise RuntimeError if the closure wrote no gradient although its loss has one, because the loss depends on
        other parameters. This is called after the closure.

        If the loss has no gradient, the gradients that existed before remain, as in torch. The version counters almost
        always decide this without reading the values, which would synchronise with the device."""
        if self.g._version != self._zeroed or self.g.any():
            return
        if not all(parameter.grad is place for parameter, place in zip(self.parameters, self._places)):
            return
        has_gradient = loss.requires_grad if isinstance(loss, torch.Tensor) else kept is None
        if has_gradient and any(parameter.requires_grad for parameter in self.parameters):
            raise RuntimeError(
                "the closure wrote no gradient of any parameter of this LBFGSB: its loss depends on other "
                "parameters, as after load_state_dict(assign=True), which replaces them: make a new LBFGSB"
            )
        if kept is not None:
            self.g.copy_(kept)

    def bounds(self, pairs: list[Any]) -> Bounds:
        """Return the bounds of all variables, given one pair (lower, upper) or None for each parameter. A side is one
        number if all parameters have the same bound on that side, and an array otherwise."""
        sides: list[Any] = []
        for side, none in enumerate((-math.inf, math.inf)):
            limits = []
            for pair in pairs:
                if pair is not None and not hasattr(pair, "__len__"):
                    raise TypeError(f"bounds is a {name_of(pair)}: it has to be a pair (lower, upper)")
                if pair is not None and len(pair) != 2:
                    raise ValueError(f"bounds has {len(pair)} elements: it has to be a pair (lower, upper)")
                limit = None if pair is None else pair[side]
                limits.append(none if limit is None else limit)
            numbers = {limit for limit in limits if isinstance(limit, (int, float))}
            if len(numbers) == 1 and all(isinstance(limit, (int, float)) for limit in limits):
                sides.append(numbers.pop())
                continue
            sides.append(torch.cat([self._bound(limits[number], self.parameters[number]) for number in self._order]))
        return Bounds(*sides)

    @staticmethod
    def _bound(limit: Any, parameter: torch.Tensor) -> torch.Tensor:
        """Return a bound of one parameter as a one-dimensional array. A real bound of a complex parameter applies to
        the real and to the imaginary part."""
        bound = limit
        if not isinstance(limit, torch.Tensor):
            bound = torch.as_tensor(limit, dtype=torch.complex128 if np.iscomplexobj(limit) else torch.float64)
        bound = bound.detach().to(parameter.device)
        if bound.is_complex() and not parameter.is_complex():
            raise TypeError(f"a bound has elements of {bound.dtype}, the parameter of {parameter.dtype}")
        if parameter.is_complex() and not bound.is_complex():
            bound = torch.complex(*[bound.to(real_dtype(parameter))] * 2)
        bound = bound.to(parameter.dtype)
        try:
            return _numbers(bound.expand(parameter.shape)).reshape(-1)
        except RuntimeError:
            shapes = tuple(bound.shape), tuple(parameter.shape)
            raise ValueError(f"a bound has the shape {shapes[0]}, the parameter {shapes[1]}") from None
