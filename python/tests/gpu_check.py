#!/usr/bin/env python3
"""Usage: gpu_check.py [NAME ...]

Checks the package with arrays of torch, CuPy and JAX on a real CUDA device, on streams other than the default one. It
does not need pytest. CUDA_OPT_LIBRARY names the shared library. It prints one line for each check; a check whose array
library is missing is skipped. The last line gives the numbers of passed, failed and skipped checks. The exit status is
the number of failures."""
import json
import sys
import tempfile
import threading
import traceback
from pathlib import Path

import gpu_batch
import gpu_graphs
import gpu_operator
import numpy as np
from gpu_shared import Missing, cupy_and_stream, library, near, torch_and_stream, torch_parabola, torch_rosenbrock
from problems import random_seed

import cuda_opt
from cuda_opt import Bounds, Solver, Task

# NEAREST is the point of the box [0, 3]^8 that is nearest to (0, 1, ..., 7).
NEAREST = [0, 1, 2, 3, 3, 3, 3, 3]


def check_torch_minimize():
    """``minimize`` finds the constrained minimum with all forms of bounds, and its results stay on the device."""
    torch, stream = torch_and_stream()
    with stream:
        for dtype in (torch.float64, torch.float32):
            x0 = torch.full((8,), 7.0, dtype=dtype, device="cuda")
            for bounds in (Bounds(0, 3), Bounds(torch.zeros_like(x0), torch.full_like(x0, 3)), [(0, 3)] * 8):
                result = cuda_opt.minimize(torch_parabola, x0, bounds=bounds)
                assert result.success and result.x.is_cuda and result.x.dtype == dtype
                near(result.x.cpu(), NEAREST)
                assert (result.hess_inv @ torch.ones_like(x0)).is_cuda
            assert Solver(x0.clone()).stream == torch.cuda.current_stream().cuda_stream != 0


def check_torch_same_bits_again():
    """Two solves of the same problem give bitwise equal results."""
    torch, stream = torch_and_stream()
    with stream:
        x0 = torch.full((100_000,), -1.2, dtype=torch.float64, device="cuda")
        runs = [cuda_opt.minimize(torch_rosenbrock, x0, bounds=Bounds(-2, 0.9)).x for _ in range(2)]
        assert torch.equal(*runs)


def check_torch_like_the_host():
    """Solves on the device and on the host converge to the same minimiser."""
    torch, stream = torch_and_stream()
    with stream:
        x0 = torch.full((2000,), -1.2, dtype=torch.float64)
        options = {"ftol": 0, "gtol": 1e-9}
        host = cuda_opt.minimize(torch_rosenbrock, x0, bounds=Bounds(-2, 0.9), options=options)
        device = cuda_opt.minimize(torch_rosenbrock, x0.cuda(), bounds=Bounds(-2, 0.9), options=options)
        assert host.success and device.success
        near(device.x.cpu(), host.x, 1e-6)


def check_torch_solver_in_place():
    """``Solver`` overwrites a tensor on the device, and its checkpoint can be loaded on the host."""
    torch, stream = torch_and_stream()
    with stream:
        x = torch.zeros(1000, dtype=torch.float64, device="cuda")
        solver = Solver(x, REPORT_ITERATES=1)
        for task in solver:
            if task is Task.EVALUATE_FG:
                assert solver.x.data_ptr() == x.data_ptr()
                torch.sub(x, 2, out=solver.g)
                torch.dot(solver.g, solver.g, out=solver.f)
                solver.f.div_(2)
        assert solver.status is Task.CONVERGED
        near(x.cpu(), 2)
        checkpoint = solver.save()
        on_host = torch.zeros(1000, dtype=torch.float64)
        other = Solver(on_host)
        other.load(checkpoint)
        assert torch.equal(on_host, x.cpu())


def check_torch_optimizer():
    """No step of LBFGSB increases the loss, and a second optimizer continues from the state of the first."""
    torch, stream = torch_and_stream()
    from cuda_opt.torch import LBFGSB

    with stream:
        for dtype in (torch.float64, torch.float32):
            torch.manual_seed(random_seed())
            model = torch.nn.Sequential(torch.nn.Linear(3, 50), torch.nn.Tanh(), torch.nn.Linear(50, 1))
            model.to("cuda", dtype)
            data = torch.randn(400, 3, dtype=dtype, device="cuda")
            optimizer = LBFGSB(model.parameters(), bounds=(-1, 1), max_iter=5)

            def closure():
                optimizer.zero_grad()
                loss = ((model(data) - data[:, :1] * data[:, 1:2]) ** 2).mean()
                loss.backward()
                return loss

            losses = [optimizer.step(closure).item() for _ in range(10)]
            assert losses[-1] < losses[0] / 2 and all(b <= a for a, b in zip(losses, losses[1:])), losses
            values = torch.cat([parameter.detach().reshape(-1) for parameter in model.parameters()])
            assert bool((values.abs() <= 1).all()) and values.is_cuda
            again = LBFGSB(model.parameters(), bounds=(-1, 1), max_iter=5)
            again.load_state_dict(optimizer.state_dict())
            assert again.step(closure).item() <= losses[-1]


def check_torch_search():
    """``pattern_search`` finds the global minimum with tensors on the device."""
    torch, stream = torch_and_stream()
    with stream:
        like = torch.zeros(1, dtype=torch.float64, device="cuda")
        result = cuda_opt.pattern_search(
            lambda x: (x**2 - 10 * torch.cos(2 * torch.pi * x) + 10).sum(0), [(-5, 5)] * 2, 300, like=like, keep=3
        )
        assert result.x.is_cuda and abs(result.fun) < 1e-6 and len(result.walks_fun) == 3


def check_torch_bad_input():
    """Arrays on another device or of another library, and lower bounds above upper bounds, are rejected."""
    torch, stream = torch_and_stream()
    x0 = torch.zeros(4, dtype=torch.float64, device="cuda")
    for fun, settings, text in (
        (lambda x: (0.0, x.cpu()), {}, "the gradient is on the device cpu, but x0 on cuda"),
        (lambda x: (0.0, np.zeros(4)), {}, "the gradient is a numpy.ndarray, but x0 is a torch tensor"),
        (torch_parabola, {"bounds": Bounds(x0.cpu(), None)}, "the lower bound is on the device cpu, but x0 on cuda"),
        (torch_parabola, {"bounds": Bounds(x0 + 1, x0)}, "1"),
    ):
        try:
            cuda_opt.minimize(fun, x0, **settings)
        except (TypeError, ValueError) as error:
            assert text in str(error), error
        else:
            raise AssertionError(f"nothing was raised: {text}")


def check_memory_is_flat():
    """The used device memory does not grow after the first ten rounds. The first rounds load every kernel and reserve
    its local memory. They also use the stream for recordings, on which torch allocates a workspace for cuBLAS."""
    torch, stream = torch_and_stream()
    x0 = torch.zeros(1_000_000, dtype=torch.float64, device="cuda")

    def free():
        torch.cuda.synchronize()
        # Memory that torch's allocator has cached does not count as used, and is therefore released before the
        # measurement.
        torch.cuda.empty_cache()
        return torch.cuda.mem_get_info()[0]

    with stream:
        for count in range(60):
            if count == 10:
                before = free()
            cuda_opt.minimize(torch_parabola, x0, bounds=Bounds(0, 3), options={"maxiter": 3})
            cuda_opt.minimize(torch_rosenbrock, x0, cuda_graph=True, options={"maxiter": 5})
            # A solver may also be deleted in the middle of its solve.
            next(Solver(x0.clone()))
    assert before - free() < 100e6, before - free()


def check_no_host_copies():
    """During a solve on the device, torch's profiler sees no host copy as large as x, and all copies together are
    small."""
    torch, stream = torch_and_stream()
    n, trace = 1_000_000, tempfile.mktemp(suffix=".json")
    with stream:
        x0 = torch.full((n,), -1.2, dtype=torch.float64, device="cuda")
        bounds = Bounds(torch.full_like(x0, -2), 0.9)
        run = lambda: cuda_opt.minimize(torch_rosenbrock, x0, bounds=bounds, options={"maxiter": 20})  # noqa: E731
        run()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            result = run()
            torch.cuda.synchronize()
        profile.export_chrome_trace(trace)
    events = [event for event in json.loads(Path(trace).read_text())["traceEvents"] if "args" in event]
    kernels = [event for event in events if event.get("cat") == "kernel"]
    if not kernels:
        raise Missing("the profiler saw no kernels on this machine")
    copies = [event for event in events if event.get("cat") == "gpu_memcpy"]
    between = [event for event in copies if "DtoD" not in event["name"]]
    sizes = [event["args"]["bytes"] for event in between]
    print(
        f"    {result.nfev} evaluations, {len(kernels)} kernels; copies between host and device: {len(sizes)}, the "
        f"largest of {max(sizes, default=0)} bytes, {sum(sizes)} bytes together; x has {8 * n}"
    )
    assert max(sizes, default=0) < 100_000 and sum(sizes) < 8 * n


def check_cupy():
    """``minimize``, ``Solver`` and ``pattern_search`` work with CuPy arrays, on the current stream of CuPy."""
    cupy, stream = cupy_and_stream()

    def fun(x):
        g = x - cupy.arange(len(x), dtype=x.dtype)
        return g @ g / 2, g

    with stream:
        for dtype in (cupy.float64, cupy.float32):
            x0 = cupy.full(8, 7, dtype)
            seen = []
            for bounds in (Bounds(0, 3), Bounds(cupy.zeros(8, dtype), cupy.full(8, 3, dtype)), [(0, 3)] * 8):
                result = cuda_opt.minimize(fun, x0, bounds=bounds, callback=seen.append)
                assert result.success and isinstance(result.x, cupy.ndarray) and result.x.dtype == dtype
                near(result.x.get(), NEAREST)
            assert isinstance(result.hess_inv @ x0, cupy.ndarray) and isinstance(seen[-1], cupy.ndarray)
            assert Solver(x0.copy()).stream == stream.ptr
            x = cupy.zeros(8, dtype)
            solver = Solver(x)
            for _ in solver:
                solver.f, solver.g = fun(x)
            near(x.get(), range(8), 1e-4)
        try:
            cuda_opt.minimize(lambda x: (0.0, np.zeros(8)), x0)
        except TypeError as error:
            assert "without __cuda_array_interface__" in str(error)
        found = cuda_opt.pattern_search(lambda x: (x**2).sum(0), Bounds(cupy.full(2, -3.0), cupy.full(2, 4.0)), 50)
        near(found.x.get(), 0, 1e-3)


def check_cupy_raw_kernel():
    """The user's function may be a CUDA kernel that CuPy compiles."""
    cupy, stream = cupy_and_stream()
    kernel = cupy.RawKernel(
        """extern "C" __global__ void pull(const double *x, double *g, double *share, int n)
        {
            const int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) { g[i] = x[i] - i % 7; share[i] = g[i] * g[i] / 2; }
        }""",
        "pull",
    )
    n = 1_000_000
    with stream:
        g, share = cupy.empty(n), cupy.empty(n)

        def fun(x):
            kernel(((n + 255) // 256,), (256,), (x, g, share, np.int32(n)))
            return share.sum(), g

        result = cuda_opt.minimize(fun, cupy.zeros(n), bounds=Bounds(None, 4))
        near(result.x[:8].get(), [0, 1, 2, 3, 4, 4, 4, 0])


def check_jax():
    """``minimize`` works with JAX arrays on the device, and ``Solver`` and ``pattern_search`` in double precision."""
    jax = library("jax")
    import cuda_opt.jax

    if jax.default_backend() not in ("gpu", "cuda"):
        raise Missing(f"JAX computes on {jax.default_backend()}")
    jnp = jax.numpy

    def fun(x):
        return jnp.sum((x - jnp.arange(x.size)) ** 2) / 2

    def rosenbrock(x):
        return jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)

    for x64 in (False, True):
        jax.config.update("jax_enable_x64", x64)
        seen = []
        result = cuda_opt.jax.minimize(fun, jnp.full(8, 7.0), bounds=Bounds(0, jnp.full(8, 3.0)),
                                       callback=lambda intermediate_result: seen.append(intermediate_result.x))
        assert result.success and result.x.devices() == jnp.zeros(1).devices()
        near(result.x, NEAREST)
        near(seen[-1], NEAREST)
        assert isinstance(result.hess_inv @ jnp.ones(8), jax.Array)
        tree = cuda_opt.jax.minimize(lambda t: fun(t["a"]) + t["b"] ** 2, {"a": jnp.zeros(4), "b": jnp.ones(())})
        near(tree.x["a"], range(4), 1e-3)
        if x64:
            both = jax.jit(jax.value_and_grad(rosenbrock))
            x0 = jnp.full(50_000, -1.2)
            runs = [cuda_opt.minimize(both, x0, bounds=Bounds(-2, 0.9)) for _ in range(2)]
            assert runs[0].success and bool((runs[0].x == runs[1].x).all())
            solver = Solver(x0, bounds=Bounds(-2, 0.9))
            for _ in solver:
                solver.f, solver.g = both(solver.x)
            assert solver.status is Task.CONVERGED
            found = cuda_opt.pattern_search(
                jax.jit(lambda x: jnp.sum(x**2, 0)), Bounds(jnp.full(2, -3.0), jnp.full(2, 4.0)), 50
            )
            near(found.x, 0, 1e-3)
    jax.config.update("jax_enable_x64", False)


def check_threads():
    """Two threads, each with its own solver and stream, obtain the same results as when each runs alone."""
    torch, _ = torch_and_stream()
    starts = [torch.full((n,), -1.2, dtype=torch.float64, device="cuda") for n in (1000, 3001)]
    alone = [cuda_opt.minimize(torch_rosenbrock, x0).x for x0 in starts]
    found = [None, None]

    def solve(k):
        with torch.cuda.stream(torch.cuda.Stream()):
            found[k] = cuda_opt.minimize(torch_rosenbrock, starts[k]).x
            torch.cuda.current_stream().synchronize()

    threads = [threading.Thread(target=solve, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(torch.equal(one, two) for one, two in zip(alone, found))


def main(names):
    passed = failed = skipped = 0
    checks = {**globals(), **vars(gpu_graphs), **vars(gpu_batch), **vars(gpu_operator)}
    for name, check in [(name, value) for name, value in checks.items() if name.startswith("check_")]:
        if names and not any(wanted in name for wanted in names):
            continue
        print(f"{name} ...", flush=True)
        try:
            check()
            passed += 1
        except Missing as why:
            print(f"    skipped: {why}")
            skipped += 1
        except Exception:
            traceback.print_exc(file=sys.stdout)
            failed += 1
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
