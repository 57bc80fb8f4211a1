#!/usr/bin/env python3
"""Usage: cupy_membrane.py [--size N] [--picture FILE]

A membrane on N x N points, fixed at 0 along its frame and loaded from below, over two bumps and under a glass plate: f
and its gradient in a kernel of one's own, compiled by CuPy, on arrays that stay on the GPU. It needs a CUDA device; the
picture needs matplotlib."""
import argparse

import cupy
import numpy as np

import cuda_opt

KERNEL = r"""
extern "C" __global__ void membrane(const double *x, double *g, double *share, int n, double load)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n) return;
    const int at = j * n + i;
    const double here = x[at], left = i > 0 ? x[at - 1] : 0, down = j > 0 ? x[at - n] : 0;
    const double right = i + 1 < n ? x[at + 1] : 0, up = j + 1 < n ? x[at + n] : 0;
    double energy = (here - left) * (here - left) + (here - down) * (here - down);
    if (i + 1 == n) energy += here * here; /* the last pieces, up to the frame */
    if (j + 1 == n) energy += here * here;
    share[at] = energy / 2 - load * here;
    g[at] = 4 * here - left - right - down - up - load;
}"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--picture")
    arguments = parser.parse_args()
    n = arguments.size

    membrane = cupy.RawKernel(KERNEL, "membrane")
    axis = (cupy.arange(n) + 1.0) / (n + 1)
    x, y = axis[None, :], axis[:, None]
    bumps = [0.35 - 6 * ((x - a) ** 2 + (y - b) ** 2) for a, b in ((0.3, 0.35), (0.7, 0.6))]
    lower = cupy.maximum(cupy.maximum(*bumps), 0).reshape(-1)
    g, share = cupy.empty(n * n), cupy.empty(n * n)
    blocks, load = ((n + 15) // 16, (n + 15) // 16), np.float64(2 / (n + 1) ** 2)

    def fun(x):
        membrane(blocks, (16, 16), (x, g, share, np.int32(n), load))
        return share.sum(), g

    with cupy.cuda.Stream(non_blocking=True):
        result = cuda_opt.minimize(
            fun,
            cupy.zeros(n * n),
            bounds=cuda_opt.Bounds(lower, 0.36),
            options={"gtol": 1e-9, "ftol": 0, "maxiter": 20000, "maxfun": None, "maxcor": 10},
        )
        touching = int((result.x == lower).sum()), int((result.x == 0.36).sum())
    print(f"{result.message}\n{result.nit} iterations, f = {result.fun:.9g}")
    print(f"the membrane lies on the bumps at {touching[0]} points, and touches the glass at {touching[1]}")

    if arguments.picture:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        figure, axes = pyplot.subplots(figsize=(6, 5))
        figure.colorbar(axes.imshow(result.x.reshape(n, n).get(), origin="lower", extent=(0, 1, 0, 1)))
        figure.savefig(arguments.picture, dpi=120)
        print(arguments.picture)


if __name__ == "__main__":
    main()
