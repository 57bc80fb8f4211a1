#!/usr/bin/python3
"""Usage: obstacle.py run [CELLS ...] [--solvers NAME,...] [--seconds S] [--csv FILE]
       obstacle.py draw HEIGHTS.csv PICTURE

A minimal surface over an obstacle, the problem of examples/cuda/obstacle.cu, on one core of the host.

`run` solves it on CELLS x CELLS cells (default: 120 240 480) with cuda_opt, with SciPy's L-BFGS-B and with PETSc's TAO,
until the largest component of the projected gradient is at most 1e-6 / CELLS. All evaluate the same f and g in NumPy. A
solver that takes more than S seconds of processor time (default: 300) is ended, and its row has no numbers. The columns
are the method, n, the evaluations of f and g, those of the Hessian, the solves with the Laplacian, the seconds of
processor time, f (the area minus 1), and the largest component of the projected gradient. It needs SciPy; TAO needs
Debian's python3-petsc4py.

The operator of cuda_opt is the inverse Laplacian by SciPy's sine transforms on the free variables: either its rows and
columns of the free variables, or 2 or 3 steps of conjugate gradients that are preconditioned by it. Of TAO, blmvm and
bqnls are quasi-Newton methods with the same number of correction pairs. tron, bnls and bntr are Newton methods. They
have the exact Hessian as a sparse matrix, whose values NumPy computes, and TAO's default linear solvers.

`draw` draws the heights that obstacle.cu has written, as an SVG picture. It needs matplotlib."""
from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse  # noqa: E402
import csv  # noqa: E402
import glob  # noqa: E402
import json  # noqa: E402
import resource  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402

import numpy as np  # noqa: E402

PAIRS = 10
FIELDS = ["method", "n", "evaluations", "hessians", "solves", "seconds", "f", "projected_gradient"]
SOLVERS = {
    "scalar": "cuda_opt, scalar",
    "learned": "cuda_opt, learned diagonal",
    "operator-0": "cuda_opt, operator: one solve",
    "operator-2": "cuda_opt, operator: 2 steps",
    "operator-3": "cuda_opt, operator: 3 steps",
    "scipy": "SciPy L-BFGS-B",
    "blmvm": "TAO blmvm",
    "bqnls": "TAO bqnls",
    "tron": "TAO tron",
    "bnls": "TAO bnls",
    "bntr": "TAO bntr",
}
# The two triangles of each cell: the corner at which two sides meet, and the ends of the vertical and horizontal side.
TRIANGLES = (
    (np.s_[:-1, :-1], np.s_[1:, :-1], np.s_[:-1, 1:]),
    (np.s_[1:, 1:], np.s_[:-1, 1:], np.s_[1:, :-1]),
)


class Surface:
    """The problem. fun(x) is the area minus 1 and its gradient, hessian(x) the elements of the Hessian, which has the
    rows, columns and values of the arrays indptr, indices and hessian(x)."""

    def __init__(self, cells):
        self.cells, self.side, self.tolerance = cells, cells - 1, 1e-6 / cells
        t = np.arange(1, cells) / cells
        y, x = np.meshgrid(t, t, indexing="ij")
        r2 = np.minimum((x - 0.3) ** 2 + (y - 0.35) ** 2, (x - 0.7) ** 2 + (y - 0.6) ** 2)
        self.lower = (0.35 - 6 * r2).ravel()
        self.start = np.maximum(self.lower, 0)
        self.evaluations = self.hessians = self.solves = 0

    def slopes(self, x):
        """For both triangles of each cell: the slopes a and b, and sqrt(1 + a^2 + b^2)."""
        u = np.zeros((self.cells + 1, self.cells + 1))
        u[1:-1, 1:-1] = x.reshape(self.side, self.side)
        for corner, one, other in TRIANGLES:
            a, b = (u[one] - u[corner]) * self.cells, (u[other] - u[corner]) * self.cells
            yield a, b, np.sqrt(1 + a * a + b * b)

    def fun(self, x):
        self.evaluations += 1
        g, area = np.zeros((self.cells + 1, self.cells + 1)), 0.0
        for (corner, one, other), (a, b, length) in zip(TRIANGLES, self.slopes(x)):
            area += ((a * a + b * b) / (length + 1)).sum() / (2 * self.cells**2)
            a /= 2 * self.cells * length
            b /= 2 * self.cells * length
            g[one] += a
            g[other] += b
            g[corner] -= a + b
        return area, g[1:-1, 1:-1].ravel()

    def prepare_hessian(self):
        from scipy import sparse

        number = np.full((self.cells + 1, self.cells + 1), -1)
        number[1:-1, 1:-1] = np.arange(self.side**2).reshape(self.side, self.side)
        places = [[number[where].ravel() for where in triangle] for triangle in TRIANGLES]
        pairs = [(corners[i], corners[j]) for corners in places for i in range(3) for j in range(3)]
        rows, columns = (np.concatenate(part) for part in zip(*pairs))
        self.inside = (rows >= 0) & (columns >= 0)
        rows, columns = rows[self.inside], columns[self.inside]
        pattern = sparse.csr_matrix((np.ones(rows.size), (rows, columns)), shape=(self.side**2,) * 2)
        pattern.sort_indices()
        self.indptr, self.indices = pattern.indptr, pattern.indices
        pattern.data = np.arange(pattern.nnz, dtype=float)
        self.position = np.asarray(pattern[rows, columns]).ravel().astype(int)

    def hessian(self, x):
        """A triangle contributes B'MB / 2, where B maps u to the differences a h and b h, and M is the matrix of the
        second derivatives of sqrt(1 + a^2 + b^2)."""
        self.hessians += 1
        values = []
        for a, b, length in self.slopes(x):
            cube = 2 * length**3
            aa, ab, bb = (1 + b * b) / cube, -a * b / cube, (1 + a * a) / cube
            values += [aa + 2 * ab + bb, -aa - ab, -ab - bb, -aa - ab, aa, ab, -ab - bb, ab, bb]
        values = np.concatenate([value.ravel() for value in values])[self.inside]
        return np.bincount(self.position, values, self.indices.size)

    def norm(self, x, g):
        return np.abs(np.where(g > 0, np.minimum(g, x - self.lower), g)).max()


def operator(problem, steps):
    """z = (A_FF)^-1 v, approximated as in obstacle.cu."""
    import scipy.fft

    side = problem.side
    w = 2 - 2 * np.cos(np.pi * np.arange(1, side + 1) / problem.cells)
    eigenvalues = w[:, None] + w[None, :]

    def solve(v, free):
        problem.solves += 1
        field = scipy.fft.dstn(v.reshape(side, side), type=1)
        field /= eigenvalues
        return np.where(free, scipy.fft.idstn(field, type=1, overwrite_x=True).ravel(), 0.0)

    def product(v, free):
        u = np.zeros((side + 2, side + 2))
        u[1:-1, 1:-1] = v.reshape(side, side)
        w = 4 * u[1:-1, 1:-1] - u[:-2, 1:-1] - u[2:, 1:-1] - u[1:-1, :-2] - u[1:-1, 2:]
        return np.where(free, w.ravel(), 0.0)

    def apply(v, free):
        if steps == 0:
            return solve(v, free)
        z, r, p, before = np.zeros_like(v), v.copy(), np.zeros_like(v), np.inf
        for _ in range(steps):
            y = solve(r, free)
            ry = r @ y
            p = y + ry / before * p
            q = product(p, free)
            alpha = ry / (p @ q)
            z += alpha * p
            r -= alpha * q
            before = ry
        return z

    return apply


def by_cuda_opt(problem, solver):
    import cuda_opt

    options = {"gtol": problem.tolerance, "ftol": 0, "maxcor": PAIRS, "maxiter": 10**6, "maxfun": 10**6, "THREADS": 1}
    settings = {}
    if solver == "scalar":
        options["INITIAL_HESSIAN"] = cuda_opt.InitialHessian.SCALAR
    elif solver != "learned":
        settings["preconditioner"] = operator(problem, int(solver.split("-")[1]))
    bounds = cuda_opt.Bounds(problem.lower, None)
    return cuda_opt.minimize(problem.fun, problem.start, bounds=bounds, options=options, **settings).x


def by_scipy(problem, _):
    from scipy import optimize

    bounds = optimize.Bounds(problem.lower, np.inf)
    options = {"gtol": problem.tolerance, "ftol": 0, "maxcor": PAIRS, "maxiter": 10**6, "maxfun": 10**6}
    return optimize.minimize(problem.fun, problem.start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x


def by_tao(problem, solver):
    sys.path += glob.glob("/usr/lib/petscdir/*/*-real/lib/python3/dist-packages")  # Debian's
    import petsc4py

    petsc4py.init(["obstacle", f"-tao_{solver}_mat_lmvm_hist_size", str(PAIRS)])
    from petsc4py import PETSc

    newest = {}

    def vector(values):
        return PETSc.Vec().createWithArray(values, comm=PETSc.COMM_SELF)

    def evaluate(_, x, g):
        newest["x"] = x.array_r.copy()
        f, newest["g"] = problem.fun(newest["x"])
        g.array_w[:] = newest["g"]
        return f

    def set_hessian(_, x, matrix, __):
        matrix.zeroEntries()
        matrix.setValuesCSR(problem.indptr, problem.indices, problem.hessian(x.array_r))
        matrix.assemble()

    def test(tao):
        x = tao.getSolution().array_r
        if not np.array_equal(x, newest["x"]):
            newest["x"] = x.copy()
            newest["g"] = problem.fun(x)[1]
        if problem.norm(x, newest["g"]) <= problem.tolerance:
            tao.setConvergedReason(PETSc.TAO.Reason.CONVERGED_USER)

    tao = PETSc.TAO().create(comm=PETSc.COMM_SELF)
    tao.setType(solver)
    x = vector(problem.start.copy())
    tao.setSolution(x)
    tao.setObjectiveGradient(evaluate, x.duplicate())
    if solver in ("tron", "bnls", "bntr"):
        problem.prepare_hessian()
        parts = problem.indptr, problem.indices, problem.hessian(problem.start)
        problem.hessians = 0
        matrix = PETSc.Mat().createAIJ((problem.side**2,) * 2, csr=parts, comm=PETSc.COMM_SELF)
        matrix.setOption(PETSc.Mat.Option.SYMMETRIC, True)
        tao.setHessian(set_hessian, matrix)
    tao.setVariableBounds((vector(problem.lower), vector(np.full(problem.side**2, PETSc.INFINITY))))
    tao.setTolerances(gatol=0, grtol=0, gttol=0)
    tao.setMaximumIterations(10**6)
    tao.setMaximumFunctionEvaluations(10**6)
    tao.setConvergenceTest(test)
    tao.setFromOptions()
    tao.solve()
    return x.array_r.copy()


def solve_one(solver, cells):
    """Prints the row of one solve. The seconds do not contain the import of packages."""
    problem = Surface(cells)
    by = by_scipy if solver == "scipy" else by_cuda_opt if SOLVERS[solver].startswith("cuda_opt") else by_tao
    by(Surface(8), solver)  # imports packages
    begin = time.process_time()
    x = by(problem, solver)
    seconds = time.process_time() - begin
    counts = problem.evaluations, problem.hessians, problem.solves
    f, g = problem.fun(x)
    norm = problem.norm(x, g)
    if norm <= problem.tolerance:
        print(json.dumps([*counts, f"{seconds:.2f}", f"{f:.10f}", f"{norm:.1e}"]))


def run(given):
    file = open(given.csv, "w", newline="") if given.csv else sys.stdout
    rows = csv.writer(file, lineterminator="\n")
    rows.writerow(FIELDS)
    for cells in given.cells:
        for solver in given.solvers.split(","):
            command = [sys.executable, __file__, "one", solver, str(cells)]
            limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (given.seconds, given.seconds))  # noqa: E731
            done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit)
            if not done.stdout:
                print(f"{solver}, {cells} cells: not solved {done.stderr[-300:]}", file=sys.stderr)
            numbers = json.loads(done.stdout or "[]")
            rows.writerow([SOLVERS[solver], (cells - 1) ** 2, *(numbers or [""] * 6)])
            file.flush()


def draw(heights, picture):
    """The surface, and its map with the contact region. The text has the colour of the reader's light or dark mode."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    with open(heights, newline="") as file:
        rows = [line for line in csv.reader(file)]
    u = np.array([[float(height.rstrip("*")) for height in row] for row in rows])
    contact = np.array([[height.endswith("*") for height in row] for row in rows])
    text, size = "#24292f", u.shape[0]
    style = {"svg.fonttype": "none", "savefig.transparent": True, "svg.hashsalt": "obstacle"}
    style |= {f"{part}.color": text for part in ("text", "xtick", "ytick")} | {"axes.labelcolor": text}
    with matplotlib.rc_context({**style, "axes.edgecolor": text}):
        figure = pyplot.figure(figsize=(9, 4))
        colours = pyplot.get_cmap("viridis")(u / u.max())
        colours[contact] = matplotlib.colors.to_rgba("#e4572e")
        x, y = np.meshgrid(*[(np.arange(size) + 0.5) / size] * 2)
        surface = figure.add_axes([0, 0.02, 0.5, 0.96], projection="3d")
        surface.plot_surface(x, y, u, facecolors=colours, rcount=size, ccount=size, rasterized=True, antialiased=False)
        surface.set_axis_off()
        surface.view_init(38, -60)
        surface.set_box_aspect((1, 1, 0.5), zoom=1.15)
        plan = figure.add_axes([0.56, 0.13, 0.34, 0.78])
        shown = plan.imshow(u, origin="lower", extent=(0, 1, 0, 1))
        plan.contour(x, y, u, levels=np.arange(0.05, 0.35, 0.05), colors="white", linewidths=0.6)
        plan.contourf(x, y, contact, levels=[0.5, 1.5], colors=["#e4572e"])
        plan.set(xlabel="x", ylabel="y", title="height u, and the contact region (red)")
        figure.colorbar(shown, cax=figure.add_axes([0.92, 0.13, 0.02, 0.78]))
        figure.savefig(picture, dpi=120, metadata={"Date": None})
    with open(picture) as file:
        drawing = file.read()
    modes = "svg { color: #24292f } @media (prefers-color-scheme: dark) { svg { color: #e6edf3 } }"
    drawing = drawing.replace(text, "currentColor").replace("<defs>", f"<style>{modes}</style>\n <defs>", 1)
    with open(picture, "w") as file:
        file.write(drawing)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    run_verb = verbs.add_parser("run")
    run_verb.add_argument("cells", nargs="*", type=int, default=[120, 240, 480])
    run_verb.add_argument("--solvers", default=",".join(SOLVERS))
    run_verb.add_argument("--seconds", type=int, default=300)
    run_verb.add_argument("--csv")
    one_verb = verbs.add_parser("one")  # for `run` alone
    one_verb.add_argument("solver")
    one_verb.add_argument("cells", type=int)
    draw_verb = verbs.add_parser("draw")
    draw_verb.add_argument("heights")
    draw_verb.add_argument("picture")
    given = parser.parse_args()
    if given.verb == "run":
        run(given)
    elif given.verb == "one":
        solve_one(given.solver, given.cells)
    else:
        draw(given.heights, given.picture)


if __name__ == "__main__":
    main()
