"""Wrong input raises an exception before anything is computed. The exception's message is one sentence that names the
error."""
import numpy as np
import pytest

import cuda_opt
from cuda_opt import Bounds, Solver


def read_only(n):
    x = np.zeros(n)
    x.flags.writeable = False
    return x


def masked():
    return np.ma.masked_array(np.zeros(3), [False, True, False])


def parabola_rows(x):
    return (x * x).sum(1) / 2, x


def one_sentence(error):
    text = str(error.value)
    assert text and "\n" not in text and len(text) < 200
    return True


@pytest.mark.parametrize(
    "x0, kind, text",
    [
        (np.zeros(3, complex), TypeError, "x0 has elements of complex128: they have to be float64 or float32"),
        (np.zeros(3, np.float16), TypeError, "float16"),
        (np.array(["a"]), TypeError, "x0 has elements of"),
        (np.array([None, 1]), TypeError, "not numbers"),
        ([1, "a"], TypeError, "x0 has elements of"),
        (np.zeros((2, 3)), ValueError, r"x0 has the shape \(2, 3\): it has to have one axis"),
        ([], ValueError, r"x0 has the shape \(0,\)"),
        (masked(), TypeError, "x0 has masked elements, which have no value"),
        ("abc", TypeError, "x0 is a str"),
        (None, TypeError, "x0 is a NoneType"),
        ({}, TypeError, "x0 is a dict"),
        ([1, [2, 3]], TypeError, "x0 is a list whose elements differ in shape: they cannot form an array"),
        ([np.nan, 1], ValueError, "x0|start|x\\["),
        ([np.inf], ValueError, "x0|start|x\\["),
    ],
)
def test_minimize_rejects_an_invalid_x0(x0, kind, text, parabola):
    with pytest.raises(kind, match=text) as error:
        cuda_opt.minimize(parabola, x0)
    assert one_sentence(error)


@pytest.mark.parametrize(
    "x, kind, text",
    [
        (np.zeros(6)[::2], ValueError, "x0 is not contiguous: its strides are .16,. bytes"),
        (read_only(3), ValueError, "x0 is read-only"),
        (np.zeros(3, ">f8"), ValueError, "byte order"),
        (np.frombuffer(bytearray(25), np.uint8)[1:].view(np.float64), ValueError, "not aligned"),
        (0, ValueError, "shape"),
        (-1, ValueError, "the number of variables is -1: it has to be an integer"),
    ],
)
def test_solver_rejects_an_x_that_it_cannot_use_in_place(x, kind, text):
    with pytest.raises(kind, match=text) as error:
        Solver(x)
    assert one_sentence(error)


def test_solver_rejects_bounds_that_share_memory_with_x(parabola):
    """``Solver`` overwrites x and reads bounds in place, so that it rejects bounds that share memory with x.
    ``minimize`` copies x0 and accepts such bounds."""
    x = np.ones(3)
    with pytest.raises(cuda_opt.Error, match="x, of 24 bytes, and the lower bounds, of 24 bytes, overlap"):
        next(Solver(x, bounds=Bounds(x, None)))
    assert cuda_opt.minimize(parabola, x, bounds=Bounds(x, None)).success


@pytest.mark.parametrize(
    "bounds, kind, text",
    [
        (Bounds(1, 0), ValueError, "1.*0"),
        (Bounds([0, 2, 0], [1, 1, 1]), ValueError, "2"),
        ([(0, 1), (3, 2), (0, 1)], ValueError, "3.*2"),
        (Bounds(np.nan, 1), ValueError, "(?i)nan"),
        (Bounds([0, np.nan, 0], None), ValueError, "(?i)nan"),
        (Bounds(np.inf, None), ValueError, "inf"),
        ([(0, 1)] * 2, ValueError, "^The number of bounds is not .*: bounds has 2 pairs, .* are Bounds.lower, upper."),
        ((0, 1), ValueError, "bounds has 2 pairs, .* numbers or arrays, are Bounds.lower, upper."),
        ([(0, 1)] * 4, ValueError, "bounds has 4 pairs, but x0 has 3 elements$"),
        ([(0, 1, 2)] * 3, ValueError, "a pair"),
        ([0, 1, 2], ValueError, "a pair"),
        (np.zeros((3, 3)), ValueError, "a pair"),
        ([(0, 1j)] * 3, ValueError, "a pair"),
        ([("0", 1)] * 3, ValueError, "a pair"),
        (["01"] * 3, ValueError, "a pair"),
        (np.array([[b"0", b"1"]] * 3), ValueError, "a pair"),
        ([(0, 10**400)] * 3, ValueError, "a pair"),
        (Bounds(masked(), None), TypeError, "the lower bound has masked elements"),
        (7, TypeError, "bounds is a int"),
        (Bounds(np.zeros(4), 1), ValueError, "the lower bound has 4 elements, but x0 has 3"),
        (Bounds(np.zeros((3, 2)), 1), ValueError, r"the lower bound has the shape \(3, 2\)"),
        (Bounds(0, np.ones(3, complex)), TypeError, "the upper bound has elements of complex128"),
        (Bounds(1j, 1), TypeError, "the lower bound is a complex: it has to be a real number"),
        (Bounds(0, "1"), TypeError, "the upper bound is a str: it has to be a real number"),
        (Bounds(0, ["1", 2, None]), TypeError, "the upper bound has elements of <U"),
        (Bounds([0, [1], 2], 3), ValueError, "the lower bound is a list, but its elements do not form an array"),
        (Bounds([0, 1, 10**400], None), ValueError, "the lower bound is a list, but its elements do not form an array"),
    ],
)
def test_minimize_rejects_invalid_bounds(bounds, kind, text, parabola):
    with pytest.raises(kind, match=text) as error:
        cuda_opt.minimize(parabola, np.zeros(3), bounds=bounds)
    assert one_sentence(error)


@pytest.mark.parametrize(
    "returned, kind, text",
    [
        (1.0, TypeError, "the function returned a float: with jac=True it returns f and its gradient"),
        (None, TypeError, "the function returned a NoneType"),
        ((1.0, np.zeros(3), 0), TypeError, "the function returned a tuple of length 3: with jac=True"),
        ((1.0, None), TypeError, "the gradient is a NoneType: it has to be an array of real numbers"),
        ((1.0, masked()), TypeError, "the gradient has masked elements, which have no value"),
        ((np.ma.masked, np.zeros(3)), TypeError, "the value of the function has masked elements"),
        ((1.0, np.zeros(2)), ValueError, r"the gradient has the shape \(2,\), not \(3,\)"),
        ((1.0, np.zeros((3, 2))), ValueError, r"the gradient has the shape \(3, 2\)"),
        ((1.0, np.zeros((1, 3, 1))), ValueError, r"the gradient has the shape \(1, 3, 1\)"),
        ([1.0], TypeError, "the function returned a list of length 1: with jac=True"),
        (iter((1.0, np.zeros(3))), TypeError, "the function returned a tuple_iterator"),
        (np.zeros(2), TypeError, "the function returned a numpy.ndarray"),
        ((1.0, 0.0), ValueError, r"the gradient has the shape \(1,\)"),
        ((1.0, np.zeros(3, complex)), TypeError, "the gradient has elements of complex128"),
        ((1.0, [None] * 3), TypeError, "the gradient has elements of object"),
        ((np.zeros(3), np.zeros(3)), ValueError, r"function has the shape \(3,\): it has to be one number"),
        ((None, np.zeros(3)), TypeError, "the value of the function is a NoneType"),
        ((1j, np.zeros(3)), TypeError, "the value of the function is a complex"),
        (("1", np.zeros(3)), TypeError, "the value of the function is a str"),
        (((1.0, np.zeros(3)), np.zeros(3)), TypeError, "the value of the function is a tuple whose elements differ"),
        ((1.0, [[0.0], 1.0, 2.0]), TypeError, "the gradient is a list whose elements differ in shape"),
    ],
)
def test_minimize_rejects_invalid_return_values_of_fun(returned, kind, text):
    with pytest.raises(kind, match=text) as error:
        cuda_opt.minimize(lambda x: returned, np.zeros(3))
    assert one_sentence(error)


@pytest.mark.parametrize(
    "options, text",
    [
        ({"maxcor": -1}, "m is -1"),
        ({"maxiter": -1}, "maxiter is -1: it has to be a number of at least 0, or None for no limit"),
        ({"maxfun": -0.5}, "maxfun is -0.5"),
        ({"maxfun": [1, 2]}, "maxfun is .1, 2.: it has to be a number"),
        ({"maxls": 0}, "maxls is 0: it has to be an integer of at least 1"),
        ({"maxiter": "7"}, "maxiter is '7': it has to be a number"),
        ({"maxfun": np.nan}, "maxfun is nan: it has to be a number"),
        ({"gtol": -1}, "gtol is -1: it has to be a number of at least 0"),
        ({"ftol": np.nan}, "ftol is nan"),
        ({1: 2}, "there is no option 1"),
        ({"HISTORY_BITS": 17}, "HISTORY_BITS"),
        ({"gtoll": 1}, "there is no option gtoll, but there is gtol$"),
        ({"CUDA_OPT_PGTL": 1, "tol": 1}, "option CUDA_OPT_PGTL, tol, but there are PGTOL, the argument tol$"),
        ({"nonsense": 1}, "there is no option nonsense$"),
        ({"metric": 1, "Pgtol": 0}, "there is no option Pgtol, metric, but there are PGTOL, INITIAL_HESSIAN$"),
        ({"disp": np.inf}, "disp is inf: it has to be an integer"),
        ({"m": 5}, "there is no option m, but there is maxcor$"),
        ({"factr": 10, "pgtol": 1e-3}, r"no option factr, pgtol, but there are ftol \(= factr \* 2.22e-16\), gtol$"),
        ({"F": 1}, "400|F"),
        ({"maxcor": 2**32 + 5}, "m is 4294967301: it has to be an integer of at most 32 bits"),
        ({"maxcor": 2.5}, "m is 2.5: it has to be an integer"),
        ({"MAX_ITERATIONS": 2**64 + 5}, "MAX_ITERATIONS is 18446744073709551621: it has to be an integer"),
        ({"MAX_ITERATIONS": -(2**70)}, "MAX_ITERATIONS is -1180591620717411303424: it has to be an integer"),
        ({"MAX_ITERATIONS": np.nan}, "MAX_ITERATIONS is nan: it has to be an integer"),
        ({"MAX_ITERATIONS": np.inf}, "MAX_ITERATIONS is inf: it has to be an integer"),
        ({"INITIAL_HESSIAN": "learned"}, "INITIAL_HESSIAN is 'learned': it has to be an integer"),
        ({"INITIAL_HESSIAN": None}, "INITIAL_HESSIAN is None: it has to be an integer"),
    ],
)
def test_minimize_rejects_invalid_options(options, text, parabola):
    with pytest.raises(ValueError, match=text) as error:
        cuda_opt.minimize(parabola, np.zeros(3), options=options)
    assert one_sentence(error)


@pytest.mark.parametrize(
    "tol, kind, text",
    [
        (-1, ValueError, "tol is -1: it has to be a number of at least 0"),
        (np.nan, ValueError, "tol is nan"),
        (-(10**400), ValueError, "tol is -1"),
        ("small", TypeError, "tol is a str"),
        ([1e-3, 1e-4], ValueError, "tol has the shape"),
    ],
)
@pytest.mark.parametrize("minimise", [cuda_opt.minimize, cuda_opt.minimize_batch])
def test_the_message_for_an_invalid_tol_names_tol(minimise, tol, kind, text, parabola):
    # The pattern begins with ^, because a message "ftol is -1" would name another option.
    with pytest.raises(kind, match="^" + text):
        minimise(parabola, np.zeros((2, 3) if minimise is cuda_opt.minimize_batch else 3), tol=tol)


def test_exceptions_of_a_users_array_are_raised_unchanged(parabola):
    class Failing:
        def __array__(self, dtype=None, copy=None):
            raise ValueError("of the array")

    for solve in (lambda: cuda_opt.minimize(parabola, Failing()),
                  lambda: cuda_opt.minimize(lambda x: (0.0, Failing()), np.zeros(3))):
        with pytest.raises(ValueError, match="^of the array$"):
            solve()


def test_options_that_are_not_a_dict_are_rejected(parabola):
    for minimise, x0 in ((cuda_opt.minimize, np.zeros(3)), (cuda_opt.minimize_batch, np.zeros((2, 3)))):
        with pytest.raises(TypeError, match="options is a list: it has to be a dict"):
            minimise(parabola, x0, options=["gtol"])


@pytest.mark.parametrize("value", ["1e-3", None, 1j, []])
def test_a_setting_that_is_not_a_number_is_rejected(value, parabola):
    with pytest.raises((TypeError, ValueError), match="EPS (is a|has the shape)") as error:
        cuda_opt.minimize(parabola, np.zeros(3), options={"EPS": value})
    assert one_sentence(error)


@pytest.mark.parametrize("smallest, largest", [(1e30, 1e31), (1e-31, 1e-30), (2, 2)])
def test_stpmin_and_stpmax_may_be_given_in_any_order(smallest, largest, parabola):
    """The options are set one after the other, and STPMIN must not exceed STPMAX at any moment. In the first two
    cases both values are above or below both defaults, so that they can be set only in one order."""
    x0, limits = np.zeros(3), {"STPMIN": smallest, "STPMAX": largest}
    for options in (limits, dict(reversed(limits.items()))):
        result = cuda_opt.minimize(parabola, x0, options={**options, "maxiter": 2})
        result.hess_inv @ np.ones(3)
        assert cuda_opt.minimize_batch(parabola_rows, np.zeros((2, 3)), options=options).rounds > 0
        assert Solver(x0.copy(), **options)["STPMIN"] == smallest
    with pytest.raises(ValueError, match="STPMIN is 2, but stpmin = 2 must not exceed stpmax = 1$"):
        cuda_opt.minimize(parabola, x0, options={"STPMIN": 2, "STPMAX": 1})


def test_options_without_effect_cause_a_warning(parabola):
    with pytest.warns(RuntimeWarning, match="no effect in this call: eps, workers"):
        cuda_opt.minimize(parabola, np.zeros(3), options={"eps": 1e-8, "workers": 1})


def test_an_invalid_stream_is_rejected(parabola):
    with pytest.raises(TypeError, match="stream is 'a'"):
        cuda_opt.minimize(parabola, np.zeros(3), stream="a")


def test_a_wrong_gradient_gives_a_status_and_no_exception(rosenbrock):
    """The line search fails if the gradient has the wrong sign. ``minimize`` cannot distinguish this from an f that is
    as low as its rounding errors allow, and therefore raises no exception."""
    result = cuda_opt.minimize(lambda x: (rosenbrock(x)[0], -rosenbrock(x)[1]), np.zeros(3))
    assert result.task is cuda_opt.Task.LINE_SEARCH_FAILED and not result.success and result.status == 2


def test_results_of_a_solver_cannot_be_set():
    with pytest.raises(cuda_opt.ImproperInput, match="^ITERATIONS is a result, and cannot be set$"):
        Solver(3)["ITERATIONS"] = 1
    with pytest.raises(cuda_opt.ImproperInput, match="^PG_NORM_INF is a result, and cannot be set$"):
        Solver(3)["PG_NORM_INF"] = 1.0


def test_settings_of_another_kind_of_solver_are_rejected(parabola):
    for name in ("SEARCH_SEED", "AT_SMALLEST_STEP", "BATCH_PACKED"):
        with pytest.raises(cuda_opt.ImproperInput, match=f"^{name} is a setting of another kind of solver$"):
            cuda_opt.minimize(parabola, np.zeros(3), options={name: 1})
    for name in ("PGTOL", "HISTORY_BITS"):
        with pytest.raises(cuda_opt.ImproperInput, match=f"^{name} is a setting of another kind of solver$"):
            cuda_opt.pattern_search(lambda x: x.sum(0), [(0, 1)], 5, options={name: 1})


def test_solver_accepts_numpy_integers_as_n_and_rejects_invalid_n():
    """Programs often compute n by NumPy, whose integers are not of the type int."""
    assert Solver(np.int64(3)).n == 3
    for n in (-1, 2**70):
        with pytest.raises(ValueError, match="the number of variables is .*: it has to be an integer") as error:
            Solver(n)
        assert one_sentence(error)


def test_each_use_of_a_closed_solver_raises_an_exception():
    solver = Solver(3)
    solver.close()
    for use in (lambda: next(solver), solver.save, lambda: solver["F"]):
        with pytest.raises(cuda_opt.Error, match="^this Solver is closed$"):
            use()


def test_a_missing_shared_library_raises_an_import_error(tmp_path):
    import os
    import subprocess
    import sys

    environment = {**os.environ, "CUDA_OPT_LIBRARY": str(tmp_path / "nothing.so")}
    done = subprocess.run([sys.executable, "-c", "import cuda_opt"], env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: the library of cuda_opt cannot be loaded: ") and "nothing.so" in last


@pytest.mark.parametrize("fun", [None, 3.0, "f"])
def test_a_fun_that_is_not_callable_is_rejected(fun):
    for minimise, x0 in ((cuda_opt.minimize, np.ones(3)), (cuda_opt.minimize_batch, np.ones((2, 3)))):
        with pytest.raises(TypeError, match="fun is a .*: it has to be a function") as error:
            minimise(fun, x0)
        assert one_sentence(error)


@pytest.mark.parametrize("callback", [3.0, "f", []])
def test_a_callback_that_is_not_callable_is_rejected_before_any_evaluation(callback):
    evaluated = []

    def fun(x):
        evaluated.append(x)
        return (x * x).sum(-1) / 2, x

    for minimise, x0 in ((cuda_opt.minimize, np.ones(3)), (cuda_opt.minimize_batch, np.ones((2, 3)))):
        with pytest.raises(TypeError, match="callback is a .*: it has to be a function") as error:
            minimise(fun, x0, callback=callback)
        assert one_sentence(error)
    assert not evaluated
