"""Pattern search by many independent searches, which are called walks. The user's function evaluates their points in
batches."""
from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ._bounds import SIDES, Bounds, limits_of
from ._constants import LIMITS, Task
from ._handle import Handle, integer, stream_number
from ._library import library
from ._options import limit_of
from ._result import IntermediateResult, SearchResult, new_result
from ._space import Space, as_array, name_of, one_axis
from ._space_of import space_of

VALUES = "the array of fun's values"
_ENDS = LIMITS | {Task.CONVERGED, Task.NOT_FINITE, Task.STOPPED}
_AT_SMALLEST_STEP = {"repeat": 0, "end": 1, "restart": 2}


def _box(bounds: Any, like: Any) -> tuple[Space, Any, Any, int]:
    """Return the space (array library and device) of the points, the lower and the upper bounds as arrays in this
    space, and n."""
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        sides = [bounds.lb, bounds.ub]
    else:
        try:
            pairs = [(-math.inf if low is None else low, math.inf if high is None else high) for low, high in bounds]
            sides = [np.array(side, np.float64) for side in np.asarray(pairs, np.float64).T]
        except (TypeError, ValueError):
            sides = []
        if len(sides) != 2:
            raise ValueError("bounds has to be Bounds with arrays, or a pair (lower, upper) for each variable")
    arrays = [as_array(side) for side in sides if hasattr(side, "shape") or isinstance(side, (list, tuple))]
    if not arrays:
        raise ValueError("bounds are two numbers: one has to be an array, which has the number of variables")
    others = [array for array in arrays if not isinstance(array, np.ndarray)]
    if like is not None and isinstance(like, (int, float, str, list, tuple)):
        raise TypeError(f"like is a {name_of(like)}: it has to be an array")
    model = like if like is not None else (others or arrays)[0]
    space = space_of(model)
    if space.bits != 64:
        raise TypeError("the bounds of a search have to be float64 arrays, as the points and values are")
    n = one_axis(arrays[0], "an array of bounds")
    limits = []
    for side in limits_of(Bounds(*sides), n, space):
        limits.append(space.from_numpy(np.full(n, side)) if isinstance(side, float) else side)
    return space, limits[0], limits[1], n


def pattern_search(
    fun: Callable[..., Any],
    bounds: Any,
    walks: int = 1000,
    args: Any = (),
    *,
    steps: Any = None,
    at_smallest_step: str = "end",
    maxiter: float | None = None,
    maxfun: float | None = None,
    seed: int = 0,
    like: Any = None,
    keep: int = 1,
    callback: Callable[..., Any] | None = None,
    options: dict[str, float] | None = None,
    stream: Any = None,
) -> SearchResult:
    """Minimise a function without a gradient subject to finite bounds, by many pattern searches from random points.

    Parameters
    ----------
    fun : callable
        ``fun(points, *args)`` evaluates a batch. points has the shape (n, batch), float64, one point per column; it is
        memory of the search, which fun may read during the call only. fun returns an array of shape (batch,) of the
        same library in the same memory space. NaN and Inf count as worse than any other value.
    bounds : Bounds, scipy.optimize.Bounds, or sequence of pairs (lower, upper)
        Finite bounds. The points are arrays of the same library on the same device as an array of bounds: NumPy, torch,
        CuPy or JAX, float64. One side may be a number.
    walks : int
        The number of independent searches (walks). Each walk has two points in a batch. Default 1000. The points need
        the memory of 2 n walks doubles. The workspace has n walks doubles, and 2 n walks if walks start again from new
        random points.
    args : tuple
        Further arguments of fun. Default: none.
    steps : array of shape (n,)
        The first step of each variable, positive. Default: a twentieth of the box.
    at_smallest_step : "end", "repeat" or "restart"
        Determines how a walk continues after its step has been halved 16 times (``HALVINGS``). "end", the default: it
        ends. "repeat": it continues from the same point with the first step. "restart": it starts again from a new
        random point. In the last two cases only a limit ends the search.
    maxiter, maxfun : int
        Limits of iterations and evaluations of the function at a point. As in ``minimize``, they need not be integers,
        the limit 0 has the same effect as 1, and infinity means no limit. Default: 2000 iterations.
    seed : int
        The seed of the random numbers, >= 0. Default 0. The same seed gives the same points on every machine.
    like : array
        An array of float64. The points are then arrays of its library on its device, also if the bounds are NumPy
        arrays. Default: none.
    keep : int
        The number of walks whose best points are returned, for example as starts for ``minimize`` if there is a
        gradient. Default 1.
    callback : callable
        is called as ``callback(intermediate_result=...)`` before each batch, with ``fun``, the best value so far,
        ``nit`` and ``nfev``. If it raises ``StopIteration``, this batch is the last one of the search.
    options : dict
        The library's settings by their names: ``{"F_TARGET": 0.1}``.
    stream
        as in ``minimize``

    Returns
    -------
    SearchResult
        ``x``, the best point, of shape (n,), an array of the same library as the points, and ``fun``, its value;
        ``walks_x`` and ``walks_fun``, points and values of the ``keep`` best walks, NumPy arrays of shape (keep, n) and
        (keep,); ``nit``, ``nfev``, ``success``, ``status``, ``task`` and ``message`` as for ``minimize``. Points and
        values are NaN if the search ended before the first batch.

    Raises
    ------
    TypeError, ValueError
        if a bound is not finite, if a setting is out of its range, or if fun returns values of another shape or library
    """
    if not callable(fun):
        raise TypeError(f"fun is a {name_of(fun)}: it has to be a function")
    if callback is not None and not callable(callback):
        raise TypeError(f"callback is a {name_of(callback)}: it has to be a function")
    if options is not None and not isinstance(options, Mapping):
        raise TypeError(f"options is a {name_of(options)}: it has to be a dict")
    if not isinstance(at_smallest_step, str) or at_smallest_step not in _AT_SMALLEST_STEP:
        choices = ", ".join(_AT_SMALLEST_STEP)
        raise ValueError(f"at_smallest_step is {at_smallest_step!r}: it has to be one of {choices}")
    if not isinstance(args, tuple):
        args = (args,)
    space, lower, upper, n = _box(bounds, like)
    if stream is not None:
        space.stream, space.stream_owner = stream_number(stream), stream
    walks, keep = integer(walks, "walks"), integer(keep, "keep")
    if keep < 1:
        raise ValueError(f"keep is {keep}: it has to be at least 1")
    search = Handle(library.cuda_opt_create_search, space, n, walks)
    try:
        sides = (search._lend(side, what, (n,), written=False) for side, what in zip((lower, upper), SIDES))
        search._check(library.cuda_opt_set_bounds(search._handle, *sides))
        if steps is not None:
            first = as_array(steps)
            if not hasattr(first, "shape"):
                raise TypeError(f"steps is a {name_of(steps)}: it has to be an array")
            first = space.from_numpy(first) if isinstance(first, np.ndarray) else space.take(first, "steps")
            if one_axis(first, "steps") != n:
                raise ValueError(f"steps has {one_axis(first, 'steps')} elements, but the bounds have {n}")
            search._check(library.cuda_opt_search_set_steps(search._handle, space.admitted(first, "steps", (n,))))
        settings = {"SEARCH_SEED": seed, "AT_SMALLEST_STEP": _AT_SMALLEST_STEP[at_smallest_step]}
        search.set({**settings, **(options or {})}.items())
        if maxiter is not None:
            search["MAX_ITERATIONS"] = limit_of(maxiter, "maxiter")
        if maxfun is not None:
            search["MAX_EVALUATIONS"] = limit_of(maxfun, "maxfun")
        points, values = space.empty(n, 2 * walks), space.empty(2 * walks)
        at_points = search._lend(points, "the array of points", (n, 2 * walks))
        addresses = at_points, search._lend(values, VALUES, (2 * walks,))
        while (task := search._after(search._exclusively(library.cuda_opt_search_solve, *addresses), _ENDS)) > 0:
            batch = int(search["BATCH"])
            if callback is not None:
                progress = {"fun": search["F"], "nit": search["ITERATIONS"], "nfev": search["EVALUATIONS"]}
                try:
                    callback(intermediate_result=new_result(IntermediateResult, **progress))
                except StopIteration:
                    # The search ends after this batch, whose values the library reads in any case.
                    search.request_stop()
            space.put_first(values, batch, fun(space.part(points, batch), *args), VALUES)
        return _result(search, task, n, min(keep, walks), space)
    finally:
        search.close()


def _walk(search: Handle, rank: int, n: int) -> tuple[np.ndarray[Any, Any], float]:
    walk, x, f = ctypes.c_int64(), np.empty(n), ctypes.c_double(math.nan)
    search._check(library.cuda_opt_search_ranked(search._handle, rank, ctypes.byref(walk)))
    search._check(library.cuda_opt_search_walk(search._handle, walk, x.ctypes.data, ctypes.byref(f)))
    return x, f.value


def _result(search: Handle, task: int, n: int, keep: int, space: Space) -> SearchResult:
    nowhere = np.full(n, math.nan), math.nan
    best = [_walk(search, rank, n) if search["EVALUATIONS"] else nowhere for rank in range(keep)]
    return new_result(
        SearchResult,
        x=space.from_numpy(best[0][0]),
        fun=best[0][1],
        walks_x=np.stack([x for x, _ in best]),
        walks_fun=np.array([f for _, f in best]),
        nit=search["ITERATIONS"],
        nfev=search["EVALUATIONS"],
        status=0 if task == Task.CONVERGED else 1 if task in LIMITS else 2,
        success=task == Task.CONVERGED,
        message=search.message,
        task=Task(task),
    )
