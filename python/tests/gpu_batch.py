"""Checks ``minimize_batch`` on a CUDA device. ``gpu_check.py batch`` runs these checks."""
import numpy as np
from gpu_shared import Missing, cupy_and_stream, library, near, torch_and_stream
from problems import random_seed

import cuda_opt
from cuda_opt import Bounds, Task

COUNT, N = 3000, 6


def starts():
    return np.random.default_rng(random_seed(3)).uniform(-2, 2, (COUNT, N))


def boxes():
    """Return one box per problem. In every fifth box two variables have equal bounds. In the box of problem 7 a lower
    bound is above the upper bound."""
    random = np.random.default_rng(random_seed(4))
    lower, upper = np.sort(random.uniform(-2, 2, (2, COUNT, N)), 0)
    lower[::5, 4:] = upper[::5, 4:]
    lower[7], upper[7] = 1, 0
    return lower, upper


def rosenbrocks(x, weight):
    """Return chained Rosenbrock functions, one point per row, multiplied by the weight of each problem. The arrays may
    be of NumPy, CuPy or torch."""
    a, b = x[:, 1:] - x[:, :-1] ** 2, 1 - x[:, :-1]
    g = 0 * x
    g[:, :-1] = -400 * x[:, :-1] * a - 2 * b
    g[:, 1:] += 200 * a
    return (100 * a**2 + b**2).sum(1) * weight, g * weight[:, None]


WEIGHTS = 1 + np.arange(COUNT) % 3
TIGHT = {"ftol": 0, "gtol": 1e-8}


def on_the_host():
    fun = lambda x, p: rosenbrocks(x, WEIGHTS[p])  # noqa: E731
    return cuda_opt.minimize_batch(fun, starts(), bounds=Bounds(*boxes()), indices=True, options=TIGHT)


def same_minima(x, result, host):
    """Assert that the results of a batch on the device are those on the host. A few problems have two minima, and
    rounding errors may decide at which of them a solve ends."""
    others = np.arange(COUNT) != 7
    assert (result.codes == host.codes)[others].mean() > 0.99 and result.codes[7] == Task.IMPROPER_INPUT
    assert (np.abs(x - host.x).max(1) < 1e-6)[others].mean() > 0.99, np.abs(x - host.x).max(1)
    assert np.isnan(result.pg_norm_inf[7]) and "l = 1" in result.message_of(7)


def check_batch_torch():
    """Batches of tensors are deterministic, satisfy the bounds, and find the minima of the batch on the host."""
    torch, stream = torch_and_stream()
    host = on_the_host()
    with stream:
        for dtype in (torch.float64, torch.float32):
            x0 = torch.tensor(starts(), dtype=dtype, device="cuda")
            lower, upper = (torch.tensor(side, dtype=dtype, device="cuda") for side in boxes())
            weights, every = torch.tensor(WEIGHTS, device="cuda"), torch.arange(COUNT, device="cuda")
            rows = []

            def fun(x, p):
                assert x.is_cuda and p.is_cuda and p.dtype == torch.int64 and torch.equal(p, every[p])
                rows.append(len(x))
                return rosenbrocks(x, weights[p].to(x.dtype))

            options = TIGHT if dtype == torch.float64 else {"gtol": 1e-2}
            runs = [
                cuda_opt.minimize_batch(fun, x0, bounds=Bounds(lower, upper), indices=True, options=options)
                for _ in range(2)
            ]
            assert torch.equal(runs[0].x, runs[1].x), "the two runs are not bitwise equal"
            assert runs[0].x.is_cuda and runs[0].x.dtype == dtype and runs[0].fun.dtype == torch.float64
            assert rows[0] == COUNT - 1 and min(rows) < COUNT // 2
            assert bool(runs[0].fun[7].isnan()) and bool(runs[0].jac[7].isnan().all())
            if dtype == torch.float64:
                same_minima(runs[0].x.cpu().numpy(), runs[0], host)
            inside = (runs[0].x >= lower) & (runs[0].x <= upper)
            assert bool(inside[torch.arange(COUNT, device="cuda") != 7].all())


def check_batch_torch_autograd():
    """A batch converges with gradients that autograd computes from the sum of f over the problems."""
    torch, stream = torch_and_stream()
    with stream:
        wanted = torch.linspace(-3, 3, COUNT * N, dtype=torch.float64, device="cuda").reshape(COUNT, N)

        def fun(x, p):
            f = ((x.requires_grad_() - wanted[p]) ** 4).sum(1)
            f.sum().backward()
            return f, x.grad

        x0 = torch.zeros_like(wanted)
        for bounds in (Bounds(-1, 1), Bounds(torch.full((N,), -1.0, dtype=torch.float64, device="cuda"), 1)):
            result = cuda_opt.minimize_batch(fun, x0, bounds=bounds, indices=True, options=TIGHT)
            assert result.success.all()
            near(result.x.cpu(), wanted.clamp(-1, 1).cpu(), 5e-3)


def check_batch_torch_memory_is_flat():
    """The used device memory does not grow after the first ten batches."""
    torch, stream = torch_and_stream()

    def free():
        torch.cuda.synchronize()
        return torch.cuda.mem_get_info()[0]

    with stream:
        x0 = torch.tensor(starts(), device="cuda")
        ones = torch.ones(COUNT, device="cuda", dtype=torch.float64)
        for count in range(40):
            if count == 10:
                before = free()
            cuda_opt.minimize_batch(lambda x: rosenbrocks(x, ones[: len(x)]), x0, options={"maxiter": 4})
    assert before - free() < 30e6, before - free()


def check_batch_cupy():
    """Batches of CuPy arrays find the minima of the batch on the host. They also work in single precision."""
    cupy, stream = cupy_and_stream()
    host = on_the_host()
    with stream:
        weights = cupy.asarray(WEIGHTS)

        def fun(x, p):
            assert isinstance(x, cupy.ndarray) and isinstance(p, cupy.ndarray) and p.dtype == np.int64
            return rosenbrocks(x, weights[p])

        x0, sides = cupy.asarray(starts()), [cupy.asarray(side) for side in boxes()]
        result = cuda_opt.minimize_batch(fun, x0, bounds=Bounds(*sides), indices=True, options=TIGHT)
        assert isinstance(result.x, cupy.ndarray) and isinstance(result.fun, cupy.ndarray)
        same_minima(result.x.get(), result, host)
        assert bool(cupy.isnan(result.fun[7])) and bool(cupy.isnan(result.jac[7]).all())
        single = cuda_opt.minimize_batch(
            lambda x: rosenbrocks(x, cupy.ones(len(x), x.dtype)), x0.astype(np.float32),
            bounds=Bounds(cupy.full(N, -1, np.float32), 0.5), options={"gtol": 1e-2},
        )
        assert single.x.dtype == np.float32 and single.fun.dtype == np.float64
        assert float(single.x.max()) == 0.5


def check_batch_jax():
    """Batches of JAX arrays are deterministic and find the minima of the batch on the host."""
    jax = library("jax")
    import cuda_opt.jax

    if jax.default_backend() not in ("gpu", "cuda"):
        raise Missing(f"JAX computes on {jax.default_backend()}")
    jnp = jax.numpy
    jax.config.update("jax_enable_x64", True)
    try:
        host = on_the_host()

        def fun(x, weight):
            return jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2) * weight

        x0, sides = jnp.asarray(starts()), [jnp.asarray(side) for side in boxes()]
        runs = [
            cuda_opt.jax.minimize_batch(fun, x0, (jnp.asarray(WEIGHTS),), Bounds(*sides), options=TIGHT)
            for _ in range(2)
        ]
        assert isinstance(runs[0].x, jax.Array) and runs[0].x.devices() == x0.devices()
        assert bool((runs[0].x == runs[1].x).all())
        same_minima(np.array(runs[0].x), runs[0], host)
        assert bool(jnp.isnan(runs[0].fun[7])) and bool(jnp.isnan(runs[0].jac[7]).all())
        both = jax.jit(jax.vmap(jax.value_and_grad(lambda x: fun(x, 1))))
        single = cuda_opt.minimize_batch(both, x0.astype(jnp.float32), bounds=Bounds(jnp.full(N, -1, jnp.float32), 0.5),
                                         options={"gtol": 1e-2})
        assert single.x.dtype == jnp.float32 and float(single.x.max()) == 0.5
    finally:
        jax.config.update("jax_enable_x64", False)
