"""The minimum subject to bounds as a function that torch differentiates. _jax_implicit.py explains the theory."""
from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import torch

from ._bounds import SIDES, Bounds
from ._inverse import apply_pairs, masked_pairs, singular
from ._minimize import solved
from ._options import options_of, with_defaults
from ._result import result_of
from ._scipy import Pairs
from ._space import bits_of, name_of, one_axis


class _TensorPairs(Pairs):
    """Collects the correction pairs of a solve as tensors on the device of x0."""

    def _note(self, solver: Any) -> None:
        self._x, self._g = solver._x.clone(), solver._g.clone()


def _pairs_of(pairs: Pairs, solver: Any, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return s and y of the correction pairs, and the diagonal of the initial inverse Hessian."""
    initial = torch.as_tensor(solver.initial_inverse_hessian(), dtype=x.dtype, device=x.device)
    if not pairs._pairs:
        zeros = x.new_zeros((1, x.numel()))
        return zeros, zeros, initial
    s, y = (torch.stack([pair[side] for pair in pairs._pairs]) for side in (0, 1))
    return s, y, initial


def _conjugate_gradients(
    product: Callable[[torch.Tensor], torch.Tensor], b: torch.Tensor, precondition: Callable[[torch.Tensor], Any]
) -> torch.Tensor:
    """Return the solution w of product(w) = b. Raises ValueError if it is not found because the matrix is singular or
    not positive definite."""
    double = b.dtype == torch.float64
    tolerance, accepted, limit = (1e-10 if double else 1e-5), (1e-6 if double else 1e-2), 10 * b.numel() + 100
    if not b.isfinite().all():  # NaN in the derivatives of what follows stays NaN
        return torch.full_like(b, math.nan)
    epsilon, size = torch.finfo(b.dtype).eps, float(b.norm())
    w, r, products = torch.zeros_like(b), b.clone(), 0
    z = precondition(r)
    p, rz, definite = z, r @ z, True
    while (residual := float(r.norm())) > tolerance * size and products < limit and definite:
        h = product(p)
        products += 1
        curvature = p @ h
        # If the curvature p'Hp is below its own rounding error, H is singular in floating-point arithmetic.
        definite = bool(curvature > epsilon * p.norm() * h.norm())
        if definite:
            step = rz / curvature
            w, r = w + step * p, r - step * h
            z = precondition(r)
            before, rz = rz, r @ z
            p = z + rz / before * p
    if not definite or not residual <= accepted * size:
        raise ValueError(singular(products, residual / size))
    return w


def _once_differentiable(results: Any, inputs: Any) -> bool:
    """Return whether a backward pass that is once_differentiable has contributed to results, which are functions of
    inputs. Autograd regards such contributions as constant, without a message if it is asked for some derivatives only.
    """
    seen = {one.grad_fn for one in inputs} | {None}
    nodes = [one.grad_fn for one in results]
    while nodes:
        node = nodes.pop()
        if node not in seen:
            if node.name().endswith("::Error"):
                return True
            seen.add(node)
            nodes += [parent for parent, _ in node.next_functions]
    return False


def _products(g: Any, inputs: list[Any], w: Any, others: Any = ()) -> list[Any]:
    """Return w' (dg / d input) for each input. The result is 0 for an input on which g does not depend.

    If gradients are enabled, autograd can differentiate the results with respect to w, inputs and others. Raises
    ValueError if it cannot do so."""
    again = torch.is_grad_enabled()
    found = torch.autograd.grad(g, inputs, w, retain_graph=True, create_graph=again, allow_unused=True)
    products = [one for one in found if one is not None]
    # A product is linear in w. One that is not 0 and requires no gradient was computed without autograd.
    if again and (
        any(not one.requires_grad and one.any() for one in products)
        or _once_differentiable(products, [w, *inputs, *others])
    ):
        raise ValueError(
            "autograd cannot differentiate the derivative of the minimum again: an operation in fun cannot be "
            "differentiated often enough"
        )
    return [torch.zeros_like(one) if product is None else product for one, product in zip(inputs, found)]


def _checked(f: Any) -> torch.Tensor:
    """Return the value of the user's function. Raises TypeError or ValueError if autograd cannot differentiate it."""
    if not isinstance(f, torch.Tensor):
        raise TypeError(f"the function returned a {name_of(f)}: it has to return a tensor of one element")
    if f.numel() != 1:
        raise ValueError(f"the value of the function has the shape {tuple(f.shape)}: it has to be one number")
    if f.is_complex():
        raise TypeError(f"the value of the function has elements of {f.dtype}: it has to be a real number")
    if not f.requires_grad:
        raise ValueError(
            "the value of the function has no gradient: it does not depend on x, or it was computed from a detached x, "
            "in torch.no_grad or in torch.inference_mode"
        )
    return f


def _require_constant_gradient(gradient: Any, g: Any, x: Any, lower: Any, upper: Any, data: Any) -> None:
    """Raise ValueError if a gradient that autograd regards as constant changes with x. Functions whose backward pass is
    once_differentiable have such gradients."""
    with torch.enable_grad():
        step = 1e-3 * (1 + x.abs())
        elsewhere = torch.where(x + step <= upper, x + step, torch.maximum(x - step, lower)).requires_grad_()
        other = gradient(elsewhere, *data)
    if not torch.equal(g, other):
        raise ValueError(
            "autograd cannot differentiate the gradient of fun, so that the minimum has no derivative: an operation in "
            "fun can be differentiated only once"
        )


def _pair_of(bounds: Any) -> tuple[Any, Any]:
    """Return both sides of the bounds."""
    if bounds is None:
        return None, None
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        return bounds.lb, bounds.ub
    if not isinstance(bounds, tuple) or len(bounds) != 2:
        length = f" of {len(bounds)}" if isinstance(bounds, (tuple, list)) else ""
        raise TypeError(f"bounds is a {name_of(bounds)}{length}: it has to be Bounds, or a tuple (lower, upper)")
    return bounds


def _contains_variable(value: Any) -> bool:
    """Return whether a container has a tensor that requires a gradient."""
    if isinstance(value, torch.Tensor):
        return value.requires_grad
    values = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return any(map(_contains_variable, values))


class _Minimum(torch.autograd.Function):
    """The autograd function that maps data and bounds to the minimiser x, with its derivatives. ``solve`` computes x
    without recording derivatives, and ``gradient`` computes the gradient at x so that autograd can differentiate it."""

    @staticmethod
    def forward(context: Any, solve: Any, gradient: Any, lower: Any, upper: Any, *data: Any) -> Any:
        x, pairs, degenerate = solve(lower, upper, data)
        context.save_for_backward(x, lower, upper, *pairs, *data)
        context.gradient, context.degenerate = gradient, degenerate
        return x

    @staticmethod
    def backward(context: Any, v: Any) -> Any:
        gradient = context.gradient
        x, lower, upper, s, y, initial, *data = context.saved_tensors
        free = ~((x <= lower) | (x >= upper))
        needs = context.needs_input_grad[4:]
        needed = [i for i, one in enumerate(needs) if one]
        if context.degenerate:
            warnings.warn(
                f"{context.degenerate} of the {int((~free).sum())} active variables are degenerate: their multiplier "
                "is 0, and the derivative is that of one side, on which they stay at their bounds",
                RuntimeWarning, stacklevel=2,
            )
        # If the result is to be differentiated again, it has to depend on x and data. Views of both are used, because x
        # does not depend on the view of data, so that the derivatives below are partial ones.
        again = torch.is_grad_enabled()
        with torch.enable_grad():
            at, *data = (
                one.view_as(one) if again and one.requires_grad else one.detach().requires_grad_(need)
                for one, need in zip((x, *data), (True, *needs))
            )
            g = gradient(at, *data)
        if not g.requires_grad or _once_differentiable([g], [at, *data]):
            _require_constant_gradient(gradient, g, x, lower, upper, data)

        def system(w: Any, at: Any, v: Any, *data: Any) -> Any:
            """Return H w - v, which is the gradient of w'Hw / 2 - v'w."""
            return _products(gradient(at, *data), [at], w, data)[0] - v

        def solution(*_: Any) -> Any:
            """Return the solution w of H_FF w_F = v_F with w_A = 0."""
            def product(w: Any) -> Any:
                """Multiply w by diag(H_FF, I): return H_FF w_F for the free variables, and w_A for the active ones."""
                return torch.where(free, _products(g, [at], w * free)[0], w)

            inverse = masked_pairs(torch, s, y, initial, free)
            w = _conjugate_gradients(product, v * free, lambda r: apply_pairs(*inverse, r)) * free
            return w, (s, y, initial), 0

        w = torch.zeros_like(v)
        if g.requires_grad:
            # w minimises w'Hw / 2 - v'w subject to w_A = 0, so that this class also differentiates it.
            limit = torch.zeros_like(v).masked_fill(free, math.inf)
            w = _Minimum.apply(solution, system, -limit, limit, at, v, *data)
        by_data: list[Any] = [None] * len(data)
        if needed and g.requires_grad:
            inputs = [data[i] for i in needed]
            for i, product in zip(needed, _products(g, inputs, -w, [at])):
                by_data[i] = product
        by_lower = by_upper = None
        if any(context.needs_input_grad[2:4]):
            moved = torch.where(free, 0, v - (_products(g, [at], w, data)[0] if g.requires_grad else 0))
            at_lower = ~free & (x <= lower) & ((x < upper) | (g.detach() >= 0))
            by_lower, by_upper = moved * at_lower, moved * ~at_lower
        return None, None, by_lower, by_upper, *by_data


class _Solve:
    """A solve with given data. It stores the arrays that the derivative of its minimiser needs."""

    def __init__(self, fun: Callable[..., Any], x0: torch.Tensor, options: Mapping[str, Any]) -> None:
        self._fun, self._x0, self._options = fun, x0, options

    def __call__(self, lower: Any, upper: Any, data: Any) -> tuple[Any, tuple[Any, Any, Any], int]:
        options = options_of(self._options, None)
        pairs = _TensorPairs()

        def both(x: torch.Tensor) -> Any:
            with torch.enable_grad():
                at = x.detach().requires_grad_()
                f = _checked(self._fun(at, *data))
                (g,) = torch.autograd.grad(f, at)
            return f.detach(), g

        def report_of(solver: Any) -> Callable[[], None]:
            return lambda: pairs.add(solver)

        solver, evaluation = solved(
            both, self._x0, (), True, Bounds(lower, upper), options, report_of=report_of,
            after_evaluation=pairs.after_evaluation,
        )
        result = result_of(solver, evaluation)
        x, g = result.x.clone(), result.jac
        if not result.success:
            warnings.warn(f"argmin has not converged: {result.message}", RuntimeWarning, stacklevel=5)
        active = ((x <= lower) | (x >= upper)) & (lower < upper)
        degenerate = int((active & (g.abs() <= 10 * options.settings["PGTOL"])).sum())
        stacked = _pairs_of(pairs, solver, x)
        solver.close()
        return x, stacked, degenerate


def argmin(
    fun: Callable[..., Any],
    x0: torch.Tensor,
    data: Any = (),
    bounds: Any = None,
    *,
    tol: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> torch.Tensor:
    """Return the x that minimises ``fun(x, *data)`` subject to bounds, as a function of data and bounds for autograd.

    Parameters
    ----------
    fun : callable
        ``fun(x, *data)`` returns a tensor of one element. Autograd must be able to differentiate it twice with respect
        to x, and with respect to x and data, and k + 1 times for derivatives of order k of the result. The result has
        no derivative with respect to other tensors that fun uses. Its derivatives must not be differentiated with
        respect to them.
    x0 : tensor of shape (n,)
        The start, float64 or float32, on the host or on a CUDA device. The derivative with respect to it is 0.
    data : tuple of tensors, or a tensor
        Other values in the tuple are passed to fun unchanged. Default: none.
    bounds : Bounds, or pair (lower, upper)
        Each side is a number, None, or a tensor that broadcasts to x0's shape. Default: none.
    tol : float
        The tolerance of the largest component of the projected gradient. Default: 1e-10, or 1e-5 if x0 is float32.
    options : dict
        as for ``cuda_opt.minimize``, except that the default of ``ftol`` is 0

    Returns
    -------
    tensor of shape (n,)

    Raises
    ------
    TypeError, ValueError
        as for ``cuda_opt.minimize``; ValueError in the backward pass if its linear system cannot be solved, because
        the Hessian of the free variables is singular or not positive definite at x (docs/argmin.md), or if autograd
        cannot differentiate fun as often as needed

    Warns
    -----
    RuntimeWarning
        if the solve has not converged; or, in the backward pass, if active variables have a multiplier of at most ten
        times tol. The derivative is computed as if these variables stayed at their bounds.

    Notes
    -----
    The derivatives are those of ``cuda_opt.jax.argmin``, in reverse mode and of any order. A derivative that was
    computed with ``create_graph=True`` can be differentiated again. Forward mode, ``vmap`` and ``torch.func`` raise an
    exception.
    """
    if not isinstance(x0, torch.Tensor):
        raise TypeError(f"x0 is a {type(x0).__name__}: it has to be a tensor")
    start = x0.detach()
    bits_of(str(start.dtype).removeprefix("torch."))
    one_axis(start, "x0")

    def side(limit: Any, infinity: float, what: str) -> torch.Tensor:
        tensor = torch.as_tensor(infinity if limit is None else limit)
        if tensor.is_complex():
            raise TypeError(f"{what} has elements of {tensor.dtype}: they have to be real numbers")
        tensor = tensor.to(dtype=start.dtype, device=start.device)
        if tensor.ndim and tensor.shape not in (start.shape, (1,)):
            raise ValueError(f"{what} has the shape {tuple(tensor.shape)}, but x0 has {tuple(start.shape)}")
        return tensor.expand(start.shape).contiguous()

    tolerance = tol if tol is not None else 1e-10 if start.dtype == torch.float64 else 1e-5
    arguments = list(data if isinstance(data, tuple) else (data,))
    places = [i for i, one in enumerate(arguments) if isinstance(one, torch.Tensor)]
    for one in arguments:
        if not isinstance(one, torch.Tensor) and _contains_variable(one):
            raise TypeError(
                f"data has a {name_of(one)} with tensors that require a gradient: data has to be a tuple of tensors"
            )

    constants = [None if isinstance(one, torch.Tensor) else one for one in arguments]

    def of_tensors(x: torch.Tensor, *tensors: torch.Tensor) -> Any:
        every = list(constants)
        for i, tensor in zip(places, tensors):
            every[i] = tensor
        return fun(x, *every)

    def gradient(x: torch.Tensor, *tensors: torch.Tensor) -> Any:
        f = of_tensors(x, *tensors)
        # Autograd marks results of a backward pass that is once_differentiable if the incoming gradient requires one.
        return torch.autograd.grad(f, x, torch.ones_like(f, requires_grad=True), create_graph=True)[0]

    solve = _Solve(of_tensors, start, with_defaults(options, ftol=0.0, gtol=tolerance))
    lower, upper = (side(*one) for one in zip(_pair_of(bounds), (-math.inf, math.inf), SIDES))
    minimum: torch.Tensor = _Minimum.apply(solve, gradient, lower, upper, *(arguments[i] for i in places))
    return minimum
