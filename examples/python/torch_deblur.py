#!/usr/bin/env python3
"""Usage: torch_deblur.py [--size N] [--iterations K] [--device cpu|cuda] [--picture FILE]

An inverse problem with bounds: an image of N x N pixels from a blurred and noisy one. The unknowns are the pixels,
0 <= x <= 1, and

    f(x) = 1/2 ||K x - y||^2 + w sum over pixels of sqrt(|difference to the neighbours|^2 + 1e-3^2),

K a convolution with a Gaussian, by FFT; the sum favours images of plain surfaces. torch differentiates. The image stays
on its device; a GPU is used where there is one. The picture needs matplotlib; tqdm shows a bar where it is there."""
import argparse

import torch

import cuda_opt

try:
    from tqdm import tqdm
except ImportError:
    tqdm = None


def scene(size, device):
    """Discs and a rectangle, grey on black: an image in [0, 1]."""
    axis = torch.linspace(-1, 1, size, dtype=torch.float64, device=device)
    y, x = axis[:, None], axis[None, :]
    image = torch.zeros(size, size, dtype=torch.float64, device=device)
    for centre_x, centre_y, radius, grey in ((-0.3, -0.2, 0.45, 0.6), (-0.15, -0.3, 0.2, 1.0), (0.55, 0.5, 0.25, 0.8)):
        image[(x - centre_x) ** 2 + (y - centre_y) ** 2 < radius**2] = grey
    image[((x - 0.5).abs() < 0.3) & ((y + 0.55).abs() < 0.12)] = 0.4
    return image


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--iterations", type=int, default=200)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--picture")
    arguments = parser.parse_args()
    size, device = arguments.size, arguments.device

    truth = scene(size, device)
    frequency = torch.fft.fftfreq(size, dtype=torch.float64, device=device)
    width = size / 100
    transfer = torch.exp(-2 * (torch.pi * width) ** 2 * (frequency[:, None] ** 2 + frequency[None, :] ** 2))

    def blur(image):
        return torch.fft.ifft2(torch.fft.fft2(image) * transfer).real

    torch.manual_seed(0)
    measured = blur(truth) + 0.01 * torch.randn(size, size, dtype=torch.float64, device=device)

    def fun(x):
        image = x.requires_grad_().view(size, size)
        down, right = image - image.roll(1, 0), image - image.roll(1, 1)
        misfit = (blur(image) - measured).square().sum() / 2
        f = misfit + 2e-3 * (down.square() + right.square() + 1e-6).sqrt().sum()
        f.backward()
        return f, x.grad

    bar = tqdm(total=arguments.iterations) if tqdm else None

    def progress(intermediate_result):
        if bar:
            bar.set_postfix_str(f"f = {intermediate_result.fun:.6g}")
            bar.update()

    result = cuda_opt.minimize(
        fun,
        measured.reshape(-1),
        bounds=cuda_opt.Bounds(0, 1),
        callback=progress,
        options={"maxiter": arguments.iterations, "ftol": 1e-9},
    )
    if bar:
        bar.close()
    print(f"{result.message}\n{result.nit} iterations on {device}, f = {result.fun:.6g}")
    image = result.x.view(size, size)
    errors = [float((one - truth).square().mean().sqrt()) for one in (measured, image)]
    print(f"root mean square error: {errors[0]:.4f} measured, {errors[1]:.4f} restored")

    if arguments.picture:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        figure, all_axes = pyplot.subplots(1, 3, figsize=(12, 4))
        for axes, one, title in zip(all_axes, (truth, measured, image), ("truth", "measured", "restored")):
            axes.imshow(one.cpu().tolist(), cmap="gray", vmin=0, vmax=1)
            axes.set_title(title)
            axes.axis("off")
        figure.savefig(arguments.picture, dpi=120)
        print(arguments.picture)


if __name__ == "__main__":
    main()
