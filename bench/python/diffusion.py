#!/usr/bin/env python3
"""Usage: diffusion.py [--n N] [--m M ...] [--device cuda|cpu]

Time to a solution with the learned metric (INITIAL_HESSIAN=2) and without: one implicit step of diffusion with a rough
coefficient, in a box,

    f(u) = 1/2 sum_i u_i^2 + 1/2 sum_ij k_ij (u_i - u_j)^2 - sum_i b_i u_i,    u >= 0,

on a square grid, over neighbours i and j. The coefficient k, constant in blocks of 5 by 5 points, lies evenly, on a
logarithmic scale, between 1 and 10^4, b in [-1, 1]; both at random. Double precision, f and g of torch's operations.
It ends where the projected gradient's largest component has fallen to 1e-6 of that at the start."""
import argparse
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2] / "python")]

import cuda_opt  # noqa: E402
import torch  # noqa: E402

BLOCK, DECADES = 5, 4


def problem(side, device):
    """f and g in one function, and the start."""
    generator = torch.Generator(device=device).manual_seed(1)

    def uniform(*shape):
        return torch.rand(shape, generator=generator, dtype=torch.float64, device=device)

    blocks = side // BLOCK + 1
    k = (10 ** (DECADES * uniform(blocks, blocks))).repeat_interleave(BLOCK, 0).repeat_interleave(BLOCK, 1)
    down, right = k[: side - 1, :side].contiguous(), k[:side, : side - 1].contiguous()
    b = 2 * uniform(side, side) - 1

    def fun(x):
        u = x.view(side, side)
        d, r = u[1:] - u[:-1], u[:, 1:] - u[:, :-1]
        kd, kr = down * d, right * r
        g = u - b
        f = 0.5 * (torch.vdot(kd.view(-1), d.view(-1)) + (kr * r).sum() + ((g - b) * u).sum())
        g[1:] += kd
        g[:-1] -= kd
        g[:, 1:] += kr
        g[:, :-1] -= kr
        return f, g.view(-1)

    return fun, torch.zeros(side * side, dtype=torch.float64, device=device)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=float, default=1e7, help="variables, rounded to a square")
    parser.add_argument("--m", type=int, nargs="+", default=[5, 17], help="correction pairs")
    parser.add_argument("--device", default="cuda")
    given = parser.parse_args()
    side = round(given.n**0.5)
    fun, start = problem(side, given.device)
    wait = torch.cuda.synchronize if given.device == "cuda" else lambda: None
    gtol = 1e-6 * float(fun(start)[1].clamp(max=0).abs().max())
    print(f"n = {side * side}, {DECADES} decades, ||P g||_inf <= {gtol:.3g}")
    print(f"{'m':>3} {'metric':12} {'iterations':>10} {'evaluations':>11} {'seconds':>8} {'f':>22}")
    for m in given.m:
        for metric in cuda_opt.InitialHessian.SCALAR, cuda_opt.InitialHessian.LEARNED:
            options = {"maxcor": m, "ftol": 0, "gtol": gtol, "INITIAL_HESSIAN": metric}
            cuda_opt.minimize(fun, start, bounds=cuda_opt.Bounds(0, float("inf")), options={**options, "maxiter": 3})
            wait()
            begin = time.perf_counter()
            result = cuda_opt.minimize(fun, start, bounds=cuda_opt.Bounds(0, float("inf")), options=options)
            wait()
            seconds = time.perf_counter() - begin
            end = "" if result.success else result.message
            print(f"{m:3} {metric.name.lower():12} {result.nit:10} {result.nfev:11} {seconds:8.3f} {result.fun:22.15e}",
                  end, flush=True)


if __name__ == "__main__":
    main()
