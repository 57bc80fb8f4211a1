#!/usr/bin/env python3
"""Usage: tomography.py [--size N] [--angles K] [--calls C] [--device cpu|cuda] [--picture FILE]

Emission tomography: an image of N x N pixels, x >= 0, from the counts of rays through it. What is measured is made
here: a phantom, the matrix A of the pixels' shares in parallel rays, weakened on their way to one side, and Poisson
noise. The image is the one that makes the counts most likely, with a little smoothness:

    f(x) = sum over rays of (Ax + r)_i - b_i log (Ax + r)_i + w/2 sum over pixels of |difference to the neighbours|^2.

Three solvers, each with C calls of the projector, a call being a product with A or with its transpose: L-BFGS-B with
x >= 0 as it is; with a diagonal of the user's, 1 / (A' diag(1 / b) A 1), the rows' sums of f's second derivatives at
Ax + r = b, which cost two calls; and SciPy's L-BFGS-B. The diagonal pays because the attenuation makes the pixels
differ: the rays see those of one side e^6 times as well as those of the other. --device cuda: the same on a GPU, by
CuPy. The picture needs matplotlib."""
import argparse
import os

# One thread for BLAS, for SciPy's solver as for this one, so that the times can be compared. NumPy reads these.
for variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np
import scipy.optimize
import scipy.sparse

import cuda_opt


def phantom(size):
    """A body of ellipses, with hot and cold ones in it: what each pixel sends out."""
    axis = (np.arange(size) + 0.5) / size * 2 - 1
    y, x = axis[:, None], axis[None, :]
    image = np.zeros((size, size))
    for centre_x, centre_y, half_x, half_y, activity in (
        (0, 0, 0.7, 0.9, 1.0), (0, 0.05, 0.6, 0.78, -0.6), (-0.25, 0.1, 0.13, 0.3, -0.3), (0.25, 0.15, 0.17, 0.35, 0.8),
        (0, -0.45, 0.2, 0.12, 2.0), (-0.1, 0.55, 0.06, 0.06, 6.0), (0.08, 0.6, 0.03, 0.03, 12.0),
    ):  # fmt: skip
        image[((x - centre_x) / half_x) ** 2 + ((y - centre_y) / half_y) ** 2 < 1] += activity
    return 10 * image


def projector(size, angles):
    """The matrix of parallel rays, a pixel apart, at so many angles of half a turn: each pixel's share in the two rays
    nearest to its middle, weakened the further it is from the edge on the ray's side."""
    axis = np.arange(size) + 0.5 - size / 2
    x, y = np.tile(axis, size), np.repeat(axis, size)
    rays = int(np.ceil(size * np.sqrt(2))) + 2
    rows, columns, shares = [], [], []
    for k, angle in enumerate(np.pi * np.arange(angles) / angles):
        place = x * np.cos(angle) + y * np.sin(angle) + rays / 2 - 0.5
        way_out = y * np.cos(angle) - x * np.sin(angle) + size / 2
        first = np.floor(place).astype(int)
        weakened = np.exp(-6 / size * way_out)
        for ray, share in ((first, first + 1 - place), (first + 1, place - first)):
            rows.append(k * rays + ray)
            columns.append(np.arange(size * size))
            shares.append(share * weakened)
    entries = np.concatenate(shares), (np.concatenate(rows), np.concatenate(columns))
    return scipy.sparse.csr_matrix(entries, shape=(angles * rays, size * size))


class Likelihood:
    """f and its gradient; counts the projector's calls, and notes f at each."""

    def __init__(self, matrix, counts, background, weight, xp):
        self.matrix, self.transpose, self.counts = matrix, matrix.T.tocsr(), counts
        self.background, self.weight, self.xp = background, weight, xp
        self.size = int(round(matrix.shape[1] ** 0.5))
        self.start_again()

    def start_again(self):
        self.calls, self.course = 0, []

    def __call__(self, x):
        xp = self.xp
        expected = self.matrix @ x + self.background
        image = x.reshape(self.size, self.size)
        down, right = xp.diff(image, axis=0), xp.diff(image, axis=1)
        f = (expected - self.counts * xp.log(expected)).sum() + self.weight / 2 * ((down**2).sum() + (right**2).sum())
        smooth = xp.zeros_like(image)
        smooth[1:] += down
        smooth[:-1] -= down
        smooth[:, 1:] += right
        smooth[:, :-1] -= right
        g = self.transpose @ (1 - self.counts / expected) + self.weight * smooth.ravel()
        self.calls += 2
        self.course.append((self.calls, float(f)))
        return f, g

    def inverse_curvature(self):
        """1 / (the rows' sums of f's second derivatives), where the rays bring what was counted. As A has no negative
        elements, no curvature is larger than such a diagonal says."""
        seen = self.matrix @ self.xp.ones(self.matrix.shape[1])
        self.calls += 2
        return 1 / (self.transpose @ (seen / self.xp.maximum(self.counts, 1)) + 8 * self.weight)


def solve(likelihood, start, calls, diagonal=None):
    """L-BFGS-B in a loop of our own, until the projector has been called so often."""
    x = start.copy()
    solver = cuda_opt.Solver(x, 8, bounds=cuda_opt.Bounds(0, None), diagonal=diagonal is not None, PGTOL=0,
                             FACTR=0)
    for task in solver:
        if task == cuda_opt.Task.SUPPLY_DIAGONAL:
            solver.diagonal[:] = diagonal
        elif likelihood.calls + 2 > calls:
            break
        else:
            solver.f, solver.g = likelihood(x)
    return solver.x


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--angles", type=int, default=120)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--picture")
    arguments = parser.parse_args()

    truth, matrix = phantom(arguments.size), projector(arguments.size, arguments.angles)
    counts = np.random.default_rng(0).poisson(matrix @ truth.ravel() + 1.0).astype(float)
    start = np.full(truth.size, counts.sum() / matrix.sum())
    on_host = Likelihood(matrix, counts, 1.0, 0.002, np)
    here, start_here = on_host, start
    if arguments.device == "cuda":
        import cupy
        import cupyx.scipy.sparse

        here = Likelihood(cupyx.scipy.sparse.csr_matrix(matrix), cupy.asarray(counts), 1.0, 0.002, cupy)
        start_here = cupy.asarray(start)

    images, courses = {}, {}

    def note(name, image, likelihood):
        images[name] = np.asarray(image.get() if hasattr(image, "get") else image).reshape(truth.shape)
        courses[name] = likelihood.course
        best = min(f for _, f in likelihood.course)
        print(f"{name:24} {likelihood.calls} calls of the projector, f = {best:.6f}")

    here.start_again()
    note("cuda_opt", solve(here, start_here, arguments.calls), here)
    here.start_again()
    note("cuda_opt, own diagonal", solve(here, start_here, arguments.calls, here.inverse_curvature()), here)
    on_host.start_again()
    options = {"maxcor": 8, "maxfun": arguments.calls // 2 - 1, "maxiter": 15000, "ftol": 0, "gtol": 0}
    theirs = scipy.optimize.minimize(on_host, start, jac=True, method="L-BFGS-B", bounds=[(0, None)] * start.size,
                                     options=options)  # fmt: skip
    note("SciPy", theirs.x, on_host)

    if arguments.picture:
        draw(arguments.picture, truth, counts.reshape(arguments.angles, -1), images, courses)
        print(arguments.picture)


def draw(path, truth, sinogram, images, courses):
    """The phantom, what was counted, the images, and f against the projector's calls."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, all_axes = pyplot.subplots(2, 3, figsize=(13, 8.5))
    pictures = {"phantom": truth, "counts": sinogram, **images}
    for axes, (title, image) in zip(all_axes.flat, pictures.items()):
        axes.imshow(image, cmap="gray", vmin=0, vmax=None if title == "counts" else 40, aspect="auto")
        axes.set_title(title)
        axes.axis("off")
    axes = all_axes.flat[5]
    best = min(f for course in courses.values() for _, f in course)
    for (name, course), style in zip(courses.items(), ("-", "-", "--")):
        calls, values = zip(*course)
        axes.semilogy(calls, np.minimum.accumulate(values) - best + 0.1, style, label=name)
    axes.set_xlabel("calls of the projector")
    axes.set_ylabel("f - least f + 0.1")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main()
