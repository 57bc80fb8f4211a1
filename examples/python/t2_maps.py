#!/usr/bin/env python3
"""Usage: t2_maps.py [--size N] [--compared K] [--device cpu|cuda] [--picture FILE]

A bounded curve fit for each of N x N pixels, all of them at once: maps of the relaxation time T2 from a series of
magnetic resonance images. Of each pixel 16 echoes have been measured, 12 ms apart, and the decay

    s(t) = amplitude exp(-t / T2) + offset,   0 <= amplitude <= 3,   10 ms <= T2 <= 2 s,   0 <= offset <= 1,

is fitted by least squares, weighted by the noise. The images are made here: a head of ellipses, and the noise that
magnitudes of complex numbers have, which never falls to zero; the offset takes it up. Where there is air, T2 means
nothing, and ends at a bound: the bounds keep such pixels from running away.

One call of the function evaluates all pixels whose fit has not ended. K of the pixels are also fitted by SciPy's
L-BFGS-B, one by one, with the same formula and the same tolerances. --device cuda: the same on a GPU, by CuPy. The
picture needs matplotlib."""
import argparse
import os
import time

# One thread for BLAS, for SciPy's solver as for this one, so that the times can be compared. NumPy reads these.
for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np

import cuda_opt

ECHOES = 0.012 * np.arange(1, 17)  # s
NOISE = 0.02
UNIT = 0.1  # s: the second variable is UNIT / T2, so that all three are of the size of 1
LOWER, UPPER = np.array([0, UNIT / 2, 0]), np.array([3, UNIT / 0.01, 1])
OPTIONS = {"maxcor": 5, "ftol": 1e-12, "gtol": 1e-4}


def head(size):
    """Maps of the amplitude and of T2: skull and scalp, white matter, grey matter in it, ventricles, two lesions."""
    axis = (np.arange(size) + 0.5) / size * 2 - 1
    y, x = axis[:, None], axis[None, :]
    amplitude, t2 = np.zeros((size, size)), np.full((size, size), np.nan)
    for centre_x, centre_y, half_x, half_y, density, relaxation in (
        (0, 0, 0.80, 0.95, 0.9, 0.060), (0, 0, 0.73, 0.88, 0.2, 0.020), (0, 0, 0.68, 0.83, 1.4, 0.110),
        (0, 0, 0.58, 0.72, 1.2, 0.080), (-0.25, 0.25, 0.13, 0.22, 1.35, 0.100), (0.25, 0.25, 0.13, 0.22, 1.35, 0.100),
        (-0.12, -0.10, 0.08, 0.28, 1.8, 1.200), (0.12, -0.10, 0.08, 0.28, 1.8, 1.200),
        (0.38, -0.30, 0.08, 0.08, 1.4, 0.180), (-0.35, -0.45, 0.05, 0.05, 1.4, 0.300),
    ):  # fmt: skip
        inside = ((x - centre_x) / half_x) ** 2 + ((y - centre_y) / half_y) ** 2 < 1
        amplitude[inside], t2[inside] = density, relaxation
    return amplitude, t2


def measured(amplitude, t2):
    """The echoes: a row of 16 magnitudes a pixel."""
    decays = np.exp(-ECHOES / np.nan_to_num(t2, nan=1.0).reshape(-1, 1)) * amplitude.reshape(-1, 1)
    noise = NOISE * np.random.default_rng(0).standard_normal((2, *decays.shape))
    return np.hypot(decays + noise[0], noise[1])


def fit(xp, x, t, echoes):
    """Half the squares of the residuals by the noise, and their gradients: of shape (k,) and (k, 3) for k pixels."""
    decay = xp.exp(-x[:, 1:2] * t)
    residual = (x[:, :1] * decay + x[:, 2:] - echoes) / NOISE
    by_amplitude = (residual * decay).sum(1)
    by_rate = -x[:, 0] * (residual * decay * t).sum(1)
    return (residual**2).sum(1) / 2, xp.stack([by_amplitude, by_rate, residual.sum(1)], 1) / NOISE


def compare(echoes, start, ours, chosen):
    """SciPy's fits of the chosen pixels, beside ours."""
    import scipy.optimize

    t, bounds = ECHOES / UNIT, list(zip(LOWER, UPPER))
    begin = time.perf_counter()
    theirs = []
    for pixel in chosen:
        row = echoes[pixel : pixel + 1]
        theirs.append(
            scipy.optimize.minimize(
                lambda x: tuple(part[0] for part in fit(np, x[None], t, row)), start[pixel], jac=True,
                method="L-BFGS-B", bounds=bounds, options=OPTIONS,
            )  # fmt: skip
        )
    seconds = time.perf_counter() - begin
    print(f"SciPy's L-BFGS-B: {len(chosen)} fits in {seconds:.2f} s, {len(chosen) / seconds:.0f} a second")
    f, x = np.array([one.fun for one in theirs]), np.array([one.x for one in theirs])
    apart = np.abs(x - ours.x[chosen]).max(1)
    print(f"largest difference of f: {np.abs(f - ours.fun[chosen]).max():.2e}; "
          f"the same minimum to 1e-3: {(apart < 1e-3).sum()} of {len(chosen)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=320)
    parser.add_argument("--compared", type=int, default=300, help="pixels that SciPy fits, too; 0: none")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--picture")
    arguments = parser.parse_args()

    amplitude, t2 = head(arguments.size)
    echoes = measured(amplitude, t2)
    start = np.stack([echoes.max(1), np.ones(len(echoes)), np.zeros(len(echoes))], 1)
    xp, synchronize = np, lambda: None
    if arguments.device == "cuda":
        import cupy as xp

        synchronize = xp.cuda.Device().synchronize
    t, data, x0 = xp.asarray(ECHOES / UNIT), xp.asarray(echoes), xp.asarray(start)
    bounds = cuda_opt.Bounds(xp.asarray(LOWER), xp.asarray(UPPER))

    synchronize()
    begin = time.perf_counter()
    result = cuda_opt.minimize_batch(
        lambda x, p: fit(xp, x, t, data[p]), x0, bounds=bounds, indices=True, options=OPTIONS
    )
    synchronize()
    seconds = time.perf_counter() - begin
    if arguments.device == "cuda":
        for name in ("x", "fun"):
            result[name] = result[name].get()
    print(f"{result.message}\n{len(echoes)} fits on {arguments.device} in {seconds:.2f} s, {len(echoes) / seconds:.0f} "
          f"a second; {result.nit.mean():.1f} iterations each, {result.rounds} calls of the function")
    found = UNIT / result.x[:, 1].reshape(t2.shape)
    tissue = (amplitude > 0.5) & (t2 < 0.5)
    print(f"T2 where there is tissue: off by {np.median(np.abs(found / t2 - 1)[tissue]):.1%} in the median")
    held = (result.x == LOWER) | (result.x == UPPER)
    print(f"at a bound: T2 of {held[:, 1].mean():.1%} of the pixels, the offset of {held[:, 2].mean():.1%}")
    if arguments.compared:
        chosen = np.random.default_rng(1).permutation(len(echoes))[: arguments.compared]
        compare(echoes, start, result, chosen)
    if arguments.picture:
        draw(arguments.picture, echoes, result.x, amplitude, t2)
        print(arguments.picture)


def draw(path, echoes, x, amplitude, t2):
    """Two of the images, the fits of three pixels, and maps of what was fitted beside the truth."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    size = len(t2)
    figure, all_axes = pyplot.subplots(2, 3, figsize=(9, 5.4))
    found, air = 1000 * UNIT / x[:, 1].reshape(t2.shape), echoes[:, 0].reshape(t2.shape) < 4 * NOISE
    maps = {
        "first echo, 12 ms": (echoes[:, 0].reshape(t2.shape), "gray", 0, 2),
        "last echo, 192 ms": (echoes[:, -1].reshape(t2.shape), "gray", 0, 2),
        "amplitude, fitted": (x[:, 0].reshape(t2.shape), "gray", 0, 2),
        "T2, fitted, ms": (np.where(air, np.nan, found), "viridis", 0, 320),
        "T2, truth, ms": (1000 * t2, "viridis", 0, 320),
    }
    for axes, (title, (image, colours, least, most)) in zip(np.delete(all_axes.ravel(), 2), maps.items()):
        shown = axes.imshow(image, cmap=colours, vmin=least, vmax=most)
        figure.colorbar(shown, ax=axes, fraction=0.045, pad=0.03).ax.tick_params(labelsize=8)
        axes.set_title(title, fontsize=10)
        axes.axis("off")
    axes, t = all_axes[0, 2], np.linspace(0, 0.2, 100)
    for name, row, column in (("white matter", 0.62, 0.35), ("ventricle", 0.45, 0.44), ("lesion", 0.35, 0.69)):
        pixel = int(row * size) * size + int(column * size)
        (line,) = axes.plot(1000 * t, x[pixel, 0] * np.exp(-t * x[pixel, 1] / UNIT) + x[pixel, 2], label=name)
        axes.plot(1000 * ECHOES, echoes[pixel], ".", color=line.get_color())
    axes.set_title("fits of three pixels", fontsize=10)
    axes.set_xlabel("echo time, ms", fontsize=9)
    axes.tick_params(labelsize=8)
    axes.set_ylim(0, 2.5)
    axes.legend(fontsize=8, loc="upper right")
    figure.tight_layout()
    figure.savefig(path, dpi=72)


if __name__ == "__main__":
    main()
