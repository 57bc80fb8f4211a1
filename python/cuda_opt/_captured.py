"""An evaluation that becomes a CUDA graph: one launch in place of one for each of its operations.

The solver's x, f and g stay where they are for a whole solve, and so does what an evaluation reads and writes. So after
a few evaluations by the user's function its operations are recorded, and launched again for all others. How to record
is a matter of the array's library, which has a ``Recorder`` (_recorder.py)."""
from __future__ import annotations

import threading
from collections.abc import Callable

from ._recorder import Recorder
from ._space import Space

# Evaluations by the function itself before it is recorded: what a library compiles, tunes or allocates when
# it first meets an operation has then been done. torch's make_graphed_callables() takes as many.
WARM_UPS = 3

one_at_a_time = threading.RLock()  # torch records one graph at a time in a process


def refusal(why: object) -> RuntimeError:
    """The exception for a function that cannot be recorded."""
    first_line = (str(why).splitlines() or [""])[0].rstrip(". ")
    return RuntimeError(
        f"the function cannot become a CUDA graph: {first_line}; in one nothing may read values on the host, as "
        ".item(), float() and an if do: leave out cuda_graph then"
    )


def _record(evaluate: Callable[[], None], recorder: Recorder) -> None:
    """What the function raises comes out unchanged, what the recording raises as a refusal."""
    raised: BaseException | None = None
    try:
        with recorder.record():
            try:
                evaluate()
            except BaseException as exception:  # the recording has to come to its end
                raised = exception
    except RuntimeError as exception:
        raised = raised or exception
    try:
        if isinstance(raised, RuntimeError) and "captur" in str(raised):  # as CUDA's sentences have it
            raise refusal(raised) from raised
        if raised is not None:
            raise raised
    finally:
        del raised  # its traceback refers to this frame


def captured(evaluate: Callable[[], None], space: Space) -> Callable[[], None]:
    """The evaluation as a graph: to be called as often, at the same arrays.

    Raises
    ------
    ValueError
        where the space has no graphs
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
