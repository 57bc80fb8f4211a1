"""A plugin for pytest that replaces SciPy's L-BFGS-B by the one of cuda_opt while SciPy's own installed tests run.

The variable ``CUDA_OPT_SUBSTITUTION`` chooses one of three variants:

- ``differences``: SciPy prepares the problem as for its own L-BFGS-B, with its finite differences, and cuda_opt solves
  it;
- ``bare``: ``minimize(method="L-BFGS-B")`` becomes ``minimize(method=cuda_opt.lbfgsb)``;
- ``named``: it becomes ``cuda_opt.minimize`` with the same keyword arguments.

If ``CUDA_OPT_SUBSTITUTION_METRIC`` is set, its value selects the initial Hessian of all solves. Tests that cannot call
L-BFGS-B are deselected. The outcome of each test that has called it is written to the file that ``CUDA_OPT_OUTCOMES``
names."""
import inspect
import json
import os
import sys

import numpy as np
import pytest
import scipy.optimize
from scipy.optimize import _lbfgsb_py, _minimize, _optimize

import cuda_opt

# These options of SciPy's L-BFGS-B control its printing. They are omitted, because SciPy deprecates them.
OF_PRINTING = ("disp", "iprint")
OTHER_METHODS = set(
    "nelder-mead powell cg bfgs newton-cg tnc cobyla cobyqa slsqp trust-constr dogleg trust-ncg trust-exact "
    "trust-krylov fmin fmin_powell fmin_cg fmin_bfgs fmin_ncg".split()
)
WORDS = ("minimi", "l_bfgs_b", "L-BFGS-B", "basinhopping", "dual_annealing", "shgo", "differential_evolution")
# The arguments of SciPy's minimize after the method.
NAMES_OF_MINIMIZE = ("jac", "hess", "hessp", "bounds", "constraints", "tol", "callback", "options")
# The list ``called`` is not empty if the test that is running has called L-BFGS-B.
called = []
# The list ``running`` contains the name of the test that is running.
running = []
outcomes = {}


def _of_x(callback):
    """Return a callback for cuda_opt.lbfgsb. From SciPy 1.11 on, the callback that SciPy passes to L-BFGS-B takes a
    result and has the attribute stop_iteration. Such a callback is wrapped accordingly."""
    if callback is None or not hasattr(callback, "stop_iteration"):
        return callback

    def with_result(intermediate_result):
        try:
            callback(intermediate_result)
        except StopIteration:
            callback.stop_iteration = True
            raise

    return with_result


def _options(options):
    """Return the options without those that SciPy deprecates, and with the initial Hessian that this run of the tests
    uses."""
    metric = os.environ.get("CUDA_OPT_SUBSTITUTION_METRIC")
    ours = {"METRIC": int(metric)} if metric else {}
    return {**{name: value for name, value in options.items() if name not in OF_PRINTING}, **ours}


def behind_differences(fun, x0, args=(), jac=None, bounds=None, callback=None, **options):
    """Replaces SciPy's _minimize_lbfgsb by cuda_opt.lbfgsb. SciPy's own object evaluates f and the gradient."""
    called.append(True)
    options = _options(options)
    prepared = {name: options.pop(name) for name in ("finite_diff_rel_step", "workers") if name in options}
    eps = options.pop("eps", 1e-8)
    x0 = np.asarray(x0).ravel()
    sides = None
    if bounds is not None:
        if len(bounds) != x0.size:
            raise ValueError("length of x0 != length of bounds")
        sides = np.array(_lbfgsb_py.old_bound_to_new(bounds))
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
    """Replaces SciPy's _minimize_lbfgsb by cuda_opt.lbfgsb, which evaluates the user's function itself. fmin_l_bfgs_b
    uses this in the variant ``bare``."""
    called.append(True)
    return cuda_opt.lbfgsb(
        fun, x0, args, jac=jac, bounds=bounds, callback=_of_x(callback), **_options(options)
    )


def _bare_minimize(original, is_named):
    def minimize(fun, x0, args=(), method=None, *arguments, **keywords):
        chosen = method
        if method is None and keywords.get("bounds") is not None and not keywords.get("constraints"):
            chosen = "L-BFGS-B"
        if isinstance(chosen, str) and chosen.lower() == "l-bfgs-b":
            called.append(True)
            method = cuda_opt.lbfgsb
            keywords["options"] = _options(keywords.get("options") or {})
            if is_named:
                keywords.update(zip(NAMES_OF_MINIMIZE, arguments))
                return cuda_opt.minimize(fun, x0, args, keywords.pop("jac", None), method=chosen, **keywords)
        return original(fun, x0, args, method, *arguments, **keywords)

    return minimize


def _replace(name, original, replacement):
    """Replace the function ``original`` in all modules of SciPy that have imported it."""
    for module_name, module in list(sys.modules.items()):
        if module_name.startswith("scipy.optimize") and getattr(module, name, None) is original:
            setattr(module, name, replacement)


def pytest_configure():
    original = _minimize._minimize_lbfgsb
    if (variant := os.environ["CUDA_OPT_SUBSTITUTION"]) != "differences":
        _replace("minimize", _minimize.minimize, _bare_minimize(_minimize.minimize, variant == "named"))
        _replace("_minimize_lbfgsb", original, bare)
    else:
        _replace("_minimize_lbfgsb", original, behind_differences)


def _may_call(item):
    """Return whether one of SciPy's tests may call L-BFGS-B, according to its parameters and its source text."""
    parameters = getattr(getattr(item, "callspec", None), "params", {}).values()
    names = {value.lower() for value in parameters if isinstance(value, str)}
    if names & OTHER_METHODS and "l-bfgs-b" not in names or "cobyla" in item.name:
        return False
    try:
        text = inspect.getsource(item.function)
    except (OSError, TypeError):
        return True
    return "l-bfgs-b" in names or any(word in text for word in WORDS) and "no_local_search=True" not in text


def pytest_collection_modifyitems(config, items):
    chosen = [_may_call(item) for item in items]
    config.hook.pytest_deselected(items=[item for item, may_call in zip(items, chosen) if not may_call])
    items[:] = [item for item, may_call in zip(items, chosen) if may_call]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    called[:] = []
    running[:] = [item.module.__name__.rpartition(".")[2] + "::" + item.nodeid.split("::", 1)[1]]


def pytest_runtest_logreport(report):
    if report.when == "call" and called:
        outcome = "xfailed" if hasattr(report, "wasxfail") else report.outcome
        last = str(report.longrepr).strip().splitlines()[-1] if report.failed else ""
        outcomes[running[0]] = [outcome, last]


def pytest_sessionfinish():
    with open(os.environ["CUDA_OPT_OUTCOMES"], "w") as file:
        json.dump(outcomes, file, indent=1)
