"""Tests that no memory leaks, that exceptions of the user's functions are raised unchanged, that interrupts end a
solve, and that threads are independent of each other."""
import copy
import gc
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest
from problems import random_seed

import cuda_opt


class OwnError(Exception):
    pass


def pages():
    """Return the number of bytes of the process that are in physical memory (resident memory)."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()


def test_repeated_solves_do_not_increase_the_memory_of_the_process(parabola):
    """The memory of the process does not grow during repeated solves. CUDA_OPT_TEST_SOLVES sets another number of
    solves."""
    solves = int(os.environ.get("CUDA_OPT_TEST_SOLVES", 1000))

    def solve(times):
        for _ in range(times):
            cuda_opt.minimize(parabola, np.zeros(200), bounds=cuda_opt.Bounds(0, 3), options={"THREADS": 1})

    solve(max(200, solves // 10))
    gc.collect()
    before = pages()
    solve(solves)
    gc.collect()
    # The workspace of a solve has 40 kB, so that the process would grow by 40 MB if 1000 of them were not freed.
    assert pages() - before < 2e6


def test_deleting_a_result_frees_its_solver_at_once(parabola):
    """Deleting a result frees its solver at once, because there is no reference cycle that needs the garbage collector.
    """
    gc.disable()
    try:
        result = cuda_opt.minimize(parabola, np.zeros(3), callback=lambda x: None, options={"disp": 0})
        inverse = result.hess_inv
        solver = getattr(inverse, "_inverse", inverse)._solver
        alive = weakref.ref(solver)
        del result, inverse, solver
        assert alive() is None
        dropped = cuda_opt.Solver(np.zeros(3))
        dropped.f, dropped.g = parabola(next(dropped) and dropped.x)
        alive, finalizer = weakref.ref(dropped), dropped._finalizer
        del dropped
        assert alive() is None and not finalizer.alive
    finally:
        gc.enable()


@pytest.mark.parametrize("place", ["fun", "jac", "callback"])
@pytest.mark.parametrize("exception", [OwnError("7"), KeyboardInterrupt(), SystemExit(3), StopIteration()])
def test_exceptions_of_user_functions_are_raised_unchanged(place, exception, parabola):
    calls = []

    def failing(*_):
        calls.append(1)
        if len(calls) == 2:
            raise exception

    functions = {
        "fun": lambda x: parabola(x)[0],
        "jac": lambda x: parabola(x)[1],
        "callback": lambda x: None,
    }
    plain = functions[place]
    functions[place] = lambda x: (failing(), plain(x))[1]
    if place == "callback" and isinstance(exception, StopIteration):
        # A StopIteration that the callback raises ends the solve, and ``minimize`` returns its result.
        return
    with pytest.raises(type(exception)) as caught:
        cuda_opt.minimize(functions["fun"], np.full(50, 7.0), jac=functions["jac"], callback=functions["callback"],
                          options={"gtol": 0, "ftol": 0, "maxiter": 9, "F_TARGET": -1.0})
    assert caught.value is exception


def test_an_exception_frees_the_workspace():
    def fun(x):
        raise OwnError

    solvers = []
    original = cuda_opt._minimize.Solver

    def remembering(*arguments, **settings):
        solvers.append(original(*arguments, **settings))
        return solvers[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuda_opt._minimize, "Solver", remembering)
        with pytest.raises(OwnError):
            cuda_opt.minimize(fun, np.zeros(3))
    assert not solvers[0]._finalizer.alive


def test_sigint_ends_a_solve():
    """SIGINT ends a solve that would otherwise never end, even if the parent process ignores the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    sender = threading.Thread(target=os.kill, args=(os.getpid(), signal.SIGINT))
    count = 0

    def fun(x):
        nonlocal count
        count += 1
        if count == 20:
            sender.start()
        return -float(count), np.ones_like(x)

    with pytest.raises(KeyboardInterrupt):
        while True:
            cuda_opt.minimize(fun, np.zeros(1000), options={"maxiter": None, "maxfun": None})
    sender.join()
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda result: pickle.loads(pickle.dumps(result))])
def test_copied_and_pickled_results_equal_the_original(copied, rosenbrock):
    """Results can be copied and pickled, as multiprocessing does to return them. The inverse Hessian and the messages
    stay the same."""
    for x0, bounds, options in ((np.full(5, -1.2), cuda_opt.Bounds(-2, np.full(5, 0.9)), {"maxcor": 3}),
                                (np.full(5, -1.2, np.float32), None, {"HISTORY_BITS": 16, "maxiter": 6}),
                                (np.ones(5), None, {})):  # no correction pairs
        result = cuda_opt.minimize(rosenbrock, x0, bounds=bounds, options=options)
        other = copied(result)
        v = np.arange(5, dtype=x0.dtype)
        again = copied(other).hess_inv @ v
        for product in (result.hess_inv @ v, other.hess_inv @ v):
            np.testing.assert_array_equal(product, again)
        assert type(other.hess_inv) is type(result.hess_inv)
        assert other.message == result.message and other.task is result.task
        np.testing.assert_array_equal(other.x, result.x)
    result = cuda_opt.minimize_batch(lambda x: ((x**4).sum(1), 4 * x**3), np.arange(1.0, 9).reshape(4, 2))
    other = copied(copied(result))
    assert [other.message_of(p) for p in range(4)] == [result.message_of(p) for p in range(4)]
    with pytest.raises(IndexError, match="there is no problem 4: they are counted from 0 to 3"):
        other.message_of(4)


def test_pickling_reads_no_freed_arrays():
    """The checkpoint of hess_inv is created while the arrays that it reads still exist. With a
    MALLOC_MMAP_THRESHOLD_ of 4096, glibc returns the pages of a freed array to the system, so that reading it would end
    the process."""
    program = """
import pickle, numpy, cuda_opt
result = cuda_opt.minimize(lambda x: (float((x**4).sum()), 4 * x**3), numpy.linspace(-1, 1, 10_000))
product = result.hess_inv @ result.x
assert (pickle.loads(pickle.dumps(result)).hess_inv @ result.x == product).all()
"""
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "4096"}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_copying_or_pickling_a_solver_raises_an_exception(copied):
    with pytest.raises(TypeError, match="a Solver cannot be copied or pickled; Solver.save.. returns a checkpoint"):
        copied(cuda_opt.Solver(3))


def test_several_threads_may_use_the_same_hess_inv(rosenbrock):
    result = cuda_opt.minimize(rosenbrock, np.full(200, -1.2))
    vectors = [result.x, np.ones(200), np.arange(200.0)]
    products = [result.hess_inv @ v for v in vectors]
    wrong = []

    def read(own):
        try:
            for k in range(200):
                h = pickle.loads(pickle.dumps(result)).hess_inv if k % 10 == 0 else result.hess_inv
                if not np.array_equal(h @ vectors[own], products[own]):
                    wrong.append(k)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=read, args=(own,)) for own in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_several_threads_may_read_the_messages_of_one_batch():
    x0 = np.random.default_rng(random_seed()).standard_normal((500, 3))
    options = {"gtol": 0, "ftol": 0, "maxiter": 7}
    result = cuda_opt.minimize_batch(lambda x: ((x**4).sum(1), 4 * x**3), x0, options=options)
    said = [result.message_of(p) for p in range(500)]
    assert len(set(said)) > 100
    wrong = []

    def read(reader):
        for p in np.random.default_rng(random_seed(reader)).integers(0, 500, 4000):
            if result.message_of(p) != said[p]:
                wrong.append(p)

    threads = [threading.Thread(target=read, args=(reader,)) for reader in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_simultaneous_solves_give_bitwise_the_results_of_single_ones(rosenbrock):
    alone = [cuda_opt.minimize(rosenbrock, np.full(n, -1.2)).x for n in (20, 31)]
    found = {}

    def solve(n):
        found[n] = [cuda_opt.minimize(rosenbrock, np.full(n, -1.2)).x for _ in range(20)]

    threads = [threading.Thread(target=solve, args=(n,)) for n in (20, 31)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for expected, n in zip(alone, (20, 31)):
        for x in found[n]:
            np.testing.assert_array_equal(x, expected)


def test_fun_may_call_minimize(parabola):
    def outer(x):
        inner = cuda_opt.minimize(parabola, np.full(5, float(x[0])))
        return inner.fun + float(x @ x) / 2, x.copy()

    assert cuda_opt.minimize(outer, np.ones(3)).success


def test_calls_of_other_threads_during_a_step_raise_an_exception():
    """While one thread is in a step, here in the log function, calls of another thread raise an exception. Only
    request_stop(), which ends the solve, and reading results are permitted."""
    solver, raised, inside, done = cuda_opt.Solver(np.ones(4), IPRINT_FREQUENCY=1), [], threading.Event(), []
    released = threading.Event()

    def write(line):
        inside.set()
        released.wait(200)

    def meddle():
        inside.wait(200)
        for call in (solver.close, solver.step, solver.reset, solver.save, solver.metric, lambda: solver.load(b""),
                     lambda: solver.set_log(None)):
            try:
                call()
            except RuntimeError as error:
                raised.append(str(error))
        solver.request_stop()
        done.append(solver["EVALUATIONS"])
        released.set()

    solver.set_log(write)
    thread = threading.Thread(target=meddle)
    thread.start()
    for _ in solver:
        solver.f, solver.g = float((solver.x**4).sum()), 4 * solver.x**3
    thread.join()
    assert raised[0].startswith("close() was called while another thread is in a step")
    assert len(raised) == 7 and all("another thread is in a step of this Solver" in one for one in raised[1:])
    assert solver.status is cuda_opt.Task.STOPPED and len(done) == 1
    solver.close()


def run_program(program, **settings):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, **settings)


DAEMON = """
import atexit, sys, threading, time
import numpy as np
import cuda_opt

begun = threading.Event()


def fun(x):
    begun.set()
    return float((x**4).sum()), 4 * x**3


def work():
    while True:
        solver = cuda_opt.Solver(np.linspace(-1, 2, 5000), IPRINT_FREQUENCY=1)
        solver.set_log(len)
        for _ in solver:
            solver.f, solver.g = fun(solver.x)
        cuda_opt.minimize(fun, np.ones(1000))


def at_the_end():  # the main thread may still solve
    assert cuda_opt.minimize(fun, np.ones(3)).success
    print("solved", flush=True)


atexit.register(at_the_end)
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
begun.wait()
"""


def test_the_interpreter_exits_cleanly_while_daemon_threads_solve():
    """At the interpreter's exit no workspace is destroyed while a daemon thread uses it, and no thread calls the
    interpreter after it has been finalised. long_checks.py makes many more runs."""
    for _ in range(3):
        done = run_program(DAEMON)
        assert (done.returncode, done.stdout, done.stderr) == (0, "solved\n", "")


def test_a_step_that_never_ends_does_not_prevent_the_exit():
    """A log function that waits for ever delays the interpreter's exit by at most EXIT_PATIENCE."""
    done = run_program("""
import threading
import cuda_opt
cuda_opt._handle.EXIT_PATIENCE = 0.2
inside = threading.Event()
solver = cuda_opt.Solver(3, IPRINT_FREQUENCY=1)
solver.set_log(lambda line: (inside.set(), threading.Event().wait()))
def work():
    for _ in solver:
        solver.f, solver.g = float(solver.x @ solver.x), 2 * solver.x
threading.Thread(target=work, daemon=True).start()
inside.wait()
print("end")
""")
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")


def test_the_interpreter_exits_cleanly_while_solvers_exist():
    """The interpreter exits cleanly although a module or a reference cycle still refers to solvers and results."""
    done = run_program("""
import numpy as np, cuda_opt
solver = cuda_opt.Solver(np.ones(3))
result = cuda_opt.minimize(lambda x: (float(x @ x), 2 * x), np.ones(5))
cycle = [cuda_opt.Solver(3)]
cycle.append(cycle)
next(solver)
""")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
