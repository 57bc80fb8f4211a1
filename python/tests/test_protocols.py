"""Tests arrays that are used only through ``__cuda_array_interface__`` or DLPack, on a machine without a device.

The test arrays are in host memory, but report that they are in device memory. CuPy's arrays are used in the same way,
and gpu_check.py tests them on a device."""
import ctypes
import sys
import types
import weakref

import numpy as np
import pytest

import cuda_opt
from cuda_opt import Bounds, Solver, _space_protocol
from cuda_opt._constants import BACKEND_HOST

# ``__cuda_array_interface__`` denotes the per-thread default stream by this number.
STREAM = 2


class Array:
    """A NumPy array that is accessible only through ``__cuda_array_interface__``. It has no methods of NumPy, so that
    none can be called by mistake."""

    def __init__(self, host, read_only=False):
        self.host, self.read_only = np.asarray(host), read_only

    @property
    def __cuda_array_interface__(self):
        host = self.host
        strides = None if host.flags.c_contiguous else host.strides
        return {"shape": host.shape, "typestr": host.dtype.str, "data": (host.ctypes.data, self.read_only),
                "strides": strides, "stream": STREAM, "version": 3}

    shape = property(lambda self: self.host.shape)
    size = property(lambda self: self.host.size)
    dtype = property(lambda self: self.host.dtype)

    def __getitem__(self, index):
        return Array(self.host[index])

    def __setitem__(self, index, value):
        assert isinstance(value, (Array, float)), "only device arrays and numbers may be copied to a device array"
        self.host[index] = value.host if isinstance(value, Array) else value

    def __mul__(self, number):
        return Array(self.host * number)

    def __array_namespace__(self):
        return NAMESPACE


def on_host(array):
    """Return as a NumPy array the host memory that __cuda_array_interface__ describes as device memory."""
    interface = array.__cuda_array_interface__
    assert interface["typestr"] == "<i8" and interface["strides"] is None
    return np.frombuffer((ctypes.c_int64 * interface["shape"][0]).from_address(interface["data"][0]), np.int64)


NAMESPACE = types.SimpleNamespace(
    empty=lambda shape, dtype: Array(np.full(shape, -77 if dtype == "int64" else np.nan, dtype)),
    asarray=lambda given: Array(np.array(on_host(given) if hasattr(given, "__cuda_array_interface__") else given)),
)


@pytest.fixture
def fake_device(monkeypatch):
    monkeypatch.setattr(_space_protocol, "BACKEND_CUDA", BACKEND_HOST)


class Stream:
    ptr = STREAM


def test_the_stream_lives_as_long_as_the_solver(fake_device, monkeypatch):
    streams = [Stream()]
    kept = weakref.ref(streams[0])
    monkeypatch.setattr(NAMESPACE, "cuda", types.SimpleNamespace(get_current_stream=lambda: streams[-1]), raising=False)
    solver = Solver(Array(np.zeros(3)))
    streams[:] = [Stream()]
    assert kept() is not None
    del solver
    assert kept() is None
    own = Stream()
    solver, kept = Solver(Array(np.zeros(3)), stream=own), weakref.ref(own)
    del own
    assert kept() is not None


def parabola(x):
    assert isinstance(x, Array)
    g = x.host - np.arange(len(x.host), dtype=x.host.dtype)
    return Array(g @ g / 2), Array(g)


def test_a_device_array_without_a_device_raises_backend_unavailable():
    """An array with __cuda_array_interface__ is treated as a device array. The C library then finds no device."""
    if not has_device():
        with pytest.raises(cuda_opt.Error, match="CUDA") as caught:
            cuda_opt.minimize(parabola, Array(np.zeros(3)))
        assert caught.value.code is cuda_opt.Task.BACKEND_UNAVAILABLE


def has_device():
    torch = sys.modules.get("torch")
    return bool(torch and torch.cuda.is_available())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("as_arrays", [False, True])
def test_minimize_works_with_arrays_that_have_only_the_interface(dtype, as_arrays, fake_device):
    x0 = Array(np.full(8, 7, dtype))
    bounds = Bounds(Array(np.zeros(8, dtype)), Array(np.full(8, 3, dtype))) if as_arrays else Bounds(0, 3)
    seen = []
    result = cuda_opt.minimize(parabola, x0, bounds=bounds, callback=seen.append)
    assert isinstance(result.x, Array) and isinstance(result.jac, Array) and result.x.dtype == dtype
    np.testing.assert_allclose(result.x.host, [0, 1, 2, 3, 3, 3, 3, 3], atol=1e-5)
    assert result.fun == pytest.approx(parabola(result.x)[0].host)
    assert isinstance(seen[-1], Array) and len({one.host.ctypes.data for one in seen}) == result.nit
    product = result.hess_inv @ Array(np.ones(8, dtype))
    assert isinstance(product, Array) and (product.host > 0).all()
    pairs = cuda_opt.minimize(parabola, x0, bounds=[(0, 3)] * 4 + [(0, 5)] * 4)
    np.testing.assert_allclose(pairs.x.host, [0, 1, 2, 3, 4, 5, 5, 5], atol=1e-5)


@pytest.mark.parametrize("f", [1.5, np.float64(1.5), Array(np.array(1.5)), Array(np.array([1.5])), 3])
def test_f_may_be_a_number_or_a_device_array(f, fake_device):
    result = cuda_opt.minimize(lambda x: (f, Array(np.zeros(2))), Array(np.zeros(2)))
    assert result.fun == (3 if f == 3 else 1.5)


def test_the_default_stream_is_that_of_the_array_interface(fake_device):
    x = Array(np.zeros(3))
    assert Solver(x).stream == STREAM
    assert Solver(x, stream=77).stream == 77
    torch_s, cupy_s = types.SimpleNamespace(cuda_stream=78), types.SimpleNamespace(ptr=79)
    assert (Solver(x, stream=torch_s).stream, Solver(x, stream=cupy_s).stream) == (78, 79)
    assert Solver(x, stream=types.SimpleNamespace(__cuda_stream__=lambda: (0, 80))).stream == 80


def test_solver_overwrites_a_device_array_in_place(fake_device):
    x = Array(np.zeros(5))
    solver = Solver(x)
    for _ in solver:
        assert solver.x is x
        solver.f, solver.g = parabola(x)
    np.testing.assert_allclose(x.host, np.arange(5), atol=1e-4)


def test_pattern_search_works_with_device_arrays(fake_device):
    def fun(points):
        assert isinstance(points, Array) and points.shape[0] == 2
        return Array((points.host**2).sum(0))

    bounds = Bounds(Array(np.full(2, -3.0)), Array(np.full(2, 4.0)))
    result = cuda_opt.pattern_search(fun, bounds, 20)
    assert isinstance(result.x, Array)
    np.testing.assert_allclose(result.x.host, 0, atol=1e-4)


def test_invalid_device_arrays_are_rejected(fake_device):
    x0 = Array(np.zeros(3))
    for array, kind, text in (
        (Array(np.zeros(3, np.float16)), TypeError, "x0 has elements of float16"),
        (Array(np.zeros(3, ">f8")), TypeError, "another order"),
        (Array(np.zeros((3, 1))), ValueError, r"x0 has the shape \(3, 1\)"),
        (Array(np.zeros(0)), ValueError, r"x0 has the shape \(0,\)"),
    ):
        with pytest.raises(kind, match=text):
            cuda_opt.minimize(parabola, array)
    for array, text in ((Array(np.zeros(6)[::2]), "is not contiguous"), (Array(np.zeros(3), True), "x0 is read-only")):
        with pytest.raises(ValueError, match=text):
            Solver(array)
    for returned, kind, text in (
        ((0.0, np.zeros(3)), TypeError, "the gradient is a numpy.ndarray without __cuda_array_interface__"),
        ((0.0, Array(np.zeros(2))), ValueError, r"the gradient has the shape \(2,\), not \(3,\)"),
        ((0.0, Array(np.zeros(3, complex))), TypeError, "the gradient has elements of complex128"),
        ((Array(np.zeros(3)), x0), ValueError, r"the value of the function has the shape \(3,\)"),
    ):
        with pytest.raises(kind, match=text):
            cuda_opt.minimize(lambda x: returned, x0)
    for bounds, kind, text in (
        (Bounds(Array(np.zeros(3, np.float32)), None), TypeError, "the lower bound has elements of float32"),
        (Bounds(Array(np.zeros(6)[::2]), None), ValueError, "the lower bound is not contiguous"),
        (Bounds(None, Array(np.zeros(2))), ValueError, "the upper bound has 2 elements, but x0 has 3"),
    ):
        with pytest.raises(kind, match=text):
            cuda_opt.minimize(parabola, x0, bounds=bounds)
    with pytest.raises(TypeError, match="the gradient is a .*Array in device memory, but x0 is a NumPy array"):
        cuda_opt.minimize(lambda x: (0.0, x0), np.zeros(3))


@pytest.mark.parametrize(
    "given, text",
    [
        (lambda shape, dtype: Array(np.zeros(shape, np.float32)), "has elements of float32, but float64 is needed"),
        (lambda shape, dtype: Array(np.zeros((*shape, 1), dtype)), "shape"),
        (lambda shape, dtype: Array(np.zeros((*shape[:-1], 2), dtype)), "shape"),
        (lambda shape, dtype: Array(np.zeros((*shape, 2), dtype)[..., 0]), "is not contiguous"),
        (lambda shape, dtype: Array(np.zeros(shape, dtype), read_only=True), "is read-only"),
    ],
)
def test_new_arrays_that_differ_from_the_requested_ones_are_rejected(given, text, fake_device, monkeypatch):
    """Arrays from the array library that differ from the requested ones are refused before anything is computed."""
    bounds = Bounds(Array(np.zeros(2)), Array(np.ones(2)))
    x, rows = Array(np.zeros(5)), Array(np.zeros((4, 3)))
    monkeypatch.setattr(NAMESPACE, "empty", given)
    for use in (lambda: Solver(x), lambda: Solver(x, diagonal=True), lambda: cuda_opt.minimize_batch(parabola, rows),
                lambda: cuda_opt.pattern_search(lambda points: points, bounds, 20)):
        with pytest.raises((TypeError, ValueError), match=text):
            use()


def test_replaced_memory_of_x_is_detected_at_the_next_step(fake_device):
    x = Array(np.zeros(5))
    solver = Solver(x)
    next(solver)
    solver.f, solver.g = parabola(x)
    x.host = np.zeros(5)
    with pytest.raises(ValueError, match="x0 has 40 bytes of memory, but the solver was given 40 bytes at the address"):
        next(solver)


class Exported:
    """A host array of a library that supports only DLPack, without methods of NumPy."""

    def __init__(self, host):
        self.host = np.asarray(host)

    shape = property(lambda self: self.host.shape)

    def __dlpack__(self, **settings):
        return self.host.__dlpack__(**settings)

    def __dlpack_device__(self):
        return self.host.__dlpack_device__()

    def __array_namespace__(self):
        return types.SimpleNamespace(
            empty=lambda shape, dtype: Exported(np.empty(shape, dtype)), asarray=lambda host: Exported(np.array(host))
        )

    def __setitem__(self, index, value):
        self.host[index] = value.host if isinstance(value, Exported) else value


def test_minimize_works_with_arrays_that_support_only_dlpack():
    def fun(x):
        assert isinstance(x, Exported)
        g = x.host - np.arange(len(x.host))
        return float(g @ g) / 2, Exported(g)

    result = cuda_opt.minimize(fun, Exported(np.zeros(4)), bounds=Bounds(0, Exported(np.full(4, 2.5))))
    np.testing.assert_allclose(result.x.host, [0, 1, 2, 2.5], atol=1e-5)
    with pytest.raises(ValueError, match="not contiguous"):
        Solver(Exported(np.zeros(6)[::2]))
    with pytest.raises(ValueError, match=r"the gradient has the shape \(2,\)"):
        cuda_opt.minimize(lambda x: (0.0, Exported(np.zeros(2))), Exported(np.zeros(4)))


def test_an_array_without_a_namespace_is_rejected():
    class Lonely(Array):
        __array_namespace__ = property()

    with pytest.raises(TypeError, match="Lonely has no module with empty"):
        cuda_opt.minimize(parabola, Lonely(np.zeros(3)))


def test_new_arrays_are_created_by_the_module_of_the_array_type(monkeypatch, fake_device):
    """If an array does not name its library, the module that defines its type creates new arrays. CuPy's arrays need
    this."""

    class Ours(Array):
        __module__ = "fake_library.core"
        __array_namespace__ = property()

    module = types.SimpleNamespace(empty=lambda shape, dtype: Ours(np.empty(shape, dtype)), asarray=Ours)
    monkeypatch.setitem(sys.modules, "fake_library", module)
    result = cuda_opt.minimize(parabola, Ours(np.zeros(3)), bounds=[(0, 1), (0, 1), (0, 5)])
    assert isinstance(result.x, Ours)
    np.testing.assert_allclose(result.x.host, [0, 1, 2], atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_minimize_batch_works_with_device_arrays(dtype, fake_device):
    """A batch of device arrays works, with the problem indices in device memory. If one side of the bounds has one row
    for all problems and the other side one row per problem, the single row is repeated."""
    ended = []

    def parabolas(x, p):
        assert isinstance(x, Array) and isinstance(p, Array) and p.host.dtype == np.int64
        ended.append(6 - len(p.host))
        g = x.host - (np.arange(4) + p.host[:, None]).astype(dtype)
        g[p.host == 2] = 0
        return Array((g**2).sum(1, np.float64) / 2), Array(g)

    row, rows = Array(np.full(4, 0.5, dtype)), Array(np.full((6, 4), 3, dtype))
    for bounds in (Bounds(row, rows), Bounds(0.5, rows), Bounds(0.5, [3] * 4), [(0.5, 3)] * 4):
        result = cuda_opt.minimize_batch(parabolas, Array(np.full((6, 4), 7, dtype)), bounds=bounds, indices=True)
        expected = np.clip(np.arange(4) + np.arange(6)[:, None], 0.5, 3)
        expected[2] = 3
        np.testing.assert_allclose(result.x.host, expected, atol=1e-5)
        assert isinstance(result.jac, Array) and result.fun.dtype == np.float64 and result.x.dtype == dtype
    assert max(ended) > 1
    for returned, text in (
        ((Array(np.zeros(5)), row), r"the array of fun's values has the shape \(5,\), not \(6,\)"),
        ((Array(np.zeros(6)), row), r"the array of gradients has the shape \(4,\), not \(6, 4\)"),
    ):
        with pytest.raises(ValueError, match=text):
            cuda_opt.minimize_batch(lambda x: returned, rows)
    with pytest.raises(ValueError, match="the lower bound is not contiguous"):
        turned = Array(np.asfortranarray(np.zeros((6, 4), dtype)))
        cuda_opt.minimize_batch(parabolas, rows, bounds=Bounds(turned, None))
