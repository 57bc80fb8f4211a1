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
    """Raise a refusal where an operation of torch has waited for the device. A recording in which one does fails as
    well, but leaves torch before 2.12 without its generators of random numbers. Other threads go on as they are: torch
    warns for all of them, and a warning of theirs is at worst taken for one of this thread's."""
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
        if "ynchronization debug mode" not in str(warning.message):  # which is "a prototype feature"
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


_idle_streams: dict[torch.device, list[Any]] = {}


class TorchRecorder(Recorder):
    """Records on a stream beside the current one: the default stream cannot be, and warm-ups on the same one let
    autograd and cuBLAS find theirs. No other graph has it as long as this one lives, and then the next one takes it:
    on each stream that cuBLAS meets, torch gives it a workspace that stays, 32 MiB on an H200, and torch has 32."""

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
