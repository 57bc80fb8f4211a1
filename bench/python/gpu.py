#!/usr/bin/env python3
"""Usage: gpu.py [--n N ...] [--iterations K] [--rounds R] [--device cuda|cpu]

Milliseconds an iteration, evaluations included, on a GPU: this package's minimize on torch tensors and on JAX arrays,
without bounds and in a box, beside torch.optim.LBFGS (strong Wolfe) and optax.lbfgs, which have no bounds. Chained
Rosenbrock, double precision, ten pairs; f and g are written by hand, once in operations of torch and once in JAX's,
compiled, and no one differentiates. "graph": torch with cuda_graph=True, which is to it what compiling is to JAX; its
recording is part of the time. Each runs K iterations from the same start, once to warm up; of R rounds, in which
they take turns, the least time counts. optax's K iterations are compiled into one program."""
import argparse
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
sys.path[:0] = [str(Path(__file__).parents[2] / "python")]

import cuda_opt  # noqa: E402

PAIRS = 10
# The initial Hessian is the other programs'.
OPTIONS = {"maxcor": PAIRS, "ftol": 0, "gtol": 0, "INITIAL_HESSIAN": cuda_opt.InitialHessian.SCALAR}
BOX = cuda_opt.Bounds(-2, 0.9)


def torch_methods(n, iterations, device):
    """Name: a function that runs it, and gives iterations, evaluations, f."""
    import torch

    start = torch.tensor([-1.2, 1.0], dtype=torch.float64, device=device).repeat(n // 2)
    evaluations = 0

    def fun(x):
        nonlocal evaluations
        evaluations += 1
        a, b = x[1:] - x[:-1].square(), 1 - x[:-1]
        g = torch.zeros_like(x)
        g[:-1] = -400 * x[:-1] * a - 2 * b
        g[1:] += 200 * a
        return 100 * (a @ a) + b @ b, g

    def ours(bounds=None, cuda_graph=False):
        options = {**OPTIONS, "maxiter": iterations}
        result = cuda_opt.minimize(fun, start, bounds=bounds, options=options, cuda_graph=cuda_graph)
        return result.nit, result.nfev, result.fun

    def of_torch():
        nonlocal evaluations
        evaluations = 0
        x = start.clone().requires_grad_()
        settings = {"tolerance_grad": 0, "tolerance_change": 0, "line_search_fn": "strong_wolfe"}
        optimizer = torch.optim.LBFGS([x], max_iter=iterations, max_eval=10**9, history_size=PAIRS, **settings)

        def closure():
            f, x.grad = fun(x.detach())
            return f

        optimizer.step(closure)
        f = fun(x.detach())[0].item()
        return optimizer.state[x]["n_iter"], evaluations - 1, f

    def evaluation():
        for _ in range(iterations):
            f, _ = fun(start)
        return iterations, iterations, f.item()

    graphs = {"ours, graph": lambda: ours(None, True), "ours, graph, box": lambda: ours(BOX, True)}
    return {
        "ours, torch": ours,
        "ours, torch, box": lambda: ours(BOX),
        **(graphs if device == "cuda" else {}),
        "torch.optim.LBFGS": of_torch,
        "evaluation, torch": evaluation,
    }


def jax_methods(n, iterations):
    """As torch_methods()."""
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp

    start = jnp.tile(jnp.array([-1.2, 1.0]), n // 2)

    @jax.jit
    def both(x):
        a, b = x[1:] - x[:-1] ** 2, 1 - x[:-1]
        pad = jnp.zeros(1)
        g = jnp.concatenate([-400 * x[:-1] * a - 2 * b, pad]) + jnp.concatenate([pad, 200 * a])
        return 100 * (a @ a) + b @ b, g

    def ours(bounds=None):
        result = cuda_opt.minimize(both, start, bounds=bounds, options={**OPTIONS, "maxiter": iterations})
        return result.nit, result.nfev, result.fun

    methods = {"ours, JAX": ours, "ours, JAX, box": lambda: ours(BOX)}
    try:
        import optax
    except ImportError as problem:
        print(f"skipped: optax.lbfgs: {problem}")
        return methods

    @jax.custom_vjp
    def f(x):
        return both(x)[0]

    f.defvjp(both, lambda g, scale: (scale * g,))
    optimizer = optax.lbfgs(memory_size=PAIRS)
    value_and_grad = optax.value_and_grad_from_state(f)

    @jax.jit
    def run(x):
        def step(_, carry):
            x, state = carry
            value, grad = value_and_grad(x, state=state)
            updates, state = optimizer.update(grad, state, x, value=value, grad=grad, value_fn=f)
            return optax.apply_updates(x, updates), state

        return f(jax.lax.fori_loop(0, iterations, step, (x, optimizer.init(x)))[0])

    return {**methods, "optax.lbfgs": lambda: (iterations, "", float(run(start)))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, nargs="+", default=[1000, 100_000, 10_000_000])
    parser.add_argument("--iterations", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    arguments = parser.parse_args()
    if arguments.device == "cpu":
        os.environ["JAX_PLATFORMS"] = "cpu"
    versions = [f"cuda_opt {cuda_opt.version}"]
    makers = []
    for name, maker in (("torch", lambda n, k: torch_methods(n, k, arguments.device)), ("jax", jax_methods)):
        try:
            versions.append(f"{name} {__import__(name).__version__}")
            makers.append(maker)
        except ImportError as problem:
            print(f"skipped: {name}: {problem}")
    print(", ".join(versions))
    if "torch" in sys.modules and arguments.device == "cuda":
        print(sys.modules["torch"].cuda.get_device_name())
    print(f"{'n':>9}  {'method':20} {'ms an iteration':>16} {'iterations':>11} {'evaluations':>12}  f")
    for n in arguments.n:
        methods = {}
        for maker in makers:
            methods.update(maker(n, arguments.iterations))
        least, ends = {}, {}
        for name, method in methods.items():
            ends[name] = method()
        for _ in range(arguments.rounds):
            for name, method in methods.items():
                begin = time.perf_counter()
                iterations = method()[0]
                seconds = (time.perf_counter() - begin) / iterations
                least[name] = min(seconds, least.get(name, seconds))
        for name, seconds in least.items():
            iterations, evaluations, f = ends[name]
            print(f"{n:9}  {name:20} {1e3 * seconds:16.3f} {iterations:11} {evaluations:>12}  {f:.10g}", flush=True)


if __name__ == "__main__":
    main()
