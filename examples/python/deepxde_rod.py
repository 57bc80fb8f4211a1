#!/usr/bin/env python3
"""Usage: deepxde_rod.py [--steps S] [--points K] [--picture FILE]

A physics-informed network in DeepXDE that also estimates two coefficients of its equation, which have bounds. The
temperature u of a rod satisfies -d u'' + r u = s(x) and u(0) = u(1) = 0. The conductivity d and the rate of loss r are
unknown, and u is measured at K points with noise. Neither d nor r can be negative. DeepXDE accepts any torch optimizer;
cuda_opt.torch.LBFGSB keeps d >= 0.1 and r >= 0. Beside it DeepXDE's own L-BFGS, which has no bounds, starts from the
same weights. The true values are d = 1 and r = 0. The picture needs matplotlib."""
import argparse
import os

os.environ.setdefault("DDE_BACKEND", "pytorch")

import deepxde  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402

from cuda_opt.torch import LBFGSB  # noqa: E402

PI, ITERATIONS_PER_STEP = np.pi, 50


def source(x):
    return 10 * torch.sin(PI * x) + 40 * torch.sin(3 * PI * x)


def temperature(x):
    """The solution of the equation for d = 1 and r = 0."""
    return 10 * np.sin(PI * x) / PI**2 + 40 * np.sin(3 * PI * x) / (3 * PI) ** 2


def model_of(x, measured):
    """The model of DeepXDE, its network, and the coefficients d and r, which begin at 2 and 1."""
    deepxde.config.set_random_seed(1)
    d, r = deepxde.Variable(2.0), deepxde.Variable(1.0)

    def residual(x, u):
        return -d * deepxde.grad.hessian(u, x) + r * u - source(x)

    rod = deepxde.geometry.Interval(0, 1)
    ends = deepxde.icbc.DirichletBC(rod, lambda x: 0, lambda x, at_end: at_end)
    measurements = deepxde.icbc.PointSetBC(x, measured)
    data = deepxde.data.PDE(rod, residual, [ends, measurements], num_domain=40, num_boundary=2, anchors=x,
                            train_distribution="uniform")
    network = deepxde.nn.FNN([1, 20, 20, 1], "tanh", "Glorot normal")
    return deepxde.Model(data, network), network, d, r


def train_in_box(steps, x, measured):
    """Train with cuda_opt. One iteration of DeepXDE is one step of the optimizer, which is many iterations of ours."""
    model, network, d, r = model_of(x, measured)
    groups = [
        {"params": list(network.parameters())},
        {"params": [d], "bounds": (0.1, None)},
        {"params": [r], "bounds": (0, None)},
    ]
    optimizer = LBFGSB(groups, max_iter=ITERATIONS_PER_STEP, tolerance_grad=1e-8, tolerance_change=0, history_size=50)
    model.compile(optimizer, loss_weights=[1e-2, 1, 1], verbose=0)
    model.train(iterations=steps, display_every=1, verbose=0)
    return model, d.item(), r.item()


def train_without_bounds(steps, x, measured):
    """Train with DeepXDE's own L-BFGS, which is that of torch with a strong Wolfe line search."""
    model, _, d, r = model_of(x, measured)
    deepxde.optimizers.set_LBFGS_options(maxcor=50, ftol=0, gtol=1e-8, maxiter=ITERATIONS_PER_STEP * steps)
    deepxde.optimizers.LBFGS_options["iter_per_step"] = ITERATIONS_PER_STEP  # the loss is recorded after each step
    model.compile("L-BFGS", loss_weights=[1e-2, 1, 1], external_trainable_variables=[d, r], verbose=0)
    model.train(display_every=1, verbose=0)
    return model, d.item(), r.item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--points", type=int, default=15)
    parser.add_argument("--picture")
    arguments = parser.parse_args()

    deepxde.config.set_default_float("float64")
    torch.set_num_threads(1)
    random = np.random.default_rng(1)
    x = np.linspace(0.05, 0.95, arguments.points)[:, None]
    measured = temperature(x) + 0.03 * random.standard_normal(x.shape)
    fine = np.linspace(0, 1, 400)[:, None]
    curves, histories = {}, {}
    for name, train in (("cuda_opt, in a box", train_in_box), ("without bounds", train_without_bounds)):
        model, d, r = train(arguments.steps, x, measured)
        curves[name] = model.predict(fine)
        error = abs(curves[name] - temperature(fine)).max()
        history = model.losshistory
        histories[name] = history.steps, [float(sum(losses)) for losses in history.loss_train]
        print(f"{name:18} loss {histories[name][1][-1]:.3e}, d = {d:.4f}, r = {r:.4f}, error of u {error:.3f}")

    if arguments.picture:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4))
        left.plot(x, measured - temperature(x), "o", color="0.6", label="measured")
        left.axhline(0, color="0.2", linestyle=":", label="truth")
        for (name, values), colour in zip(curves.items(), ("tab:red", "tab:blue")):
            left.plot(fine, values - temperature(fine), color=colour, label=name)
            steps, losses = histories[name]
            # DeepXDE counts one step of our optimizer as one iteration.
            factor = ITERATIONS_PER_STEP if colour == "tab:red" else 1
            right.semilogy(np.array(steps) * factor, losses, color=colour, label=name)
        left.set(xlabel="x", ylabel="error of the temperature u")
        right.set(xlabel="iterations", ylabel="loss")
        left.legend()
        right.legend()
        figure.tight_layout()
        figure.savefig(arguments.picture, dpi=120)
        print(arguments.picture)


if __name__ == "__main__":
    main()
