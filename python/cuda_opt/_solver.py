"""L-BFGS-B by reverse communication. The loop that evaluates f and g is part of the user's program."""
from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ._bounds import SCALES, SIDES, limits_of, scales_of
from ._constants import BACKEND_CUDA, ENDS, InitialHessian, Task
from ._handle import TASKS, Handle, integer, stream_number
from ._library import library
from ._part import Part
from ._space import Array, as_array, name_of, one_axis
from ._space_of import space_of

OBJECTIVE, GRADIENT, DIAGONAL = "the value of the function", "the gradient", "the diagonal"
OPERATOR = "the argument of the operator", "the result of the operator", "the mask of the free variables"


def _check_operator_settings(settings: Mapping[str, float]) -> None:
    """Raise ValueError if a setting selects another initial Hessian than an operator."""
    operator = InitialHessian.OPERATOR
    for name, expected in (("INITIAL_HESSIAN", operator), ("METRIC", operator), ("DIAGCO", 0)):
        if settings.get(name, expected) != expected:
            raise ValueError(
                f"preconditioner is True, which makes the initial Hessian an operator, but {name} is {settings[name]}"
            )


class Solver(Handle):
    """Minimise f(x) subject to ``lb <= x <= ub`` in a loop that your program contains.

    ::

        solver = Solver(x, bounds=Bounds(0, 3))
        for task in solver:
            solver.f, solver.g = evaluate(solver.x)
        print(solver.status, solver.message)

    There are no callbacks and no copies: x is your array, in host or device memory, and each step of the loop stores in
    it the point at which f and g are requested. When the loop ends, ``x``, ``f`` and ``g`` are the best iterate. Every
    x satisfies the bounds exactly.

    Parameters
    ----------
    x : array of shape (n,), or int
        The start, a contiguous array of float64 or float32 in host or device memory. The computation takes place on
        the device of x, and x is overwritten. JAX arrays cannot be changed, so that the solver works on a copy. An
        integer n means ``numpy.zeros(n)``.
    m : int
        The number of correction pairs, usually 3 to 40. Default 0: 40 on the host with at most 1,000 variables, and 10
        otherwise; ``solver["HISTORY_SIZE"]`` is the number chosen. The workspace is 2m + 5 vectors of x's size, in x's
        memory.
    bounds : Bounds, scipy.optimize.Bounds, sequence of pairs (lower, upper), or None
        Default: none. Arrays are read in place, and have to stay as they are until the solve ends.
    diagonal : bool
        True: each iteration also yields ``Task.SUPPLY_DIAGONAL``. Then fill or assign ``solver.diagonal``, of shape
        (n,): positive estimates of 1 / (second derivative of f with respect to x_i). With ``DIAGONAL_EVERY=k``
        only every k-th iteration yields this task, and with 0 only the start. The array must not change in between; it
        is then scaled by the newest correction pair. Default False.
    preconditioner : bool
        True: the initial inverse Hessian is an operator H0, and iterations also yield ``Task.APPLY_OPERATOR``. Then
        store H0 applied to ``solver.operator_in`` in ``solver.operator_out``. ``solver.operator_free`` is 1 for the
        variables that are free and 0 for the others: H0 has to be positive definite on the free variables, and its
        result is ignored elsewhere (docs/operator.md). The three arrays have the shape (n,). Not together with
        diagonal or x_scale. Default False.
    x_scale : number, array of shape (n,), or None
        The typical size of each variable, a positive number. The problem is solved in z = x / x_scale; x, f, g and the
        bounds are in your units. The stopping tests and the first step are in units of z. An array is read in place,
        and must not change. Default: 1. Scales need the memory of two vectors of x's size. Each side of the bounds
        that is an array or a finite number other than 0 needs one more vector, and so does a diagonal.
    part : Part or None
        If given, x contains a part of the variables, and this solver is one of several that solve the problem together.
        f is then the contribution of this part, unless the setting ``F_PART`` says otherwise. Default: x contains all
        variables.
    stream : int, torch.cuda.Stream, cupy.cuda.Stream, or None
        The CUDA stream of all device work, on which f and g have to be written. Default: the stream that is current in
        x's library when the solver is created.
    **settings
        Settings, by their names in ``include/cuda_opt.h`` without ``CUDA_OPT_``: ``PGTOL=1e-8``, ``HISTORY_BITS=32``.
        ``solver["PGTOL"] = 1e-8`` changes a setting later. ``solver["ITERATIONS"]`` reads a setting or a result. The
        stopping tests are ``PGTOL`` (1e-5), ``FACTR`` (1e7) and ``ROUNDING`` (100) unless given (docs/termination.md).

    Attributes
    ----------
    status : Task or None
        The return code of the solve; None before its end. Misuse of the solver raises an exception instead.

    Raises
    ------
    TypeError, ValueError
        if x is not an array as described above, or if a bound, a setting or m is out of its range
    Error, OutOfMemory
        if there is no CUDA device, or if the workspace does not fit into memory
    """

    def __init__(
        self,
        x: Array | int,
        m: int = 0,
        *,
        bounds: Any = None,
        diagonal: bool = False,
        preconditioner: bool = False,
        x_scale: Any = None,
        part: Part | None = None,
        stream: Any = None,
        **settings: float,
    ) -> None:
        for name, value in (("diagonal", diagonal), ("preconditioner", preconditioner)):
            if not isinstance(value, (bool, np.bool_)):
                raise TypeError(f"{name} is a {name_of(value)}: for a Solver it has to be True or False")
        if part is not None and not isinstance(part, Part):
            raise TypeError(f"part is a {name_of(part)}: it has to be a Part")
        if diagonal and preconditioner:
            raise ValueError("diagonal and preconditioner are both True, but there is only one initial Hessian")
        if preconditioner:
            _check_operator_settings(settings)
        is_count = isinstance(x, (int, np.integer))
        start = np.zeros(integer(x, "the number of variables", least=0)) if is_count else as_array(x)
        space = space_of(start)
        if stream is not None:
            space.stream, space.stream_owner = stream_number(stream), stream
        self.n = one_axis(start, "x0", 0 if part else 1)
        self._lower, self._upper = limits_of(bounds, self.n, space)
        self._x_scale = scales_of(x_scale, self.n, space)
        if preconditioner and not (isinstance(self._x_scale, float) and self._x_scale == 1):
            raise ValueError("both a preconditioner and x_scale are given: apply the scales within the preconditioner")
        self._x = space.take(start, "x0", written=True)
        self._single = space.bits == 32
        create = library.cuda_opt_create_f32 if self._single else library.cuda_opt_create
        pairs = integer(m, "the number of correction pairs m", 32)
        super().__init__(create, space, integer(part.n, "n of the part") if part else self.n, pairs)
        self._part = part
        self.status: Task | None = None
        # True if the callback of ``minimize`` has raised StopIteration.
        self.halted = False
        self._kind: Any = None  # (_idle_solvers.py); None: the solver cannot be used again
        self._f, self._g = space.empty(double=True), space.empty(self.n)
        self._diagonal: Array = None
        self._operator: tuple[Array, ...] = ()
        try:
            shape = (self.n,)
            self._arguments = [
                ctypes.c_void_p(self._lend(self._x, "x0", shape)),
                ctypes.c_void_p(self._lend(self._f, OBJECTIVE, (), double=True)),
                ctypes.c_void_p(self._lend(self._g, GRADIENT, shape)),
            ]
            self._solve = self._function("solve")
            if part:
                rank, ranks = integer(part.rank, "rank", 32), integer(part.ranks, "ranks", 32)
                place = (rank, ranks, integer(part.first, "first of the part"), self.n)
                self._check(library.cuda_opt_set_ranks(self._handle, *place))
            self._set_bounds()
            if isinstance(self._x_scale, float):
                self._check(library.cuda_opt_set_uniform_scale(self._handle, self._x_scale))
            else:
                address = self._lend(self._x_scale, SCALES, shape, written=False)
                self._check(self._function("set_scales")(self._handle, address))
            if diagonal:
                self._diagonal = space.empty(self.n)
                address = self._lend(self._diagonal, DIAGONAL, shape)
                self._check(self._function("set_diagonal")(self._handle, address))
                self["DIAGCO"] = 1
            if preconditioner:
                self._operator = tuple(space.empty(self.n) for _ in OPERATOR)
                addresses = [self._lend(array, what, shape) for array, what in zip(self._operator, OPERATOR)]
                self._check(self._function("set_operator")(self._handle, *addresses))
                self["INITIAL_HESSIAN"] = InitialHessian.OPERATOR
            if space.backend == BACKEND_CUDA:
                self["TIMED"] = 0  # the events that measure SOLVER_SECONDS take 4 us per step
            self.set(settings.items())
        except BaseException:
            self.close()
            raise

    def _function(self, name: str) -> Callable[..., int]:
        """Return the function of the C library with this name for the precision of x."""
        function: Callable[..., int] = getattr(library, f"cuda_opt_{name}_f32" if self._single else f"cuda_opt_{name}")
        return function

    def _set_bounds(self) -> None:
        self._buffers[:] = [buffer for buffer in self._buffers if buffer.what not in SIDES]
        numbers, addresses = [-np.inf, np.inf], [0, 0]  # no array: NULL
        for side, limit in enumerate((self._lower, self._upper)):
            if isinstance(limit, float):
                numbers[side] = limit
            else:
                addresses[side] = self._lend(limit, SIDES[side], (self.n,), written=False)
        self._check(self._function("set_uniform_bounds")(self._handle, *numbers))
        self._check(self._function("set_bounds")(self._handle, *addresses))

    @property
    def x(self) -> Array:
        """The point to evaluate, or the best point after the end of the solve, of shape (n,). Do not write to it.

        It is a view of the array with which the solver was created, and its values change at the next step. For JAX it
        is a new array that shares the solver's memory."""
        return self._space.view(self._x)

    @property
    def f(self) -> Array:
        """The value of f at x: an array of shape () in x's memory with one double. For JAX without jax_enable_x64 it is
        a Python float. A number or an array of one element may be assigned."""
        return self._space.scalar(self._f)

    @f.setter
    def f(self, value: Any) -> None:
        self._space.put_number(self._f, value, OBJECTIVE)

    @property
    def g(self) -> Array:
        """The gradient at x, of shape (n,), in x's memory. Either fill it in place (``solver.g[:]``, ``out=solver.g``),
        or assign an array to it, which is copied."""
        return self._space.own(self._g)

    @g.setter
    def g(self, values: Any) -> None:
        self._space.put(self._g, values, GRADIENT)

    @property
    def diagonal(self) -> Array:
        """The diagonal of H0 at ``Task.SUPPLY_DIAGONAL``, of shape (n,). Either fill it in place, or assign an array to
        it, which is copied. None without ``diagonal=True``."""
        return None if self._diagonal is None else self._space.own(self._diagonal)

    @diagonal.setter
    def diagonal(self, values: Any) -> None:
        if self._diagonal is None:
            raise AttributeError("diagonal belongs to a Solver with diagonal=True")
        self._space.put(self._diagonal, values, DIAGONAL)

    @property
    def operator_in(self) -> Array:
        """The vector at ``Task.APPLY_OPERATOR``, to be read only. None without a preconditioner."""
        return self._space.view(self._operator[0]) if self._operator else None

    @property
    def operator_free(self) -> Array:
        """1 for the variables that are free at ``Task.APPLY_OPERATOR`` and 0 for the others, to be read only."""
        return self._space.view(self._operator[2]) if self._operator else None

    @property
    def operator_out(self) -> Array:
        """H0 applied to ``operator_in``. Either fill it in place, or assign an array to it, which is copied."""
        return self._space.own(self._operator[1]) if self._operator else None

    @operator_out.setter
    def operator_out(self, values: Any) -> None:
        if not self._operator:
            raise AttributeError("operator_out belongs to a Solver with preconditioner=True")
        self._space.put(self._operator[1], values, OPERATOR[1])

    def __iter__(self) -> Iterator[Task]:
        return self

    def __next__(self) -> Task:
        """Perform one step and return the next task. When the solve has ended, StopIteration is raised, and ``status``
        is the return code."""
        if self.status is not None:
            raise StopIteration
        try:
            task = self.step()
        except StopIteration as exception:
            # Otherwise the exception would end the user's loop as if the solve had ended.
            raise RuntimeError("the function of the log has raised StopIteration") from exception
        if task <= 0:
            self.end(task)
            raise StopIteration
        return TASKS[task]

    def _step(self) -> int:
        return self._exclusively(self._solve, *self._arguments)

    def step(self) -> int:
        """Perform one step and return the number of a ``Task``. A wrong call raises an exception; the end of a solve
        does not."""
        code = self._step()
        while code == Task.EXCHANGE and self._part:
            code = self._exclusively(self._part.exchange) or self._step()
        return self._after(code, ENDS)

    def _failure_of_log(self) -> Callable[[BaseException], object]:
        if self._part is None:
            return super()._failure_of_log()
        handle = self._handle
        return lambda exception: library.cuda_opt_fail_rank(handle, str(exception).encode(errors="replace"))

    def _after(self, code: int, ends: Iterable[int]) -> int:
        # A rank on which the log function raised an exception continues until the next all-gather reports this to the
        # other ranks.
        if self._part and self._raised and code > 0:
            return code
        return super()._after(code, ends)

    def end(self, code: int) -> None:
        """Store the code of the last step as ``status``. A program that calls step() itself calls this when the solve
        has ended."""
        self.status = TASKS[self._after(code, ENDS)]

    def reset(self, *, keep_pairs: bool = False) -> None:
        """Begin a new solve from the current x. Settings, bounds and workspace remain as they are.

        keep_pairs=True: the next solve starts with the correction pairs of the last one. It then takes fewer
        evaluations, even if f has changed a little."""
        self._check(self._exclusively(library.cuda_opt_warm_start if keep_pairs else library.cuda_opt_reset))
        self.status = None

    def initial_inverse_hessian(self) -> np.ndarray[Any, Any]:
        """Return the diagonal of H0, the newest initial inverse Hessian, as a new NumPy array of shape (n,) in the
        precision of x.

        With ``INITIAL_HESSIAN=InitialHessian.LEARNED`` it is the learned diagonal. Otherwise it is the supplied
        diagonal, or the same number for all variables."""
        diagonal = np.empty(self.n, np.float32 if self._single else np.float64)
        self._check(self._exclusively(self._function("get_diagonal"), diagonal.ctypes.data))
        return diagonal

    metric = initial_inverse_hessian  # the former name

    def save(self) -> bytes:
        """Return a checkpoint, in host memory. With it the solve can be continued elsewhere, on the host or on a CUDA
        device."""
        size = ctypes.c_int64()
        self._check(self._exclusively(library.cuda_opt_save, None, ctypes.byref(size)))
        checkpoint = bytearray(size.value)
        room = (ctypes.c_char * size.value).from_buffer(checkpoint)
        self._check(self._exclusively(library.cuda_opt_save, room, ctypes.byref(size)))
        del room
        return bytes(checkpoint[: size.value])

    def load(self, checkpoint: bytes) -> None:
        """Continue from a checkpoint. Call this before the first step.

        n, m, the precision, the bounds and x_scale must be those of the saved solve. This fills x, f and g, and the
        next step yields the task that was current when the checkpoint was saved.

        Raises ImproperInput if the bytes are not a complete, undamaged checkpoint of such a solve."""
        # If the checkpoint were a str, ctypes would accept and encode it.
        if not isinstance(checkpoint, bytes):
            checkpoint = memoryview(checkpoint).tobytes()
        self._check(self._exclusively(self._function("load"), checkpoint, len(checkpoint), *self._arguments))
        self.status = None
