"""Records evaluations of CuPy functions as CUDA graphs."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ._recorder import Recorder


class CupyRecorder(Recorder):
    """Records an evaluation of CuPy operations as a CUDA graph.

    A separate stream is used, because the default stream cannot be recorded. A separate memory pool is used, because
    each launch of the graph writes to the memory that was allocated during the recording. That memory must not be used
    for anything else."""

    def __init__(self, cuda: Any) -> None:
        self._cuda = cuda
        self._stream = cuda.Stream(non_blocking=True)
        self._pool = cuda.MemoryPool()
        self._graph: Any = None

    @contextmanager
    def _aside(self) -> Iterator[None]:
        with self._stream, self._cuda.using_allocator(self._pool.malloc):
            yield

    @contextmanager
    def warm_up(self, last: bool) -> Iterator[None]:
        current = self._cuda.get_current_stream()
        self._stream.wait_event(current.record())
        try:
            with self._aside():
                yield
        finally:
            current.wait_event(self._stream.record())

    @contextmanager
    def record(self) -> Iterator[None]:
        with self._aside():
            self._stream.begin_capture()
            try:
                yield
            finally:
                self._graph = self._stream.end_capture()

    def launch(self) -> Callable[[], None]:
        launch: Callable[[], None] = self._graph.launch
        return launch
