"""Tests at which evaluation a CUDA graph is recorded, and which exception a failed recording raises. The tests use
substitutes for the recorders, so that they need no device. gpu_check.py tests the recorders of torch and CuPy on a
device."""
import contextlib
import types
import warnings

import numpy as np
import pytest

import cuda_opt
from cuda_opt._captured import WARM_UPS, refusal
from cuda_opt._recorder import Recorder
from cuda_opt._space import NumPySpace


class Pretending(Recorder):
    """A substitute for a recorder of CUDA graphs. It logs its calls. A launch calls the user's function, as a device
    would execute the recorded operations."""

    def __init__(self, fails_at_the_end=None):
        self.log, self.fails, self.evaluate = [], fails_at_the_end, None

    @contextlib.contextmanager
    def warm_up(self, last):
        self.log.append("last warm-up" if last else "warm-up")
        yield

    @contextlib.contextmanager
    def record(self):
        self.log.append("record")
        try:
            yield
        finally:
            self.log.append("recorded")
            if self.fails:
                raise self.fails

    def launch(self):
        def run():
            self.log.append("launch")
            self.evaluate()

        return run


@pytest.fixture
def recorder(monkeypatch):
    """Return a substitute recorder for NumPy arrays, which otherwise have no recorder."""
    recorder = Pretending()
    monkeypatch.setattr(NumPySpace, "recorder", lambda space: recorder)
    begun = cuda_opt._minimize.captured

    def noting(evaluate, space):
        recorder.evaluate = evaluate
        return begun(evaluate, space)

    monkeypatch.setattr(cuda_opt._minimize, "captured", noting)
    return recorder


def test_a_graph_is_recorded_once_after_the_warm_ups_and_then_launched(rosenbrock, recorder):
    x0, bounds = np.full(20, -1.2), cuda_opt.Bounds(-2, 0.9)
    eager = cuda_opt.minimize(rosenbrock, x0, bounds=bounds)
    assert recorder.log == []
    graph = cuda_opt.minimize(rosenbrock, x0, bounds=bounds, cuda_graph=True)
    assert graph.x.tolist() == eager.x.tolist() and graph.nfev == eager.nfev > WARM_UPS
    before = ["warm-up"] * (WARM_UPS - 1) + ["last warm-up", "record", "recorded"]
    assert recorder.log == before + ["launch"] * (graph.nfev - WARM_UPS)


def test_a_solve_that_ends_during_the_warm_ups_records_no_graph(parabola, recorder):
    result = cuda_opt.minimize(parabola, np.arange(4.0), cuda_graph=True)
    assert result.success and recorder.log == ["warm-up"] * result.nfev and result.nfev < WARM_UPS


def failing_at(call, exception, fun):
    calls = []

    def failing(x):
        calls.append(1)
        if len(calls) == call:
            raise exception
        return fun(x)

    return failing


@pytest.mark.parametrize("fails_at_the_end", [None, RuntimeError("the capture is not joined")])
@pytest.mark.parametrize("call", [1, WARM_UPS, WARM_UPS + 1])
def test_exceptions_of_fun_are_raised_unchanged_also_during_recording(call, fails_at_the_end, rosenbrock, recorder):
    recorder.fails = fails_at_the_end
    for exception in (ValueError("mine"), RuntimeError("mine"), KeyboardInterrupt()):
        recorder.log.clear()
        with pytest.raises(type(exception)) as caught:
            cuda_opt.minimize(failing_at(call, exception, rosenbrock), np.full(9, -1.2), cuda_graph=True)
        assert caught.value is exception and ("recorded" in recorder.log) == (call > WARM_UPS)


def test_a_function_that_cannot_be_recorded_raises_a_runtime_error(rosenbrock, recorder):
    unsupported = RuntimeError("CUDA error: operation not permitted when stream is capturing\nCompile with ...")
    match = "^the function cannot become a CUDA graph: CUDA error: .* when stream is capturing; a recorded"
    with pytest.raises(RuntimeError, match=match) as caught:
        cuda_opt.minimize(failing_at(WARM_UPS + 1, unsupported, rosenbrock), np.full(9, -1.2), cuda_graph=True)
    assert caught.value.__cause__ is unsupported
    recorder.fails = RuntimeError("operation failed due to a previous error during capture")
    with pytest.raises(RuntimeError, match="cannot become a CUDA graph: operation failed due to") as caught:
        cuda_opt.minimize(rosenbrock, np.full(9, -1.2), cuda_graph=True)
    assert caught.value.__cause__ is recorder.fails


def test_cuda_graph_is_rejected_for_numpy_arrays(parabola):
    with pytest.raises(ValueError, match="cuda_graph is True, but x0 is not an array of torch or CuPy"):
        cuda_opt.minimize(parabola, np.zeros(3), cuda_graph=True)


def test_cuda_graph_is_rejected_for_torch_tensors_on_the_host():
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match="cuda_graph is True, but x0 is on the device cpu"):
        cuda_opt.minimize(lambda x: (x @ x, 2 * x), torch.zeros(3, dtype=torch.float64), cuda_graph=True)


def test_the_exception_names_the_line_where_torch_synchronizes(monkeypatch):
    torch = pytest.importorskip("torch")
    from cuda_opt._captured_torch import _refusing_to_wait

    modes = ["as it was"]
    monkeypatch.setattr(torch.cuda, "get_sync_debug_mode", lambda: modes[-1])
    monkeypatch.setattr(torch.cuda, "set_sync_debug_mode", modes.append)
    with pytest.raises(RuntimeError, match=rf"a CUDA graph: .*{__name__.split('.')[-1]}.py, line \d+, waits for the"):
        with _refusing_to_wait():
            warnings.warn("called a synchronizing CUDA operation")
    assert modes == ["as it was", "warn", "as it was"]
    with pytest.warns(UserWarning, match="another"), _refusing_to_wait():
        warnings.warn("another")
    with pytest.raises(ValueError, match="mine"), _refusing_to_wait():
        raise ValueError("mine")
    assert modes[-1] == "as it was"


class Cupy:
    """A substitute for the parts of the module ``cupy.cuda`` that record CUDA graphs. There is one current stream at a
    time. An operation is a Python function. It is called at once or, if it is recorded, at each launch."""

    def __init__(self):
        self.log, self.held = [], []
        self.current = [self.Stream(cuda=self)]

    def get_current_stream(self):
        return self.current[-1]

    def do(self, operation):
        """Execute an operation at once or, if the current stream is recording, at each launch of its graph."""
        stream = self.current[-1]
        operation() if stream.recorded is None else stream.recorded.append(operation)

    @contextlib.contextmanager
    def using_allocator(self, allocator):
        self.held.append(allocator)
        yield
        self.held.pop()

    class MemoryPool:
        malloc = "the pool's"

    class Stream:
        ptr = 2

        def __init__(self, non_blocking=False, cuda=None):
            self.cuda, self.recorded = cuda, None

        def record(self):
            return self

        def wait_event(self, event):
            assert event is not self

        def __enter__(self):
            CUPY.current.append(self)

        def __exit__(self, *_):
            assert CUPY.current.pop() is self

        def begin_capture(self):
            assert CUPY.held == ["the pool's"]
            self.recorded = []

        def end_capture(self):
            operations, self.recorded = self.recorded, None

            def launch():
                CUPY.log.append("launch")
                for operation in operations:
                    operation()

            return types.SimpleNamespace(launch=launch)


CUPY = Cupy()


def test_cupy_executes_recorded_operations_only_at_each_launch(monkeypatch, rosenbrock):
    """While CuPy's operations are recorded as a CUDA graph, none is executed. Each launch executes all of them."""
    protocols = pytest.importorskip("test_protocols")

    class Array(protocols.Array):
        def __setitem__(self, index, value):
            CUPY.do(lambda: super(Array, self).__setitem__(index, value))

        def __array_namespace__(self):
            return namespace

    namespace = types.SimpleNamespace(
        empty=lambda shape, dtype: Array(np.full(shape, np.nan, dtype)), asarray=lambda host: Array(np.array(host)),
        cuda=CUPY
    )
    monkeypatch.setattr(protocols._space_protocol, "BACKEND_CUDA", protocols.BACKEND_HOST)
    calls = []

    def fun(x):
        calls.append(CUPY.current[-1])
        f, g = np.full((), np.nan), np.full(x.shape, np.nan)

        def kernel():
            f[...], g[...] = rosenbrock(x.host)

        CUPY.do(kernel)
        return Array(f), Array(g)

    x0, bounds = np.full(20, -1.2), cuda_opt.Bounds(-2, 0.9)
    result = cuda_opt.minimize(fun, Array(x0), bounds=bounds, cuda_graph=True)
    host = cuda_opt.minimize(rosenbrock, x0, bounds=bounds)
    assert result.x.host.tolist() == host.x.tolist() and result.nfev == host.nfev
    assert len(calls) == WARM_UPS + 1 and CUPY.log == ["launch"] * (result.nfev - WARM_UPS)
    assert all(stream is not CUPY.current[0] for stream in calls) and len(CUPY.current) == 1
    with pytest.raises(TypeError, match="the value of the function is a float: in a CUDA graph it has to be an array"):
        cuda_opt.minimize(lambda x: (1.0 + len(calls), fun(x)[1]), Array(x0), cuda_graph=True)


def test_refusal_gives_the_reason_in_one_sentence():
    assert str(refusal("why.\nmore")) == (
        "the function cannot become a CUDA graph: why; a recorded function must not read values on the host, as "
        ".item(), float() and if do: leave out cuda_graph for such a function"
    )
