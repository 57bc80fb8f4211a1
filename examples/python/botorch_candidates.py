#!/usr/bin/env python3
"""Usage: botorch_candidates.py [--cases D,Q ...] [--seeds K] [--restarts R] [--picture FILE]

Bayesian optimisation with BoTorch: the maximum of an acquisition function of q points in [0, 1]^d from R starts, by one
batch of cuda_opt, and beside that by BoTorch's own gen_candidates_scipy from the same starts. gen_candidates_cuda_opt
below is an argument of botorch.optim.optimize_acqf. For each case a line has, summed over the seeds, the processor time
in seconds with one thread, the calls of the acquisition function, and the best values. The picture needs matplotlib."""
import argparse
import time

import torch
from botorch.acquisition import qLogExpectedImprovement
from botorch.generation.gen import gen_candidates_scipy
from botorch.models import SingleTaskGP
from botorch.optim import optimize_acqf
from botorch.optim.initializers import gen_batch_initial_conditions
from botorch.sampling import SobolQMCNormalSampler

import cuda_opt


def gen_candidates_cuda_opt(
    initial_conditions, acquisition_function, lower_bounds=None, upper_bounds=None, inequality_constraints=None,
    equality_constraints=None, nonlinear_inequality_constraints=None, options=None, fixed_features=None,
    timeout_sec=None,
):
    """Maximise an acquisition function from all initial conditions at once, each by its own L-BFGS-B.

    The arguments and results are those of BoTorch's gen_candidates_scipy. options are those of cuda_opt.minimize_batch.
    Fixed features are variables with equal bounds. There are no constraints other than bounds."""
    if inequality_constraints or equality_constraints or nonlinear_inequality_constraints:
        raise ValueError("constraints are given: cuda_opt has none but bounds")
    shape = initial_conditions.shape
    points = initial_conditions.detach().reshape(-1, *shape[-2:])  # starts, q, d

    def side(bound, infinity):
        bound = torch.as_tensor(infinity if bound is None else bound).to(points)
        bound = bound.expand(points.shape).clone()
        for feature, value in (fixed_features or {}).items():
            bound[..., feature] = torch.as_tensor(value).to(points)
        return bound.reshape(len(points), -1)

    def fun(x):
        candidates = x.detach().reshape(-1, *shape[-2:]).requires_grad_()
        with torch.enable_grad():
            loss = -acquisition_function(candidates)
            (gradient,) = torch.autograd.grad(loss.sum(), candidates)
        return loss.detach().double(), gradient.reshape(x.shape)

    known = {name: value for name, value in (options or {}).items() if name in ("ftol", "gtol", "maxcor") or
             name.startswith("max") or name.isupper()}
    settings = {"INITIAL_HESSIAN": cuda_opt.InitialHessian.LEARNED, "maxiter": 200, **known}
    if timeout_sec is not None:
        settings["MAX_SECONDS"] = timeout_sec
    bounds = cuda_opt.Bounds(side(lower_bounds, -torch.inf), side(upper_bounds, torch.inf))
    start = points.reshape(len(points), -1)
    result = cuda_opt.minimize_batch(fun, start, bounds=bounds, options=settings)
    found = result.x.reshape(shape)
    with torch.no_grad():
        return found, acquisition_function(found)


class Counted(torch.nn.Module):
    """An acquisition function that counts its calls and the points in them."""

    def __init__(self, function):
        super().__init__()
        self.function, self.calls = function, 0

    def forward(self, x):
        self.calls += 1
        return self.function(x)


def acquisition(d, q, seed):
    """The expected improvement of q points, by a Gaussian process of 40 values of a function with several maxima."""
    torch.manual_seed(seed)
    x = torch.rand(40, d, dtype=torch.double)
    y = torch.sin(5 * x).mean(-1, keepdim=True) - (x - 0.6).square().mean(-1, keepdim=True)
    y = y + 0.01 * torch.randn(40, 1)
    sampler = SobolQMCNormalSampler(torch.Size([64]), seed=seed)
    return qLogExpectedImprovement(SingleTaskGP(x, y).eval(), best_f=float(y.max()), sampler=sampler)


def compare(d, q, seeds, restarts):
    """Processor seconds, calls and the sum of the best values: of cuda_opt, and of BoTorch."""
    box = torch.tensor([[0.0] * d, [1.0] * d], dtype=torch.double)
    rows = [[0.0, 0, 0.0], [0.0, 0, 0.0]]
    for seed in range(seeds):
        function = acquisition(d, q, seed)
        starts = gen_batch_initial_conditions(function, box, q=q, num_restarts=restarts, raw_samples=4 * restarts,
                                              options={"seed": seed})
        for row, generate in zip(rows, (gen_candidates_cuda_opt, gen_candidates_scipy)):
            counted = Counted(function)
            begin = time.process_time()
            candidates, values = generate(starts, counted, 0.0, 1.0)
            row[0] += time.process_time() - begin
            row[1] += counted.calls
            row[2] += float(values.max())
            assert (candidates >= 0).all() and (candidates <= 1).all()
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", default=["2,1", "20,1", "5,2"])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--restarts", type=int, default=20)
    parser.add_argument("--picture")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    compare(2, 1, 1, 2)  # what the first call loads is not measured

    rows = {}
    for case in arguments.cases:
        d, q = map(int, case.split(","))
        rows[case] = compare(d, q, arguments.seeds, arguments.restarts)
        for name, (seconds, calls, best) in zip(("cuda_opt", "BoTorch"), rows[case]):
            print(f"d {d}, q {q}: {seconds:.2f} s, {calls} calls, best {best:.6f} by {name}", flush=True)

    function, box = acquisition(2, 1, 0), torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.double)
    point, _ = optimize_acqf(function, box, q=1, num_restarts=4, raw_samples=32, fixed_features={1: 0.25},
                             gen_candidates=gen_candidates_cuda_opt)
    print(f"with x_2 fixed: {point[0].tolist()}")

    if arguments.picture:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.5))
        for axis, which, what in zip(axes, (0, 1), ("processor seconds", "calls of the acquisition function")):
            for shift, name, colour in ((-0.2, "cuda_opt", "tab:red"), (0.2, "BoTorch", "0.6")):
                values = [rows[case][name == "BoTorch"][which] for case in rows]
                axis.bar([at + shift for at in range(len(rows))], values, 0.38, color=colour, label=name)
            axis.set_xticks(range(len(rows)), [f"d, q = {case}" for case in rows])
            axis.set_ylabel(what)
        axes[0].legend()
        figure.tight_layout()
        figure.savefig(arguments.picture, dpi=120)
        print(arguments.picture)


if __name__ == "__main__":
    main()
