"""A handle of the C library as a Python object. Settings and results have names, failures are exceptions, and the
memory is freed when the object is deleted."""
from __future__ import annotations

import atexit
import ctypes
import os
import threading
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from ._constants import INTEGERS, OTHER_NAMES, REALS, SETTINGS, Task
from ._gate import Buffer
from ._library import Error, LogFunction, error, library
from ._space import Space, name_of, number

# When the interpreter exits, it waits at most this number of seconds for daemon threads to finish their steps.
EXIT_PATIENCE = 5.0
_handles: weakref.WeakSet[Handle] = weakref.WeakSet()
_exiting = False


def _destroy(handle: ctypes.c_void_p, stream_owner: Any) -> None:
    library.cuda_opt_destroy(ctypes.byref(handle))


@atexit.register
def _keep_daemon_threads_out() -> None:
    """Acquire the lock of every handle at exit and never release it.

    Afterwards no daemon thread is inside the C library when the interpreter is gone. Such a thread could neither return
    to Python nor call a log function. The operating system frees the memory."""
    global _exiting
    _exiting = True
    for handle in list(_handles):
        if not handle._turn.acquire(blocking=False):
            handle._briefly(library.cuda_opt_request_stop)
            handle._turn.acquire(timeout=EXIT_PATIENCE)


def _sleep_if_exiting() -> None:
    """Block the calling thread for ever if it is a daemon thread and the interpreter is exiting. Python 3.14 stops such
    threads in the same way."""
    if _exiting and threading.current_thread().daemon:
        threading.Event().wait()


def _after_fork() -> None:
    # The child of a fork() creates new locks. Threads of the parent may have held the old ones, but do not exist in the
    # child.
    for handle in list(_handles):
        handle._alive = threading.RLock()
    _handles.clear()


os.register_at_fork(after_in_child=_after_fork)


def stream_number(stream: Any) -> int:
    """Return the address of a cudaStream_t, given as a number or as a stream of torch, CuPy or another library that has
    ``__cuda_stream__``."""
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
    """Return the user's value as an integer of at most ``bits`` bits. Raises ValueError if it is not such an integer.
    ctypes would silently drop the higher bits, so that every integer from the user is checked here."""
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
    """The base class of solvers, batches and searches, each of which has a handle of the C library.

    ``handle["EPS"] = 1e-8`` changes a setting, and ``handle["ITERATIONS"]`` reads a result. The names are those of
    ``include/cuda_opt.h`` without the prefix ``CUDA_OPT_``."""

    def __init__(self, create: Callable[..., int], space: Space, *arguments: int) -> None:
        self._handle = ctypes.c_void_p()
        self._space = space
        # The lock _turn lets only one thread at a time perform a step. It is an RLock, because the step's log function
        # may use the handle.
        self._turn = threading.RLock()
        # The lock _alive protects short calls, which are allowed during a step but not while the handle is destroyed.
        self._alive = threading.RLock()
        # _buffers contains the arrays whose addresses the C library keeps.
        self._buffers: list[Buffer] = []
        with space.within():
            code = create(ctypes.byref(self._handle), *arguments, space.backend)
        self._finalizer = weakref.finalize(self, _destroy, self._handle, space.stream_owner)
        # At exit a daemon thread may still be in a step, so that the handle must not be destroyed then.
        self._finalizer.atexit = False
        # ``_lent`` waits until the JAX program that uses this handle has ended. It is None if there is none.
        self._lent: weakref.finalize[..., Any] | None = None
        _handles.add(self)
        # If the interpreter has already acquired the locks of all handles, this new handle must not be used.
        _sleep_if_exiting()
        self._log: Any = None
        # The three lists contain the user's log function, the exception that it raised, and an element for each running
        # call of it. They are lists because the callback, which must not refer to this object, shares them.
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
        """Return the address of an array that the C library will store. Each later step checks that the array's memory
        is unchanged."""
        buffer = Buffer(self._space, array, what, shape, double=double, written=written)
        self._buffers.append(buffer)
        return buffer.address

    def _exclusively(self, function: Callable[..., int], *arguments: Any) -> int:
        """Lock the handle, check the arrays' memory, and call a C function that uses the workspace and the arrays."""
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
        """Call a short C function. Any thread may do so, even while another thread performs a step."""
        with self._alive:
            return function(self._handle, *arguments)

    def _check(self, code: int) -> int:
        if code < 0:
            raise error(code, self.message)
        return code

    @property
    def message(self) -> str:
        """Return the C library's sentence about the last call that returned a task, ended a solve or failed."""
        if not self._finalizer.alive:
            return f"this {type(self).__name__} is closed"
        return str(self._briefly(library.cuda_opt_message).decode(errors="replace"))

    @property
    def stream(self) -> int:
        """Return the address of the CUDA stream on which all device work runs. 0 is the legacy default stream."""
        return self._space.stream or 0

    def __setitem__(self, name: str, value: float) -> None:
        key = OTHER_NAMES.get(name, name)
        if key not in INTEGERS and key not in REALS:
            raise KeyError(f"there is no setting {name}")
        if key in INTEGERS:
            code = self._briefly(library.cuda_opt_set_int, INTEGERS[key], integer(value, name))
        else:
            code = self._briefly(library.cuda_opt_set_real, REALS[key], number(value, name))
        # The library knows the numbers of the keys only.
        if code < 0 and "is not the key of" in self.message:
            if key in SETTINGS:
                raise error(code, f"{name} is a setting of another kind of solver")
            raise error(code, f"{name} is a result, and cannot be set")
        self._check(code)

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
        """Change several settings, given as pairs (name, value). The order of the pairs does not matter."""
        pairs = list(settings)
        # STPMIN must not exceed STPMAX at any time, not even between the two changes.
        if {"STPMIN", "STPMAX"} <= {name for name, _ in pairs}:
            self["STPMIN"] = 0
        for name, value in sorted(pairs, key=lambda pair: pair[0] == "STPMIN"):
            self[name] = value

    def set_log(self, write: Callable[[str], Any] | None) -> None:
        """Set the function that receives the log line by line. Each line is a string without a newline. None: no log.

        The setting ``IPRINT_FREQUENCY`` determines which iterates are logged. If the function raises an exception, the
        step in which it was called raises the same exception."""
        if write is not None and not callable(write):
            raise TypeError(f"write is a {name_of(write)}: it has to be a function or None")
        functions, raised, writing, fail = self._write, self._raised, self._writing, self._failure_of_log()

        def line_written(_: Any, line: bytes) -> None:
            writing.append(True)
            try:
                if functions and not raised:
                    functions[0](line.decode())
            # The exception is stored here, because ctypes would discard it.
            except BaseException as exception:
                raised.append(exception)
                fail(exception)
            finally:
                writing.pop()

        # One C callback serves all log functions, so that a log function may replace itself while it is called.
        if self._log is None:
            self._log = LogFunction(line_written)
        self._check(self._exclusively(library.cuda_opt_set_log, self._log if write else LogFunction(), None))
        functions[:] = [write] if write else []

    def _failure_of_log(self) -> Callable[[BaseException], object]:
        """Return the function that handles an exception of the log function at once. That function must not refer to
        this object, which would otherwise keep itself alive."""
        return lambda exception: None

    def request_stop(self) -> None:
        """Request that the solve end with ``Task.STOPPED`` in its next step. Any thread may call this. If the last step
        requested f and g, evaluate them before the next step, which still reads them."""
        self._check(self._briefly(library.cuda_opt_request_stop))

    def synchronize(self) -> None:
        """Wait until all work on the CUDA stream is complete."""
        self._check(self._briefly(library.cuda_opt_synchronize))

    def _after(self, code: int, ends: Iterable[int]) -> int:
        """Return the code that a step returned. Raises the exception of the log function, or an error if the code is a
        failure."""
        if self._raised:
            raise self._raised.pop()
        if code <= 0 and code not in ends:
            raise error(code, self.message)
        return code

    def close(self) -> None:
        """Free the workspace now. The arrays remain valid, but the object cannot be used any more.

        Raises
        ------
        RuntimeError
            if the log function calls this, or if another thread is performing a step
        """
        if not self._turn.acquire(blocking=False):
            _sleep_if_exiting()
            raise RuntimeError("close() was called while another thread is in a step: request_stop() ends it")
        try:
            if self._writing:
                raise RuntimeError("close() was called by the function of the log: request_stop() ends the step")
            with self._alive:
                if self._lent:
                    self._lent()
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
