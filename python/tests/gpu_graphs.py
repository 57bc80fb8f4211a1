"""Checks evaluations that torch and CuPy record as CUDA graphs. gpu_check.py runs these checks."""
import contextlib
import subprocess
import sys
import threading

from gpu_shared import cupy_and_stream, torch_and_stream, torch_rosenbrock

import cuda_opt
from cuda_opt import Bounds

SHORT = {"maxiter": 40}


def counted(fun):
    """Return a function that calls ``fun``, and a list that receives one element for each of these calls."""
    calls = []

    def counting(x):
        calls.append(1)
        return fun(x)

    return counting, calls


def check_torch_graph_same_bits():
    """Solves with a CUDA graph are bitwise equal to solves without one. This is checked on the default stream and on
    another one, with and without bounds, and with gradients that autograd computes."""
    torch, stream = torch_and_stream()

    def differentiated(x):
        f = (100 * (x.requires_grad_()[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()
        f.backward()
        return f, x.grad

    for where in (contextlib.nullcontext(), stream):
        with where:
            for dtype in (torch.float64, torch.float32):
                for fun in (torch_rosenbrock, differentiated):
                    x0 = torch.full((10_001,), -1.2, dtype=dtype, device="cuda")
                    for bounds in (None, Bounds(torch.full_like(x0, -2), 0.9)):
                        settings = {"bounds": bounds, "options": SHORT}
                        eager, seen = cuda_opt.minimize(fun, x0, **settings), []
                        recorded, calls = counted(fun)
                        graph = cuda_opt.minimize(recorded, x0, cuda_graph=True, callback=seen.append, **settings)
                        assert len(calls) == 4 < graph.nfev == eager.nfev
                        assert torch.equal(graph.x, eager.x) and torch.equal(graph.jac, eager.jac)
                        assert torch.equal(seen[-1], eager.x) and graph.fun == eager.fun
            parts = [lambda x: torch_rosenbrock(x)[0], lambda x: torch_rosenbrock(x)[1]]
            apart = cuda_opt.minimize(parts[0], x0, jac=parts[1], cuda_graph=True, **settings)
            assert torch.equal(apart.x, cuda_opt.minimize(torch_rosenbrock, x0, **settings).x)


def check_torch_graph_bad_functions():
    """An exception of the user's function is raised unchanged in whichever evaluation it occurs, also during the
    recording of the CUDA graph. The next solve is not affected."""
    torch, stream = torch_and_stream()

    def failing(at):
        def fun(x):
            calls.append(1)
            if len(calls) == at:
                raise KeyError("mine")
            return torch_rosenbrock(x)

        calls = []
        return fun

    x0 = torch.full((1000,), -1.2, dtype=torch.float64, device="cuda")
    expected = cuda_opt.minimize(torch_rosenbrock, x0, options=SHORT).x
    cases = [(failing(at), KeyError, "mine") for at in (1, 3, 4)]
    cases.append((lambda x: (torch_rosenbrock(x)[0].item(), x.clone()), RuntimeError, "gpu_graphs.py, line"))
    cases.append((lambda x: (1.0, x.clone()), TypeError, "the value of the function is a float: in a CUDA graph"))
    with stream:
        for fun, kind, text in cases:
            try:
                cuda_opt.minimize(fun, x0, cuda_graph=True)
            except kind as error:
                print(f"    {type(error).__name__}: {error}")
                assert text in str(error), error
            else:
                raise AssertionError(f"nothing was raised: {text}")
            assert torch.equal(cuda_opt.minimize(torch_rosenbrock, x0, options=SHORT).x, expected)
            assert torch.equal(cuda_opt.minimize(torch_rosenbrock, x0, cuda_graph=True, options=SHORT).x, expected)
            assert torch.cuda.get_sync_debug_mode() == 0
            assert bool((torch.rand(10, device="cuda") < 1).all())


def check_torch_graph_broken_recording():
    """A function that waits for the device while it is recorded as a CUDA graph is refused with a message. The check
    runs in a separate process, because torch may be unusable afterwards."""
    torch_and_stream()
    script = subprocess.run([sys.executable, __file__], capture_output=True, text=True)
    print("    " + "\n    ".join(script.stdout.splitlines()))
    assert script.stdout.startswith("the function cannot become a CUDA graph: "), script.stderr
    assert "then without a graph: same bits" in script.stdout, script.stderr


def broken_recording():
    torch, _ = torch_and_stream()

    def fun(x):
        calls.append(1)
        f, g = torch_rosenbrock(x)
        return (f + f.item() if len(calls) == 4 else f), g

    x0, calls = torch.full((1000,), -1.2, dtype=torch.float64, device="cuda"), []
    expected = cuda_opt.minimize(torch_rosenbrock, x0, options=SHORT).x
    try:
        cuda_opt.minimize(fun, x0, cuda_graph=True)
    except RuntimeError as error:
        print(error)
    for name, graph in (("without a graph", False), ("with one", True)):
        again = cuda_opt.minimize(torch_rosenbrock, x0, cuda_graph=graph, options=SHORT).x
        print(f"then {name}: {'same' if torch.equal(again, expected) else 'other'} bits", flush=True)
    print("then random numbers:", torch.rand(1, device="cuda").tolist())


def check_torch_graph_two_solvers():
    """Two solves with CUDA graphs can run at once: one within the callback of the other, and two in threads with their
    own streams."""
    torch, stream = torch_and_stream()
    starts = [torch.full((n,), -1.2, dtype=torch.float64, device="cuda") for n in (1000, 3001)]
    alone = [cuda_opt.minimize(torch_rosenbrock, x0, options=SHORT).x for x0 in starts]
    inner, found = [], [None, None]

    def solve(k, callback=None):
        with torch.cuda.stream(torch.cuda.Stream()):
            settings = {"callback": callback, "options": SHORT}
            found[k] = cuda_opt.minimize(torch_rosenbrock, starts[k], cuda_graph=True, **settings).x
            torch.cuda.current_stream().synchronize()

    def nested(x):
        if len(inner) < 10:
            inner.append(cuda_opt.minimize(torch_rosenbrock, starts[1], cuda_graph=True, options=SHORT).x)

    solve(0, nested)
    assert torch.equal(found[0], alone[0]) and all(torch.equal(x, alone[1]) for x in inner)
    for _ in range(5):
        found[:] = [None, None]
        threads = [threading.Thread(target=solve, args=(k,)) for k in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert all(torch.equal(one, two) for one, two in zip(alone, found))


def check_cupy_graph():
    """Solves with a CUDA graph of CuPy are bitwise equal to solves without one, also after a function was refused."""
    cupy, stream = cupy_and_stream()

    def fun(x):
        a, b = x[1:] - x[:-1] ** 2, 1 - x[:-1]
        g = cupy.zeros_like(x)
        g[:-1] = -400 * x[:-1] * a - 2 * b
        g[1:] += 200 * a
        return 100 * (a * a).sum() + (b * b).sum(), g

    x0, settings = cupy.full(10_001, -1.2), {"bounds": Bounds(-2, 0.9), "options": SHORT}
    for where in (cupy.cuda.Stream.null, stream):
        with where:
            eager = cuda_opt.minimize(fun, x0, **settings)
            recorded, calls = counted(fun)
            graph = cuda_opt.minimize(recorded, x0, cuda_graph=True, **settings)
            assert len(calls) == 4 < graph.nfev == eager.nfev and bool((graph.x == eager.x).all())
            try:
                cuda_opt.minimize(lambda x: (cupy.asarray(float(fun(x)[0])), fun(x)[1]), x0, cuda_graph=True)
            except RuntimeError as error:
                print(f"    {error}")
                assert "cannot become a CUDA graph" in str(error), error
            else:
                raise AssertionError("nothing was raised")
            assert bool((cuda_opt.minimize(fun, x0, cuda_graph=True, **settings).x == eager.x).all())


if __name__ == "__main__":
    broken_recording()
