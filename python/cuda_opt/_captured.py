"""Evaluations by a CUDA graph: one graph launch replaces the launches of all operations of the user's function.

The solver's arrays x, f and g have the same addresses during a whole solve. The same is true of the other arrays that
an evaluation uses. Therefore the operations of the user's function are recorded as a CUDA graph after a few
evaluations, and all later evaluations launch this graph. Each array library has its own ``Recorder`` (_recorder.py)."""
from __future__ import annotations

import threading
from collections.abc import Callable

from ._recorder import Recorder
from ._space import Space

# WARM_UPS is the number of evaluations before the recording as a CUDA graph. During these the array library compiles,
# tunes and allocates what its operations need. torch's make_graphed_callables() makes the same number of evaluations.
WARM_UPS = 3

# The lock is needed because torch can record only one CUDA graph at a time in a process.
one_at_a_time = threading.RLock()


def refusal(why: object) -> RuntimeError:
    """Return the exception to raise if the user's function cannot be recorded as a CUDA graph."""
    first_line = (str(why).splitlines() or [""])[0].rstrip(". ")
    return RuntimeError(
        f"the function cannot become a CUDA graph: {first_line}; a recorded function must not read values on the host, "
        "as .item(), float() and if do: leave out cuda_graph for such a function"
    )


def _record(evaluate: Callable[[], None], recorder: Recorder) -> None:
    """Record one evaluation as a CUDA graph. An exception of the user's function is raised unchanged. If the recording
    itself fails, the exception of ``refusal`` is raised."""
    raised: BaseException | None = None
    try:
        with recorder.record():
            try:
                evaluate()
            # The exception is stored rather than raised here, because the recording of the CUDA graph has to be ended
            # in any case.
            except BaseException as exception:
                raised = exception
    except RuntimeError as exception:
        raised = raised or exception
    try:
        # Error messages of CUDA that concern graph recording contain "capture".
        if isinstance(raised, RuntimeError) and "captur" in str(raised):
            raise refusal(raised) from raised
        if raised is not None:
            raise raised
    finally:
        # The variable is deleted, because the exception's traceback refers to this frame, so that both would form a
        # reference cycle.
        del raised


def captured(evaluate: Callable[[], None], space: Space) -> Callable[[], None]:
    """Return a function that evaluates f and g. After the first calls it launches a CUDA graph, always on the same
    arrays.

    Raises
    ------
    ValueError
        if the array library of x0 cannot record CUDA graphs
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
