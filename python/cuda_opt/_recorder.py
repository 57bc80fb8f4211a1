"""The interface by which ``_captured.py`` records an evaluation as a CUDA graph with an array library."""
from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any


class Recorder:
    """Records the work on a stream with an array library. There is one object per evaluation; it exists as long as the
    graph."""

    def warm_up(self, last: bool) -> AbstractContextManager[Any]:
        """A context whose work goes to the stream that will be recorded, ordered with the current stream."""
        raise NotImplementedError

    def record(self) -> AbstractContextManager[Any]:
        """A context whose work is recorded and not executed."""
        raise NotImplementedError

    def launch(self) -> Callable[[], None]:
        """A function that executes the recorded work on the current stream."""
        raise NotImplementedError
