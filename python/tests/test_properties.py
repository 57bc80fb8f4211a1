"""Tests properties that hold for all inputs, with the package Hypothesis.

The inputs are arrays of any dtype, shape, strides and library. Other tests concern exceptions, nested calls, threads,
fork, pickling and the interpreter's exit. Every run generates the same examples, and other ones for another
CUDA_OPT_TEST_SEED. CUDA_OPT_TEST_EXAMPLES=N generates N new ones for each property instead. After a failure Hypothesis
prints how to reproduce it."""
import copy
import math
import os
import pickle
import subprocess
import sys
import tempfile
import threading

import numpy as np
import pytest

pytest.importorskip("hypothesis")
import hypothesis  # noqa: E402
from hypothesis import HealthCheck, assume, note, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from hypothesis.configuration import set_hypothesis_home_dir  # noqa: E402

from any_arrays import LIBRARIES, library, plain_arrays  # noqa: E402
from problems import random_seed  # noqa: E402

import cuda_opt  # noqa: E402
from cuda_opt import Bounds, Solver, Task  # noqa: E402

# Hypothesis writes its files to this folder and not into the source tree.
HOME = tempfile.TemporaryDirectory()
set_hypothesis_home_dir(HOME.name)
EXAMPLES = int(os.environ.get("CUDA_OPT_TEST_EXAMPLES", 0))
settings.register_profile("cuda_opt", max_examples=EXAMPLES or 50, derandomize=not EXAMPLES, deadline=None,
                          database=None, print_blob=True, suppress_health_check=list(HealthCheck))
settings.load_profile("cuda_opt")
# Fewer examples are used if each starts a process or makes JAX compile.
FEW = settings(max_examples=max(6, EXAMPLES // 20))


def given(**strategies):
    """Return hypothesis.given for these strategies, with the seed of this run if it is not 0."""
    decorated = hypothesis.given(**strategies)
    return (lambda test: hypothesis.seed(random_seed())(decorated(test))) if random_seed() else decorated


# An incorrect call may raise one of these exceptions. Any other exception, or a crash, is a fault.
REFUSED = (TypeError, ValueError, cuda_opt.Error)


@pytest.fixture(autouse=True)
def x64(request):
    """Switch jax_enable_x64 on for a test, except for tests that switch it themselves."""
    if "jax" not in sys.modules and "jax" not in request.node.name:
        yield
        return
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


def box_of(n):
    numbers = st.floats(-3, 3, width=32)
    pairs = st.tuples(numbers, numbers).map(sorted)
    return st.lists(pairs, min_size=n, max_size=n)


def parabola(x):
    """Return sum (x_i - 1)^2 / 2 and its gradient, for arrays of any library."""
    g = x - 1
    return (g * g).sum() / 2, g


@LIBRARIES
@given(data=st.data())
def test_any_array_as_x0(name, data):
    """Any array may be given as x0. The solve starts from it, or refuses it with a one-line message. x0 itself does not
    change."""
    lib = library(name)
    values = data.draw(plain_arrays())
    x0 = lib.array(values)
    before = pickle.dumps(values)
    try:
        result = cuda_opt.minimize(parabola, x0)
    except REFUSED as refused:
        assert str(refused) and "\n" not in str(refused)
    else:
        np.testing.assert_allclose(lib.values(result.x), np.ones(values.size), atol=1e-3)
        assert result.success and type(result.x) is type(result.jac)
    assert pickle.dumps(values) == before


@LIBRARIES
@given(data=st.data())
def test_any_array_as_gradient_bound_or_vector(name, data):
    """Any array may be given as gradient, as bound, or as the vector in a product with hess_inv. It is accepted or
    refused. If it is accepted, its values are used correctly."""
    lib = library(name)
    n = data.draw(st.integers(1, 4))
    bits = data.draw(st.sampled_from([32, 64]))
    x0 = lib.array(np.zeros(n, f"f{bits // 8}"))
    values = data.draw(plain_arrays())
    array = lib.array(values)
    note(f"{values.dtype} {values.shape} {values.strides}")

    def linear(x):
        return (x * 0).sum(), array

    try:
        result = cuda_opt.minimize(linear, x0, bounds=Bounds(-1, 1))
    except REFUSED as refused:
        assert str(refused) and "\n" not in str(refused)
    else:
        np.testing.assert_array_equal(lib.values(result.jac), np.asarray(values, lib.values(x0).dtype).reshape(n))
    for bounds in (Bounds(array, None), Bounds(None, array)):
        try:
            result = cuda_opt.minimize(lambda x: (x.sum(), x * 0 + 1), x0, bounds=bounds,
                                       options={"maxiter": 3, "F_TARGET": -1e3})
        except REFUSED as refused:
            assert str(refused) and "\n" not in str(refused)
        else:
            x, limit = lib.values(result.x), np.asarray(values, float)
            assert (x >= limit if bounds.ub is None else x <= limit).all()
    h = cuda_opt.minimize(parabola, x0).hess_inv
    try:
        product = getattr(h, "_inverse", h) @ array
    except (*REFUSED, ArithmeticError) as refused:
        assert str(refused)
    else:
        assert tuple(product.shape) == (n,)


@LIBRARIES
@given(data=st.data())
def test_any_array_of_a_batch(name, data):
    """Any arrays may be given as starts, bounds, f or gradients of a batch. They are used correctly or refused."""
    lib = library(name)
    arrays = [lib.array(data.draw(plain_arrays(["f8", "f4", "i8", "c16"], 2))) for _ in range(4)]
    x0 = data.draw(st.sampled_from([arrays[0], lib.array(np.zeros((2, 3))), lib.array(np.zeros((2, 3), "f4"))]))

    def fun(x):
        f, g = (x * x).sum(1), 2 * x
        return (arrays[1] if data.draw(st.booleans()) else f), (arrays[2] if data.draw(st.booleans()) else g)

    try:
        cuda_opt.minimize_batch(fun, x0, bounds=data.draw(st.sampled_from([None, Bounds(arrays[3], None)])),
                                options={"maxiter": 3, "maxfun": 20})
    except REFUSED as refused:
        assert str(refused) and "\n" not in str(refused)


@LIBRARIES
@given(data=st.data())
def test_every_point_lies_in_the_box(name, data):
    lib = library(name)
    n, element = data.draw(st.integers(1, 5)), data.draw(st.sampled_from(["f8", "f4"]))
    box = np.array(data.draw(box_of(n)), element)
    start = np.array(data.draw(st.lists(st.floats(-9, 9, width=32), min_size=n, max_size=n)), element)
    lower, upper = box.T.copy()
    kind = data.draw(st.sampled_from(["arrays", "NumPy arrays", "pairs"]))
    bounds = {"arrays": Bounds(lib.array(lower), lib.array(upper)), "NumPy arrays": Bounds(lower, upper),
              "pairs": [(float(low), float(high)) for low, high in box]}[kind]
    points = []

    def fun(x):
        points.append(lib.values(x).copy())
        return parabola(x)

    result = cuda_opt.minimize(fun, lib.array(start), bounds=bounds, options={"gtol": 1e-6, "ftol": 0})
    assert all((lower <= x).all() and (x <= upper).all() for x in points)
    np.testing.assert_allclose(lib.values(result.x), np.clip(1, lower, upper), atol=1e-3)


@given(data=st.data())
def test_jax_with_its_doubles_switched(data):
    """jax_enable_x64 may change at any moment. Every solve is either correct or refused."""
    lib = library("jax")
    element = data.draw(st.sampled_from(["f8", "f4"]))
    switches = data.draw(st.lists(st.booleans(), min_size=1, max_size=6))
    batch = data.draw(st.booleans())
    x0 = lib.array(np.zeros((3, 4) if batch else 4, element))
    calls = []

    def fun(x):
        lib.jax.config.update("jax_enable_x64", switches[len(calls) % len(switches)])
        calls.append(1)
        g = x - 1
        return (g * g).sum(-1) / 2, g

    lib.jax.config.update("jax_enable_x64", switches[-1])
    try:
        result = (cuda_opt.minimize_batch if batch else cuda_opt.minimize)(fun, x0)
    except (TypeError, ValueError) as refused:
        assert "jax_enable_x64" in str(refused)
    else:
        lib.jax.config.update("jax_enable_x64", True)
        np.testing.assert_allclose(lib.values(result.x), 1, atol=1e-3)
    finally:
        lib.jax.config.update("jax_enable_x64", True)


ANYTHING = st.one_of(st.none(), st.booleans(), st.integers(), st.integers(-(2**70), 2**70), st.floats(), st.text(),
                     st.complex_numbers(), st.binary(max_size=3), st.lists(st.floats(), max_size=3),
                     st.builds(object), st.builds(np.float32, st.floats(width=32)))
NAMES = ["maxcor", "ftol", "gtol", "maxiter", "maxfun", "maxls", "INITIAL_HESSIAN", "HISTORY_BITS", "THREADS",
         "MAX_SECONDS",
         "STPMAX", "STPMIN", "F_TARGET", "REPORT_ITERATES", "DIAGONAL_EVERY", "nothing", "EPS", "ROBUST", "MAX_CUTS"]


@given(options=st.dictionaries(st.sampled_from(NAMES), ANYTHING, max_size=3), tol=ANYTHING)
def test_any_options(options, tol):
    options.setdefault("maxfun", 50)
    if isinstance(options.get("maxcor"), int):
        assume(options["maxcor"] < 1000)
    assume(not (isinstance(options.get("THREADS"), int) and options["THREADS"] > 8))
    try:
        cuda_opt.minimize(lambda x: (float(x @ x), 2 * x), np.ones(3), options=options, tol=tol)
    except (*REFUSED, KeyError) as refused:
        assert str(refused)


@given(numbers=st.tuples(*[st.one_of(st.integers(-3, 12), st.integers(-(2**70), 2**70), ANYTHING)] * 4))
def test_any_part(numbers):
    """Any four numbers may be given to ``Part`` as rank, ranks, first and n. The solver uses or refuses them."""
    try:
        solver = Solver(np.zeros(10), part=cuda_opt.Part(*numbers, lambda send, receive: None))
    except REFUSED as refused:
        assert str(refused) and "\n" not in str(refused)
    else:
        rank, ranks, first, n = numbers
        assert solver["DIMENSION"] == n and 0 <= rank < ranks and 0 <= first <= n - 10


class OwnError(BaseException):
    pass


@LIBRARIES
@given(data=st.data())
def test_exceptions_come_out_of_any_call(name, data):
    """If the k-th call of fun, jac, callback or the log function raises an exception, the solve raises the same
    exception. The workspace is freed, and the next solve is not affected."""
    lib = library(name)
    calls, k = [], data.draw(st.integers(0, 12))
    places = data.draw(st.sets(st.sampled_from(["fun", "jac", "callback", "log"]), min_size=1))
    exception = data.draw(st.sampled_from([OwnError, KeyboardInterrupt, SystemExit, MemoryError, RecursionError]))()

    def count(place):
        if place in places:
            calls.append(1)
            if len(calls) == k + 1:
                raise exception

    x0 = lib.array(np.full(3, 7.0))
    alive = []

    def run():
        solver = Solver(lib.array(np.full(3, 7.0)), IPRINT_FREQUENCY=1)
        alive.append(solver)
        solver.set_log(lambda line: count("log"))
        for _ in solver:
            count("fun")
            solver.f, solver.g = parabola(solver.x)

    for solve in (run, lambda: cuda_opt.minimize(
            lambda x: (count("fun"), parabola(x)[0])[1], x0, jac=lambda x: (count("jac"), parabola(x)[1])[1],
            callback=lambda x: count("callback"))):
        calls.clear()
        try:
            solve()
        except type(exception) as raised:
            assert raised is exception and len(calls) == k + 1
        else:
            assert len(calls) <= k
    assert cuda_opt.minimize(parabola, x0).success
    alive[0].close()


def flat(depth):
    def fun(x):
        if depth:
            inner = cuda_opt.minimize(flat(depth - 1), np.full(2, float(x[0])), options={"maxiter": 2})
            return float(x @ x) + 0 * inner.fun, 2 * x
        return float(x @ x), 2 * x

    return fun


@given(depth=st.integers(0, 3), closing=st.booleans())
def test_solves_within_solves(depth, closing):
    assert cuda_opt.minimize(flat(depth), np.ones(3)).success
    solver = Solver(3, IPRINT_FREQUENCY=1)
    meddled = []

    def write(line):
        for call in (solver.close, solver.step, solver.reset, solver.save):
            try:
                call()
            except RuntimeError as refused:
                meddled.append(refused)

    solver.set_log(write)
    for _ in solver:
        solver.f, solver.g = float(solver.x @ solver.x), 2 * solver.x
    assert solver.status is Task.CONVERGED and len(meddled) >= 4
    if closing:
        solver.close()
        for call in (solver.step, solver.save, solver.reset, solver.metric, lambda: solver["F"]):
            with pytest.raises(cuda_opt.Error):
                call()


@FEW
@given(threads=st.integers(2, 4), data=st.data())
def test_threads_on_one_solver(threads, data):
    """Several threads step, evaluate and close one solver in any order. Each call succeeds or raises, and nothing
    crashes."""
    solver = Solver(np.linspace(-1, 2, data.draw(st.integers(1, 3000))), REPORT_ITERATES=1, EPS=0)
    plans = [data.draw(st.lists(st.sampled_from(["step", "step", "step", "read", "reset", "save", "stop"]), min_size=20,
                                max_size=60)) for _ in range(threads)]
    wrong = []

    def run(plan, close):
        calls = {"step": solver.step, "reset": solver.reset, "save": solver.save, "stop": solver.request_stop,
                 "read": lambda: (solver["F"], solver["ITERATIONS"])}
        for what in plan:
            try:
                if what == "step":
                    solver._g[:] = 2 * solver._x
                    solver._f[()] = 1.0
                calls[what]()
            except RuntimeError:
                pass
            except BaseException as error:
                wrong.append(error)
        if close:
            try:
                solver.close()
            except RuntimeError:
                pass

    workers = [threading.Thread(target=run, args=(plan, i == 0)) for i, plan in enumerate(plans)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda result: pickle.loads(pickle.dumps(result))])
@given(data=st.data())
def test_results_are_copied(copied, data):
    n, element = data.draw(st.integers(1, 6)), data.draw(st.sampled_from(["f8", "f4"]))
    options = {"maxiter": data.draw(st.integers(1, 9)), "HISTORY_BITS": data.draw(st.sampled_from([16, 32]))}
    start = np.array(data.draw(st.lists(st.floats(-3, 3, width=32), min_size=n, max_size=n)), element)
    result = cuda_opt.minimize(lambda x: (float((x**4).sum()), 4 * x**3), start, options=options)
    other = copied(result)
    v = np.arange(n, dtype=element) + 1
    try:
        expected = result.hess_inv @ v
    except ArithmeticError:
        return
    np.testing.assert_array_equal(other.hess_inv @ v, expected)
    assert (other.message, other.task, other.fun) == (result.message, result.task, result.fun)


@FEW
@given(n=st.sampled_from([3, 5000]), threads=st.sampled_from([1, 2]), evaluations=st.integers(0, 6))
def test_a_forked_process_goes_on(n, threads, evaluations):
    """If a process forks during a solve, the solve takes the same steps in the child as in the parent. The child starts
    its own threads."""
    if not hasattr(os, "fork"):
        pytest.skip("there is no fork here")

    def go_on(solver, most=math.inf):
        done = 0
        for _ in solver:
            solver.f, solver.g = float(((solver.x - 1) ** 4).sum()), 4 * (solver.x - 1) ** 3
            done += 1
            if done == most:
                break
        return solver["F"]

    solver = Solver(np.linspace(-1, 2, n), THREADS=threads)
    if evaluations:
        go_on(solver, evaluations)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, pickle.dumps(go_on(solver)))
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        found = pickle.loads(pipe.read())
    assert os.waitpid(child, 0)[1] == 0 and found == go_on(solver)


PROGRAM = """
import atexit, sys, threading, time
import numpy as np
import cuda_opt
def fun(x):
    return float((x**4).sum()), 4 * x**3
def solve(n=2000):
    solver = cuda_opt.Solver(np.linspace(-1, 2, n), IPRINT_FREQUENCY={log})
    solver.set_log(len)
    for _ in solver:
        solver.f, solver.g = fun(solver.x)
    return solver
def work():
    while True:
        solve()
kept = [solve(), cuda_opt.minimize(fun, np.ones(3)), cuda_opt.Solver(4)]
kept.append(kept)
if {at_exit}:
    atexit.register(solve)
for _ in range({daemons}):
    threading.Thread(target=work, daemon=True).start()
time.sleep({seconds})
{end}
"""


@FEW
@given(log=st.sampled_from([-1, 1]), at_exit=st.booleans(), daemons=st.integers(0, 3),
       seconds=st.floats(0, 0.03), end=st.sampled_from(["", "sys.exit(3)", "del kept", "import gc; gc.collect()"]))
def test_the_interpreter_exits(log, at_exit, daemons, seconds, end):
    program = PROGRAM.format(log=log, at_exit=at_exit, daemons=daemons, seconds=seconds, end=end)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (3 if "exit" in end else 0, "")
