"""``minimize`` with SciPy's conventions, and the same as a method of SciPy's own ``minimize``."""
from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ._captured import captured
from ._constants import INTEGERS, REALS, Metric, Task
from ._handle import integer
from ._result import new_result, result_of
from ._solver import GRADIENT, OBJECTIVE, Solver
from ._space import Array, NumPySpace, as_array, name_of, number, one_axis
from ._space_of import space_of

_EPSILON = float(np.finfo(np.float64).eps)
# SciPy's options of L-BFGS-B that are of finite differences or of its printing: there is nothing for them to do.
_WITHOUT_EFFECT = {"eps", "finite_diff_rel_step", "workers", "iprint"}


def _count(value: float, name: str, otherwise: str = "") -> int:
    count = integer(value, name)
    if count < 1:
        raise ValueError(f"{name} is {value}: it has to be an integer of at least 1{otherwise}")
    return count


def _limit(value: float | None, name: str) -> int:
    """A count's limit as the library has it, 0 for none."""
    return 0 if value is None or value == math.inf else _count(value, name, ", or None for no limit")


def _tolerance(value: float, name: str) -> float:
    """By the user's name for it: the library's setting may be another number, or several."""
    tolerance = number(value, name)
    if not tolerance >= 0:
        raise ValueError(f"{name} is {value}: it has to be a number of at least 0")
    return tolerance


def _settings(options: Mapping[str, Any], tol: float | None) -> tuple[int, dict[str, Any], Any]:
    """m, the library's settings and ``disp``, of SciPy's options and of the library's own, which are in capitals.

    This is the one place that says how ``minimize`` differs from the library's defaults: its tolerances and limits are
    SciPy's, and it learns its metric. Whatever ``minimize`` is to choose by itself belongs here."""
    if not isinstance(options, Mapping):
        raise TypeError(f"options is a {name_of(options)}: it has to be a dict")
    given: dict[str, Any] = {"maxcor": 10, "ftol": 1e7 * _EPSILON, "gtol": 1e-5}
    given.update(maxiter=15000, maxfun=15000, maxls=20)
    if tol is not None:
        tol = _tolerance(tol, "tol")
        given.update(ftol=tol, gtol=tol)
    own = {name: value for name, value in options.items() if name in INTEGERS or name in REALS}
    given.update({name: value for name, value in options.items() if name not in own})
    disp = given.pop("disp", None)
    if ignored := _WITHOUT_EFFECT & given.keys():
        warnings.warn(f"without effect here: {', '.join(sorted(ignored))}", RuntimeWarning, stacklevel=4)
    m = given.pop("maxcor")
    settings = {
        "EPS": 0,
        "FACTR": _tolerance(given.pop("ftol"), "ftol") / _EPSILON,
        "PGTOL": _tolerance(given.pop("gtol"), "gtol"),
        "MAX_ITERATIONS": _limit(given.pop("maxiter"), "maxiter"),
        "MAX_EVALUATIONS": _limit(given.pop("maxfun"), "maxfun"),
        "MAXFEV": _count(given.pop("maxls"), "maxls"),
        "METRIC": Metric.LEARNED,
        **own,
    }
    if unknown := given.keys() - _WITHOUT_EFFECT:
        names = sorted(map(str, unknown))
        meant = [name.upper() for name in names if name.upper() in INTEGERS or name.upper() in REALS]
        hint = f", but there {'is' if len(meant) == 1 else 'are'} {', '.join(meant)}" if meant else ""
        raise ValueError(f"there is no option {', '.join(names)}{hint}")
    return m, settings, disp


def _evaluation(solver: Solver, fun: Callable[..., Any], jac: Any, args: tuple[Any, ...]) -> Callable[[], None]:
    """What puts f and g at the solver's x in their places."""
    space, x, f, g = solver._space, solver._x, solver._f, solver._g
    view: Callable[[Array], Array] = space.view
    put_number, put = space.put_number, space.put
    if isinstance(space, NumPySpace):  # a view that is read-only serves all evaluations
        always = space.view(x)

        def always_the_same(_: Array) -> Array:
            return always

        view = always_the_same

    def both() -> None:
        pair = fun(view(x), *args)
        if type(pair) is not tuple or len(pair) != 2:
            raise TypeError(f"the function returned a {name_of(pair)}: with jac=True it returns f and its gradient")
        put_number(f, pair[0], OBJECTIVE)
        put(g, pair[1], GRADIENT)

    def each() -> None:
        put_number(f, fun(view(x), *args), OBJECTIVE)
        put(g, jac(view(x), *args), GRADIENT)

    if jac is True:
        return both
    if callable(jac):
        return each
    raise ValueError(f"jac is {jac!r}: it has to be True, where fun returns f and its gradient, or a function")


def _reporter(solver: Solver, callback: Callable[..., Any]) -> Callable[[], Any]:
    """What calls the user's callback at an iterate, as SciPy would."""
    try:
        names = set(inspect.signature(callback).parameters)
    except (TypeError, ValueError):  # of a function that is not Python's
        names = set()
    copy = solver._space.copy_of

    def report() -> Any:
        x = copy(solver.x)
        if names != {"intermediate_result"}:
            return callback(x)
        return callback(intermediate_result=new_result(x=x, fun=solver["F"], nit=solver["ITERATIONS"]))

    return report


def _run(solver: Solver, evaluate: Callable[[], None], report: Callable[[], Any] | None) -> None:
    step, after = solver._step, solver.step
    if solver._log is None:
        after = step
    while True:
        task = after()
        if task == 1:  # Task.EVALUATE_FG, without looking it up each time
            evaluate()
        elif task == Task.NEW_ITERATE:
            try:
                if report:
                    report()
            except StopIteration:
                solver.request_stop()
        else:
            break
    solver.end(task)


def minimize(
    fun: Callable[..., Any],
    x0: Array,
    args: Any = (),
    jac: Any = True,
    bounds: Any = None,
    callback: Callable[..., Any] | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    tol: float | None = None,
    stream: Any = None,
    cuda_graph: bool = False,
) -> Any:
    """Minimise a smooth function of many variables, with bounds or without, where its arrays are.

    x0 decides where everything is computed: arrays of NumPy, torch and JAX on the host, and those of torch, CuPy, JAX
    and whatever offers ``__cuda_array_interface__`` on their CUDA device and current stream, in double or in single
    precision. x, f and g stay there. x0 is not changed.

    Parameters
    ----------
    fun : callable
        ``fun(x, *args)`` gives f and the gradient, or f alone with a function as jac. x is of shape (n,), of x0's
        library; it is the solver's own memory, to be read and not to be kept (of NumPy a read-only view). f is a
        number, or an array of one element; the gradient an array of shape (n,) in x0's memory, which is copied. NaN or
        Inf in either says "not here": the step is cut back.
    x0 : array of shape (n,)
        The start, float64 or float32; it need not lie in the box. Numbers, lists and integers become float64.
    args : tuple
        Further arguments of fun and jac. Default: none.
    jac : True or callable
        True, the default: fun returns the gradient as well. Else ``jac(x, *args)`` does. There are no finite
        differences.
    bounds : Bounds, scipy.optimize.Bounds, sequence of pairs (lower, upper), or None
        Default: none. A tuple or list of two arrays of torch, JAX or CuPy holds the lower and the upper bounds of all
        variables. Two NumPy arrays, as in SciPy, are the (lower, upper) pairs of two variables.
    callback : callable
        Called at each iterate: ``callback(intermediate_result=...)`` with ``x``, ``fun`` and ``nit`` where that is the
        parameter's name, else ``callback(x)``; x is a copy. ``StopIteration`` ends the solve, with its best iterate.
    options : dict
        SciPy's of L-BFGS-B: ``maxcor`` (10), ``ftol`` (2.2e-9), ``gtol`` (1e-5), ``maxiter`` and ``maxfun`` (15000),
        ``maxls`` (20), ``disp`` (False; True or k: a line on standard output for each, or each k-th, iterate). ``ftol``
        ends a solve only if f has not risen and the relative gradient is small as well (docs/endings.md). And the
        library's own settings by the names of ``include/cuda_opt.h`` without ``CUDA_OPT_``: ``{"HISTORY_BITS": 32}``.
        They have the library's defaults but for ``METRIC``, which is ``Metric.LEARNED`` here: 0.79 times the
        evaluations of ``Metric.ONE_NUMBER`` on 336 problems (docs/benchmarks.md), one n-vector more. ``ONE_NUMBER`` is
        the path of version 3.0, and of SciPy's L-BFGS-B.
    tol : float
        Both ftol and gtol, as in SciPy. Default: theirs.
    stream : int, torch.cuda.Stream, cupy.cuda.Stream
        The CUDA stream of all device work. Default: x0's library's current one.
    cuda_graph : bool
        True, for torch and CuPy on a CUDA device: the operations of fun and jac are recorded in the fourth evaluation,
        and launched as one CUDA graph from then on, which saves what each launch costs the host. The Python code of fun
        is then not run any more: it has to do the same operations each time, on arrays that stay where they are, to
        read no values on the host, and to return f as an array. What they allocate is held until the solve ends.
        Default False.

    Returns
    -------
    OptimizeResult
        ``x`` and ``jac``, arrays of x0's kind; ``fun``, a float; ``nit``, ``nfev``, ``njev``; ``success``; ``status``,
        0 converged, also where f is as low as its rounding errors allow, 1 a limit was reached, 2 otherwise; ``task``,
        the return code; ``message``, a sentence;
        ``hess_inv``, an operator. After every ending x is the best iterate.

    Raises
    ------
    TypeError, ValueError
        an array, a bound or an option is not as said above
    Error, OutOfMemory
        there is no CUDA device, or the workspace does not fit
    RuntimeError
        with cuda_graph=True, fun or jac cannot be recorded; the sentence says why
    Whatever fun, jac and callback raise comes out unchanged.
    """
    m, settings, disp = _settings(options or {}, tol)
    if not isinstance(args, tuple):
        args = (args,)
    array = as_array(x0)
    space = space_of(array)
    one_axis(array, "x0")
    solver = Solver(space.copy_of(array), m, bounds=bounds, stream=stream)
    try:
        solver.set(settings.items())
        if disp:
            solver["IPRINT_FREQUENCY"] = int(disp)
            solver.set_log(print)
        report = None
        if callback is not None:
            solver["REPORT_ITERATES"] = 1
            report = _reporter(solver, callback)
        evaluate = _evaluation(solver, fun, jac, args)
        _run(solver, captured(evaluate, solver._space) if cuda_graph else evaluate, report)
        return result_of(solver)
    except BaseException:
        solver.close()
        raise


def lbfgsb(
    fun: Callable[..., Any],
    x0: Array,
    args: Any = (),
    jac: Any = None,
    hess: Any = None,
    hessp: Any = None,
    bounds: Any = None,
    constraints: Any = (),
    callback: Callable[..., Any] | None = None,
    tol: float | None = None,
    **options: Any,
) -> Any:
    """A method for ``scipy.optimize.minimize(fun, x0, method=cuda_opt.lbfgsb, jac=..., bounds=..., options=...)``.

    As ``minimize``, with the same options and defaults. The gradient is needed: jac=True or a function. SciPy turns x0
    into a NumPy array before; other arrays need ``cuda_opt.minimize``. hess and hessp are not used.

    Raises
    ------
    ValueError
        without a gradient, and with constraints other than bounds
    """
    if constraints is not None and not (isinstance(constraints, (list, tuple)) and not len(constraints)):
        raise ValueError("constraints are given: this method has none but bounds")
    if jac is None or jac is False:
        raise ValueError("jac is missing: this method needs the gradient, by jac=True or jac=function")
    return minimize(fun, x0, args, jac, bounds, callback, options, tol=tol)
