"""``minimize`` with SciPy's conventions. The computation takes place on the device of the arrays."""
from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from ._captured import captured
from ._constants import InitialHessian, Task
from ._evaluation import Evaluation, needs_differences
from ._idle_solvers import kind_of, solver_of_kind
from ._library import ImproperInput
from ._options import Options, options_of, refuse_missing_diagonal, refuse_missing_operator
from ._result import IntermediateResult, OptimizeResult, new_result, result_of
from ._scipy import Pairs, in_words_of_scipy
from ._solver import DIAGONAL, OPERATOR, Solver
from ._space import Array, as_array, name_of, one_axis
from ._space_of import space_of


def reporter(solver: Solver, callback: Callable[..., Any]) -> Callable[[], Any]:
    """Return a function without arguments that calls the user's callback for the current iterate, as SciPy would."""
    try:
        names = set(inspect.signature(callback).parameters)
    # Callbacks that are not written in Python may have no signature.
    except (TypeError, ValueError):
        names = set()
    copy = solver._space.copy_of

    def report() -> Any:
        x = copy(solver.x)
        if names != {"intermediate_result"}:
            return callback(x)
        found = new_result(IntermediateResult, x=x, fun=solver["F"], nit=solver["ITERATIONS"])
        return callback(intermediate_result=found)

    return report


def _with_diagonal(diagonal: Any, settings: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings for a diagonal that the caller supplies. Raises ValueError if other settings contradict the
    diagonal, or if they select a diagonal and none is given."""
    if diagonal is None:
        refuse_missing_diagonal(given)
        return settings
    kinds = [given[name] for name in ("INITIAL_HESSIAN", "METRIC") if name in given]
    if any(kind != InitialHessian.DIAGONAL for kind in kinds) or given.get("DIAGCO", 1) != 1:
        raise ValueError("a diagonal is given, but INITIAL_HESSIAN or DIAGCO among the options says that there is none")
    # The diagonal is requested only once if it is an array, because it then has the same values at each iterate.
    every = {} if callable(diagonal) else {"DIAGONAL_EVERY": 0}
    return {**every, **settings, "INITIAL_HESSIAN": InitialHessian.DIAGONAL}


def _with_preconditioner(preconditioner: Any, settings: dict[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings for an operator as initial Hessian. Raises ValueError if other settings contradict it."""
    if preconditioner is None:
        refuse_missing_operator(given)
        return settings
    if not callable(preconditioner):
        raise TypeError(f"preconditioner is a {name_of(preconditioner)}: it has to be a function of v and free")
    kinds = [given[name] for name in ("INITIAL_HESSIAN", "METRIC") if name in given]
    if any(kind != InitialHessian.OPERATOR for kind in kinds) or given.get("DIAGCO", 0) != 0:
        raise ValueError("a preconditioner is given, but INITIAL_HESSIAN or DIAGCO among the options contradicts it")
    return {**settings, "INITIAL_HESSIAN": InitialHessian.OPERATOR}


def _applier(solver: Solver, preconditioner: Callable[[Array, Array], Array]) -> Callable[[], None]:
    """Return a function that applies the user's operator at ``Task.APPLY_OPERATOR``. Raises ValueError if the operator
    has changed v, which the solver uses afterwards."""
    space, (v, out, free) = solver._space, solver._operator

    def apply() -> None:
        before = space.version(v)
        result = preconditioner(space.protected(v), space.view(free) != 0)
        if space.version(v) != before:
            raise ValueError("preconditioner has changed v in place: it has to return a new array")
        space.put(out, result, OPERATOR[1])

    return apply


def _supplier(solver: Solver, diagonal: Any, args: tuple[Any, ...], copies: bool) -> Callable[[], None]:
    """Return a function that writes the user's diagonal to the solver's array when the solver requests it by
    ``Task.SUPPLY_DIAGONAL``."""
    space, to = solver._space, solver._diagonal
    if not callable(diagonal):
        if not hasattr(diagonal, "shape") and not isinstance(diagonal, (list, tuple)):
            raise TypeError(f"diagonal is a {name_of(diagonal)}: it has to be an array or a function")
        return lambda: space.put(to, diagonal, DIAGONAL)
    view = space.copy_of if copies else space.view
    return lambda: space.put(to, diagonal(view(solver._x), *args), DIAGONAL)


def _run(
    solver: Solver,
    evaluate: Callable[[], None],
    report: Callable[[], Any] | None,
    supply: Callable[[], None] | None,
    apply: Callable[[], None] | None,
) -> None:
    step, after = solver._step, solver.step
    if solver._log is None:
        after = step
    while True:
        task = after()
        # 1 is Task.EVALUATE_FG. The number avoids an attribute look-up in each evaluation.
        if task == 1:
            evaluate()
        elif task == Task.NEW_ITERATE:
            try:
                if report:
                    report()
            except StopIteration:
                solver.halted = True
                solver.request_stop()
        elif task == Task.SUPPLY_DIAGONAL and supply:
            supply()
        elif task == Task.APPLY_OPERATOR and apply:
            apply()
        else:
            break
    solver.end(task)


def solved(
    fun: Callable[..., Any],
    x0: Array,
    args: Any,
    jac: Any,
    bounds: Any,
    options: Options,
    *,
    report_of: Callable[[Solver], Callable[[], Any]] | None = None,
    after_evaluation: Callable[[Solver], Callable[[], None]] | None = None,
    copies: bool = False,
    stream: Any = None,
    cuda_graph: bool = False,
    diagonal: Any = None,
    preconditioner: Any = None,
    x_scale: Any = None,
    loop: Callable[[Solver], None] | None = None,
    kind: Any = None,
) -> tuple[Solver, Evaluation]:
    """Create a solver, perform the solve, and return the solver.

    Parameters
    ----------
    report_of : callable
        ``report_of(solver)`` returns the function to call at each iterate. StopIteration ends the solve.
    after_evaluation : callable
        ``after_evaluation(solver)`` returns the function to call after each evaluation.
    copies : bool
        True: fun and jac receive copies of x.
    loop : callable
        ``loop(solver)`` performs the solve, instead of a loop that calls fun.
    kind
        If it is not None, a solver of an earlier solve with an equal ``kind``, options and x_scale may be used again.
        Arrays of the result must then not be the solver's own.
    The other parameters are those of ``minimize``.
    """
    array = as_array(x0)
    space = space_of(array)
    one_axis(array, "x0")

    def create() -> Solver:
        solver = Solver(
            space.copy_of(array), options.m, bounds=bounds, diagonal=diagonal is not None,
            preconditioner=preconditioner is not None, x_scale=x_scale, stream=stream,
        )
        try:
            solver.set(options.settings.items())
        except BaseException:
            solver.close()
            raise
        return solver

    kind = None if kind is None else kind_of(kind, options.m, options.settings)
    solver = solver_of_kind(kind, bounds, create)
    arguments = args if isinstance(args, tuple) else (args,)
    evaluation = None
    try:
        if options.disp:
            solver["IPRINT_FREQUENCY"] = options.disp
            solver.set_log(print)
        evaluation = Evaluation(solver, fun, jac, arguments, options, copies)
        if loop is not None:
            loop(solver)
            return solver, evaluation
        evaluate = evaluation.evaluate
        report = None
        if report_of is not None:
            solver["REPORT_ITERATES"] = 1
            report = report_of(solver)
        if cuda_graph:
            evaluate = captured(evaluate, solver._space)
        if after_evaluation is not None:
            evaluate = _followed_by(evaluate, after_evaluation(solver))
        supply = None if diagonal is None else _supplier(solver, diagonal, arguments, copies)
        apply = None if preconditioner is None else _applier(solver, preconditioner)
        _run(solver, evaluate, report, supply, apply)
        return solver, evaluation
    except BaseException:
        solver.close()
        raise
    finally:
        if evaluation is not None:
            evaluation.close()


def _followed_by(evaluate: Callable[[], None], after: Callable[[], None]) -> Callable[[], None]:
    def both() -> None:
        evaluate()
        after()

    return both


def minimize(
    fun: Callable[..., Any],
    x0: Array,
    args: Any = (),
    jac: Any = True,
    bounds: Any = None,
    callback: Callable[..., Any] | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    method: str | None = None,
    tol: float | None = None,
    stream: Any = None,
    cuda_graph: bool = False,
    diagonal: Any = None,
    preconditioner: Callable[[Array, Array], Array] | None = None,
    x_scale: Any = None,
    constraints: Any = (),
    hess: Any = None,
    hessp: Any = None,
) -> OptimizeResult:
    """Minimise a smooth function of many variables, with or without bounds, on the device of its arrays.

    x0 determines where the computation takes place. For arrays of NumPy, torch and JAX in host memory it is the host.
    For arrays of torch, CuPy, JAX or another library with ``__cuda_array_interface__`` it is their CUDA device and
    current stream. The precision is double or single, as that of x0. x, f and g stay there. x0 is not changed.

    Parameters
    ----------
    fun : callable
        ``fun(x, *args)`` returns f and the gradient, or only f if jac is a function. x is an array of shape (n,) of
        x0's library. It is memory of the solver, which fun may read during the call only (for NumPy, a read-only view).
        f is a number, or an array of one element. The gradient is an array of shape (n,), (n, 1) or (1, n) in x0's
        memory, which is copied. NaN or Inf in either means that f is undefined at x: the step is then shortened.
    x0 : array of shape (n,)
        The start, float64 or float32; it need not lie in the box. Numbers, lists and integers become float64.
    args : tuple
        Further arguments of fun and jac. Default: none.
    jac : True, callable, "2-point", "3-point", "cs", or None
        True, the default: fun returns the gradient as well. A function: ``jac(x, *args)`` returns the gradient. The
        other values are for NumPy arrays: fun returns f alone, and the gradient is formed by finite differences with
        SciPy's steps, within the bounds: one-sided, central, or by a complex step. None means one-sided differences
        with the absolute step ``eps``. If x or f is float32 and ``eps`` is not given, the step is that of "2-point".
    bounds : Bounds, scipy.optimize.Bounds, sequence of pairs (lower, upper), or None
        Default: none. A tuple or list of two arrays of torch, JAX or CuPy holds the lower and the upper bounds of all
        variables. Two NumPy arrays are the (lower, upper) pairs of two variables, as in SciPy.
    callback : callable
        The function is called at each iterate. If its parameter has the name ``intermediate_result``, its argument
        contains ``x``, ``fun`` and ``nit``; otherwise it is x. x is a copy. ``StopIteration`` ends the solve with its
        best iterate and the status 99.
    options : dict
        The options of SciPy's L-BFGS-B: ``maxcor`` (40 on the host for n of at most 1,000, 10 otherwise), ``ftol``
        (2.2e-9), ``gtol`` (1e-5), ``maxiter`` and ``maxfun`` (15000), ``maxls`` (20), ``disp`` (False; True or k: a
        line on standard output for each, or each k-th, iterate). ``ftol`` ends a solve only if f has not risen and the
        relative gradient is small as well (docs/termination.md). For finite differences: ``eps`` (1e-8; see jac),
        ``finite_diff_rel_step``, and ``workers``, which is a number of processes, or a function that is called as
        ``workers(fun, points)``, once for each gradient, and returns the values at all points. ``noise`` and
        ``noise_abs`` (0): errors of f, relative to abs(f) and in f's units (docs/noise.md). Also the library's own
        settings by the names of ``include/cuda_opt.h`` without ``CUDA_OPT_``, for example ``{"HISTORY_BITS": 32}``. The
        line search's settings are ``line_search_ftol``, ``line_search_gtol`` and ``line_search_xtol``; ``FTOL``,
        ``GTOL`` and ``XTOL`` mean the same, with a warning. These settings have the library's defaults, except
        ``INITIAL_HESSIAN``, which is ``InitialHessian.LEARNED`` here. On 336 problems this took 0.79 times the
        evaluations of ``InitialHessian.SCALAR`` (docs/notes/benchmarks.md); it stores one more n-vector. ``SCALAR`` is
        the initial Hessian of L-BFGS-B 3.0 and of SciPy's L-BFGS-B.
    method : None or "L-BFGS-B"
        There is no other method. If "L-BFGS-B" is given and x0 is a NumPy array, the conventions are those of SciPy's
        L-BFGS-B, as for ``lbfgsb``, except that jac is True by default.
    tol : float
        The value of both ftol and gtol, as in SciPy. Default: their own defaults.
    stream : int, torch.cuda.Stream, cupy.cuda.Stream
        The CUDA stream of all device work. Default: the current stream of x0's library; for JAX the default stream.
    cuda_graph : bool
        True, for torch and CuPy on a CUDA device: the operations of fun and jac are recorded in the fourth evaluation,
        and launched as one CUDA graph from then on, which saves the time that the host needs for each launch. The
        Python code of fun is then not executed any more. It has to perform the same operations each time, on arrays
        whose memory does not change. It must not read values on the host, and must return f as an array. Memory that it
        allocates is freed when the solve ends. Default False.
    diagonal : array of shape (n,), or callable
        Positive estimates of 1 / (second derivative of f with respect to x_i), in x0's memory. They are the diagonal of
        the initial inverse Hessian, in place of a learned diagonal. An array is used for the whole solve, and is scaled
        by the newest correction pair. A function ``diagonal(x, *args)`` is called at each iterate, or at those that
        the option ``DIAGONAL_EVERY`` selects. Default: none.
    preconditioner : callable
        ``preconditioner(v, free)`` returns H0 v, where H0 approximates the inverse Hessian, such as a multigrid cycle
        or a solve with the Laplacian. v has the shape (n,) and is 0 where ``free``, an array of booleans, is False. H0
        has to be symmetric and positive definite on the free variables; its result is ignored elsewhere. If many
        variables are at their bounds, it should approximate the inverse of the Hessian's rows and columns of the free
        variables. The scale of H0 is immaterial (docs/operator.md). Not together with diagonal or x_scale. Default:
        none.
    x_scale : number or array of shape (n,)
        The typical size of each variable, a positive number, in x0's memory: 1e6 for a variable of a few millions, and
        1e-3 for one of a few thousandths. The problem is solved in z = x / x_scale. The first step is in units of z,
        and ``gtol`` applies to the gradient times x_scale. fun, bounds and the result are in units of x, as is a
        diagonal. Default: 1.
    constraints, hess, hessp
        Arguments of SciPy's ``minimize``. constraints has to be empty. With the method "L-BFGS-B" and a NumPy array x0,
        hess and hessp cause a warning, as in SciPy; otherwise they have to be None.

    Returns
    -------
    OptimizeResult
        ``x`` and ``jac``, arrays of x0's kind; ``fun``, a float; ``nit``, ``nfev``, ``njev``; ``success``; ``status``,
        0 if converged or if f is as low as its rounding errors allow, 1 if a limit was reached, 99 if callback has
        raised StopIteration, 2 otherwise; ``task``,
        the return code; ``stop_test``, the ``StopTest`` that was satisfied; ``message``, a sentence; ``maxcor``, the
        number of correction pairs; ``hess_inv``, an operator. After every return code x is the best iterate.

    Raises
    ------
    TypeError, ValueError
        if an array, a bound or an option is not as described above
    Error, OutOfMemory
        if there is no CUDA device, or if the workspace does not fit into memory
    RuntimeError
        with cuda_graph=True, if fun or jac cannot be recorded; the message gives the reason
    Exceptions of fun, jac and callback are passed on unchanged.
    """
    if method is not None and not (isinstance(method, str) and method.lower() == "l-bfgs-b"):
        raise ValueError(f"method is {method!r}: it has to be None or 'L-BFGS-B'")
    as_scipy = method is not None and isinstance(as_array(x0), np.ndarray)
    _refuse_constraints(constraints)
    for name, given in ("hess", hess), ("hessp", hessp):
        if given is not None and not as_scipy:
            raise ValueError(f"{name} is given, but L-BFGS-B uses no second derivatives: leave it out")
        if given is not None:
            warnings.warn(f"Method L-BFGS-B uses no second derivatives ({name})", RuntimeWarning, stacklevel=2)
    if callback is not None and not callable(callback):
        raise TypeError(f"callback is a {name_of(callback)}: it has to be a function")
    by_differences = needs_differences(jac)
    given = options_of(options or {}, tol, as_scipy=as_scipy, has_gradient=not by_differences)
    if diagonal is not None and preconditioner is not None:
        raise ValueError("both a diagonal and a preconditioner are given")
    given.settings = _with_diagonal(diagonal, given.settings, options or {})
    given.settings = _with_preconditioner(preconditioner, given.settings, options or {})
    solve = partial(
        solved, fun, x0, args, jac, bounds, given, stream=stream, cuda_graph=cuda_graph, diagonal=diagonal,
        preconditioner=preconditioner, x_scale=x_scale,
    )
    if as_scipy:
        return _solved_as_scipy(solve, callback)
    report_of = None if callback is None else partial(reporter, callback=callback)
    return result_of(*solve(report_of=report_of), hints=preconditioner is None)


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
) -> OptimizeResult:
    """A method for ``scipy.optimize.minimize(fun, x0, method=cuda_opt.lbfgsb, jac=..., bounds=..., options=...)``.

    The options and their defaults are those of ``minimize``. The conventions are those of SciPy's L-BFGS-B:

    - fun and jac receive a new array at each point;
    - with jac=None, the gradient is formed by one-sided differences;
    - an unknown option causes a warning;
    - ``message`` has SciPy's words, and ``status`` is 99 after StopIteration;
    - ``hess_inv`` is SciPy's operator with ``sk`` and ``yk``, if ``scipy.optimize`` has been imported.

    ``task`` is the return code of cuda_opt. SciPy converts x0 to a NumPy array before it calls the method; use
    ``cuda_opt.minimize`` for other arrays. hess and hessp are not used. SciPy does not pass the values "2-point",
    "3-point" and "cs" of jac to a method that is a function; ``cuda_opt.minimize`` accepts them.

    Raises
    ------
    ValueError
        if there are constraints other than bounds
    TypeError
        if x0 is an array of another library than NumPy
    """
    _refuse_constraints(constraints)
    start = as_array(x0)
    if not isinstance(start, np.ndarray):
        raise TypeError(f"x0 is a {name_of(x0)}: this method takes NumPy arrays, and cuda_opt.minimize others")
    given = options_of(options, tol, as_scipy=True, has_gradient=not needs_differences(jac), stacklevel=4)
    return _solved_as_scipy(partial(solved, fun, start, args, jac, bounds, given), callback)


def _refuse_constraints(constraints: Any) -> None:
    """Raise ValueError if there are constraints other than bounds."""
    if constraints is not None and not (hasattr(constraints, "__len__") and len(constraints) == 0):
        raise ValueError("constraints are given: the only constraints of this method are bounds")


def _solved_as_scipy(
    solve: Callable[..., tuple[Solver, Evaluation]], callback: Callable[..., Any] | None
) -> OptimizeResult:
    """Perform a solve with the conventions of SciPy's L-BFGS-B. ``solve`` is ``solved`` with all of its arguments
    except those that this function adds."""
    pairs = Pairs()

    def report_of(solver: Solver) -> Callable[[], None]:
        report = None if callback is None else reporter(solver, callback)

        def at_iterate() -> None:
            pairs.add(solver)
            if report is not None:
                report()

        return at_iterate

    try:
        solver, evaluation = solve(report_of=report_of, after_evaluation=pairs.after_evaluation, copies=True)
    except ImproperInput as error:
        if "lower bound is greater" not in str(error):
            raise
        words = f"An upper bound is less than the corresponding lower bound: {error}"  # those of SciPy first
        raise type(error)(error.code, words) from None
    return in_words_of_scipy(solver, evaluation, pairs)
