"""``minimize_batch``: many small problems at once, whose functions are evaluated together."""
from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ._bounds import SIDES, batch_limits_of
from ._constants import BATCH_CODE, ENDS, INTEGERS, LIMITS, REALS, Task
from ._handle import Handle, integer, stream_number
from ._library import error, library
from ._options import options_of
from ._result import BatchResult, IntermediateResult, new_result
from ._space import Array, as_array, name_of
from ._space_of import space_of

OBJECTIVES, GRADIENTS, DIAGONALS = "the array of fun's values", "the array of gradients", "the array of diagonals"
# What ends a batch without a fault of the call; each problem has a code of its own. A batch goes on where bounds are
# crossed in some problems, so that IMPROPER_INPUT may be the code of the first that has not converged.
_BATCH_ENDS = ENDS | {Task.IMPROPER_INPUT}


class Batch(Handle):
    """A handle with its arrays: x and g of shape (count, n), f of shape (count,). The problems that are active have the
    first rows."""

    def __init__(self, x0: Array, m: int, bounds: Any, stream: Any, diagonal: Callable[..., Any] | None) -> None:
        start = as_array(x0)
        space = space_of(start)
        if stream is not None:
            space.stream, space.stream_owner = stream_number(stream), stream
        shape = tuple(start.shape)
        if len(shape) != 2 or not shape[0] or not shape[1]:
            raise ValueError(f"x0 has the shape {shape}: it has to have two, (problems, variables), neither of them 0")
        self.count, self.n = int(shape[0]), int(shape[1])
        self._limits = batch_limits_of(bounds, self.count, self.n, space)
        self.x, self.g = space.copy_of(start), space.empty(self.count, self.n)
        self.f = space.empty(self.count, double=True)
        self.diagonal, self.h = diagonal, space.empty(self.count, self.n) if diagonal else None
        self._suffix = "_f32" if space.bits == 32 else ""
        pairs = integer(m, "the number of correction pairs m", 32)
        super().__init__(self._function("create_batch"), space, self.n, self.count, pairs)
        try:
            shape = (self.count, self.n)
            self._addresses = [
                self._lend(self.x, "x0", shape),
                self._lend(self.f, OBJECTIVES, (self.count,), double=True),
                self._lend(self.g, GRADIENTS, shape),
            ]
            self._set_bounds()
            self["BATCH_PACKED"] = 1
            if diagonal:
                address = self._lend(self.h, DIAGONALS, (self.count, self.n))
                self._check(self._function("batch_set_diagonal")(self._handle, address))
                self["DIAGCO"] = 1
        except BaseException:
            self.close()
            raise

    def _function(self, name: str) -> Callable[..., int]:
        """The library's function for the precision."""
        function: Callable[..., int] = getattr(library, f"cuda_opt_{name}{self._suffix}")
        return function

    def _set_bounds(self) -> None:
        numbers, arrays, for_each = [-math.inf, math.inf], [0, 0], False  # no array: NULL
        for side, limit in enumerate(self._limits):
            if isinstance(limit, float):
                numbers[side] = limit
                continue
            for_each = len(limit.shape) == 2
            shape = (self.count, self.n) if for_each else (self.n,)
            arrays[side] = self._lend(limit, SIDES[side], shape, written=False)
        self._check(self._function("set_uniform_bounds")(self._handle, *numbers))
        self._check(self._function("batch_set_bounds" if for_each else "set_bounds")(self._handle, *arrays))

    def step(self) -> int:
        """EVALUATE_BATCH, or how the batch has ended."""
        return self._after(self._exclusively(self._function("batch_solve"), *self._addresses), _BATCH_ENDS)

    def evaluate(self, fun: Callable[..., Any], jac: Any, indices: bool, args: tuple[Any, ...]) -> None:
        """Put f and g of the active problems in their places, and their diagonals, if there are any."""
        space, active = self._space, int(self["BATCH"])
        rows = space.padded(active, self.count)

        def given() -> tuple[Any, ...]:
            x = space.rows(self.x, active, rows)
            if not indices:
                return x, *args
            return x, space.indices(library.cuda_opt_batch_active(self._handle), active, rows), *args

        pair = fun(*given()) if jac is True else (fun(*given()), jac(*given()))
        if type(pair) is not tuple or len(pair) != 2:
            raise TypeError(f"the function returned a {name_of(pair)}: with jac=True it returns f and its gradient")
        space.put_first(self.f, rows, pair[0], OBJECTIVES)
        space.put_first(self.g, rows, pair[1], GRADIENTS)
        if self.diagonal:
            space.put_first(self.h, rows, self.diagonal(*given()), DIAGONALS)

    def integers(self, name: str) -> np.ndarray[Any, Any]:
        """A result of each problem: shape (count,)."""
        values = np.empty(self.count, np.int64)
        key = BATCH_CODE if name == "BATCH_CODE" else INTEGERS[name]
        self._check(self._exclusively(library.cuda_opt_batch_get_int, key, values.ctypes.data))
        return values

    def reals(self, name: str) -> np.ndarray[Any, Any]:
        """A result of each problem: shape (count,)."""
        values = np.empty(self.count, np.float64)
        self._check(self._exclusively(library.cuda_opt_batch_get_real, REALS[name], values.ctypes.data))
        return values

    def never_evaluated(self, problems: np.ndarray[Any, Any]) -> None:
        """Set f and g of these problems to NaN. Their indices are in ascending order. All elements from the first to
        the last of these problems are copied to host memory and back, with one copy in each direction."""
        first, last = int(problems[0]), int(problems[-1]) + 1
        element = f"f{self._space.bits // 8}"
        for argument, rows in ((1, np.empty(last - first)), (2, np.empty((last - first, self.n), element))):
            address = self._addresses[argument] + first * rows.strides[0]
            self._check(self._exclusively(library.cuda_opt_copy_out, rows.ctypes.data, address, rows.nbytes))
            rows[problems - first] = math.nan
            self._check(self._exclusively(library.cuda_opt_copy_in, address, rows.ctypes.data, rows.nbytes))

    def message_of(self, problem: int) -> str:
        """The library's sentence on how one of the problems, which is there, has ended."""
        return str(self._briefly(library.cuda_opt_batch_message, problem).decode(errors="replace"))


class Sentences:
    """``message_of`` of a result: asked of the batch, or what it has said, where the result was copied or pickled."""

    def __init__(self, batch: Batch | None, said: tuple[str, ...] = ()) -> None:
        self._batch, self._said = batch, said
        self._one_at_a_time = threading.Lock()  # the handle has one sentence

    def __call__(self, problem: int) -> str:
        """The library's sentence on how one of the problems has ended.

        Raises
        ------
        IndexError
            there is no such problem
        """
        count = self._batch.count if self._batch else len(self._said)
        which = integer(problem, "the problem")
        if not 0 <= which < count:
            raise IndexError(f"there is no problem {which}: they are counted from 0 to {count - 1}")
        if not self._batch:
            return self._said[which]
        with self._one_at_a_time:
            return self._batch.message_of(which)

    def __reduce__(self) -> tuple[Any, ...]:
        return Sentences, (None, tuple(map(self, range(self._batch.count))) if self._batch else self._said)


def _result(batch: Batch, task: int, rounds: int) -> BatchResult:
    codes, evaluations, norms = batch.integers("BATCH_CODE"), batch.integers("EVALUATIONS"), batch.reals("PG_NORM_INF")
    improper = np.flatnonzero(codes == Task.IMPROPER_INPUT)
    if improper.size == batch.count:
        raise error(Task.IMPROPER_INPUT, batch.message_of(0))
    norms[improper] = math.nan
    if improper.size:
        batch.never_evaluated(improper)
    limits = np.isin(codes, [int(limit) for limit in LIMITS])
    return new_result(
        BatchResult,
        x=batch._space.own(batch.x),
        fun=batch._space.own(batch.f),
        jac=batch._space.own(batch.g),
        nit=batch.integers("ITERATIONS"),
        nfev=evaluations,
        njev=evaluations,
        pg_norm_inf=norms,
        codes=codes,
        status=np.where(codes == 0, 0, np.where(limits, 1, 2)),
        success=codes == 0,
        rounds=rounds,
        task=Task(task),
        message=batch.message,
        message_of=Sentences(batch),
    )


def minimize_batch(
    fun: Callable[..., Any],
    x0: Array,
    args: Any = (),
    jac: Any = True,
    bounds: Any = None,
    callback: Callable[..., Any] | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    indices: bool = False,
    diagonal: Callable[..., Any] | None = None,
    tol: float | None = None,
    stream: Any = None,
) -> BatchResult:
    """Minimise many small smooth functions of the same number of variables at once, each for itself, with bounds or
    without, where the arrays are.

    One call of fun evaluates all problems that have not ended. A problem's path does not depend on the others, but for
    the last digits of what fun computes for them together. x0 decides where everything is computed, as in ``minimize``.

    Parameters
    ----------
    fun : callable
        ``fun(x, *args)``, or ``fun(x, p, *args)`` with indices=True, gives f and the gradients of k problems, or f
        alone with a function as jac. x is of shape (k, n), a point a row, of x0's library; it is the solver's own
        memory, to be read and not to be kept. k falls as problems end; of JAX it is rounded up to a power of two, lest
        each k be compiled for, by repeating the last problem. f is an array of shape (k,), the gradients one of shape
        (k, n), both in x0's memory. NaN or Inf in a row means that f is undefined there: that
        problem's step is then shortened.
    x0 : array of shape (count, n)
        The starts, float64 or float32, a problem a row; they need not lie in their boxes. n is from 1 to 4096, and
        meant to be at most a few hundred. JAX needs ``jax_enable_x64``, for f is double.
    args : tuple
        Further arguments of fun and jac. Default: none.
    jac : True or callable
        True, the default: fun returns the gradients as well. Else ``jac`` does, with fun's arguments.
    bounds : Bounds, scipy.optimize.Bounds, sequence of n pairs (lower, upper), or None
        ``lb`` and ``ub`` may be numbers, arrays of shape (n,) for all problems alike, or of shape (count, n). Arrays of
        x0's library are read in place. Crossed bounds of some problems end those. Default: none.
    callback : callable
        ``callback(intermediate_result=...)`` after each call of fun, with ``active``, how many problems it was for, and
        ``rounds``, the calls so far. ``StopIteration`` ends the batch, each problem with its best iterate.
    options : dict
        As in ``minimize``, of each problem; ``MAX_SECONDS`` is of the whole, ``THREADS`` are the host's that share the
        problems. ``INITIAL_HESSIAN`` is ``InitialHessian.SCALAR`` unless given; ``LEARNED`` often takes fewer rounds.
        There is no log, and the history has the precision of x: ``disp`` and ``HISTORY_BITS`` are errors. maxcor is at
        most 64.
    indices : bool
        True: fun and jac get p, of shape (k,), as their second argument: the problem of each row, counted from 0 and
        ascending, of x0's library and in x0's memory, int64, to take the problems' own data by: ``data[p]``. It is
        valid during the call. Default False.
    diagonal : callable
        With fun's arguments, gives guesses of 1 / (second derivative of f by x_i) at x, all positive, of shape (k, n),
        in x0's memory: the metric that the model of f starts from. ``DIAGONAL_EVERY`` among the options says for how
        many iterations of a problem one holds. Default: none.
    tol, stream
        as in ``minimize``

    Returns
    -------
    BatchResult
        ``x`` and ``jac``, of shape (count, n), and ``fun``, of shape (count,), double: arrays of x0's kind, at the best
        iterate of each. NumPy arrays of shape (count,): ``codes``, numbers of ``Task``; ``success``; ``status``, 0
        converged, 1 a limit was reached, 2 else; ``nit``, ``nfev``, ``njev``; ``pg_norm_inf``, the projected gradient's
        largest component. A problem whose bounds are crossed, or whose start is not finite, has ``IMPROPER_INPUT``
        among the codes, and NaN for f, the gradient and its norm. Of the whole: ``rounds``, the calls of fun; ``task``,
        ``CONVERGED`` or the code of the first problem that has not; ``message``, a sentence. ``message_of(p)`` is a
        sentence on one problem; it keeps the workspace until the result is dropped.

    Raises
    ------
    TypeError, ValueError
        an array, a bound or an option is not as said above; or no problem has proper bounds and a finite start
    Error, OutOfMemory
        there is no CUDA device, or the workspace does not fit
    Whatever fun, jac and callback raise comes out unchanged.
    """
    if jac is not True and not callable(jac):
        raise ValueError(f"jac is {jac!r}: it has to be True, where fun returns f and its gradient, or a function")
    if diagonal is not None and not callable(diagonal):
        raise ValueError(f"diagonal is a {name_of(diagonal)}: it has to be a function")
    given = options or {}
    options_given = options_of(given, tol)
    settings = options_given.settings
    if options_given.disp:
        raise ValueError("disp is given: a batch has no log; callback is called in each round")
    if "BATCH_PACKED" in given:
        raise ValueError("BATCH_PACKED is given: minimize_batch hands out the active problems alone")
    if not given.keys() & {"INITIAL_HESSIAN", "METRIC"}:
        del settings["INITIAL_HESSIAN"]
    if not isinstance(args, tuple):
        args = (args,)
    batch = Batch(x0, options_given.m, bounds, stream, diagonal)
    rounds = 0
    try:
        batch.set(settings.items())
        while (task := batch.step()) > 0:
            batch.evaluate(fun, jac, indices, args)
            rounds += 1
            if callback is not None:  # now, as what has been asked for is read in any case
                try:
                    progress = new_result(IntermediateResult, active=batch["BATCH"], rounds=rounds)
                    callback(intermediate_result=progress)
                except StopIteration:
                    batch.request_stop()
        return _result(batch, task, rounds)
    except BaseException:
        batch.close()
        raise
