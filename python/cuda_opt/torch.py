"""L-BFGS-B as a ``torch.optim.Optimizer``, and ``argmin``, the minimiser as a function that autograd can differentiate.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from ._checkpoint import without_times
from ._constants import INTEGERS, OTHER_NAMES, REALS, Task
from ._flat_parameters import FlatParameters
from ._handle import integer
from ._solver import Solver
from ._space import name_of, number
from ._torch_argmin import argmin

__all__ = ["LBFGSB", "argmin"]
_CHECKPOINT = "cuda_opt"
_OPTIONS = (
    "lr bounds max_iter max_eval tolerance_grad tolerance_change history_size line_search_fn maximize".split()
)


def _rate(lr: Any) -> float:
    """Return a learning rate as a number. Raises ValueError if it is negative."""
    if isinstance(lr, torch.Tensor) and lr.numel() != 1:
        raise ValueError(f"Tensor lr must be 1-element: its shape is {tuple(lr.shape)}")
    if isinstance(lr, torch.Tensor) and lr.is_complex():
        raise TypeError(f"lr has elements of {lr.dtype}: it has to be a real number")
    rate = float(lr) if isinstance(lr, torch.Tensor) else number(lr, "lr")
    if not rate >= 0:
        raise ValueError(f"lr is {rate}: it has to be at least 0")
    return rate


def _same_bounds(one: Any, other: Any) -> bool:
    """Return whether two values of the option ``bounds`` are the same object, or pairs of equal numbers."""
    if one is other:
        return True
    if not all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in (one, other)):
        return False
    are_numbers = all(side is None or isinstance(side, (int, float)) for side in (*one, *other))
    return all(mine is theirs or (are_numbers and mine == theirs) for mine, theirs in zip(one, other))


class LBFGSB(torch.optim.Optimizer):
    """Minimise the loss that a closure evaluates, subject to bounds on the parameters.

    ::

        optimizer = LBFGSB(model.parameters(), bounds=(0, None))
        for _ in range(50):
            loss = optimizer.step(closure)   # closure: optimizer.zero_grad(), loss.backward(), return loss

    The parameters become views of one buffer, and the gradients views of another. The solver uses these buffers, so
    that nothing is copied, on the host or on a CUDA device, and only the solver's own calls wait for the device. The
    closure must be the same function of the parameters each time: it must use all of the data, and no dropout. Other
    code may give a parameter new memory (``parameter.data = ...``, ``vector_to_parameters``, a second optimizer). The
    next step then copies the parameter's values back into the buffer. If the dtype, device or shape of a parameter has
    changed, the next step begins a new solve. A copy or pickle of the model together with its optimizer continues from
    the state of the original.

    Parameters
    ----------
    params : iterable of torch.nn.Parameter, or of dicts
        Floating-point or complex, on one device. The solver has the highest precision among them, and at least single
        precision; parameters of lower precision are copied. A complex parameter counts as two real ones. A dict is a
        group, which may have its own ``lr`` and ``bounds``; the other options are common to all groups. Changes in
        ``param_groups`` take effect at the next step. Parameters outside the box are projected into it at the first
        step.
    lr : float or tensor of one element
        Default 1: the line search determines the steps. Below 1, no step is longer than lr times the direction; with 0,
        as from a scheduler, a step evaluates the closure and changes nothing. The smallest value of all groups is used.
    bounds : pair (lower, upper)
        Each side is a number, a tensor that broadcasts to the parameter's shape, or None for no bound. For a complex
        parameter, a real bound applies to both parts; the real and imaginary parts of a complex bound apply to the
        corresponding parts. Default: none.
    history_size : int
        Number of correction pairs. Default 0: as for ``Solver``, 40 on the host with at most 1,000 variables, and 10
        otherwise. The workspace is 2 history_size + 5 times the size of the parameters.
    max_iter : int
        Largest number of iterations per call of ``step``. Default 20.
    max_eval : int
        Number of evaluations per call of ``step`` after which the call ends at the next iterate. Default 1.25 max_iter.
    tolerance_grad : float
        ``PGTOL``: the solve has converged when no component of the projected gradient is larger. Default 1e-7.
    tolerance_change : float
        ``FACTR`` times the machine precision. The solve also has converged when an iteration has decreased the loss by
        no more than this value times max(1, absolute loss), has not increased it, and the relative gradient is small
        (docs/termination.md). Default 1e-9.
    line_search_fn : None or "strong_wolfe"
        As in ``torch.optim.LBFGS``. It has no effect, since there always is a line search.
    maximize : bool
        Maximise the loss. This needs the memory of one more vector, for the gradient. Default False.
    **settings
        Settings of ``cuda_opt.Solver`` by name: ``HISTORY_BITS=32``.

    Attributes
    ----------
    solver : Solver
        The solver, with all results by name: ``optimizer.solver["PG_NORM_INF"]``. A change of ``history_size``,
        ``maximize``, ``bounds`` or of the groups creates a new one, and so does a change of the dtype, device or shape
        of a parameter. It is None if the parameters have no elements, and as long as a lazy parameter has no shape.
    state : dict
        ``state[p]`` of the first parameter p has ``n_iter`` and ``func_evals``, the numbers of all iterations and calls
        of the closure, as in ``torch.optim.LBFGS``.

    Raises
    ------
    TypeError, ValueError
        if parameters differ in device, if bounds have the wrong shape, or if an argument is unknown or out of range
    RuntimeError
        at a step, if the closure has written no gradient of any parameter
    Error, OutOfMemory
        if there is no CUDA device, or if the workspace does not fit into memory
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1,
        bounds: Any = None,
        history_size: int = 0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        line_search_fn: str | None = None,
        *,
        maximize: bool = False,
        **settings: float,
    ) -> None:
        defaults = {
            "lr": lr,
            "bounds": bounds,
            "max_iter": max_iter,
            "max_eval": max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
            "maximize": maximize,
        }
        # lr is checked before params is used, because params may be an iterator, which torch consumes.
        _rate(lr)
        for name in settings:
            if OTHER_NAMES.get(name, name) not in {*INTEGERS, *REALS}:
                raise TypeError(f"LBFGSB.__init__() got an unexpected keyword argument {name!r}")
        self._settings: dict[str, Any] = dict(settings)
        super().__init__(params, defaults)
        self._make()

    def _common(self, name: str) -> Any:
        """Return the value of an option that all groups must share. Raises ValueError if the groups differ."""
        first = self.param_groups[0][name]
        for group in self.param_groups[1:]:
            if group[name] != first:
                raise ValueError(f"{name} is {first} in one group and {group[name]} in another: all have to be alike")
        return first

    def _lr(self) -> float:
        """Return the smallest learning rate of all groups. Raises ValueError if one is negative."""
        return min(_rate(group["lr"]) for group in self.param_groups)

    def _limits(self) -> tuple[int, int]:
        """Return the largest numbers of iterations and of evaluations per step."""
        max_iter, max_eval = integer(self._common("max_iter"), "max_iter", 64, 1), self._common("max_eval")
        return max_iter, max_iter * 5 // 4 if max_eval is None else integer(max_eval, "max_eval", 64, 0)

    def _tests(self) -> dict[str, float]:
        """Return the settings of the stopping tests. As in torch, a test with a negative tolerance is never satisfied.
        """
        tests = {}
        for name, key, unit in (
            ("tolerance_grad", "PGTOL", 1.0),
            ("tolerance_change", "FACTR", torch.finfo(torch.float64).eps),
        ):
            tolerance = number(self._common(name), name)
            if math.isnan(tolerance):
                raise ValueError(f"{name} is nan: it has to be a number")
            tests[key] = max(tolerance, 0.0) / unit
        return tests

    def _made_of(self) -> tuple[int, bool, list[Any]]:
        """Return the options with which the solver is created. If one of them changes, a new solver is created."""
        search = self._common("line_search_fn")
        if search not in (None, "strong_wolfe"):
            raise ValueError(f"line_search_fn is {search!r}: it has to be None or 'strong_wolfe'")
        history_size = integer(self._common("history_size"), "history_size", 32, 0)
        return history_size, bool(self._common("maximize")), [group["bounds"] for group in self.param_groups]

    def _is_as_made(self) -> bool:
        if self._made is None or not self._flat.fits():
            return False
        *numbers, bounds = self._made_of()
        *made, of_made = self._made
        return numbers == made and len(bounds) == len(of_made) and all(map(_same_bounds, bounds, of_made))

    def _make(self) -> None:
        """Create the solver and the two buffers, for parameters and gradients, that replace the parameters' own memory.
        """
        # Parameters are identified by id(), because torch only warns if a group contains a parameter twice.
        of_groups = {id(one): (one, group["bounds"]) for group in self.param_groups for one in group["params"]}
        parameters, pairs = ([found[which] for found in of_groups.values()] for which in (0, 1))
        self._lr(), self._limits()
        made_of, tests = self._made_of(), self._tests()
        is_lazy = any(map(torch.nn.parameter.is_lazy, parameters))
        flat = FlatParameters([] if is_lazy else parameters)
        solver = None
        if flat.x.numel():
            solver = Solver(flat.x, made_of[0], bounds=flat.bounds(pairs))
            fixed = {"EPS": 0, "MAX_ITERATIONS": 0, "REPORT_ITERATES": 1}
            solver.set({**tests, **fixed, **self._settings}.items())
        # _made is None as long as the shape of a lazy parameter is not known.
        self._made = None if is_lazy else made_of
        self._applied, self._flat = tests, flat
        self.solver: Any = solver
        self._maximize = made_of[1]
        # _asked is True while the solver waits for f and g of an evaluation.
        self._asked = False
        # _lowest is the fingerprint of the point at which the solver found no lower loss.
        self._lowest: tuple[float, ...] | None = None
        # _like is the last loss that the closure returned.
        self._like: Any = None
        if solver is not None:
            # g is the gradient of the loss. If the loss is maximised, g is separate memory, because the solver's
            # gradient is its negative.
            flat.attach(torch.zeros_like(solver._g) if self._maximize else solver._g)

    def _refresh(self) -> None:
        """Apply changes of the parameters and of the groups before a step."""
        if not self._is_as_made():
            self._make()
        solver = self.solver
        if solver is None:
            return
        tests = self._tests()
        for name, value in tests.items():
            if value != self._applied[name]:
                solver[name] = value
                self._settings.pop(name, None)
        self._applied = tests
        if self._flat.take_parameters():
            solver.reset(keep_pairs=solver.status != Task.LINE_SEARCH_FAILED)
            self._asked = False
        self._flat.note_versions()

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set all gradients to zero in place. They remain views of the buffer, whatever ``set_to_none`` is."""
        if not self._flat.fits():
            self._make()
        self._flat.zero()
        self._flat.put_back()

    def _evaluate(self, closure: Callable[[], Any], first: bool) -> Any:
        """Evaluate the loss by the closure and return it. The gradient is then in the gradient buffer."""
        flat = self._flat
        kept = flat.zero_before_closure() if first else None
        flat.show_values()
        with torch.enable_grad():
            loss = closure()
        if first:
            flat.check_written(loss, kept)
        flat.take_gradients()
        self._counts()["func_evals"] += 1
        self._like = loss.detach() if isinstance(loss, torch.Tensor) else loss
        return loss

    def _counts(self) -> dict[str, Any]:
        """Return the state of the first parameter, in which ``torch.optim.LBFGS`` also counts."""
        state: dict[str, Any] = self.state[self._flat.parameters[0]]
        for name in ("n_iter", "func_evals"):
            state.setdefault(name, 0)
        return state

    def _tell(self, loss: Any) -> None:
        """Copy the loss and its gradient to the solver, with the opposite sign if the loss is maximised."""
        solver = self.solver
        if self._maximize:
            solver.f = -loss.detach() if isinstance(loss, torch.Tensor) else -loss
            torch.neg(self._flat.g, out=solver._g)
        else:
            solver.f = loss

    def _known_loss(self) -> Any:
        """Return the loss at the current parameters, which the solver has stored, in the form in which the closure
        returns it."""
        f = self.solver.f.clone()
        loss = f.neg_() if self._maximize else f
        # After load_state_dict() the closure has not returned a loss yet, so that the form of its losses is not known.
        if self._like is None:
            return loss.to(self._flat.x.dtype).reshape(())
        if not isinstance(self._like, torch.Tensor):
            return float(loss)
        return loss.to(self._like.dtype).reshape(self._like.shape)

    @torch.no_grad()
    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Perform up to max_iter iterations, or fewer if the solve converges.

        Parameters
        ----------
        closure : callable
            The closure evaluates the loss at the parameters, calls ``backward()``, and returns the loss.

        Returns
        -------
        tensor
            The loss at the parameters with which the step began, as for ``torch.optim.LBFGS``. ``solver["F"]`` is the
            loss at the last iterate, to which the parameters are set.

        Notes
        -----
        ``solver.status`` is None while the solve has not ended. The step after its end begins a new solve. This uses
        the correction pairs of the last solve, unless the line search had failed.

        If the last solve ended because no lower loss could be found, and the loss and its gradient at the same
        parameters are unchanged, a step evaluates the closure once and changes nothing. With lr = 0 every step does so.
        """
        self._refresh()
        if self._made is None:
            # The closure gives lazy parameters their shapes.
            with torch.enable_grad():
                closure()
            self._refresh()
        solver, lr = self.solver, self._lr()
        max_iter, max_eval = self._limits()
        if solver is None:
            with torch.enable_grad():
                return closure()
        iterations = evaluations = 0
        first = loss = None
        if lr == 0:
            first = self._evaluate(closure, True)
            self._flat.leave()
            return first
        if solver.status is not None:
            if self._lowest is not None:
                first = loss = self._evaluate(closure, True)
                evaluations += 1
                if self._fingerprint(loss) == self._lowest:
                    self._flat.leave()
                    return first
            solver.reset(keep_pairs=solver.status != Task.LINE_SEARCH_FAILED)
        elif solver["EVALUATIONS"] and not self._asked:
            first = self._known_loss()
        self._lowest = None
        solver["STPMAX"] = lr if lr < 1 else 1e20
        while self._asked or (task := next(solver, None)) is not None:
            if self._asked or task == Task.EVALUATE_FG:
                # _asked remains True if the closure raises an exception, so that the next step evaluates again.
                self._asked = True
                # If the start was projected, a loss that is already known belongs to a point outside the box.
                if loss is None or solver["START_PROJECTED"]:
                    loss = self._evaluate(closure, evaluations == 0)
                    evaluations += 1
                    first = loss if first is None else first
                self._tell(loss)
                loss = None
                self._asked = False
            else:
                iterations += 1
                self._counts()["n_iter"] += 1
                if iterations >= max_iter or evaluations >= max_eval:
                    break
        self._note_lowest()
        self._flat.leave()
        return first

    def _note_lowest(self) -> None:
        """Store the fingerprint of the last iterate if the solve has ended because no lower loss was found."""
        if self.solver.status == Task.LINE_SEARCH_FAILED or self.solver["STOP_TEST"] == REALS["ROUNDING"]:
            self._lowest = self._fingerprint(self._known_loss())

    def _fingerprint(self, loss: Any) -> tuple[float, ...]:
        """Return numbers that are equal at two times if the loss, its gradient (in the buffer) and the stopping tests
        are equal."""
        g = self.solver._g
        tests = (float(self.solver[name]) for name in ("EPS", "PGTOL", "FACTR", "ROUNDING", "MAXFEV"))
        return float(loss), float(g.norm()), float(g.sum()), *tests

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters. The next step begins a new solve, without correction pairs."""
        super().add_param_group(param_group)
        # The constructor also calls add_param_group(), before there is a solver to update.
        if not hasattr(self, "_made"):
            return
        try:
            self._make()
        except BaseException:
            self.param_groups.pop()
            raise

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for copies and pickles: the state of any optimizer, the solver's settings and a checkpoint.

        Copy or pickle the model together with its optimizer, so that the copied optimizer refers to the parameters of
        the copied model. A log function is not copied."""
        self._refresh()
        made: dict[str, Any] = {"settings": self._settings, "checkpoint": None}
        if self.solver is not None:
            keys = {**INTEGERS, **REALS}
            made["settings"] = {name: self.solver[name] for name, key in keys.items() if key < 120 or 200 <= key < 300}
            made["checkpoint"] = self._saved()
        return {**super().__getstate__(), _CHECKPOINT: made}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        made = state.pop(_CHECKPOINT, None)
        super().__setstate__(state)
        # The state may have been saved by an earlier version, in which some options did not exist.
        for group in self.param_groups:
            for name in _OPTIONS:
                group.setdefault(name, self.defaults[name])
        # load_state_dict() calls __setstate__() without the solver's data.
        if made is None:
            return
        self._settings = dict(made["settings"])
        self._make()
        self._load(made["checkpoint"])

    def _saved(self) -> bytes | None:
        return without_times(self.solver.save()) if self.solver is not None and self.solver["EVALUATIONS"] else None

    def _load(self, checkpoint: bytes | None) -> None:
        self._lowest, self._asked = None, False
        if checkpoint is not None:
            self.solver.load(checkpoint)
            if self._maximize:
                torch.neg(self.solver._g, out=self._flat.g)
            self._flat.put_back()
            self._asked = next(self.solver, None) == Task.EVALUATE_FG
            self._note_lowest()
        self._flat.leave()

    def state_dict(self) -> dict[str, Any]:
        """Return the state of any optimizer. The state of the first parameter also has a checkpoint of the solve, a
        tensor of bytes in host memory. The checkpoints of equal solves have equal bytes."""
        self._refresh()
        state = super().state_dict()
        checkpoint = self._saved()
        if checkpoint is not None:
            stored = torch.frombuffer(bytearray(checkpoint), dtype=torch.uint8)
            state["state"] = {**state["state"], 0: {**state["state"].get(0, {}), _CHECKPOINT: stored}}
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from the ``state_dict()`` of another optimizer. The parameters are set to those of its solve, and
        the next steps are the ones that it would have taken. Shapes and precision of the parameters, and the bounds,
        must be the same.
        """
        state = dict(state_dict["state"])
        if 0 in state:
            state[0] = dict(state[0])
        checkpoint = state.get(0, {}).pop(_CHECKPOINT, None)
        if checkpoint is not None and not (isinstance(checkpoint, torch.Tensor) and checkpoint.dtype == torch.uint8):
            raise TypeError(f"the state of the solve is a {name_of(checkpoint)}: it has to be a tensor of bytes")
        super().load_state_dict({**state_dict, "state": state})
        self._refresh()
        if self.solver is None:
            return
        self.solver.reset()
        self._load(None if checkpoint is None else bytes(checkpoint.tolist()))
