#!/usr/bin/env python3
"""Usage: ecosystem_checks.py [CHECK ...]

Runs packages of other authors that call scipy.optimize.minimize, with cuda_opt.lbfgsb as its method. Their results must
be equal to those with SciPy's L-BFGS-B, or better. tools/test_ecosystem installs them from PyPI.

    botorch      fit_gpytorch_mll and optimize_acqf; a fit that a limit ends has not failed; also the example
    deepxde      the example
    equinox      the example
    jax          the tests of cuda_opt.jax, and those of cuda_opt.torch.argmin where torch is installed
    lmfit        least squares with bounds, by lmfit's scalar_minimize
    pyhf         maximum likelihood of a histogram model, free and with the signal strength fixed by equal bounds
    statsmodels  maximum likelihood of logit, Poisson and ARIMA models

Each line of the output has the name of the check, the version of the package, and "passed" or what failed. The exit
status is 1 if one failed. Set CUDA_OPT_LIBRARY and PYTHONPATH as for the tests."""
import importlib.metadata
import importlib.util
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from problems import random_seed

import cuda_opt


def no_worse(ours, theirs, what, tolerance=1e-5):
    """Assert that the minimum of cuda_opt is no higher than SciPy's, except for the tolerance."""
    assert ours <= theirs + tolerance * max(1, abs(theirs)), f"{what}: {ours} with cuda_opt, {theirs} with SciPy"


def tests_pass(files, *arguments):
    """Assert that the tests of the package in these files pass. Tests whose libraries are not installed are skipped."""
    paths = map(str, sorted(Path(__file__).parent.glob(files)))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *paths, *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    # pytest exits with 5 if it has collected no test.
    assert done.returncode in (0, 5), done.stdout[-3000:]


def botorch():
    import torch
    from botorch.acquisition import LogExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.optim import optimize_acqf
    from botorch.optim.core import OptimizationStatus, scipy_minimize
    from botorch.optim.fit import fit_gpytorch_mll_scipy
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.manual_seed(random_seed())
    x = torch.rand(25, 2, dtype=torch.double)
    y = torch.sin(6 * x[:, :1]) + x[:, 1:] ** 2 + 0.05 * torch.randn(25, 1, dtype=torch.double)
    losses, models = [], []
    for method in ("L-BFGS-B", cuda_opt.lbfgsb):
        model = SingleTaskGP(x, y)
        mll = ExactMarginalLogLikelihood(model.likelihood, model)
        fit_gpytorch_mll(mll, optimizer=fit_gpytorch_mll_scipy, optimizer_kwargs={"method": method})
        mll.train()
        losses.append(-float(mll(model(*model.train_inputs), model.train_targets)))
        models.append(model)
        parameters = {"x": torch.full((5,), -1.0, dtype=torch.double, requires_grad=True)}

        def closure():
            z = parameters["x"]
            loss = (100 * (z[1:] - z[:-1] ** 2) ** 2 + (1 - z[:-1]) ** 2).sum()
            return loss, torch.autograd.grad(loss, [z])

        for options in ({"maxiter": 3}, {"maxfun": 3}):
            stopped = scipy_minimize(closure, parameters, method=method, options=options)
            assert stopped.status is OptimizationStatus.STOPPED, stopped
        finished = scipy_minimize(closure, parameters, method=method, options={"maxiter": 1000, "maxfun": 2000})
        assert finished.status is OptimizationStatus.SUCCESS, finished
    no_worse(losses[1], losses[0], "negative marginal likelihood")
    values = []
    for method in ("L-BFGS-B", cuda_opt.lbfgsb):
        torch.manual_seed(random_seed(1))
        improvement = LogExpectedImprovement(models[0].eval(), best_f=float(y.max()))
        box = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.double)
        point, value = optimize_acqf(
            improvement, box, q=1, num_restarts=4, raw_samples=32, options={"method": method}
        )
        assert (point >= 0).all() and (point <= 1).all()
        values.append(-float(value))
    no_worse(values[1], values[0], "negative expected improvement", 1e-4)
    tests_pass("test_examples.py", "-k", "botorch")


def deepxde():
    tests_pass("test_examples.py", "-k", "deepxde")


def equinox():
    tests_pass("test_examples.py", "-k", "equinox")


def jax():
    tests_pass("test_jax*.py")
    tests_pass("test_torch_argmin.py")


def lmfit():
    import lmfit as package

    x = np.linspace(0, 10, 101)
    rng = np.random.default_rng(random_seed())
    data = 5 * np.sin(2 * x - 0.1) * np.exp(-0.025 * x * x) + rng.normal(size=x.size, scale=0.2)

    def residuals(parameters):
        at = parameters.valuesdict()
        return at["a"] * np.sin(at["w"] * x + at["shift"]) * np.exp(-at["decay"] * x * x) - data

    ends = []
    for method in ("L-BFGS-B", cuda_opt.lbfgsb):
        parameters = package.Parameters()
        parameters.add("a", value=10, min=0)
        parameters.add("decay", value=0.1, min=0, max=1)
        parameters.add("shift", value=0.0, min=-np.pi / 2, max=np.pi / 2)
        parameters.add("w", value=2.2, min=1.5, max=3)
        result = package.Minimizer(residuals, parameters).scalar_minimize(method=method)
        assert result.success, result.message
        ends.append(result.chisqr)
        np.testing.assert_allclose(result.params["w"].value, 2, atol=0.05)
    no_worse(ends[1], ends[0], "chi squared")


def pyhf():
    import pyhf as package

    model = package.simplemodels.uncorrelated_background(
        signal=[12.0, 11.0, 7.0], bkg=[50.0, 52.0, 40.0], bkg_uncertainty=[3.0, 7.0, 4.0]
    )
    data = [64.0, 60.0, 51.0] + model.config.auxdata
    ends = {}
    for backend in ("numpy", "pytorch"):
        if backend == "pytorch" and importlib.util.find_spec("torch") is None:
            continue
        for name, method in (("SciPy", "L-BFGS-B"), ("cuda_opt", cuda_opt.lbfgsb)):
            package.set_backend(backend, package.optimize.scipy_optimizer(), precision="64b")
            fixed = [tuple(pair) for pair in model.config.suggested_bounds()]
            fixed[model.config.poi_index] = (1.5, 1.5)
            start = list(model.config.suggested_init())
            start[model.config.poi_index] = 1.5
            for what, arguments in (("free", {}), ("fixed", {"init_pars": start, "par_bounds": fixed})):
                best, value = package.infer.mle.fit(
                    data, model, return_fitted_val=True, method=method, **arguments
                )
                best = np.array([float(one) for one in best])
                if what == "fixed":
                    assert best[model.config.poi_index] == 1.5
                ends[backend, what, name] = float(value)
        for what in ("free", "fixed"):
            no_worse(ends[backend, what, "cuda_opt"], ends[backend, what, "SciPy"], f"{backend}, {what}")
        assert ends[backend, "free", "cuda_opt"] < ends[backend, "fixed", "cuda_opt"]
        package.set_backend("numpy")


def statsmodels():
    import statsmodels.api as package

    rng = np.random.default_rng(random_seed())
    x = package.add_constant(rng.normal(size=(300, 3)))
    linear = x @ [0.3, 1.0, -0.5, 0.2]
    logit = package.Logit((rng.random(300) < 1 / (1 + np.exp(-linear))).astype(float), x)
    poisson = package.Poisson(rng.poisson(np.exp(linear)), x)
    noise = rng.normal(size=200)
    series = np.zeros(200)
    for i in range(1, 200):
        series[i] = 0.6 * series[i - 1] + noise[i] + 0.3 * noise[i - 1]
    arima = package.tsa.SARIMAX(series, order=(1, 0, 1))
    for name, model in (("logit", logit), ("Poisson", poisson), ("ARIMA", arima)):
        ends = []
        for method in ("L-BFGS-B", cuda_opt.lbfgsb):
            fitted = model.fit(method="minimize", min_method=method, maxiter=500, disp=False)
            assert fitted.mle_retvals["converged"], (name, method, fitted.mle_retvals)
            ends.append(-fitted.llf)
        no_worse(ends[1], ends[0], name)


CHECKS = {function.__name__: function for function in (botorch, deepxde, equinox, jax, lmfit, pyhf, statsmodels)}


def main(names):
    if unknown := set(names) - CHECKS.keys():
        print(f"ecosystem_checks: there is no check {', '.join(sorted(unknown))}\n\n{__doc__}", file=sys.stderr)
        return 2
    status = 0
    for name in names or CHECKS:
        begin, said = time.perf_counter(), "passed"
        try:
            version = importlib.metadata.version(name)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                CHECKS[name]()
        except importlib.metadata.PackageNotFoundError:
            version, said = "", "failed: it is not installed"
        except Exception as exception:
            said = f"failed: {type(exception).__name__}: {exception}"
        status |= said != "passed"
        print(f"{name} {version}: {said} ({time.perf_counter() - begin:.0f} s)", flush=True)
    print(f"with SciPy {importlib.metadata.version('scipy')}, NumPy {np.__version__}")
    return int(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
