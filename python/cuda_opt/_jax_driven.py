"""Solves outside transformed functions, whose loop is nevertheless a compiled program.

The solver and its arrays are Python's, as in every other solve. Only the loop that evaluates f and the gradient and
performs a step is a JAX program, which calls the handler of ``python/xla``. It is compiled once for each of the user's
functions, as f itself would be. Between two evaluations no Python runs."""
from __future__ import annotations

import ctypes
import os
import signal
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ._batch import Batch, solved_batch
from ._constants import Task
from ._handle import Handle
from ._jax_callback import clear_tracer_errors
from ._jax_compiled import stored
from ._jax_function import Function
from ._jax_host import with_numpy
from ._jax_program import advance_to_the_end, handler, solves_on, start_in_box
from ._jax_trees import sides_of
from ._library import Error, error
from ._minimize import solved
from ._options import options_of, refuse_missing_hessian
from ._result import result_of
from ._solver import Solver
from ._space import bits_of
from ._space_jax import check_precision

_NUMBERS = (int, float, type(None))
_PYTHON = ("pure_callback", "io_callback", "debug_callback")


def _is_jaxpr(one: Any) -> bool:
    return hasattr(one, "eqns") or hasattr(getattr(one, "jaxpr", None), "eqns")


def _calls_python(jaxpr: Any) -> bool:
    """Return whether a jaxpr, or one inside it, calls Python."""
    for equation in jaxpr.eqns:
        if equation.primitive.name in _PYTHON:
            return True
        for parameter in jax.tree_util.tree_leaves(list(equation.params.values()), is_leaf=_is_jaxpr):
            if _is_jaxpr(parameter) and _calls_python(getattr(parameter, "jaxpr", parameter)):
                return True
    return False


class _Watch:
    """Stops solves at SIGINT (Ctrl-C). The main thread waits for a program, and Python raises KeyboardInterrupt only
    afterwards. Signals are also written to the file descriptor of ``signal.set_wakeup_fd``, from which a thread reads
    them at once. The process has one pipe and one such thread."""

    def __init__(self) -> None:
        self.end, self.ours = os.pipe()
        os.set_blocking(self.ours, False)
        self.users = -1  # the descriptor that the user has set
        self.solvers: list[Handle] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while received := os.read(self.end, 1):
            if received[0] == signal.SIGINT:
                for solver in list(self.solvers):
                    with suppress(Error):  # it may have been closed
                        solver.request_stop()
            with suppress(OSError):  # there is no descriptor of the user, or it is full
                os.write(self.users, received)

    @contextmanager
    def stops(self, solver: Handle) -> Iterator[None]:
        """A context in which SIGINT also ends the solve of this handle."""
        self.solvers.append(solver)
        before = signal.set_wakeup_fd(self.ours, warn_on_full_buffer=False)
        if before != self.ours:
            self.users = before
        try:
            yield
        finally:
            self.solvers.remove(solver)
            try:
                signal.set_wakeup_fd(self.users)
            except OSError:  # it has been closed
                signal.set_wakeup_fd(-1)


@lru_cache(maxsize=None)
def _watch() -> _Watch:
    return _Watch()


def _after_fork() -> None:
    """The child has no thread that reads the pipe, and its signals must not stop solves of the parent."""
    if _watch.cache_info().currsize:
        with suppress(ValueError, OSError):  # not in the main thread, or the descriptor is closed
            before = signal.set_wakeup_fd(-1)
            signal.set_wakeup_fd(_watch().users if before == _watch().ours else before)
        _watch.cache_clear()


os.register_at_fork(after_in_child=_after_fork)


def _stopped_by_interrupts(solver: Handle) -> AbstractContextManager[None]:
    """Return a context in which Ctrl-C also ends the solve, if it raises KeyboardInterrupt in this thread."""
    raises = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    is_main = threading.current_thread() is threading.main_thread()
    return _watch().stops(solver) if raises and is_main else nullcontext()


def drive(
    solver: Handle, addresses: list[Any], shape: tuple[int, ...], program: Callable[..., Any], x0: Any, *arguments: Any
) -> tuple[int, int, Any]:
    """Perform the solve of a handle by a program that ``program_of`` returned. The solve must not have begun.

    Parameters
    ----------
    addresses : list
        the addresses of the handle's x, f and g
    shape : tuple
        the shape of x: (n,), or (problems, n) of a batch
    program, x0, arguments
        ``program(number, x0, *arguments)``, with all arrays on x0's device

    Returns
    -------
    the return code, the number of evaluations, and the arrays x and gradient of the program
    """
    library, single = handler(), x0.dtype == np.float32
    rows, n = shape if len(shape) == 2 else (1, *shape)

    def solve(handle: Any, *_: Any) -> int:
        number = library.cuda_opt_xla_lend(handle, *addresses, rows, n, single, len(shape) == 2)
        if number == 0:
            raise error(int(Task.OUT_OF_MEMORY), "there is no memory for a solve in a program")
        stream, evaluations = ctypes.c_void_p(), ctypes.c_int64()
        taken = number, ctypes.byref(stream), ctypes.byref(evaluations)
        # A second Ctrl-C may prevent the call below. The finalizer then performs it before the handle is freed.
        take_back: Any = weakref.finalize(solver, library.cuda_opt_xla_take_back, *taken)
        solver._lent, take_back.atexit = take_back, False
        try:
            with _stopped_by_interrupts(solver):
                found[:] = program(np.array([number], np.int64).view(np.int32), x0, *arguments)[:2]
                found[0].block_until_ready()
        except BaseException:
            solver.request_stop()
            raise
        finally:
            code = int(library.cuda_opt_xla_take_back(*taken))
            take_back.detach()
            solver._space.stream = stream.value if stream.value else solver._space.stream
            counts.append(evaluations.value)
        return code

    counts: list[int] = []
    found: list[Any] = []
    return solver._exclusively(solve), counts[0], found


def program_of(fun: Callable[..., Any], key: Any, evaluate: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Return the compiled program of a solve, ``program(number, x0, lower, upper, numeric)``.

    Parameters
    ----------
    fun, key
        the user's function and a key, with which the program is stored
    evaluate : callable
        a function that ``_jax_compiled.compiled`` returned. The first two results of ``evaluate(x, numeric)`` are f and
        the gradient. ``numeric`` contains the numeric arrays among the arguments of fun.
    """

    def program(number: Any, x0: Any, lower: Any, upper: Any, numeric: Any) -> Any:
        def of_solve(x: Any, numeric: Any) -> Any:
            f, g = evaluate(x, numeric)[:2]
            return jnp.reshape(f, x.shape[:-1]), g.astype(x.dtype)

        return advance_to_the_end(number, of_solve, {}, start_in_box(x0, lower, upper), numeric, x0, x0)

    found: Callable[..., Any] = stored(fun, (key, "driven"), lambda: jax.jit(program))
    return found


def can_drive(fun: Callable[..., Any], key: Any, program: Any, x0: Any, *arguments: Any) -> bool:
    """Return whether the loop can be a program: there is a handler for x0's device, all other arrays are on it as well,
    and f does not call Python, because JAX would replace an exception raised there by its own. ``fun`` and ``key`` are
    those of ``program_of``; the other arguments are the program and its arguments."""
    arrays = [leaf for leaf in jax.tree_util.tree_leaves((x0, arguments)) if isinstance(leaf, jax.Array)]
    devices = {device for array in arrays for device in array.devices()}
    interpreted = bool(getattr(jax.config, "jax_disable_jit", False))
    if handler() is None or interpreted or len(devices) != 1 or not solves_on(*devices):
        return False

    def find() -> str:
        jaxpr = program.trace(np.zeros(2, np.int32), x0, *arguments).jaxpr.jaxpr
        return "calls" if _calls_python(jaxpr) else "none"

    return bool(stored(fun, (key, "Python"), find) == "none")


def minimize_driven(
    function: Function, flat: jax.Array, numeric: list[Any], bounds: Any, options: Any, tol: float | None, x_scale: Any
) -> Any:
    """Minimise by a program, on the device of x0. Return what ``cuda_opt.minimize`` returns, with JAX arrays, or None
    if ``can_drive`` returns False."""
    fun, form = function.fun, function.form
    program, sides = program_of(fun, form, function.compiled()), sides_of(bounds)
    arguments = (*(jnp.asarray(side, flat.dtype) if hasattr(side, "shape") else side for side in sides), numeric)
    devices = list(flat.devices())
    arrays: list[Any] = []

    def loop(solver: Solver) -> None:
        start = jax.device_put(flat, devices[0])
        code, _, arrays[:] = drive(solver, solver._arguments, (solver.n,), program, start, *arguments)
        solver.end(code)

    def solve(start: Any, bounds: Any, x_scale: Any) -> Any:
        settings = options_of(options or {}, tol)
        refuse_missing_hessian(options or {})
        kind = (flat.shape, flat.dtype.name, devices[0], x_scale) if isinstance(x_scale, _NUMBERS) else None
        solver, evaluation = solved(fun, start, (), True, bounds, settings, x_scale=x_scale, loop=loop, kind=kind)
        return result_of(solver, evaluation, arrays if isinstance(start, jax.Array) else None)

    # The default device is a part of JAX's keys for traces: it has to be the same for the test and for the solve.
    with clear_tracer_errors(), jax.default_device(devices[0]):
        check_precision(bits_of(flat.dtype.name), "x0")
        if not can_drive(fun, form, program, flat, *arguments):
            return None
        return with_numpy(flat, bounds, x_scale, solve)


def minimize_batch_driven(
    fun: Callable[..., Any], evaluate: Callable[..., Any], key: Any, x0: Any, data: Any, bounds: Any, options: Any,
    tol: float | None,
) -> Any:
    """Minimise many functions by a program, on the device of x0. Return what ``cuda_opt.minimize_batch`` returns, or
    None if ``can_drive`` returns False.

    Parameters
    ----------
    fun, evaluate, key
        the function of one problem, and ``evaluate(x, data)`` that ``compiled`` has returned for all problems
    """
    program = program_of(fun, key, evaluate)

    def loop(batch: Batch) -> tuple[int, int]:
        batch["BATCH_PACKED"] = 0
        code, rounds, _ = drive(batch, batch._addresses, x0.shape, program, x0, *batch._limits, data)
        return batch.checked(code), rounds

    with jax.default_device(list(x0.devices())[0]):
        if not can_drive(fun, key, program, x0, *sides_of(None), data):
            return None
        return solved_batch(
            fun, x0, (), True, bounds, None, options, indices=False, diagonal=None, tol=tol, stream=None, x_scale=None,
            loop=loop,
        )
