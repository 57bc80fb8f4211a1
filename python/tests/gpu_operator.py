"""Checks an operator as initial Hessian on a CUDA device, with torch, CuPy and JAX. ``gpu_check.py operator`` runs the
checks. f is the energy of a loaded string under a ceiling, and the operator is the inverse of the rows and columns of
its Hessian that belong to the free variables. The reference is computed on the host without an operator."""
import numpy as np
from gpu_shared import Missing, cupy_and_stream, library, near, torch_and_stream

import cuda_opt
from cuda_opt import Bounds, Solver, Task

N, BOUNDS = 200, Bounds(None, 0.3)
IDENTITY = np.eye(N)
MATRIX = 2 * IDENTITY - np.eye(N, k=1) - np.eye(N, k=-1)
LOAD = 1e-4 * (1 + np.sin(np.arange(N) / 9))


def string(xp, matrix, load, identity):
    """Return f with its gradient, and the operator, for arrays of the library xp."""

    def fun(x):
        product = matrix @ x
        return x @ product / 2 - load @ x, product - load

    def precondition(v, free):
        assert type(v) is type(free) is type(load) and v.dtype == load.dtype and v.shape == free.shape == (N,)
        rows = xp.where(free[:, None] & free[None, :], matrix, identity)
        return xp.linalg.solve(rows, v)

    return fun, precondition


def reference():
    """Return the minimiser, computed on the host without an operator."""
    options = {"gtol": 1e-11, "ftol": 0, "maxiter": 5000}
    result = cuda_opt.minimize(string(np, MATRIX, LOAD, IDENTITY)[0], np.zeros(N), bounds=BOUNDS, options=options)
    assert result.success and 10 < (result.x == 0.3).sum() < N
    return result.x


def compare(solve, gtol, tolerance):
    """Assert that the operator reduces the number of evaluations (on the host from 310 to 49), and that the minimiser
    is that of the reference. solve(options, with_operator) has to return the result of ``minimize``, with x on the
    host."""
    options = {"gtol": gtol, "ftol": 0, "maxiter": 5000}
    plain, result = solve(options, False), solve(options, True)
    assert plain.success and result.success, (plain.message, result.message)
    assert result.nfev < plain.nfev, (result.nfev, plain.nfev)
    near(result.x, reference(), tolerance)


def check_torch_operator():
    """``minimize`` calls the operator with tensors on the device, with and without a CUDA graph."""
    torch, stream = torch_and_stream()
    with stream:
        for dtype, gtol, tolerance in (torch.float64, 1e-9, 1e-5), (torch.float32, 2e-6, 0.02):
            arrays = [torch.tensor(values, dtype=dtype, device="cuda") for values in (MATRIX, LOAD, IDENTITY)]
            fun, precondition = string(torch, *arrays)

            def on_device(v, free):
                assert v.is_cuda and free.is_cuda and free.dtype == torch.bool and not v[~free].any()
                return precondition(v, free)

            for cuda_graph in (False, True):

                def solve(options, with_operator):
                    settings = {"bounds": BOUNDS, "options": options, "cuda_graph": cuda_graph}
                    settings |= {"preconditioner": on_device} if with_operator else {}
                    result = cuda_opt.minimize(fun, torch.zeros_like(arrays[1]), **settings)
                    assert result.x.is_cuda and result.x.dtype == dtype
                    result.x = result.x.cpu()
                    return result

                compare(solve, gtol, tolerance)


def check_torch_operator_in_place():
    """A loop with ``Solver`` applies the operator to the arrays of the solver."""
    torch, stream = torch_and_stream()
    with stream:
        arrays = [torch.tensor(values, device="cuda") for values in (MATRIX, LOAD, IDENTITY)]
        fun, precondition = string(torch, *arrays)
        x, applications = torch.zeros_like(arrays[1]), 0
        solver = Solver(x, bounds=BOUNDS, preconditioner=True, FACTR=0, PGTOL=1e-9)
        for task in solver:
            if task is Task.APPLY_OPERATOR:
                assert solver.operator_in.is_cuda and solver.operator_free.is_cuda
                solver.operator_out.copy_(precondition(solver.operator_in, solver.operator_free != 0))
                applications += 1
            else:
                solver.f, solver.g = fun(x)
        assert solver.status is Task.CONVERGED and applications == solver["OPERATOR_APPLICATIONS"] > 0
        near(x.cpu(), reference())


def check_torch_operator_that_is_not_positive():
    """An operator that is not positive definite ends the solve with BAD_OPERATOR."""
    torch, stream = torch_and_stream()
    with stream:
        arrays = [torch.tensor(values, device="cuda") for values in (MATRIX, LOAD, IDENTITY)]
        fun, _ = string(torch, *arrays)
        result = cuda_opt.minimize(fun, torch.zeros_like(arrays[1]), preconditioner=lambda v, free: -v)
        assert result.task is Task.BAD_OPERATOR and "inner product" in result.message


def check_cupy_operator():
    """The operator may use CuPy arrays."""
    cupy, stream = cupy_and_stream()
    with stream:
        fun, precondition = string(cupy, *(cupy.asarray(values) for values in (MATRIX, LOAD, IDENTITY)))

        def solve(options, with_operator):
            settings = {"preconditioner": precondition} if with_operator else {}
            result = cuda_opt.minimize(fun, cupy.zeros(N), bounds=BOUNDS, options=options, **settings)
            assert isinstance(result.x, cupy.ndarray)
            result.x = result.x.get()
            return result

        compare(solve, 1e-9, 1e-5)


def check_jax_operator():
    """The operator may use JAX arrays."""
    jax = library("jax")
    if jax.default_backend() not in ("gpu", "cuda"):
        raise Missing(f"JAX computes on {jax.default_backend()}")
    jnp = jax.numpy
    jax.config.update("jax_enable_x64", True)
    try:
        fun, precondition = string(jnp, *(jnp.asarray(values) for values in (MATRIX, LOAD, IDENTITY)))

        def solve(options, with_operator):
            settings = {"preconditioner": precondition} if with_operator else {}
            result = cuda_opt.minimize(jax.jit(fun), jnp.zeros(N), bounds=BOUNDS, options=options, **settings)
            assert result.x.devices() == jnp.zeros(1).devices()
            return result

        compare(solve, 1e-9, 1e-5)
    finally:
        jax.config.update("jax_enable_x64", False)
