"""Evaluations by a CUDA graph: one launch instead of one for each operation of the user's function.

The arrays x, f and g of the solver have the same addresses during a whole solve, and so have the other arrays of an
evaluation. Therefore the operations of the user's function are recorded after a few evaluations, and launched again for
all others. The space of each array library has a ``Recorder`` (_recorder.py)."""
from __future__ import annotations

import threading
from collections.abc import Callable

from ._recorder import Recorder
from ._space import Space

# The number of evaluations before the recording, in which the library compiles, tunes and allocates what its operations
# need. torch's make_graphed_callables() makes the same number of evaluations.
WARM_UPS = 3

one_at_a_time = threading.RLock()  # torch records one graph at a time in a process


def refusal(why: object) -> RuntimeError:
    """Return the exception for a function that cannot be recorded as a CUDA graph."""
    first_line = (str(why).splitlines() or [""])[0].rstrip(". ")
    return RuntimeError(
        f"the function cannot become a CUDA graph: {first_line}; a recorded function must not read values on the host, "
        "as .item(), float() and if do: leave out cuda_graph for such a function"
    )


def _record(evaluate: Callable[[], None], recorder: Recorder) -> None:
    """Record one evaluation. An exception of the user's function is raised unchanged. If the recording fails, the
    exception of ``refusal`` is raised."""
    raised: BaseException | None = None
    try:
        with recorder.record():
            try:
                evaluate()
            except BaseException as exception:  # the recording has to be ended in any case
                raised = exception
    except RuntimeError as exception:
        raised = raised or exception
    try:
        # The messages of CUDA about recordings contain "capture".
        if isinstance(raised, RuntimeError) and "captur" in str(raised):
            raise refusal(raised) from raised
        if raised is not None:
            raise raised
    finally:
        del raised  # its traceback refers to this frame


def captured(evaluate: Callable[[], None], space: Space) -> Callable[[], None]:
    """Return a function that evaluates by a CUDA graph after the first calls. It always uses the same arrays.

    Raises
    ------
    ValueError
        the array library of x0 cannot record CUDA graphs
    """
    recorder = space.recorder()
    launch: Callable[[], None] | None = None
    warm_ups = 0

    def run() -> None:
        nonlocal launch, warm_ups
        if launch is None:
            if warm_ups < WARM_UPS:
                warm_ups += 1
                with recorder.warm_up(warm_ups == WARM_UPS):
                    evaluate()
                return
            with one_at_a_time:
                space.recording = True
                try:
                    _record(evaluate, recorder)
                finally:
                    space.recording = False
            launch = recorder.launch()
        launch()

    return run
