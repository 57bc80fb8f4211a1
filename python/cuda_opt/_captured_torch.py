"""Records evaluations of torch functions as CUDA graphs."""
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
    """Raise the exception of ``refusal`` if an operation of torch has waited for the device.

    The recording of such an operation would fail as well, but before version 2.12 it would leave torch's random number
    generators unusable. Other threads continue. torch warns of their operations too, so that at worst a warning of
    another thread is attributed to this thread."""
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
        # Torch also warns that its synchronisation debug mode is a prototype. That warning is ignored.
        if "ynchronization debug mode" not in str(warning.message):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


_idle_streams: dict[torch.device, list[Any]] = {}


class TorchRecorder(Recorder):
    """Records an evaluation of torch operations as a CUDA graph.

    A separate stream is used, because the default stream cannot be recorded. The warm-up evaluations use the same
    stream, so that autograd and cuBLAS have allocated their data for it. No other graph uses the stream during the
    lifetime of this one. The stream is reused afterwards. Each new stream would cost a permanent cuBLAS workspace (32
    MiB on an H200), and torch has only 32 streams."""

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
                    # The lock is needed because warnings can be caught only for the whole process.
                    with one_at_a_time, _refusing_to_wait():
                        yield
                else:
                    yield
        finally:
            current.wait_stream(self._stream)

    def record(self) -> AbstractContextManager[Any]:
        # In the mode "thread_local" the recording is not invalidated by CUDA calls of other threads.
        graph: AbstractContextManager[Any] = torch.cuda.graph(
            self._graph, stream=self._stream, capture_error_mode="thread_local"
        )
        return graph

    def launch(self) -> Callable[[], None]:
        replay: Callable[[], None] = self._graph.replay
        return replay
