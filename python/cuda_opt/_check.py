"""``check_gradient`` determines whether the user's gradient is the gradient of the user's function."""
from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from ._constants import Gradient, Task
from ._evaluation import Evaluation, needs_differences
from ._handle import integer
from ._library import library
from ._options import options_of
from ._result import CheckResult, new_result
from ._solver import Solver
from ._space import Array, as_array, one_axis
from ._space_of import space_of


def check_gradient(
    fun: Callable[..., Any],
    x0: Array,
    args: Any = (),
    jac: Any = True,
    bounds: Any = None,
    *,
    x_scale: Any = None,
    find_component: bool = True,
    seed: int = 0,
    stream: Any = None,
) -> CheckResult:
    """Compare the gradient of fun at x0 with differences of fun, on the device of the arrays.

    Central differences are formed along the negative gradient and along two random directions, each with ten step
    lengths, or six in single precision. The step length is chosen at which successive differences agree best.

    Parameters
    ----------
    fun, x0, args, jac, bounds, x_scale, stream
        as for ``minimize``; jac is True or a function. All points lie in the box. Choose a random x0 rather than 0 or
        a minimum, where errors of a gradient may not show.
    find_component : bool
        True, the default: if some components of the gradient are wrong, one with a large error is found by bisection
        of the variables, with about 4 log2(n) further evaluations.
    seed : int
        The seed of the random directions. Default 0.

    Returns
    -------
    CheckResult
        ``verdict``, one of ``Gradient``; ``success``, true if that is ``CONSISTENT``; ``message``, a sentence with the
        numbers; ``component``, the index of the component that was found, or None; ``supplied``, that component of the
        gradient, or the slope along a direction; ``difference``, the same according to differences of f; ``error``,
        the estimated error of ``difference``; ``nfev``, the number of evaluations: 64, or 40 in single precision, and
        those that find a wrong component.

    Raises
    ------
    TypeError, ValueError
        if an array, a bound or a scale is not as described above; or if x0, f(x0) or the gradient at x0 is not finite
    Error, OutOfMemory
        if there is no CUDA device, or if the workspace does not fit into memory
    Exceptions of fun and jac are passed on unchanged.
    """
    if needs_differences(jac):
        raise ValueError(f"jac is {jac!r}: it has to be True, where fun returns f and its gradient, or a function")
    array = as_array(x0)
    space = space_of(array)
    one_axis(array, "x0")
    seed = integer(seed, "seed")
    with Solver(space.copy_of(array), 1, bounds=bounds, x_scale=x_scale, stream=stream) as solver:
        arguments = args if isinstance(args, tuple) else (args,)
        evaluation = Evaluation(solver, fun, jac, arguments, options_of({}, None), False)
        step, evaluations = solver._function("check_gradient"), 0
        while True:
            code = solver._exclusively(step, *solver._arguments, seed, int(bool(find_component)))
            if code != Task.EVALUATE_FG:
                break
            evaluations += 1
            evaluation.evaluate()
        if code == Task.NOT_FINITE:
            raise ValueError(solver.message)
        solver._check(code)
        verdict, component = ctypes.c_int32(), ctypes.c_int64()
        numbers = [ctypes.c_double() for _ in range(3)]
        results = [ctypes.byref(verdict), ctypes.byref(component), *(ctypes.byref(number) for number in numbers)]
        message = solver.message
        solver._check(solver._exclusively(library.cuda_opt_check_result, *results))
    return new_result(
        CheckResult,
        verdict=Gradient(verdict.value),
        success=verdict.value == Gradient.CONSISTENT,
        message=message,
        component=component.value if component.value >= 0 else None,
        supplied=numbers[0].value,
        difference=numbers[1].value,
        error=numbers[2].value,
        nfev=evaluations,
    )
