"""What an array's library has to do so that an evaluation becomes a CUDA graph; ``_captured.py`` asks for it."""
from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any


class Recorder:
    """How a library records what is done on a stream. One serves one evaluation, and lives as long as its graph."""

    def warm_up(self, last: bool) -> AbstractContextManager[Any]:
        """What is done within goes to the stream that will be recorded, in order with the current one."""
        raise NotImplementedError

    def record(self) -> AbstractContextManager[Any]:
        """What is done within is recorded and not done."""
        raise NotImplementedError

    def launch(self) -> Callable[[], None]:
        """What does, on the current stream, what was recorded."""
        raise NotImplementedError
