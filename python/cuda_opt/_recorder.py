"""The interface by which ``_captured.py`` records an evaluation as a CUDA graph with an array library."""
from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any


class Recorder:
    """Records the work on a stream as a CUDA graph, by the functions of an array library. There is one object per
    graph, and both exist for the same time."""

    def warm_up(self, last: bool) -> AbstractContextManager[Any]:
        """Return a context whose work is enqueued on the stream that will be recorded, in order with the current
        stream."""
        raise NotImplementedError

    def record(self) -> AbstractContextManager[Any]:
        """Return a context whose work is recorded and not executed."""
        raise NotImplementedError

    def launch(self) -> Callable[[], None]:
        """Return a function that executes the recorded work on the current stream."""
        raise NotImplementedError
