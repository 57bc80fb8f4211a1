"""Minimise smooth functions of very many variables, with or without bounds, on NVIDIA GPUs and on the host.

``minimize`` has SciPy's conventions and computes on the device of the arrays, which may be of NumPy, torch, CuPy or
JAX. ``lbfgsb`` is a method for ``scipy.optimize.minimize``. With ``Solver`` your own program contains the loop that
evaluates f. With a ``Part`` several processes, each with a part of the variables, solve one problem together.
``minimize_batch`` minimises many small problems at once. ``pattern_search`` needs no gradient.
``cuda_opt.torch.LBFGSB`` is a ``torch.optim.Optimizer``. ``cuda_opt.jax.minimize`` and ``cuda_opt.jax.minimize_batch``
compute the gradient by automatic differentiation. ``cuda_opt.jax.argmin`` and ``cuda_opt.torch.argmin`` return a
minimiser that can be differentiated with respect to data and bounds. ``backends`` and ``python -m cuda_opt`` report
which backends work on this machine. ``check_gradient`` compares a gradient with differences of f."""
from ._backends import Backend, backends
from ._batch import minimize_batch
from ._bounds import Bounds
from ._check import check_gradient
from ._constants import Gradient, InitialHessian, Metric, StopTest, Task
from ._library import Error, ImproperInput, OutOfMemory, version
from ._minimize import lbfgsb, minimize
from ._part import Part
from ._result import (
    BatchIntermediateResult, BatchResult, CheckResult, IntermediateResult, InverseHessian, OptimizeResult, SearchResult,
)
from ._search import pattern_search
from ._solver import Solver

__version__ = version
for _public in (Error, ImproperInput, OutOfMemory):
    # As a result, tracebacks and pickles contain the public module name cuda_opt and not that of a private module.
    _public.__module__ = __name__
__all__ = [
    "Backend",
    "BatchIntermediateResult",
    "BatchResult",
    "Bounds",
    "CheckResult",
    "Error",
    "Gradient",
    "ImproperInput",
    "InitialHessian",
    "IntermediateResult",
    "InverseHessian",
    "Metric",
    "OptimizeResult",
    "OutOfMemory",
    "Part",
    "SearchResult",
    "Solver",
    "StopTest",
    "Task",
    "backends",
    "check_gradient",
    "lbfgsb",
    "minimize",
    "minimize_batch",
    "pattern_search",
    "version",
]
