"""Tests that cuda_opt.jax rejects wrong input and accepts unusual input, both inside and outside of functions that JAX
transforms. Wrong input raises the same exception in both cases, before the solve."""
import warnings

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402

import cuda_opt  # noqa: E402
import cuda_opt.jax  # noqa: E402
from cuda_opt._jax_program import handler, solves_on  # noqa: E402
from cuda_opt.jax import argmin, minimize, minimize_batch  # noqa: E402


@pytest.fixture(autouse=True)
def _doubles():
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


def quartic(x, centre):
    return jnp.sum((x - centre) ** 2) + jnp.sum(x**4) / 10


def squares(x):
    return jnp.sum((x - 0.5) ** 2)


def traced(call):
    """Return a function that performs the call inside of a compiled function."""
    return lambda: jax.jit(call)()


def everywhere(call, error, match):
    """Assert that the call raises this exception, inside and outside of a compiled function."""
    for form in (call, traced(call)):
        with pytest.raises(error, match=match):
            form()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "complex64", "complex128"])
def test_half_precision_is_rejected_and_complex_numbers_in_a_batch(dtype):
    x0 = jnp.zeros(3, dtype)
    match = f"^x0 has elements of {dtype}: they have to be float64 or float32"
    if "complex" not in dtype:
        everywhere(lambda: minimize(squares, x0).x, TypeError, match)
        everywhere(lambda: argmin(squares, x0), TypeError, match)
    everywhere(lambda: minimize_batch(squares, x0[None]).x, TypeError, match)


def test_a_boolean_x0_is_converted_to_the_default_precision():
    x0 = jnp.array([True, False])
    for call in (lambda: minimize(squares, x0).x, lambda: argmin(squares, x0),
                 lambda: minimize_batch(squares, x0[None]).x[0]):
        for form in (call, traced(call)):
            assert form() == pytest.approx(0.5) and form().dtype == float


def test_python_numbers_take_the_precision_of_the_arrays():
    result = minimize(lambda t: squares(t[0]) + squares(t[1]), (1.0, jnp.zeros(2, jnp.float32)))
    assert result.x[0].dtype == jnp.float32 and result.x[0] == pytest.approx(0.5)


def test_an_x0_without_variables_is_rejected():
    everywhere(lambda: minimize(squares, jnp.zeros(0)).x, ValueError, "shape .0,.: .* at least one element")
    everywhere(lambda: minimize(squares, {"a": "static"}).x, TypeError, "neither numbers nor arrays")
    for shape in ((0, 3), (3, 0), (3,)):
        everywhere(lambda: minimize_batch(squares, jnp.zeros(shape)).x, ValueError, "neither of them 0")
    with pytest.raises(TypeError, match="^x0 is a dict: it has to be an array"):
        minimize_batch(squares, {"a": jnp.zeros(3)})


def test_a_list_of_starts_is_accepted_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert minimize_batch(squares, [[0, 0], [1, 2]]).x == pytest.approx(0.5)


@pytest.mark.parametrize(
    "gradient, error, match",
    [
        (lambda t: {"a": 2 * t["a"]}, TypeError, "leaves .*'a'.*, but x0 has the variables .*'a'.*'b'"),
        (lambda t: {"a": 2 * t["a"], "c": 2 * t["b"]}, TypeError, "leaves .*'c'"),
        (lambda t: {"a": 2 * t["b"], "b": 2 * t["a"]}, ValueError, "leaf .'a'. has the shape .2,., not .3,."),
    ],
)
def test_a_gradient_whose_tree_differs_from_x0_is_rejected(gradient, error, match):
    """Without this check, components of the gradient would be assigned to other variables."""
    x0 = {"a": jnp.ones(3), "b": jnp.ones(2)}

    def fun(t):
        return jnp.sum(t["a"] ** 2) + jnp.sum(t["b"] ** 2), gradient(t)

    everywhere(lambda: minimize(fun, x0, value_and_grad=True).x, error, match)


@pytest.mark.parametrize(
    "fun, error, match",
    [
        (squares, TypeError, "returned a jax.Array: with value_and_grad=True"),
        (lambda x: (squares(x), jnp.zeros(2)), ValueError, "the gradient has the shape .2,., not .3,."),
        (lambda x: (squares(x) + 1j, x), TypeError, "value of the function has elements of complex128"),
        (lambda x: (squares(x), x + 0j), TypeError, "the gradient has elements of complex128"),
        (lambda x: (x, x), ValueError, "value of the function has the shape .3,.: it has to be one number"),
    ],
)
def test_invalid_values_and_gradients_are_rejected(fun, error, match):
    x0 = jnp.zeros(3)
    everywhere(lambda: minimize(fun, x0, value_and_grad=True).x, error, match)


def test_argmin_raises_an_exception_of_the_function_unchanged():
    class Failed(Exception):
        pass

    def fails(x):
        raise Failed

    everywhere(lambda: argmin(fails, jnp.zeros(3)), Failed, None)


def test_argmin_raises_the_original_exception_outside_of_compiled_functions():
    with pytest.raises(cuda_opt.ImproperInput, match="the lower bound is greater|the bounds leave no finite x"):
        argmin(squares, jnp.zeros(3), (), (1.0, 0.0))


@pytest.mark.parametrize("n", [3, cuda_opt._jax_callback.BATCH_VARIABLES + 1])
def test_a_vmapped_problem_with_invalid_bounds_does_not_affect_the_others(n):
    """The problem has its own return code. Up to BATCH_VARIABLES variables the problems are solved as one batch,
    otherwise one by one."""
    lower = jnp.array([0.0, 1.0, jnp.nan])
    result = jax.vmap(lambda lower: minimize(quartic, jnp.zeros(n), (1.0,), (lower, 0.3)))(lower)
    improper = int(cuda_opt.Task.IMPROPER_INPUT)
    assert result.task.tolist() == [0, improper, improper] and result.status.tolist() == [0, 2, 2]
    assert result.x[0] == pytest.approx(0.3)


def test_argmin_warns_if_it_has_not_converged():
    with pytest.warns(RuntimeWarning, match="^argmin has not converged from this start: it ended with NOT_FINITE"):
        argmin(lambda x: jnp.sum(x) * jnp.nan, jnp.zeros(3))
    with pytest.warns(RuntimeWarning, match="converged for 1 of 2 problems: it ended with IMPROPER_INPUT"):
        jax.vmap(jax.grad(lambda lower: argmin(squares, jnp.zeros(3), (), (lower, 0.3)).sum()))(jnp.array([0.0, 1.0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, result = argmin(lambda x: jnp.sum(x) * jnp.nan, jnp.zeros(3), return_result=True)
        assert not result.success
        argmin(squares, jnp.zeros(3))


def test_complex_bounds_are_rejected():
    everywhere(lambda: minimize(squares, jnp.zeros(3), (), (jnp.zeros(3) + 1j, None)).x, TypeError, "a bound has elem")


def test_maxcor_may_be_a_numpy_integer_and_must_not_be_negative():
    everywhere(lambda: argmin(squares, jnp.zeros(3), options={"maxcor": -1}), ValueError, "maxcor is -1: .* at least 0")
    assert argmin(squares, jnp.zeros(3), options={"maxcor": np.int64(5)}) == pytest.approx(0.5)
    slope = jax.grad(lambda c: argmin(quartic, jnp.zeros(3), c, options={"maxcor": np.int64(5)}).sum())
    assert slope(1.0) == pytest.approx(2.0648083282)


def test_argmin_rejects_a_float64_x0_if_jax_enable_x64_is_off():
    x0 = jnp.zeros(3)
    with jax.enable_x64(False):
        with pytest.raises(TypeError, match="^x0 has to have elements of float64, but jax_enable_x64 is off"):
            argmin(squares, x0)


@pytest.mark.parametrize("centre", [2, 2.0])
def test_closures_may_contain_traced_values(centre):
    """Both ``minimize`` and ``minimize_batch`` treat traced values in the closure of fun as data, also integers and
    values that only vmap traces."""
    expected = np.asarray(minimize(quartic, jnp.zeros(3), (2.0,)).x)
    centres = jnp.array([0 * centre, centre])

    def of(centre):
        return minimize(lambda x: quartic(x, centre), jnp.zeros(3)).x

    def of_batch(centre):
        return minimize_batch(lambda x: quartic(x, centre), jnp.zeros((2, 3))).x[1]

    for one in (of, of_batch):
        assert jax.jit(one)(centre) == pytest.approx(expected, abs=1e-6)
        assert jax.vmap(one)(centres)[1] == pytest.approx(expected, abs=1e-6)
    slope = float(jax.grad(lambda c: of_batch(c).sum())(2.0))
    assert slope == pytest.approx(float(jax.grad(lambda c: argmin(quartic, jnp.zeros(3), c).sum())(2.0)), rel=1e-6)


def test_traced_values_outside_of_a_closure_are_rejected():
    """A traced value that fun obtains from an object, and not directly from its closure, is rejected with the reason,
    unless fun is a part of the program that has the value."""

    class Model:
        pass

    model = Model()

    def solve(centre):
        model.centre = centre
        return argmin(lambda x: quartic(x, model.centre), jnp.zeros(3)).sum()

    with pytest.raises(TypeError, match="fun depends on values that JAX is tracing"):
        jax.grad(solve)(2.0)
    if handler() is None or not solves_on(jax.devices()[0]):
        with pytest.raises(Exception, match="fun depends on values that JAX is tracing"):
            jax.jit(solve)(2.0).block_until_ready()  # on a GPU, JAX reports the error when the value is used
    else:  # fun is a part of the program that has the traced value
        assert jax.jit(solve)(2.0) == pytest.approx(argmin(quartic, jnp.zeros(3), 2.0).sum())


def test_solves_work_in_the_strict_promotion_modes_of_jax():
    def fun(x, c):
        return jnp.sum((x - c) ** 2)

    with jax.numpy_dtype_promotion("strict"), jax.numpy_rank_promotion("raise"):
        assert minimize(fun, jnp.zeros(3), (jnp.ones(3),)).x == pytest.approx(1)
        slopes = jax.grad(lambda c: argmin(fun, jnp.zeros(3), c, (0.0, 2.0)).sum())
        assert slopes(jnp.ones(3)) == pytest.approx(1) and jax.jit(slopes)(jnp.ones(3)) == pytest.approx(1)
        assert minimize_batch(fun, jnp.zeros((2, 3)), jnp.ones((2, 3))).x == pytest.approx(1)


@pytest.mark.parametrize("solve", [minimize, argmin, minimize_batch])
@pytest.mark.parametrize("name", ["DIAGONAL", "OPERATOR"])
def test_an_initial_hessian_of_the_user_is_refused(solve, name):
    options = {"INITIAL_HESSIAN": cuda_opt.InitialHessian[name]}
    x0 = jnp.zeros((2, 3)) if solve is minimize_batch else jnp.zeros(3)
    everywhere(lambda: solve(squares, x0, options=options), ValueError, "diagonal is not given|no preconditioner")


def test_integers_as_bounds_may_exceed_those_of_jax():
    jax.config.update("jax_enable_x64", False)
    x0 = jnp.zeros(3)
    for bounds in ((0, 10**10), (-2**40, np.int64(2**40)), (np.array(3 * [-2**40]), [2**40, None, 5])):
        for x in (
            minimize(squares, x0, (), bounds).x, argmin(squares, x0, (), bounds),
            minimize_batch(squares, x0[None], (), bounds).x,
            jax.jit(lambda x: minimize_batch(squares, x, (), bounds).x)(x0[None]),  # noqa: B023
        ):
            assert x == pytest.approx(0.5)


def test_lists_of_bounds_may_have_traced_numbers_and_none():
    x0 = jnp.zeros((2, 2))
    for solve in minimize, minimize_batch:
        x = jax.jit(lambda lower: solve(squares, x0, (), ([[lower, -1.0], [0.0, None]], None)).x)(0.75)  # noqa: B023
        assert x.tolist() == [[0.75, pytest.approx(0.5)], 2 * [pytest.approx(0.5)]]
    everywhere(lambda: minimize(squares, x0, (), (["0", "1"], None)).x, TypeError, "a bound has elements of <U1")


def test_a_bound_that_is_nan_in_a_program_leaves_the_start():
    x, result = jax.jit(lambda lower: argmin(quartic, jnp.ones(3), 2.0, (lower, None), return_result=True))(jnp.nan)
    assert int(result.task) == cuda_opt.Task.IMPROPER_INPUT and x.tolist() == [1, 1, 1]


def test_nan_derivatives_are_returned():
    """NaN derivatives are not reported as a singular Hessian."""
    slope = jax.grad(lambda c: argmin(quartic, jnp.zeros(3), c).sum() * jnp.nan)(1.0)
    assert np.isnan(slope)


@pytest.mark.parametrize("solve", [minimize, argmin, minimize_batch])
@pytest.mark.parametrize("transform", [jax.jit, lambda f: lambda v: jax.vmap(f)(jnp.array([v])), jax.grad])
def test_traced_tolerances_and_options_are_refused(solve, transform):
    x0 = jnp.zeros((2, 3)) if solve is minimize_batch else jnp.zeros(3)
    for name in ("tol", "gtol", "maxiter", "PGTOL"):
        given = (lambda v: {"tol": v}) if name == "tol" else (lambda v: {"options": {name: v}})
        with pytest.raises(TypeError, match=f"^{name}: traced by JAX"):
            transform(lambda v: solve(squares, x0, **given(v)))(1e-3)


@pytest.mark.parametrize("solve", [minimize, argmin])
def test_options_may_be_arrays_of_one_number(solve):
    options = {"maxcor": jnp.array(3), "maxiter": jnp.array(50)}
    tol = jnp.array(1e-6)  # inside of the compiled function it would be traced

    def call():
        found = solve(squares, jnp.zeros(3), tol=tol, options=options)
        return getattr(found, "x", found)

    for form in (call, traced(call)):
        assert form() == pytest.approx(0.5)


def test_both_limits_of_the_step_may_be_below_their_defaults():
    options = {"STPMIN": 1e-23, "STPMAX": 1e-22, "maxiter": 2}
    call = lambda: minimize(squares, jnp.zeros(3), options=options).x  # noqa: E731
    assert (traced(call)() == call()).all()


def test_an_invalid_number_of_pairs_is_refused_after_solves_with_a_valid_one():
    for _ in range(3):
        assert minimize(squares, jnp.zeros(3), options={"maxcor": 3}).success
    with pytest.raises(ValueError, match="^the number of correction pairs m is 3.5"):
        minimize(squares, jnp.zeros(3), options={"maxcor": 3.5})


@pytest.mark.parametrize("solve", [minimize, argmin])
@pytest.mark.parametrize("options, match", [
    ({"HISTORY_SIZE": 40}, "^HISTORY_SIZE is a result"), ({"FACTR": -1}, "^CUDA_OPT_FACTR is -1"),
    ({"STPMAX": "far"}, "^STPMAX is a str"),
    ({"HISTORY_BITS": 17}, "^the precision of the history|^HISTORY_BITS|^CUDA_OPT_HISTORY_BITS"),
])
def test_invalid_settings_raise_the_same_error_in_a_program(solve, options, match):
    everywhere(lambda: solve(squares, jnp.zeros(3), options=options), (cuda_opt.Error, TypeError), match)
