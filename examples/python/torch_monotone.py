#!/usr/bin/env python3
"""Usage: torch_monotone.py [--points K] [--steps S] [--device cpu|cuda] [--picture FILE]

A neural network that can only rise: a curve through noisy measurements of a dose and its response. Its weights have the
bounds [0, infinity), its biases none; a sum of rising functions of rising functions rises, so that bounds are all it
takes. Beside it the same network without bounds, which follows the noise. The picture needs matplotlib."""
import argparse
import copy

import torch

from cuda_opt.torch import LBFGSB


class Network(torch.nn.Module):
    """Two layers of sigmoids between one number and one."""

    def __init__(self, width):
        super().__init__()
        self.first, self.second = torch.nn.Linear(1, width), torch.nn.Linear(width, width)
        self.last = torch.nn.Linear(width, 1)

    def forward(self, dose):
        return self.last(torch.sigmoid(self.second(torch.sigmoid(self.first(dose)))))


def fit(network, dose, response, steps, lower):
    """Minimise the squares with weights >= lower; the weights and the loss are the network's from then on."""
    weights = [parameter for name, parameter in network.named_parameters() if name.endswith("weight")]
    biases = [parameter for name, parameter in network.named_parameters() if name.endswith("bias")]
    groups = [{"params": weights, "bounds": (lower, None)}, {"params": biases}]
    optimizer = LBFGSB(groups, max_iter=25, tolerance_change=1e-12)

    def closure():
        optimizer.zero_grad()
        loss = (network(dose) - response).square().mean()
        loss.backward()
        return loss

    for _ in range(steps):
        loss = float(optimizer.step(closure))
    return loss


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=60)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--picture")
    arguments = parser.parse_args()

    torch.manual_seed(0)
    dose = torch.linspace(-3, 3, arguments.points, dtype=torch.float64)[:, None]
    curve = 0.3 * torch.sigmoid(6 * (dose + 1.5)) + 0.7 * torch.sigmoid(4 * (dose - 1))
    response = (curve + 0.07 * torch.randn_like(dose)).to(arguments.device)
    free = Network(12).double()
    for parameter in free.parameters():
        parameter.data *= 3
    monotone = copy.deepcopy(free)
    fine = torch.linspace(-3, 3, 1000, dtype=torch.float64)[:, None]
    curves = {}
    for name, network, lower in (("weights >= 0", monotone, 0), ("without bounds", free, None)):
        network.to(arguments.device)
        loss = fit(network, dose.to(arguments.device), response, arguments.steps, lower)
        with torch.no_grad():
            curves[name] = network(fine.to(arguments.device)).cpu()
        falls = int((curves[name].diff(dim=0) < 0).sum())
        print(f"{name:15} mean square {loss:.6f}, falls in {falls} of {len(fine) - 1} places")
    print(f"least weight: {min(float(p.min()) for name, p in monotone.named_parameters() if 'weight' in name):.3g}")

    if arguments.picture:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        figure, axes = pyplot.subplots(figsize=(8, 4.5))
        axes.plot(dose.flatten().tolist(), response.flatten().tolist(), "o", color="0.6", label="measured")
        axes.plot(dose.flatten().tolist(), curve.flatten().tolist(), ":", color="0.2", label="truth")
        for (name, values), colour in zip(curves.items(), ("tab:red", "tab:blue")):
            axes.plot(fine.flatten().tolist(), values.flatten().tolist(), color=colour, label=name)
        axes.set_xlabel("logarithm of the dose")
        axes.set_ylabel("response")
        axes.legend()
        figure.savefig(arguments.picture, dpi=120)
        print(arguments.picture)


if __name__ == "__main__":
    main()
