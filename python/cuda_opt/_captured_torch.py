"""CUDA graphs of torch."""
from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch

from ._captured import one_at_a_time, refusal
from ._recorder import Recorder


@contextmanager
def _refusing_to_wait() -> Iterator[None]:
    """Raise a refusal if an operation of torch has waited for the device. A recording with such an operation would fail
    as well, but would leave torch before 2.12 without its random number generators. Other threads continue: torch warns
    for all of them, and at worst a warning of another thread is taken for one of this thread."""
    before = torch.cuda.get_sync_debug_mode()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        try:
            yield
        finally:
            torch.cuda.set_sync_debug_mode(before)
    for warning in caught:
        if "called a synchronizing CUDA operation" in str(warning.message):
            raise refusal(f"{warning.filename}, line {warning.lineno}, waits for the device")
    for warning in caught:
        # Torch also warns that this mode is a prototype, which is ignored.
        if "ynchronization debug mode" not in str(warning.message):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


_idle_streams: dict[torch.device, list[Any]] = {}


class TorchRecorder(Recorder):
    """Records on another stream than the current one, because the default stream cannot be recorded. The warm-ups use
    the same stream, for which autograd and cuBLAS then have their data. No other graph uses the stream while this one
    exists. It is reused afterwards, because torch allocates a permanent workspace for cuBLAS on each new stream, 32 MiB
    on an H200, and has only 32 streams."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        cuda: Any = torch.cuda
        idle = _idle_streams.setdefault(device, [])
        try:
            self._stream = idle.pop()
        except IndexError:
            self._stream = cuda.Stream(device)
        self._graph = cuda.CUDAGraph()
        weakref.finalize(self._graph, idle.append, self._stream).atexit = False

    @contextmanager
    def warm_up(self, last: bool) -> Iterator[None]:
        current = torch.cuda.current_stream(self._device)
        self._stream.wait_stream(current)
        try:
            with torch.cuda.stream(self._stream):
                if last:
                    with one_at_a_time, _refusing_to_wait():  # warnings are caught for the whole process
                        yield
                else:
                    yield
        finally:
            current.wait_stream(self._stream)

    def record(self) -> AbstractContextManager[Any]:
        # thread_local: what other threads do meanwhile does not count.
        graph: AbstractContextManager[Any] = torch.cuda.graph(
            self._graph, stream=self._stream, capture_error_mode="thread_local"
        )
        return graph

    def launch(self) -> Callable[[], None]:
        replay: Callable[[], None] = self._graph.replay
        return replay
