"""L-BFGS-B as a ``torch.optim.Optimizer``."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from ._bounds import Bounds
from ._constants import INTEGERS, REALS, Task
from ._solver import Solver

_CHECKPOINT = "cuda_opt"


class LBFGSB(torch.optim.Optimizer):
    """Minimise a closure's loss over parameters in a box.

    ::

        optimizer = LBFGSB(model.parameters(), bounds=(0, None))
        for _ in range(50):
            loss = optimizer.step(closure)   # closure: optimizer.zero_grad(), loss.backward(), return loss

    Parameters and gradients become views of one buffer each, which is what the solver works on: nothing is copied, on
    the host or on a CUDA device, and no call waits for the device but the solver's own. The closure has to be the same
    function of the parameters each time: all of the data, no dropout. If other code gives a parameter new memory
    (``parameter.data = ...``, ``vector_to_parameters``, a second optimizer), the next step copies its values back into
    the buffer. A copy or pickle of the model together with its optimizer continues from the state of the original.

    Parameters
    ----------
    params : iterable of torch.nn.Parameter, or of dicts
        All float64 or all float32, on one device. A dict is a group, which may have ``bounds`` of its own. Parameters
        outside the box are moved into it at the first step.
    lr : float
        Default 1: the line search decides on the steps. Below 1, no step is longer than lr times the direction.
    bounds : pair (lower, upper)
        Each a number, a tensor that broadcasts to the parameter's shape, or None for none. Default: none.
    history_size : int
        Correction pairs. Default 10. The workspace is 2 history_size + 5 times the parameters' size.
    max_iter : int
        Iterations in one call of ``step``. Default 20.
    max_eval : int
        Evaluations in one call of ``step``; the call ends at the iterate after that. Default 1.25 max_iter.
    tolerance_grad : float
        ``PGTOL``: the solve has converged when no component of the projected gradient is larger. Default 1e-7.
    tolerance_change : float
        ``FACTR``, in units of the machine precision: or when the loss has not risen, and has fallen by no more than
        this times max(1, its size) in an iteration, and the relative gradient is small (docs/endings.md). Default 1e-9.
    **settings
        Of ``cuda_opt.Solver``, by name: ``HISTORY_BITS=32``.

    Attributes
    ----------
    solver : Solver
        The solver behind it, with all results by name: ``optimizer.solver["PG_NORM_INF"]``.

    Raises
    ------
    TypeError, ValueError
        parameters of different precision or on different devices, bounds of another shape, an argument out of range; at
        a step, a parameter whose precision, device or shape has changed
    RuntimeError
        at a step, the closure wrote no gradient of any parameter
    Error, OutOfMemory
        there is no CUDA device, or the workspace does not fit
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1,
        bounds: Any = None,
        history_size: int = 10,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        **settings: float,
    ) -> None:
        if max_iter < 1:
            raise ValueError(f"max_iter is {max_iter}: it has to be at least 1")
        defaults = {"lr": lr, "bounds": bounds, "max_iter": max_iter, "max_eval": max_eval}
        super().__init__(params, defaults)
        tests = {"PGTOL": tolerance_grad, "FACTR": tolerance_change / torch.finfo(torch.float64).eps, "EPS": 0}
        self._make({**tests, "MAX_ITERATIONS": 0, "REPORT_ITERATES": 1, **settings}, history_size)

    def _make(self, settings: dict[str, Any], history_size: int) -> None:
        """Create the solver and the two buffers that replace the parameters' own memory."""
        self._parameters = [parameter for group in self.param_groups for parameter in group["params"]]
        first = self._parameters[0]
        for number, parameter in enumerate(self._parameters):
            if (parameter.dtype, parameter.device) != (first.dtype, first.device):
                raise ValueError(
                    f"parameter {number} has elements of {parameter.dtype} on {parameter.device}, "
                    f"but the first of {first.dtype} on {first.device}: all have to be alike"
                )
        self._lr()
        self._x = torch.cat([parameter.detach().reshape(-1) for parameter in self._parameters])
        self.solver = Solver(self._x, history_size, bounds=self._flat_bounds())
        self.solver.set(settings.items())
        self._g = self.solver._g.zero_()
        self._asked = False  # whether the solver waits for an evaluation
        self._lowest: tuple[float, ...] | None = None  # fingerprint where no lower loss was found
        self._values: list[torch.Tensor] = []  # views of the buffer, one per parameter
        self._places: list[torch.Tensor] = []
        at = 0
        for parameter in self._parameters:
            self._values.append(self._x[at : at + parameter.numel()].view(parameter.shape))
            self._places.append(self._g[at : at + parameter.numel()].view(parameter.shape))
            at += parameter.numel()
        for parameter, values in zip(self._parameters, self._values):
            parameter.data = values
        self._take_gradients()
        self._note_versions()

    def _note_versions(self) -> None:
        """Remember the parameters' versions, which torch increments at each in-place change."""
        self._versions = [parameter._version for parameter in self._parameters]

    @torch.no_grad()
    def _take_parameters(self) -> None:
        """Make each parameter to which other code has given new memory a view of the buffer again, and keep its values.
        If values have changed, in new memory or in place, restart the solve from them.

        Raises
        ------
        TypeError, ValueError
            the dtype, device or shape of a parameter differs from that of the buffer
        """
        changed = self._versions != [parameter._version for parameter in self._parameters]
        for number, (parameter, values) in enumerate(zip(self._parameters, self._values)):
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
        if changed:
            self.solver.reset(keep_pairs=self.solver.status != Task.LINE_SEARCH_FAILED)
            self._asked = False
        self._note_versions()

    def _lr(self) -> float:
        """The smallest of the groups'; ValueError where one is not positive."""
        lr = min(float(group["lr"]) for group in self.param_groups)
        if not lr > 0:
            raise ValueError(f"lr is {lr}: it has to be positive")
        return lr

    def _flat_bounds(self) -> Bounds:
        """One number a side where all groups agree on it, else an array."""
        pairs = [group["bounds"] for group in self.param_groups for _ in group["params"]]
        sides: list[Any] = []
        for side, none in enumerate((-math.inf, math.inf)):
            limits = []
            for pair in pairs:
                if pair is not None and len(pair) != 2:
                    raise ValueError(f"bounds has {len(pair)} elements: it has to be a pair (lower, upper)")
                limit = None if pair is None else pair[side]
                limits.append(none if limit is None else limit)
            numbers = {limit for limit in limits if isinstance(limit, (int, float))}
            if len(numbers) == 1 and not any(isinstance(limit, torch.Tensor) for limit in limits):
                sides.append(numbers.pop())
                continue
            parts = []
            for limit, parameter in zip(limits, self._parameters):
                as_tensor = torch.as_tensor(limit, dtype=parameter.dtype, device=parameter.device)
                try:
                    parts.append(as_tensor.expand(parameter.shape).reshape(-1))
                except RuntimeError:
                    shapes = tuple(as_tensor.shape), tuple(parameter.shape)
                    raise ValueError(f"a bound has the shape {shapes[0]}, the parameter {shapes[1]}") from None
            sides.append(torch.cat(parts))
        return Bounds(*sides)

    def _take_gradients(self) -> None:
        """Make each gradient a view of the buffer again, where the user's code has put another tensor there."""
        for parameter, place in zip(self._parameters, self._places):
            gradient = parameter.grad
            if gradient is place:
                continue
            if gradient is None:
                place.zero_()
            elif gradient.data_ptr() != place.data_ptr():
                place.copy_(gradient.detach())
            parameter.grad = place

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set all gradients to zero, in place: they stay views of the buffer, whatever ``set_to_none`` says."""
        self._zero_gradients()
        for parameter, place in zip(self._parameters, self._places):
            parameter.grad = place

    def _zero_gradients(self) -> None:
        self._g.zero_()
        self._zeroed = self._g._version

    def _check_gradients(self) -> None:
        """RuntimeError if the closure wrote no gradient, because its loss depends on other parameters. The versions
        almost always decide this without reading the values, which would synchronise with the device."""
        if self._g._version == self._zeroed and not self._g.any():
            if all(parameter.grad is place for parameter, place in zip(self._parameters, self._places)):
                raise RuntimeError(
                    "the closure wrote no gradient of any parameter of this LBFGSB: its loss depends on other "
                    "parameters, as after load_state_dict(assign=True), which replaces them: make a new LBFGSB"
                )

    @torch.no_grad()
    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Up to max_iter iterations, or until the solve has converged.

        Parameters
        ----------
        closure : callable
            Evaluates the loss at the parameters, calls ``backward()``, and returns the loss.

        Returns
        -------
        tensor
            The loss at the last iterate, to which the parameters are set. ``solver.status`` is None while the solve
            goes on. After its end another step begins a new solve, with the correction pairs of the last one, or
            without them if the line search had failed. If the last solve ended because no lower loss could be found,
            and the loss and its gradient at the same parameters are what they were, a step evaluates the closure once
            and changes nothing.
        """
        self._take_parameters()
        solver, group = self.solver, self.param_groups[0]

        def evaluate(first: bool) -> Any:
            if first:
                self._zero_gradients()
            with torch.enable_grad():
                loss = closure()
            if first:
                self._check_gradients()
            self._take_gradients()
            return loss

        iterations = evaluations = 0
        loss = None
        if solver.status is not None:
            if self._lowest is not None:
                loss = evaluate(True)
                evaluations += 1
                if self._fingerprint(loss) == self._lowest:
                    self._note_versions()
                    return solver.f.clone().reshape(())
            solver.reset(keep_pairs=solver.status != Task.LINE_SEARCH_FAILED)
        self._lowest = None
        lr = self._lr()
        solver["STPMAX"] = lr if lr < 1 else 1e20
        max_eval = group["max_eval"] or group["max_iter"] * 5 // 4
        while self._asked or (task := next(solver, None)) is not None:
            if self._asked or task == Task.EVALUATE_FG:
                self._asked = True  # still, should the closure raise
                if loss is None or solver["START_PROJECTED"]:  # the latter: it belongs to a point outside the box
                    loss = evaluate(evaluations == 0)
                    evaluations += 1
                solver.f, loss = loss, None
                self._asked = False
            else:
                iterations += 1
                if iterations >= group["max_iter"] or evaluations >= max_eval:
                    break
        if solver.status == Task.LINE_SEARCH_FAILED or solver["STOP_TEST"] == REALS["ROUNDING"]:
            self._lowest = self._fingerprint(solver.f)
        self._note_versions()
        return solver.f.clone().reshape(())

    def _fingerprint(self, loss: Any) -> tuple[float, ...]:
        """Numbers that show whether the loss, its gradient (in its buffer) and the stopping tests are the same as at
        another time."""
        tests = (float(self.solver[name]) for name in ("EPS", "PGTOL", "FACTR", "ROUNDING", "MAXFEV"))
        return float(loss), float(self._g.norm()), float(self._g.sum()), *tests

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Not after construction: ValueError, since the solver's buffers are of a fixed size."""
        if hasattr(self, "solver"):
            raise ValueError("LBFGSB takes all its parameters at once: make a new one")
        super().add_param_group(param_group)

    def __getstate__(self) -> dict[str, Any]:
        """The state for copies and pickles: that of any optimizer, with the solver's settings and a checkpoint of the
        solve. Copy or pickle the model together with its optimizer, so that the copied optimizer refers to the
        parameters of the copied model. A log function is not copied."""
        self._take_parameters()
        solver = self.solver
        keys = {**INTEGERS, **REALS}
        settings = {name: solver[name] for name, key in keys.items() if key < 120 or 200 <= key < 300}
        checkpoint = solver.save() if solver["EVALUATIONS"] else None
        made = {"settings": settings, "history_size": solver["MEMORY"], "checkpoint": checkpoint}
        return {**super().__getstate__(), _CHECKPOINT: made}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        made = state.pop(_CHECKPOINT, None)
        super().__setstate__(state)
        if made is None:  # called by load_state_dict()
            return
        self._make(made["settings"], made["history_size"])
        self._load(made["checkpoint"])

    def _load(self, checkpoint: bytes | None) -> None:
        self._lowest = None
        if checkpoint is not None:
            self.solver.load(checkpoint)
        self._asked = checkpoint is not None and next(self.solver, None) == Task.EVALUATE_FG

    def state_dict(self) -> dict[str, Any]:
        """As any optimizer's, with the solve's checkpoint: a tensor of bytes, in host memory."""
        self._take_parameters()
        state = super().state_dict()
        if self.solver["EVALUATIONS"]:
            checkpoint = torch.frombuffer(bytearray(self.solver.save()), dtype=torch.uint8)
            state["state"] = {**state["state"], _CHECKPOINT: checkpoint}
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from another's ``state_dict()``: the parameters become those of its solve as well, and the next steps
        are those that the other would have taken. Parameters and bounds have to be as they were."""
        state = dict(state_dict["state"])
        checkpoint = state.pop(_CHECKPOINT, None)
        super().load_state_dict({**state_dict, "state": state})
        self._take_parameters()
        self.solver.reset()
        self._load(None if checkpoint is None else bytes(checkpoint.tolist()))
        self._take_gradients()
        self._note_versions()
