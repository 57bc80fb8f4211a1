"""Stores the parameters of a torch model as views of one buffer, and their gradients as views of another buffer."""
from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch

from ._bounds import Bounds
from ._space import name_of


def _numbers(tensor: torch.Tensor) -> torch.Tensor:
    """Return a real tensor unchanged, and a complex tensor as a real view of shape (..., 2)."""
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


class FlatParameters:
    """Makes all parameters of a torch model views of one buffer ``x``. After ``attach`` their gradients are views of a
    second buffer ``g``.

    The buffers have the highest precision of all parameters, and at least single precision. A parameter of lower
    precision has memory of its own, and so has its gradient. These are copied to and from views of the buffers.

    A complex parameter occupies pairs of real numbers. Complex parameters come first in the buffers, so that every pair
    begins at an even index, as torch requires.

    Raises
    ------
    TypeError, ValueError
        if a parameter has no floating-point numbers, or if the parameters differ in device
    """

    def __init__(self, parameters: list[torch.Tensor]) -> None:
        self.parameters = parameters
        dtype = torch.float32
        for number, parameter in enumerate(parameters):
            if not (parameter.is_floating_point() or parameter.is_complex()):
                raise TypeError(f"parameter {number} has elements of {parameter.dtype}: they have to be floating-point")
            if parameter.device != parameters[0].device:
                raise ValueError(
                    f"parameter {number} is on {parameter.device}, but the first on {parameters[0].device}: all have "
                    "to be on one device"
                )
            dtype = torch.promote_types(dtype, _numbers(parameter.detach()).dtype)
        self._order = sorted(range(len(parameters)), key=lambda number: not parameters[number].is_complex())
        numbers = [_numbers(parameters[number].detach()).reshape(-1).to(dtype) for number in self._order]
        self.x = torch.cat(numbers) if numbers else torch.empty(0, dtype=dtype)
        self._kinds = self._kinds_now()
        # g, the gradient buffer, is a placeholder until attach() is called.
        self.g = self.x
        self._values, self._copied_values = self._memory(self.x)
        self._places: list[torch.Tensor] = []
        self._copied_places: list[tuple[torch.Tensor, torch.Tensor]] = []
        self._addresses: list[int] = []
        self._versions: list[int] = []
        # The values of torch's version counters of the gradients when they were last set to zero.
        self._zeroed: list[int] = []
        # The values of torch's version counters of the gradients at the end of the last step.
        self._left: list[int] = []
        # _is_older is True if the gradients were written before this object was made, or before the last step.
        self._is_older = False

    def _kinds_now(self) -> list[Any]:
        return [(parameter.dtype, parameter.device, parameter.shape) for parameter in self.parameters]

    def fits(self) -> bool:
        """Return whether the dtypes, devices and shapes of the parameters are those with which this object was made."""
        return self._kinds == self._kinds_now()

    def _memory(self, buffer: torch.Tensor) -> tuple[list[torch.Tensor], list[tuple[torch.Tensor, torch.Tensor]]]:
        """Return one tensor for each parameter, with the shape and type of the parameter. It is a view of the buffer,
        or a copy of that view if the precision differs. Also return the pairs (view, copy)."""
        tensors: list[torch.Tensor] = [buffer] * len(self.parameters)
        copies = []
        at = 0
        for number in self._order:
            parameter = self.parameters[number]
            is_complex = parameter.is_complex()
            count = parameter.numel() * (2 if is_complex else 1)
            view = buffer[at : at + count]
            if is_complex:
                view = torch.view_as_complex(view.view(*parameter.shape, 2))
            view = view.view(parameter.shape)
            tensors[number] = view.to(parameter.dtype)
            if view.dtype != parameter.dtype:
                copies.append((view, tensors[number]))
            at += count
        return tensors, copies

    def attach(self, g: torch.Tensor) -> None:
        """Make the parameters views of the buffer x, and their gradients views of the buffer g. Existing gradients are
        copied."""
        self.g = g.zero_()
        self._make_places()
        for parameter, values in zip(self.parameters, self._values):
            parameter.data = values
        self._is_older = self.take_gradients()
        self.leave()

    def _make_places(self) -> None:
        self._places, self._copied_places = self._memory(self.g)
        self._addresses = self._addresses_now()

    def _addresses_now(self) -> list[int]:
        return [place.data_ptr() for place in self._places]

    def _versions_of_gradients(self) -> list[int]:
        return [place._version for place in self._places]

    def note_versions(self) -> None:
        """Store the version counters of the parameters. torch increments a counter at each in-place change."""
        self._versions = [parameter._version for parameter in self.parameters]

    def leave(self) -> None:
        """Make the parameters and gradients those of the buffers at the end of a step, and store their version
        counters."""
        self.show_values()
        for view, place in self._copied_places:
            place.copy_(view)
        self.note_versions()
        self._left = [] if self._is_older else self._versions_of_gradients()

    def show_values(self) -> None:
        """Copy the values in the buffer x to the parameters that have memory of their own."""
        for view, values in self._copied_values:
            values.copy_(view)

    @torch.no_grad()
    def take_parameters(self) -> bool:
        """Make every parameter a view of the buffer again, if other code has given it new memory. The new values are
        kept. Return whether any values have changed, in new memory or in place."""
        changed = self._versions != [parameter._version for parameter in self.parameters]
        for parameter, values in zip(self.parameters, self._values):
            if parameter.data_ptr() == values.data_ptr() and parameter.stride() == values.stride():
                continue
            if not torch.equal(values, parameter):
                changed = True
                values.copy_(parameter)
            parameter.data = values
        for view, values in self._copied_values:
            if not torch.equal(view.to(values.dtype), values):
                changed = True
                view.copy_(values)
        return changed

    def take_gradients(self) -> bool:
        """Make every gradient a view of the buffer again, if the user's code has replaced it by another tensor. Return
        whether any gradient had been replaced."""
        # ``module.to()`` and ``grad.data = ...`` give new memory to the tensor itself.
        if self._addresses != self._addresses_now():
            self._make_places()
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
        for view, place in self._copied_places:
            view.copy_(place)
        return replaced

    def zero(self) -> None:
        """Set all gradients to zero."""
        self.g.zero_()
        for _, place in self._copied_places:
            place.zero_()
        self._zeroed = self._versions_of_gradients()

    def put_back(self) -> None:
        """Make the gradients views of the buffer again. The tensors that have replaced them are not read."""
        if self._addresses != self._addresses_now():
            self._make_places()
        for parameter, place in zip(self.parameters, self._places):
            parameter.grad = place

    def zero_before_closure(self) -> list[torch.Tensor] | None:
        """Set all gradients to zero, so that ``check_written`` can determine whether the closure has written any.
        Return copies of the gradients if other code has written them since the last step, and None otherwise.
        """
        untouched = self._versions_of_gradients() == self._left
        replaced = self.take_gradients()
        kept = None if untouched and not replaced else [place.clone() for place in self._places]
        self.zero()
        self._is_older = False
        return kept

    def check_written(self, loss: Any, kept: list[torch.Tensor] | None) -> None:
        """Raise RuntimeError if the closure wrote no gradient although its loss has one, because the loss depends on
        other parameters. This is called after the closure.

        If the loss has no gradient, the gradients that existed before remain, as in torch. The version counters almost
        always decide this without reading the values, which would synchronise with the device."""
        if self._versions_of_gradients() != self._zeroed:
            return
        if not all(parameter.grad is place for parameter, place in zip(self.parameters, self._places)):
            return
        if any(bool(place.any()) for place in self._places):
            return
        has_gradient = loss.requires_grad if isinstance(loss, torch.Tensor) else kept is None
        if has_gradient and any(parameter.requires_grad for parameter in self.parameters):
            raise RuntimeError(
                "the closure wrote no gradient of any parameter of this LBFGSB: its loss depends on other "
                "parameters, as after load_state_dict(assign=True), which replaces them: make a new LBFGSB"
            )
        if kept is not None:
            self._is_older = True
            for place, gradient in zip(self._places, kept):
                place.copy_(gradient)

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

    def _bound(self, limit: Any, parameter: torch.Tensor) -> torch.Tensor:
        """Return a bound of one parameter as a one-dimensional array. A real bound of a complex parameter applies to
        the real and to the imaginary part."""
        bound = limit
        if not isinstance(limit, torch.Tensor):
            bound = torch.as_tensor(limit, dtype=torch.complex128 if np.iscomplexobj(limit) else torch.float64)
        bound = bound.detach().to(parameter.device)
        if bound.is_complex() and not parameter.is_complex():
            raise TypeError(f"a bound has elements of {bound.dtype}, the parameter of {parameter.dtype}")
        if not bound.is_complex():
            bound = bound.to(self.x.dtype)
            bound = torch.complex(bound, bound) if parameter.is_complex() else bound
        try:
            return _numbers(bound.expand(parameter.shape)).reshape(-1).to(self.x.dtype)
        except RuntimeError:
            shapes = tuple(bound.shape), tuple(parameter.shape)
            raise ValueError(f"a bound has the shape {shapes[0]}, the parameter {shapes[1]}") from None
