"""``minimize_batch`` minimises many small functions at once. One call of the user's function evaluates all of them."""
from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from ._bounds import SCALES, SIDES, batch_limits_of, scales_of
from ._constants import BACKEND_CUDA, BATCH_CODE, ENDS, INTEGERS, LIMITS, REALS, Task
from ._handle import Handle, integer, stream_number
from ._library import Error, error, library
from ._options import chooses_hessian, options_of, refuse_missing_hessian
from ._result import BatchIntermediateResult, BatchResult, new_result
from ._scaled_batch import BatchScales
from ._space import Array, as_array, name_of
from ._space_of import space_of

OBJECTIVES, GRADIENTS, DIAGONALS = "the array of fun's values", "the array of gradients", "the array of diagonals"
# _BATCH_ENDS contains the return codes with which a batch ends regularly; each problem also has its own code. A batch
# continues if some problems have crossed bounds (lower > upper). Therefore IMPROPER_INPUT may be the code of the first
# problem that has not converged.
_BATCH_ENDS = ENDS | {Task.IMPROPER_INPUT}


class Batch(Handle):
    """A batch of problems in the C library, with its arrays: x and g of shape (count, n), f of shape (count,). The
    first rows of each array belong to the active problems, which have not ended."""

    def __init__(
        self, x0: Array, m: int, bounds: Any, stream: Any, diagonal: Callable[..., Any] | None, x_scale: Any
    ) -> None:
        start = as_array(x0)
        space = space_of(start)
        if stream is not None:
            space.stream, space.stream_owner = stream_number(stream), stream
        shape = tuple(start.shape)
        if len(shape) != 2 or not shape[0] or not shape[1]:
            raise ValueError(f"x0 has the shape {shape}: it has to have two, (problems, variables), neither of them 0")
        self.count, self.n = int(shape[0]), int(shape[1])
        self._limits = batch_limits_of(bounds, self.count, self.n, space)
        self.scales: BatchScales | None = None
        if x_scale is not None:
            self.scales = BatchScales(space, scales_of(x_scale, self.n, space), self._limits, self.n)
            self._limits, start = self.scales.limits(self._limits), self.scales.z_of(space.copy_of(start))
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
        """Return the C library's function ``name`` in the variant for the precision of the batch."""
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
        """Perform one step of the batch. Return EVALUATE_BATCH, or the return code with which the batch has ended."""
        return self.checked(self._exclusively(self._function("batch_solve"), *self._addresses))

    def checked(self, code: int) -> int:
        """Return the code of a step. Raises an error if it is a failure."""
        return self._after(code, _BATCH_ENDS)

    def evaluate(self, fun: Callable[..., Any], jac: Any, indices: bool, args: tuple[Any, ...]) -> None:
        """Evaluate the active problems. Copy f, the gradients and, if there are any, the diagonals to the arrays of the
        batch."""
        space, scales, active = self._space, self.scales, int(self["BATCH"])
        rows = space.padded(active, self.count)
        shape = (rows, self.n)

        def given() -> tuple[Any, ...]:
            x, problems = self.points(indices)
            return (x, problems, *args) if indices else (x, *args)

        pair = fun(*given()) if jac is True else (fun(*given()), jac(*given()))
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(f"the function returned a {name_of(pair)}: with jac=True it returns f and its gradient")
        space.put_first(self.f, rows, pair[0], OBJECTIVES)
        gradients = scales.gradients(pair[1], shape, GRADIENTS) if scales else pair[1]
        space.put_first(self.g, rows, gradients, GRADIENTS)
        if self.diagonal:
            diagonals = self.diagonal(*given())
            if scales:
                diagonals = scales.diagonals(diagonals, shape, DIAGONALS)
            space.put_first(self.h, rows, diagonals, DIAGONALS)

    def points(self, indices: bool = False) -> tuple[Array, Array]:
        """Return the points to evaluate, one per row, and the indices of their problems or, unless they are needed,
        None."""
        space, active = self._space, int(self["BATCH"])
        rows = space.padded(active, self.count)
        x, problems = space.rows(self.x, active, rows), None
        if indices or self.scales:
            problems = space.indices(library.cuda_opt_batch_active(self._handle), active, rows)
        return (self.scales.x_of(x, problems) if self.scales else x), problems

    def integers(self, name: str) -> np.ndarray[Any, Any]:
        """Return the integer result ``name`` of all problems, as an array of shape (count,)."""
        values = np.empty(self.count, np.int64)
        key = BATCH_CODE if name == "BATCH_CODE" else INTEGERS[name]
        self._check(self._exclusively(library.cuda_opt_batch_get_int, key, values.ctypes.data))
        return values

    def reals(self, name: str) -> np.ndarray[Any, Any]:
        """Return the real result ``name`` of all problems, as an array of shape (count,)."""
        values = np.empty(self.count, np.float64)
        self._check(self._exclusively(library.cuda_opt_batch_get_real, REALS[name], values.ctypes.data))
        return values

    def never_evaluated(self, problems: np.ndarray[Any, Any]) -> None:
        """Set f and g to NaN for problems that were never evaluated.

        ``problems`` contains their indices in ascending order. The rows from the first to the last of these problems
        are copied to host memory and back, with one copy in each direction."""
        first, last = int(problems[0]), int(problems[-1]) + 1
        element = f"f{self._space.bits // 8}"
        for argument, rows in ((1, np.empty(last - first)), (2, np.empty((last - first, self.n), element))):
            address = self._addresses[argument] + first * rows.strides[0]
            self._check(self._exclusively(library.cuda_opt_copy_out, rows.ctypes.data, address, rows.nbytes))
            rows[problems - first] = math.nan
            self._check(self._exclusively(library.cuda_opt_copy_in, address, rows.ctypes.data, rows.nbytes))

    def message_of(self, problem: int) -> str:
        """Return the library's message about how the solve of this problem ended. ``problem`` must be a valid index."""
        words = str(self._briefly(library.cuda_opt_batch_message, problem).decode(errors="replace"))
        undefined = self.scales and self.integers("BATCH_CODE")[problem] == Task.NOT_FINITE
        return f"{words}; this g is yours times {SCALES}" if undefined else words


class Iterates:
    """Finds the new iterates among the points that a batch has evaluated."""

    def __init__(self, batch: Batch) -> None:
        self._batch, self._nit = batch, np.zeros(batch.count, np.int64)
        self._problems, self._x = np.zeros(0, np.int64), batch.x

    def note_points(self) -> None:
        """Store the points that have been evaluated. This is called before the step that judges them."""
        self._problems = np.flatnonzero(self._batch.integers("BATCH_CODE") == Task.EVALUATE_FG)
        self._x = self._batch._space.copy_of(self._batch.points()[0])

    def new(self) -> dict[str, Any]:
        """Return what the callback receives after a step, or an empty dict if no problem has a new iterate."""
        nit = self._batch.integers("ITERATIONS")
        rows = np.flatnonzero(nit[self._problems] > self._nit[self._problems])
        problems, active, self._nit = self._problems[rows], self._problems.size, nit
        if not rows.size:
            return {}
        x, fun = self._batch._space.chosen(self._x, rows), self._batch.reals("F")[problems]
        return {"active": active, "problems": problems, "x": x, "fun": fun, "nit": nit[problems]}


class Sentences:
    """The method ``message_of`` of a batch's result, as a callable object. It reads the messages from the batch. A
    copied or pickled result has no batch and uses stored messages."""

    def __init__(self, batch: Batch | None, said: tuple[str, ...] = ()) -> None:
        self._batch, self._said = batch, said
        # The handle has a single buffer for a message, so that one thread at a time may request a message.
        self._one_at_a_time = threading.Lock()

    def __call__(self, problem: int) -> str:
        """Return the library's message about how the solve of one problem ended.

        Raises
        ------
        IndexError
            if there is no such problem
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
    x, gradients = batch._space.own(batch.x), batch._space.own(batch.g)
    if batch.scales:
        x, gradients = batch.scales.x_of(x, None), batch.scales.gradients_by_x(gradients)
    return new_result(
        BatchResult,
        x=x,
        fun=batch._space.own(batch.f),
        jac=gradients,
        nit=batch.integers("ITERATIONS"),
        nfev=evaluations,
        njev=evaluations,
        pg_norm_inf=norms,
        codes=codes,
        stop_test=batch.integers("STOP_TEST"),
        status=np.where(codes == 0, 0, np.where(limits, 1, 2)),
        success=codes == 0,
        rounds=rounds,
        task=Task(task),
        maxcor=batch["HISTORY_SIZE"],
        message=batch.message,
        message_of=Sentences(batch),
    )


@lru_cache(maxsize=None)
def refused_by_batches() -> frozenset[str]:
    """Return the names of the settings that the C library has for single solves only."""
    refused = set()
    with Batch(np.zeros((1, 1)), 0, None, None, None, None) as batch:
        for name in INTEGERS:
            try:
                batch[name] = 0
            except Error as error:
                if "is not for a handle of" in str(error):
                    refused.add(name)
    return frozenset(refused)


def _continues(batch: Batch, callback: Callable[..., Any], **found: Any) -> bool:
    """Call the user's callback. Return False if it has ended the batch by StopIteration."""
    try:
        callback(intermediate_result=new_result(BatchIntermediateResult, **found))
    except StopIteration:
        batch.request_stop()
        return False
    return True


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
    x_scale: Any = None,
) -> BatchResult:
    """Minimise many small smooth functions at once, independently of each other, with or without bounds. All functions
    have the same number of variables. The computation takes place on the device of the arrays.

    One call of fun evaluates all problems that have not ended. The iterates of a problem do not depend on the other
    problems, unless fun computes them together and the last digits of f and g depend on how many there are. All work is
    done on the device of x0, as in ``minimize``.

    Parameters
    ----------
    fun : callable
        ``fun(x, *args)``, or ``fun(x, p, *args)`` with indices=True, returns f and the gradients of k problems, or only
        f if jac is a function. x has the shape (k, n), one point per row, and is an array of the library of x0. It is
        memory of the solver, which fun may read during the call only. k decreases as problems end. In JAX k is rounded
        up to a power of two, by repeating the last problem. Otherwise JAX would compile fun for each k. f is an array
        of shape (k,), the gradients an array of shape (k, n), both in the memory space of x0. NaN or Inf in a row means
        that f is undefined at this point: the step of that problem is then shortened.
    x0 : array of shape (count, n)
        The starts, float64 or float32, one problem per row; they need not be within the bounds. n is from 1 to 4096;
        the algorithm is designed for up to a few hundred.
    args : tuple
        Further arguments of fun and jac. Default: none.
    jac : True or callable
        True, the default: fun returns the gradients as well. A function: it has the arguments of fun and returns the
        gradients.
    bounds : Bounds, scipy.optimize.Bounds, sequence of n pairs (lower, upper), or None
        ``lb`` and ``ub`` may be numbers, arrays of shape (n,) that all problems share, or of shape (count, n). Arrays
        of the library of x0 are read in place. A problem with a lower bound above an upper bound ends at once. Default:
        none.
    callback : callable
        ``callback(intermediate_result=...)`` is called after each call of fun, with ``active``, the number of problems
        evaluated, and ``rounds``, the number of calls so far. With the option ``REPORT_ITERATES=1`` it is called only
        if problems have new iterates, and intermediate_result also has ``problems``, their k indices, ``x``, their
        iterates as rows of a new array of the library of x0, and ``fun`` and ``nit``; all but x are NumPy arrays of
        shape (k,). ``StopIteration`` ends the batch, in this case after one more call of fun; the result has the best
        iterate of each problem.
    options : dict
        As in ``minimize``, for each problem; ``MAX_SECONDS`` is for the whole batch, ``THREADS`` is the number of host
        threads, which share the problems. Unless diagonal is given, ``INITIAL_HESSIAN`` is by default
        ``InitialHessian.LEARNED`` on the host, which takes fewer evaluations, and ``InitialHessian.SCALAR`` on CUDA,
        which takes less time. There is no log, and the history has the precision of x:
        ``disp`` and ``HISTORY_BITS`` are errors. maxcor is at most 64; default 10.
    indices : bool
        True: the second argument of fun and jac is p, an int64 array of shape (k,) of the library of x0 in its memory
        space. Row i of x belongs to problem p[i]; the indices begin at 0 and are in ascending order. With them fun can
        select the data of the problems: ``data[p]``. p is valid during the call only. Default False.
    diagonal : callable
        A function with the arguments of fun. It returns estimates of 1 / (second derivative of f by x_i) at x, all
        positive, of shape (k, n) in the memory space of x0: the diagonal of the inverse of the initial Hessian. The
        option ``DIAGONAL_EVERY`` is the number of iterations of a problem for which a diagonal is used. Default: none.
    tol, stream
        as in ``minimize``
    x_scale : number or array of shape (n,)
        The typical size of each variable, as in ``minimize``, the same for all problems. ``pg_norm_inf`` then refers
        to the gradient times x_scale. The arrays are scaled by x0's library, and each call of fun receives a new x.
        Default: 1.

    Returns
    -------
    BatchResult
        ``x`` and ``jac``, of shape (count, n), and ``fun``, of shape (count,), double: arrays of the library of x0, at
        the best iterate of each problem. NumPy arrays of shape (count,): ``codes``, numbers of ``Task``; ``stop_test``,
        numbers of ``StopTest``; ``success``; ``status``, 0 converged, 1 a limit was reached, 2 otherwise; ``nit``,
        ``nfev``, ``njev``; ``pg_norm_inf``, the largest component of the projected gradient. A problem whose bounds are
        crossed, or whose row of x0 is not finite, has the code ``IMPROPER_INPUT``, and NaN for f, the gradient and its
        norm. A problem whose f or gradient is not finite at the start has the code ``NOT_FINITE``. For the whole batch:
        ``rounds``, the number of calls of fun; ``task``, ``CONVERGED`` or the code of the first problem that has not
        converged; ``maxcor``, the number of correction pairs; ``message``, a sentence. ``message_of(p)`` returns a
        sentence about problem p. For this purpose the result keeps the workspace in memory until the result is deleted.

    Raises
    ------
    TypeError, ValueError
        if an array, a bound or an option is not as described above; or if no problem has proper bounds and a finite
        start
    Error, OutOfMemory
        if there is no CUDA device, or if the workspace does not fit into memory
    Exceptions of fun, jac and callback are passed on unchanged.
    """
    return solved_batch(
        fun, x0, args, jac, bounds, callback, options, indices=indices, diagonal=diagonal, tol=tol, stream=stream,
        x_scale=x_scale,
    )


def solved_batch(
    fun: Callable[..., Any],
    x0: Array,
    args: Any,
    jac: Any,
    bounds: Any,
    callback: Callable[..., Any] | None,
    options: Mapping[str, Any] | None,
    *,
    indices: bool,
    diagonal: Callable[..., Any] | None,
    tol: float | None,
    stream: Any,
    x_scale: Any,
    loop: Callable[[Batch], tuple[int, int]] | None = None,
) -> BatchResult:
    """Return what ``minimize_batch`` returns. If ``loop(batch)`` is given, it performs the solve instead of a loop that
    calls fun, and returns the return code and the number of rounds."""
    if jac is not True and not callable(jac):
        raise ValueError(f"jac is {jac!r}: it has to be True, where fun returns f and its gradient, or a function")
    if not callable(fun):
        raise TypeError(f"fun is a {name_of(fun)}: it has to be a function")
    if callback is not None and not callable(callback):
        raise TypeError(f"callback is a {name_of(callback)}: it has to be a function")
    if diagonal is not None and not callable(diagonal):
        raise ValueError(f"diagonal is a {name_of(diagonal)}: it has to be a function")
    given = options or {}
    options_given = options_of(given, tol)
    settings = options_given.settings
    if options_given.disp:
        raise ValueError("disp is given: a batch has no log; callback is called in each round")
    if "BATCH_PACKED" in given:
        raise ValueError("BATCH_PACKED is given: minimize_batch hands out the active problems alone")
    if diagonal is None:
        refuse_missing_hessian(given)
    elif not chooses_hessian(given):
        del settings["INITIAL_HESSIAN"]
    if not isinstance(args, tuple):
        args = (args,)
    batch = Batch(x0, options_given.m, bounds, stream, diagonal, x_scale)
    rounds = 0
    iterates = Iterates(batch) if callback is not None and settings.pop("REPORT_ITERATES", 0) else None
    if batch._space.backend == BACKEND_CUDA and not chooses_hessian(given):
        settings.pop("INITIAL_HESSIAN", None)
    try:
        batch.set(settings.items())
        if loop is not None:
            return _result(batch, *loop(batch))
        while True:
            task = batch.step()
            if callback and iterates and (found := iterates.new()):
                if not _continues(batch, callback, rounds=rounds, **found):
                    callback = None
            if task <= 0:
                return _result(batch, task, rounds)
            # f and g are evaluated even if the batch is to be stopped, because the library reads them.
            batch.evaluate(fun, jac, indices, args)
            rounds += 1
            if iterates:
                iterates.note_points()
            elif callback:
                _continues(batch, callback, rounds=rounds, active=batch["BATCH"])
    except BaseException:
        batch.close()
        raise
