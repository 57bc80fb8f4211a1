"""The interface through which ``_captured.py`` records an evaluation as a CUDA graph, for any array library."""
from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any


class Recorder:
    """Records the work on a stream as a CUDA graph, with the functions of an array library. Each graph has its own
    recorder."""

    def warm_up(self, last: bool) -> AbstractContextManager[Any]:
        """Return a context for an evaluation before the recording. Its work runs on the stream that will be recorded,
        in order with the current stream."""
        raise NotImplementedError

    def record(self) -> AbstractContextManager[Any]:
        """Return a context whose work is recorded as a CUDA graph and not executed."""
        raise NotImplementedError

    def launch(self) -> Callable[[], None]:
        """Return a function that launches the recorded CUDA graph on the current stream."""
        raise NotImplementedError
