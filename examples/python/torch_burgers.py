#!/usr/bin/env python3
"""Usage: torch_burgers.py [--seconds S] [--adam K] [--points N] [--history M] [--seeds 0,1] [--dtypes float32,float64]
                           [--device cpu|cuda] [--picture FILE]

A physics-informed neural network for Burgers' equation in one dimension,

    u_t + u u_x = (0.01 / pi) u_xx,    u(0, x) = -sin(pi x),    u(t, -1) = u(t, 1) = 0,    0 <= t <= 1.

The network has two inputs, six layers of 20 tanh units and one output. The loss is the mean square of the equation's
residual at N random points, and of the error at 200 points of the initial and boundary values. K steps of Adam come
first. From there cuda_opt.torch.LBFGSB and torch.optim.LBFGS, with the same history, have S seconds each; both use
strong Wolfe conditions. For each seed and each precision a line shows the loss after that, the error of u against the
exact solution (Cole and Hopf), the evaluations and the seconds. The parameters and their gradient remain on the device
(default: CUDA, if there is a device). The picture needs matplotlib."""
import argparse
import copy
import math
import time

import numpy as np
import torch

from cuda_opt.torch import LBFGSB

VISCOSITY = 0.01 / math.pi


class Network(torch.nn.Module):
    """u(t, x) for columns t and x; the inputs are scaled to [-1, 1]."""

    def __init__(self, width=20, layers=6):
        super().__init__()
        sizes = [2] + [width] * layers
        parts = []
        for before, after in zip(sizes, sizes[1:]):
            parts += [torch.nn.Linear(before, after), torch.nn.Tanh()]
        self.layers = torch.nn.Sequential(*parts, torch.nn.Linear(width, 1))
        for part in self.layers:
            if isinstance(part, torch.nn.Linear):
                torch.nn.init.xavier_normal_(part.weight)
                torch.nn.init.zeros_(part.bias)

    def forward(self, t, x):
        return self.layers(torch.cat([2 * t - 1, x], 1))


def derivative(u, variable):
    return torch.autograd.grad(u.sum(), variable, create_graph=True)[0]


class Loss:
    """The loss of a network, at points that are drawn once."""

    def __init__(self, points, dtype, device):
        draw = torch.rand(points, 2, dtype=torch.float64)
        edge = torch.rand(200, dtype=torch.float64)
        t0 = torch.stack([torch.zeros(100, dtype=torch.float64), 2 * edge[:100] - 1], 1)
        sides = torch.stack([edge[100:], torch.ones(100, dtype=torch.float64)], 1)
        sides[::2, 1] = -1
        data = torch.cat([t0, sides])
        values = torch.where(data[:, :1] == 0, -torch.sin(math.pi * data[:, 1:]), torch.zeros(200, 1).double())

        def moved(column):
            return column.to(device, dtype).clone()

        self.t, self.x = moved(draw[:, :1]).requires_grad_(), moved(2 * draw[:, 1:] - 1).requires_grad_()
        self.t_data, self.x_data, self.values = moved(data[:, :1]), moved(data[:, 1:]), moved(values)

    def __call__(self, network):
        u = network(self.t, self.x)
        u_x = derivative(u, self.x)
        residual = derivative(u, self.t) + u * u_x - VISCOSITY * derivative(u_x, self.x)
        return residual.square().mean() + (network(self.t_data, self.x_data) - self.values).square().mean()


def exact(t, x):
    """The solution by the transformation of Cole and Hopf, with 200 points of Gauss-Hermite quadrature."""
    nodes, weights = np.polynomial.hermite.hermgauss(200)
    y = x[:, None] - 2 * math.sqrt(VISCOSITY * t) * nodes
    logarithm = -np.cos(math.pi * y) / (2 * math.pi * VISCOSITY)
    kernel = weights * np.exp(logarithm - logarithm.max(1, keepdims=True))
    return -(kernel * np.sin(math.pi * y)).sum(1) / kernel.sum(1)


def profile(network, t, count=201):
    """u at this time on a regular grid of x, as an array of NumPy."""
    example = next(network.parameters())
    x = torch.linspace(-1, 1, count, dtype=example.dtype, device=example.device)[:, None]
    with torch.no_grad():
        return network(torch.full_like(x, t), x)[:, 0].double().cpu().numpy()


def error(network):
    """The root mean square of u minus the exact solution, relative to that of the exact solution, at four times."""
    x = np.linspace(-1, 1, 201)
    times = (0.25, 0.5, 0.75, 1.0)
    right = np.stack([exact(t, x) for t in times])
    return float(np.linalg.norm(np.stack([profile(network, t) for t in times]) - right) / np.linalg.norm(right))


def train(network, loss, optimizer, seconds, steps=None):
    """Step until the time or the number of steps is over. Return the number of evaluations and the seconds."""
    evaluations, begin = 0, time.perf_counter()

    def closure():
        nonlocal evaluations
        evaluations += 1
        optimizer.zero_grad()
        value = loss(network)
        value.backward()
        return value

    def now():
        if next(network.parameters()).is_cuda:
            torch.cuda.synchronize()
        return time.perf_counter() - begin

    done = 0
    while done != steps and now() < seconds:
        optimizer.step(closure)
        done += 1
    return evaluations, now()


def solvers(history):
    """Each step makes up to 20 iterations; the time is checked between steps."""
    return {
        "cuda_opt": lambda parameters: LBFGSB(parameters, max_iter=20, history_size=history,
                                              tolerance_grad=0, tolerance_change=0),
        "torch": lambda parameters: torch.optim.LBFGS(parameters, max_iter=20, max_eval=10**9, history_size=history,
                                                      tolerance_grad=0, tolerance_change=0,
                                                      line_search_fn="strong_wolfe"),
    }


def draw(networks, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, 3, figsize=(10, 3.4), sharey=True)
    x = np.linspace(-1, 1, 201)
    for panel, t in zip(panels, (0.25, 0.5, 1.0)):
        panel.plot(x, exact(t, x), color="0.75", linewidth=5, label="exact")
        for (name, network), style in zip(networks.items(), ("-", "--")):
            panel.plot(x, profile(network, t), style, label=name)
        panel.set_title(f"t = {t}")
        panel.set_xlabel("x")
    panels[0].set_ylabel("u")
    panels[0].legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    print(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=12)
    parser.add_argument("--adam", type=int, default=500)
    parser.add_argument("--points", type=int, default=10000)
    parser.add_argument("--history", type=int, default=50)
    parser.add_argument("--seeds", default="0,1")
    parser.add_argument("--dtypes", default="float32,float64")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--picture")
    arguments = parser.parse_args()

    print(f"{'':8} {'seed':>4} {'solver':9} {'loss':>9} {'error':>8} {'evaluations':>11} {'seconds':>8} "
          f"{'ms each':>8}")
    trained = {}
    for dtype in arguments.dtypes.split(","):
        for seed in map(int, arguments.seeds.split(",")):
            torch.manual_seed(seed)
            start = Network().to(arguments.device, getattr(torch, dtype))
            loss = Loss(arguments.points, getattr(torch, dtype), arguments.device)

            def show(name, network, evaluations, seconds):
                value = loss(network).item()
                print(f"{dtype:8} {seed:4d} {name:9} {value:9.2e} {error(network):8.1e} {evaluations:11d} "
                      f"{seconds:8.2f} {1000 * seconds / max(evaluations, 1):8.2f}", flush=True)

            adam = torch.optim.Adam(start.parameters(), lr=1e-3)
            show("Adam", start, *train(start, loss, adam, math.inf, arguments.adam))
            for name, solver in solvers(arguments.history).items():
                network = copy.deepcopy(start)
                show(name, network, *train(network, loss, solver(network.parameters()), arguments.seconds))
                trained[name] = network
    if arguments.picture:
        draw(trained, arguments.picture)


if __name__ == "__main__":
    main()
