"""A handle of the library: settings and results by name, failures as exceptions, memory freed with it."""
from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from ._constants import INTEGERS, REALS, Task
from ._library import Error, LogFunction, error, library
from ._space import Space, number


def _destroy(handle: ctypes.c_void_p, stream_owner: Any) -> None:
    library.cuda_opt_destroy(ctypes.byref(handle))


def stream_number(stream: Any) -> int:
    """A cudaStream_t as a number, of a stream of torch, CuPy or any library with ``__cuda_stream__``."""
    if isinstance(stream, int):
        return stream
    for attribute in ("cuda_stream", "ptr"):
        if isinstance(value := getattr(stream, attribute, None), int):
            return value
    if hasattr(stream, "__cuda_stream__"):
        protocol = stream.__cuda_stream__
        return int((protocol() if callable(protocol) else protocol)[1])
    raise TypeError(f"stream is {stream!r}: it has to be a number, or a stream of torch or CuPy")


def integer(value: Any, what: str, bits: int = 64) -> int:
    """An integer as the library takes it, of so many bits; ValueError for what is none. ctypes drops the bits above."""
    try:
        whole = int(value)
        if whole == value and abs(whole) < 2 ** (bits - 1):
            return whole
    except (TypeError, ValueError, OverflowError):
        pass
    shown = repr(value) if isinstance(value, str) else value
    raise ValueError(f"{what} is {shown}: it has to be an integer of at most {bits} bits")


class Handle:
    """What a solver and a search have in common. ``handle["EPS"] = 1e-8`` and ``handle["ITERATIONS"]`` change settings
    and read results by the names of ``include/cuda_opt.h``, without ``CUDA_OPT_``."""

    def __init__(self, create: Callable[..., int], space: Space, *arguments: int) -> None:
        self._handle = ctypes.c_void_p()
        self._space = space
        with space.within():
            code = create(ctypes.byref(self._handle), *arguments, space.backend)
        self._finalizer = weakref.finalize(self, _destroy, self._handle, space.stream_owner)
        self._log: Any = None
        # What the user's log is, what it has raised, and whether it is at work: lists, for its callback to share.
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

    def _check(self, code: int) -> int:
        if code < 0:
            raise error(code, self.message)
        return code

    @property
    def message(self) -> str:
        """The library's sentence on the last call that had something to say, e.g. how a solve ended."""
        return str(library.cuda_opt_message(self._handle).decode(errors="replace"))

    @property
    def stream(self) -> int:
        """The CUDA stream of all device work, as a number; 0: the legacy default stream."""
        return self._space.stream or 0

    def __setitem__(self, name: str, value: float) -> None:
        if name in INTEGERS:
            self._check(library.cuda_opt_set_int(self._handle, INTEGERS[name], integer(value, name)))
        elif name in REALS:
            self._check(library.cuda_opt_set_real(self._handle, REALS[name], number(value, name)))
        else:
            raise KeyError(f"there is no setting {name}")

    def __getitem__(self, name: str) -> int | float:
        if name in INTEGERS:
            integer = ctypes.c_int64()
            self._check(library.cuda_opt_get_int(self._handle, INTEGERS[name], ctypes.byref(integer)))
            return integer.value
        if name in REALS:
            real = ctypes.c_double()
            self._check(library.cuda_opt_get_real(self._handle, REALS[name], ctypes.byref(real)))
            return real.value
        raise KeyError(f"there is no setting or result {name}")

    def set(self, settings: Iterable[tuple[str, float]]) -> None:
        """Change several settings, given as pairs of a name and a value, in any order."""
        pairs = list(settings)
        if {"STPMIN", "STPMAX"} <= {name for name, _ in pairs}:  # at no moment may the one exceed the other
            self["STPMIN"] = 0
        for name, value in sorted(pairs, key=lambda pair: pair[0] == "STPMIN"):
            self[name] = value

    def set_log(self, write: Callable[[str], Any] | None) -> None:
        """Where the log's lines go, one string without its newline a call; which there are, ``IPRINT_FREQUENCY`` says.
        What the function raises comes out of the step in which it was called."""
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

        if self._log is None:  # one for all functions: it may be at work when it is given another
            self._log = LogFunction(line_written)
        self._check(library.cuda_opt_set_log(self._handle, self._log if write else LogFunction(), None))
        functions[:] = [write] if write else []

    def _failure_of_log(self) -> Callable[[BaseException], object]:
        """What is called at once with an exception of the log; without a reference to this object, which would keep
        itself alive by it."""
        return lambda exception: None

    def request_stop(self) -> None:
        """Ask that the solve end with ``Task.STOPPED`` at its next step; any thread may. What the last step has asked
        for is still read: evaluate before the next one all the same."""
        self._check(library.cuda_opt_request_stop(self._handle))

    def synchronize(self) -> None:
        """Wait until all work on the stream is done."""
        self._check(library.cuda_opt_synchronize(self._handle))

    def _after(self, code: int, ends: Iterable[int]) -> int:
        """A step's code; raises what the log raised, and an error where the code is no ending."""
        if self._raised:
            raise self._raised.pop()
        if code <= 0 and code not in ends:
            raise error(code, self.message)
        return code

    def close(self) -> None:
        """Free the workspace now. Arrays stay; the object is of no use afterwards. Not for the log's function."""
        if self._writing:
            raise RuntimeError("close() was called by the log's function, in a step: request_stop() ends it")
        self._finalizer()

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(f"a {type(self).__name__} is neither copied nor pickled; Solver.save() gives a checkpoint")

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


TASKS: dict[int, Task] = {int(task): task for task in Task}
