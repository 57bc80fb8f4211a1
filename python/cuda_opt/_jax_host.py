"""Solves of compiled JAX functions on the host. The solver's own arrays are NumPy arrays.

Each evaluation is then one call of the compiled function, which reads and returns host memory. If the solver's arrays
were JAX arrays, a new one would be needed for each x, and an evaluation would take about 0.15 ms longer
(docs/python.md)."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._bounds import Bounds
from ._minimize import minimize
from ._result import InverseHessian
from ._space_jax import _complete, check_precision


class HostInverseHessian(InverseHessian):
    """The operator ``InverseHessian`` for JAX arrays on the host."""

    def __init__(self, operator: Any) -> None:
        self._operator = operator
        self.shape, self.dtype = operator.shape, operator.dtype

    def matvec(self, v: Any) -> Any:
        """H v, for v of shape (n,)."""
        if isinstance(v, jax.Array):
            v = np.asarray(_complete(v, "v"))
        return jnp.array(self._operator.matvec(v))

    rmatvec = matvec

    def __reduce__(self) -> tuple[Any, ...]:
        return HostInverseHessian, (self._operator,)


def host_of(flat: jax.Array) -> Any:
    """Return the CPU device that contains an array, or None if the array is on another kind of device."""
    devices = list(flat.devices())
    return devices[0] if len(devices) == 1 and devices[0].platform == "cpu" else None


def with_numpy(flat: jax.Array, bounds: Any, x_scale: Any, solve: Callable[[Any, Any, Any], Any]) -> Any:
    """Return the result of ``solve(x0, bounds, x_scale)``, whose arguments are NumPy arrays for JAX arrays on the host,
    with JAX arrays."""
    device = host_of(flat)
    if device is None:
        return solve(flat, bounds, x_scale)

    def side(limit: Any) -> Any:
        return np.asarray(limit) if isinstance(limit, jax.Array) else limit

    if isinstance(bounds, Bounds):
        bounds = Bounds(side(bounds.lb), side(bounds.ub))
    with jax.default_device(device):
        result = solve(np.array(flat), bounds, side(x_scale))
        result["x"], result["jac"] = jnp.array(result["x"]), jnp.array(result["jac"])
    result["hess_inv"] = HostInverseHessian(result["hess_inv"])
    return result


def minimize_on_host(
    evaluate: Callable[[Any], Any],
    flat: jax.Array,
    bounds: Any,
    callback: Any,
    options: Any,
    tol: float | None,
    x_scale: Any,
) -> Any:
    """Minimise by ``cuda_opt.minimize`` on the host. In the result and in the callback's argument, x and jac are JAX
    arrays."""
    single = flat.dtype == np.float32
    if not single:
        check_precision(64, "x0")

    def as_numpy(x: Any) -> Any:
        f, g = map(np.asarray, evaluate(x))  # float() of a JAX array would take about 15 microseconds more
        if g.dtype == np.float32 and not single:
            check_precision(64, "x")
        return f.item() if f.size == 1 else f, g

    def as_jax(intermediate_result: Any) -> None:
        intermediate_result["x"] = jnp.array(intermediate_result["x"])
        callback(intermediate_result=intermediate_result)

    following = as_jax if callback else None
    return with_numpy(
        flat, bounds, x_scale,
        lambda x0, bounds, x_scale: minimize(
            as_numpy, x0, (), True, bounds, following, options, tol=tol, x_scale=x_scale
        ),
    )
