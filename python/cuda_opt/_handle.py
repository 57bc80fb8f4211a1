"""A handle of the library as a Python object: settings and results have names, failures are exceptions, and the memory
is freed with the object."""
from __future__ import annotations

import atexit
import ctypes
import os
import threading
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from ._constants import INTEGERS, OTHER_NAMES, REALS, Task
from ._gate import Buffer
from ._library import Error, LogFunction, error, library
from ._space import Space, number

# The time in seconds for which the interpreter, when it exits, waits for daemon threads to finish their steps.
EXIT_PATIENCE = 5.0
_handles: weakref.WeakSet[Handle] = weakref.WeakSet()
_exiting = False


def _destroy(handle: ctypes.c_void_p, stream_owner: Any) -> None:
    library.cuda_opt_destroy(ctypes.byref(handle))


@atexit.register
def _keep_daemon_threads_out() -> None:
    """Acquire the lock of every handle and never release it. Then no daemon thread is inside the library when the
    interpreter is gone: such a thread could neither return nor call a log function. The operating system frees the
    memory."""
    global _exiting
    _exiting = True
    for handle in list(_handles):
        if not handle._turn.acquire(blocking=False):
            handle._briefly(library.cuda_opt_request_stop)
            handle._turn.acquire(timeout=EXIT_PATIENCE)


def _sleep_if_exiting() -> None:
    """Block a daemon thread for ever once the interpreter exits. Python 3.14 stops such threads in the same way."""
    if _exiting and threading.current_thread().daemon:
        threading.Event().wait()


def _after_fork() -> None:
    for handle in list(_handles):  # the parent's threads, which may have held locks, do not exist in the child
        handle._alive = threading.RLock()
    _handles.clear()


os.register_at_fork(after_in_child=_after_fork)


def stream_number(stream: Any) -> int:
    """The address of a cudaStream_t: a number, or a stream of torch, CuPy or any library with ``__cuda_stream__``."""
    number = stream
    for attribute in ("cuda_stream", "ptr"):
        if isinstance(value := getattr(stream, attribute, None), int):
            number = value
    if not isinstance(number, int) and hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        number = (protocol() if callable(protocol) else protocol)[1]
    if not isinstance(number, int):
        raise TypeError(f"stream is {stream!r}: it has to be a number, or a stream of torch or CuPy")
    if not 0 <= number < 2**64:
        raise ValueError(f"stream is {number}: it has to be an address, from 0 to 2**64 - 1")
    return number


def integer(value: Any, what: str, bits: int = 64, least: int | None = None) -> int:
    """Return the value as an integer of at most ``bits`` bits. Raises ValueError if it is not one. ctypes would drop
    the higher bits silently, so every integer from the user is checked here."""
    try:
        whole = int(value)
        if whole == value and abs(whole) < 2 ** (bits - 1):
            if least is not None and whole < least:
                raise ValueError
            return whole
    except (TypeError, ValueError, OverflowError):
        pass
    shown = repr(value) if isinstance(value, str) else value
    smallest = "" if least is None else f", and at least {least}"
    raise ValueError(f"{what} is {shown}: it has to be an integer of at most {bits} bits{smallest}")


class Handle:
    """The common part of solvers, batches and searches. ``handle["EPS"] = 1e-8`` changes a setting and
    ``handle["ITERATIONS"]`` reads a result, by the names of ``include/cuda_opt.h`` without ``CUDA_OPT_``."""

    def __init__(self, create: Callable[..., int], space: Space, *arguments: int) -> None:
        self._handle = ctypes.c_void_p()
        self._space = space
        # Only one thread at a time may perform a step; its log function may use the handle.
        self._turn = threading.RLock()
        # Locked by short calls, which are allowed during a step but not during destruction.
        self._alive = threading.RLock()
        self._buffers: list[Buffer] = []  # arrays whose addresses the library keeps
        with space.within():
            code = create(ctypes.byref(self._handle), *arguments, space.backend)
        self._finalizer = weakref.finalize(self, _destroy, self._handle, space.stream_owner)
        self._finalizer.atexit = False  # a daemon thread may still be in a step at exit
        _handles.add(self)
        _sleep_if_exiting()  # a handle that was created after all locks were acquired must not be used
        self._log: Any = None
        # The user's log function, the exception that it raised, and whether it is being called. These are lists because
        # the callback shares them.
        self._write: list[Callable[[str], Any]] = []
        self._raised: list[BaseException] = []
        self._writing: list[bool] = []
        try:
            self._check(code)
            if space.stream is not None:
                self._check(library.cuda_opt_set_stream(self._handle, space.stream))
        except Error:
            self.close()
            raise

    def _lend(self, array: Any, what: str, shape: Any, *, double: bool = False, written: bool = True) -> int:
        """Return the address of an array, which the library stores. From now on each step verifies the array."""
        buffer = Buffer(self._space, array, what, shape, double=double, written=written)
        self._buffers.append(buffer)
        return buffer.address

    def _exclusively(self, function: Callable[..., int], *arguments: Any) -> int:
        """Lock the handle, verify the arrays, and call a function that uses the workspace and the arrays."""
        if not self._turn.acquire(False):
            _sleep_if_exiting()
            raise RuntimeError(
                f"another thread is in a step of this {type(self).__name__}: only one thread at a time may use it"
            )
        try:
            for buffer in self._buffers:
                if buffer.place_of(buffer.owner) != buffer.place:
                    buffer.refuse()
            return function(self._handle, *arguments)
        finally:
            self._turn.release()

    def _briefly(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Perform a short call, which any thread may make, even during a step of another thread."""
        with self._alive:
            return function(self._handle, *arguments)

    def _check(self, code: int) -> int:
        if code < 0:
            raise error(code, self.message)
        return code

    @property
    def message(self) -> str:
        """The library's sentence about the last call that returned a task, ended a solve or failed."""
        return str(self._briefly(library.cuda_opt_message).decode(errors="replace"))

    @property
    def stream(self) -> int:
        """The address of the CUDA stream of all device work; 0: the legacy default stream."""
        return self._space.stream or 0

    def __setitem__(self, name: str, value: float) -> None:
        key = OTHER_NAMES.get(name, name)
        if key in INTEGERS:
            self._check(self._briefly(library.cuda_opt_set_int, INTEGERS[key], integer(value, name)))
        elif key in REALS:
            self._check(self._briefly(library.cuda_opt_set_real, REALS[key], number(value, name)))
        else:
            raise KeyError(f"there is no setting {name}")

    def __getitem__(self, name: str) -> int | float:
        key = OTHER_NAMES.get(name, name)
        if key in INTEGERS:
            integer = ctypes.c_int64()
            self._check(self._briefly(library.cuda_opt_get_int, INTEGERS[key], ctypes.byref(integer)))
            return integer.value
        if key in REALS:
            real = ctypes.c_double()
            self._check(self._briefly(library.cuda_opt_get_real, REALS[key], ctypes.byref(real)))
            return real.value
        raise KeyError(f"there is no setting or result {name}")

    def set(self, settings: Iterable[tuple[str, float]]) -> None:
        """Change several settings, given as pairs of a name and a value, in any order."""
        pairs = list(settings)
        if {"STPMIN", "STPMAX"} <= {name for name, _ in pairs}:  # STPMIN must not exceed STPMAX at any time
            self["STPMIN"] = 0
        for name, value in sorted(pairs, key=lambda pair: pair[0] == "STPMIN"):
            self[name] = value

    def set_log(self, write: Callable[[str], Any] | None) -> None:
        """Set the function of the log, which is called with one line at a time, a string without a newline.
        ``IPRINT_FREQUENCY`` says which iterates are logged. An exception of the function is raised by the step in which
        it was called. None: no log."""
        functions, raised, writing, fail = self._write, self._raised, self._writing, self._failure_of_log()

        def line_written(_: Any, line: bytes) -> None:
            writing.append(True)
            try:
                if functions and not raised:
                    functions[0](line.decode())
            except BaseException as exception:  # ctypes would swallow it
                raised.append(exception)
                fail(exception)
            finally:
                writing.pop()

        if self._log is None:  # one callback for all functions: a function may replace itself while it is called
            self._log = LogFunction(line_written)
        self._check(self._exclusively(library.cuda_opt_set_log, self._log if write else LogFunction(), None))
        functions[:] = [write] if write else []

    def _failure_of_log(self) -> Callable[[BaseException], object]:
        """Return a function that is called at once with an exception of the log function. It must not refer to this
        object, which would otherwise keep itself alive."""
        return lambda exception: None

    def request_stop(self) -> None:
        """Request that the solve end with ``Task.STOPPED`` in its next step; any thread may call this. The next step
        still reads f and g if the last one has requested them, so evaluate them before the next step."""
        self._check(self._briefly(library.cuda_opt_request_stop))

    def synchronize(self) -> None:
        """Wait until all work on the stream is complete."""
        self._check(self._briefly(library.cuda_opt_synchronize))

    def _after(self, code: int, ends: Iterable[int]) -> int:
        """Return the code of a step. Raises the exception of the log function, or an error if the code is a failure."""
        if self._raised:
            raise self._raised.pop()
        if code <= 0 and code not in ends:
            raise error(code, self.message)
        return code

    def close(self) -> None:
        """Free the workspace now. The arrays remain valid, but the object cannot be used any more. RuntimeError if the
        log function calls it, or another thread during a step."""
        if not self._turn.acquire(blocking=False):
            _sleep_if_exiting()
            raise RuntimeError("close() was called while another thread is in a step: request_stop() ends it")
        try:
            if self._writing:
                raise RuntimeError("close() was called by the function of the log: request_stop() ends the step")
            with self._alive:
                self._finalizer()
            self._buffers.clear()
        finally:
            self._turn.release()

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(f"a {type(self).__name__} cannot be copied or pickled; Solver.save() returns a checkpoint")

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


TASKS: dict[int, Task] = {int(task): task for task in Task}
