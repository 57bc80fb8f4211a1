"""A plugin for pytest that replaces L-BFGS-B in SciPy by ours, for a run of SciPy's own installed tests.

``CUDA_OPT_SUBSTITUTION`` chooses the variant:

- ``differences``: SciPy prepares the problem as for its own L-BFGS-B, finite differences included, and we solve it;
- ``bare``: ``minimize(method="L-BFGS-B")`` becomes ``minimize(method=cuda_opt.lbfgsb)``.

It writes the outcome of each test in which L-BFGS-B was called to the file that ``CUDA_OPT_OUTCOMES`` names."""
import json
import os
import sys

import pytest
import scipy.optimize
from scipy.optimize import _minimize, _optimize

import cuda_opt

try:
    from scipy.optimize import _lbfgsb_py
except ImportError:  # before SciPy 1.8
    from scipy.optimize import lbfgsb as _lbfgsb_py

OF_PRINTING = ("disp", "iprint")  # SciPy deprecates them
called = []  # whether the test that is running has called L-BFGS-B
outcomes = {}


def _of_x(callback):
    """fmin_l_bfgs_b and minimize call L-BFGS-B with a callback that takes a result, from SciPy 1.11 on."""
    if callback is None or not hasattr(callback, "stop_iteration"):
        return callback

    def with_result(intermediate_result):
        try:
            callback(intermediate_result)
        except StopIteration:
            callback.stop_iteration = True
            raise

    return with_result


def _without_printing(options):
    return {name: value for name, value in options.items() if name not in OF_PRINTING}


def behind_differences(fun, x0, args=(), jac=None, bounds=None, callback=None, **options):
    """In the place of SciPy's _minimize_lbfgsb: its own object evaluates f and the gradient."""
    called.append(True)
    options = _without_printing(options)
    prepared = {name: options.pop(name) for name in ("finite_diff_rel_step", "workers") if name in options}
    eps = options.pop("eps", 1e-8)
    x0 = scipy.optimize._lbfgsb_py.asarray(x0).ravel()
    sides = None
    if bounds is not None:
        if len(bounds) != x0.size:
            raise ValueError("length of x0 != length of bounds")
        sides = scipy.optimize._lbfgsb_py.np.array(_lbfgsb_py.old_bound_to_new(bounds))
        if (sides[0] > sides[1]).any():
            raise ValueError("LBFGSB - one of the lower bounds is greater than an upper bound.")
        x0 = x0.clip(*sides)
    function = _optimize._prepare_scalar_function(fun, x0, jac=jac, args=args, epsilon=eps, bounds=sides, **prepared)
    result = cuda_opt.lbfgsb(
        function.fun, x0, jac=function.grad, bounds=bounds, callback=_of_x(callback), **options
    )
    result.nfev, result.njev = function.nfev, function.ngev
    return result


def bare(fun, x0, args=(), jac=None, bounds=None, callback=None, **options):
    """The same without SciPy's object: for fmin_l_bfgs_b."""
    called.append(True)
    return cuda_opt.lbfgsb(
        fun, x0, args, jac=jac, bounds=bounds, callback=_of_x(callback), **_without_printing(options)
    )


def _bare_minimize(original):
    def minimize(fun, x0, args=(), method=None, *arguments, **keywords):
        chosen = method
        if method is None and keywords.get("bounds") is not None and not keywords.get("constraints"):
            chosen = "L-BFGS-B"
        if isinstance(chosen, str) and chosen.lower() == "l-bfgs-b":
            called.append(True)
            method = cuda_opt.lbfgsb
            if keywords.get("options"):
                keywords["options"] = _without_printing(keywords["options"])
        return original(fun, x0, args, method, *arguments, **keywords)

    return minimize


def _replace(name, original, replacement):
    """In all modules of SciPy that have imported it."""
    for module_name, module in list(sys.modules.items()):
        if module_name.startswith("scipy.optimize") and getattr(module, name, None) is original:
            setattr(module, name, replacement)


def pytest_configure():
    original = _minimize._minimize_lbfgsb
    if os.environ["CUDA_OPT_SUBSTITUTION"] == "bare":
        _replace("minimize", _minimize.minimize, _bare_minimize(_minimize.minimize))
        _replace("_minimize_lbfgsb", original, bare)
    else:
        _replace("_minimize_lbfgsb", original, behind_differences)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    called.clear()


def pytest_runtest_logreport(report):
    name = report.nodeid.split("::", 1)[-1]
    if report.when == "call" and called:
        expected = "xfailed" if hasattr(report, "wasxfail") else report.outcome
        last = str(report.longrepr).strip().splitlines()[-1] if report.failed else ""
        outcomes[report.nodeid.rpartition("/")[2].partition(".py")[0] + "::" + name] = [expected, last]


def pytest_sessionfinish():
    with open(os.environ["CUDA_OPT_OUTCOMES"], "w") as file:
        json.dump(outcomes, file, indent=1)
