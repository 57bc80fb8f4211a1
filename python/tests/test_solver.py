"""Tests ``Solver``. The caller's program contains the loop, x is overwritten, and settings and results have names."""
import threading

import numpy as np
import pytest

import cuda_opt
from cuda_opt import Solver, Task


def test_solver_overwrites_x_in_place_and_converges(parabola):
    x = np.full(8, 9.0)
    solver = Solver(x, 5, bounds=cuda_opt.Bounds(0, 3))
    for task in solver:
        assert task is Task.EVALUATE_FG and np.shares_memory(solver.x, x)
        solver.f, solver.g = parabola(solver.x)
    np.testing.assert_allclose(x, [0, 1, 2, 3, 3, 3, 3, 3], atol=1e-5)
    assert solver.status is Task.CONVERGED and solver.message.startswith("converged")
    assert solver.f == solver["F"] == parabola(x)[0]
    np.testing.assert_array_equal(solver.g, parabola(x)[1])
    assert list(solver) == []  # the solve has ended


def test_the_gradient_may_be_written_in_place():
    solver = Solver(5)
    np.testing.assert_array_equal(solver.x, np.zeros(5))
    for _ in solver:
        np.subtract(solver.x, 2, out=solver.g)
        solver.f = solver.g @ solver.g / 2
    assert solver.x == pytest.approx([2] * 5)


def test_settings_and_results_are_accessed_by_name(rosenbrock):
    solver = Solver(np.full(4, -1.2), 3, FACTR=0, PGTOL=1e-8, REPORT_ITERATES=1, MAX_ITERATIONS=7)
    assert (solver["PGTOL"], solver["MEMORY"], solver["DIMENSION"], solver["PRECISION"]) == (1e-8, 3, 4, 64)
    solver["MAX_ITERATIONS"] = 500
    iterates = 0
    for task in solver:
        if task is Task.NEW_ITERATE:
            iterates += 1
            assert solver["F"] == solver.f
        else:
            solver.f, solver.g = rosenbrock(solver.x)
    assert iterates == solver["ITERATIONS"] and solver["PG_NORM_INF"] <= 1e-8
    for name, error in (("NO_SUCH", KeyError), ("F", ValueError), ("ITERATIONS", ValueError)):
        with pytest.raises(error):
            solver[name] = 1
    with pytest.raises(KeyError):
        solver["NO_SUCH"]
    with pytest.raises(ValueError, match="integer"):
        solver["MAXFEV"] = 1.5
    with pytest.raises(cuda_opt.ImproperInput, match="MAXFEV"):
        solver["MAXFEV"] = 0


def test_an_exact_diagonal_solves_a_quadratic_in_two_iterations(parabola):
    scale = np.array([1.0, 10, 100, 1000])
    iterations = {}
    for diagonal in (False, True):
        solver = Solver(np.zeros(4), diagonal=diagonal)
        for task in solver:
            if task is Task.SUPPLY_DIAGONAL:
                solver.diagonal[:] = 1 / scale
            else:
                solver.f, solver.g = float(scale @ (solver.x - 1) ** 2) / 2, scale * (solver.x - 1)
        assert solver.status is Task.CONVERGED
        iterations[diagonal] = solver["ITERATIONS"]
    assert iterations[True] <= 2 < iterations[False]
    solver.reset()
    for task in solver:
        if task is Task.SUPPLY_DIAGONAL:
            solver.diagonal[:] = -1
        else:
            solver.f, solver.g = parabola(solver.x)
    assert solver.status is Task.BAD_DIAGONAL


def test_a_stopped_solve_continues_with_its_correction_pairs(rosenbrock):
    solver = Solver(np.full(6, -1.2))
    for count, _ in enumerate(solver):
        solver.f, solver.g = rosenbrock(solver.x)
        if count == 4:
            thread = threading.Thread(target=solver.request_stop)
            thread.start()
            thread.join()
    assert solver.status is Task.STOPPED
    solver.reset(keep_pairs=True)
    assert solver.status is None and solver["PAIRS"] > 0
    for _ in solver:
        solver.f, solver.g = rosenbrock(solver.x)
    assert solver.status is Task.CONVERGED


def solve(solver, fun, evaluations=None):
    for count, _ in enumerate(solver, 1):
        solver.f, solver.g = fun(solver.x)
        if count == evaluations:
            return


def test_a_solve_continues_from_a_checkpoint(rosenbrock):
    whole = Solver(np.full(6, -1.2))
    solve(whole, rosenbrock)
    first = Solver(np.full(6, -1.2))
    solve(first, rosenbrock, 9)
    checkpoint = first.save()
    other = Solver(np.zeros(6))
    other.load(checkpoint)
    assert other["EVALUATIONS"] == first["EVALUATIONS"] > 5
    solve(other, rosenbrock)
    np.testing.assert_array_equal(other.x, whole.x)
    with pytest.raises(cuda_opt.ImproperInput):
        Solver(7).load(checkpoint)
    with pytest.raises(cuda_opt.ImproperInput):
        Solver(6).load(checkpoint[:-5])
    Solver(np.zeros(6)).load(bytearray(checkpoint))
    for wrong in ("text", 12345, None):
        with pytest.raises(TypeError, match="bytes-like"):
            Solver(6).load(wrong)
    with pytest.raises(cuda_opt.Error, match="no solve to save"):
        Solver(6).save()


def test_the_log_has_a_line_per_iteration_and_its_exceptions_are_raised(rosenbrock):
    lines = []
    solver = Solver(np.full(4, -1.2), IPRINT_FREQUENCY=1)
    solver.set_log(lines.append)
    solve(solver, rosenbrock)
    assert len(lines) > solver["ITERATIONS"] and all(isinstance(line, str) for line in lines)

    class Broken(Exception):
        pass

    def write(_):
        raise Broken

    solver.reset()
    solver.set_log(write)
    with pytest.raises(Broken):
        solve(solver, rosenbrock)


def test_stop_iteration_in_the_log_function_raises_runtime_error(rosenbrock):
    """StopIteration would end the loop over the solver, although the solve has not ended."""
    def write(_):
        raise StopIteration

    solver = Solver(np.full(4, -1.2), IPRINT_FREQUENCY=1)
    solver.set_log(write)
    with pytest.raises(RuntimeError, match="the function of the log has raised StopIteration"):
        solve(solver, rosenbrock)
    assert solver.status is None


def test_set_log_rejects_a_value_that_is_not_callable():
    with pytest.raises(TypeError, match="write is a int: it has to be a function or None"):
        Solver(3).set_log(3)


@pytest.mark.parametrize("name, value", [("diagonal", np.ones(3)), ("diagonal", 1.0), ("preconditioner", abs)])
def test_solver_rejects_arrays_and_functions_as_flags(name, value):
    """``minimize`` takes an array or a function here. For a Solver these arguments are True or False."""
    with pytest.raises(TypeError, match=f"{name} is a .*: for a Solver it has to be True or False"):
        Solver(3, **{name: value})


def test_solver_rejects_a_part_of_another_type():
    with pytest.raises(TypeError, match="part is a int: it has to be a Part"):
        Solver(3, part=3)


def test_calls_of_the_solver_by_its_log_do_not_damage_the_solve(rosenbrock):
    """The log function calls methods of its own solver during a step. set_log() is permitted. step(), reset() and
    close() raise an exception, after which the solver can still be used."""
    solver = Solver(np.full(4, -1.2), IPRINT_FREQUENCY=1)
    lines = []
    solver.set_log(lambda line: (lines.append(line), solver.set_log(None)))
    solve(solver, rosenbrock)
    assert len(lines) == 1
    for meddle, words in ((solver.step, "cuda_opt_solve was called by the function of the log"),
                          (solver.reset, "cuda_opt_reset was called by the function of the log"),
                          (solver.close, "close.. was called by the function of the log")):
        solver.reset()
        solver.set_log(lambda line: meddle())
        with pytest.raises(RuntimeError, match=words):
            solve(solver, rosenbrock)
    solver.reset()
    solver.set_log(None)
    solve(solver, rosenbrock)
    assert solver.status is Task.CONVERGED


def test_misuse_raises_an_exception(parabola):
    solver = Solver(np.zeros(3))
    solve(solver, parabola)
    with pytest.raises(cuda_opt.Error) as caught:
        solver.step()
    assert caught.value.code is Task.MISUSE
    with Solver(3) as other:
        pass
    with pytest.raises(cuda_opt.Error):
        other.step()


def test_too_many_correction_pairs_raise_a_memory_error():
    with pytest.raises(MemoryError):
        cuda_opt.minimize(lambda x: (0.0, x), np.ones(10), options={"maxcor": 2_000_000_000})


def test_solver_works_in_single_precision():
    x = np.zeros(4, np.float32)
    solver = Solver(x, bounds=cuda_opt.Bounds(0.1, np.full(4, 0.5, np.float32)))
    for _ in solver:
        assert solver.x.dtype == np.float32 and solver.f.dtype == np.float64
        solver.f, solver.g = float(np.sum((solver.x - 1.0) ** 2)), 2 * (solver.x - 1)
    np.testing.assert_array_equal(x, np.float32(0.5))
    assert solver["PRECISION"] == 32


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_learned_diagonal_approximates_the_inverse_curvatures(dtype):
    """For a sum of parabolas with different curvatures, the learned diagonal approximates the inverses of the
    curvatures."""
    curvature = np.geomspace(1, 100, 20)
    solver = Solver(np.ones(20, dtype), INITIAL_HESSIAN=cuda_opt.InitialHessian.LEARNED, EPS=1e-4)
    for _ in solver:
        solver.f, solver.g = float(curvature @ solver.x.astype(float) ** 2) / 2, curvature * solver.x
    assert solver.status is Task.CONVERGED and solver["INITIAL_HESSIAN"] == cuda_opt.InitialHessian.LEARNED
    learned = solver.initial_inverse_hessian()
    np.testing.assert_array_equal(learned, solver.metric())
    assert learned.dtype == dtype and learned.shape == (20,) and (learned > 0).all()
    assert np.corrcoef(np.log(learned), -np.log(curvature))[0, 1] > 0.5
    plain = Solver(np.ones(20, dtype))
    next(plain)
    assert (plain.metric() == plain.metric()[0]).all()
