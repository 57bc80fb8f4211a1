"""With ``x_scale``, ``minimize``, ``minimize_batch`` and ``Solver`` solve the problem in z = x / x_scale."""
import pickle

import numpy as np
import pytest
from problems import random_seed

import cuda_opt
from cuda_opt import Bounds, InitialHessian, Solver, Task, minimize, minimize_batch
from cuda_opt._sizes import hint_on_sizes

POWERS = 2.0 ** np.array([-9, 4, 0, 7, -3, 12, -6, 2])
TENS = 10.0 ** np.arange(-4, 4)


def in_units(fun, units):
    """Return the function x -> fun(x / units) and its gradient, that is, ``fun`` with variables in other units."""

    def scaled(x, *args):
        f, g = fun(x / units, *args)
        return f, g / units

    return scaled


def same(one, other):
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("options", [{}, {"INITIAL_HESSIAN": InitialHessian.SCALAR, "maxcor": 3}])
@pytest.mark.parametrize("bounds", [None, (-2.0, 0.9), (0.0, np.inf)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_x_scale_gives_bitwise_the_result_of_scaling_by_hand(rosenbrock, options, bounds, dtype):
    x0, units = np.full(8, -1.2, dtype), POWERS.astype(dtype)
    by_hand = minimize(rosenbrock, x0, bounds=bounds and Bounds(*bounds), options=options)
    box = bounds and Bounds(*(limit * units for limit in bounds))
    ours = minimize(in_units(rosenbrock, units), x0 * units, bounds=box, options=options, x_scale=units)
    same(ours.x, by_hand.x * units)
    same(ours.jac, by_hand.jac / units)
    assert (ours.fun, ours.nit, ours.nfev, ours.message) == (by_hand.fun, by_hand.nit, by_hand.nfev, by_hand.message)


def test_x_scale_with_a_diagonal_gives_bitwise_the_result_of_scaling_by_hand(rosenbrock):
    def diagonal(x):
        return 1 / (200 + 1200 * x**2)

    by_hand = minimize(rosenbrock, np.full(8, -1.2), diagonal=diagonal)
    ours = minimize(in_units(rosenbrock, POWERS), -1.2 * POWERS, x_scale=POWERS,
                    diagonal=lambda x: POWERS**2 * diagonal(x / POWERS))
    same(ours.x, by_hand.x * POWERS)
    assert ours.nfev == by_hand.nfev


def test_x_scale_compensates_for_unsuitable_units(rosenbrock):
    bad, own = in_units(rosenbrock, TENS), minimize(rosenbrock, np.full(8, -1.2))
    without, given = (minimize(bad, -1.2 * TENS, x_scale=scale, options={"maxfun": 500}) for scale in (1, TENS))
    assert own.fun < 1e-6 and given.fun < 1e-6
    assert 2 * given.nfev < without.nfev  # which begins from the sizes of x only after eight restarts
    one = minimize(in_units(rosenbrock, 1e5), np.full(8, -1.2e5), x_scale=1e5)
    assert one.fun < 1e-6


def decays(count=25):
    """Return least-squares fits of a exp(-k t) + c in natural units. a is of the order of 1e6, k of 1e-4, and the start
    is inaccurate."""
    rng = np.random.default_rng(random_seed(3))
    t = np.linspace(0, 4e4, 50)
    for _ in range(count):
        true = np.array([3e6 * rng.uniform(0.5, 2), 1e-4 * rng.uniform(0.5, 2), 2e5 * rng.uniform(0.5, 2)])
        y = true[0] * np.exp(-true[1] * t) + true[2]

        def fun(x, y=y):
            e = np.exp(-x[1] * t)
            off = x[0] * e + x[2] - y
            f, g = off @ off / 2 / 1e12, np.array([off @ e, -x[0] * (off @ (t * e)), off.sum()]) / 1e12
            return float(f), g

        yield fun, true * rng.uniform(0.6, 1.6, 3), true


def test_fits_in_natural_units_succeed_only_with_x_scale():
    size = np.array([1e6, 1e-4, 1e5])
    wrong = {None: 0, "size": 0}
    for fun, x0, true in decays():
        for given in wrong:
            result = minimize(fun, x0, bounds=Bounds(0, None), x_scale=size if given else None)
            wrong[given] += bool(np.abs(result.x / true - 1).max() > 0.01)
    # Without x_scale all fits were wrong in 360 draws. With it the largest error was 1.4e-4.
    assert wrong[None] > 12 and wrong["size"] == 0


def wrong_from_zero(ratio, count=40, with_sizes=False, **options):
    """Return the number of wrong ends among linear fits of six variables that start at 0. The sizes of their minimisers
    differ by ``ratio``, and the minimum of f is 0."""
    rng, wrong = np.random.default_rng(random_seed(4)), 0
    for _ in range(count):
        size = rng.permutation(ratio ** np.linspace(-1, 0, 6))
        a, z = rng.standard_normal((20, 6)), rng.standard_normal(6)

        def fun(x, a=a, b=a @ z, size=size):
            off = a @ (x / size) - b
            return off @ off / 40, a.T @ off / 20 / size

        wrong += minimize(fun, np.zeros(6), x_scale=size if with_sizes else None, options=options).fun > 1e-3
    return wrong


def test_solves_from_0_are_right_up_to_the_ratio_of_sizes_that_the_page_gives():
    assert wrong_from_zero(1e3) == 0  # docs/termination.md gives 1e4
    assert wrong_from_zero(1e8) > 20
    assert wrong_from_zero(1e8, with_sizes=True) == wrong_from_zero(1e8, ftol=0) == 0


def test_hess_inv_has_the_units_of_x(rosenbrock):
    by_hand = minimize(rosenbrock, np.full(8, -1.2))
    result = minimize(in_units(rosenbrock, POWERS), -1.2 * POWERS, x_scale=POWERS)
    v = np.arange(1.0, 9)
    product = result.hess_inv @ (v / POWERS)
    np.testing.assert_allclose(product, POWERS * (by_hand.hess_inv @ v), rtol=1e-10)
    same(pickle.loads(pickle.dumps(result)).hess_inv @ (v / POWERS), product)


def test_a_scaled_solve_continues_from_a_checkpoint(rosenbrock):
    bad = in_units(rosenbrock, TENS)
    solver = Solver(-1.2 * TENS, bounds=Bounds(-2 * TENS, 0.9 * TENS), x_scale=TENS)
    for count, _ in enumerate(solver):
        solver.f, solver.g = bad(solver.x)
        if count == 9:
            checkpoint = solver.save()
    other = Solver(np.zeros(8), bounds=Bounds(-2 * TENS, 0.9 * TENS), x_scale=TENS)
    other.load(checkpoint)
    for _ in other:
        other.f, other.g = bad(other.x)
    same(other.x, solver.x)
    same(solver.x[solver.x > 0.899 * TENS], (0.9 * TENS)[solver.x > 0.899 * TENS])
    assert solver.status is other.status is Task.CONVERGED
    for x_scale in (None, 2 * TENS):
        with pytest.raises(cuda_opt.ImproperInput, match="the scales of the variables are not those of the solve"):
            Solver(np.zeros(8), bounds=Bounds(-2 * TENS, 0.9 * TENS), x_scale=x_scale).load(checkpoint)


@pytest.mark.parametrize(
    ("x_scale", "kind", "match"),
    [
        (0, ValueError, "the scale of all variables is 0, but"),
        (-1.5, ValueError, "the scale of all variables is -1.5, but"),
        (np.nan, ValueError, "the scale of all variables is nan, but"),
        (np.inf, ValueError, "the scale of all variables is inf, but"),
        ([1, 1, 0, 1], ValueError, "index 2 .* is 0"),
        (np.array([1, 1, 1, -3.0]), ValueError, "index 3 .* is -3"),
        (np.array([np.nan, 1, 1, 1]), ValueError, "index 0 .* is nan"),
        (np.array([1, np.inf, 1, 1]), ValueError, "index 1 .* is inf"),
        (np.ones(3), ValueError, "x_scale has 3 elements, but x0 has 4"),
        (np.array(["a"] * 4), TypeError, "x_scale has elements of"),
        (1e-320, ValueError, "leaves the range of numbers when it is divided by the scale"),
    ],
)
def test_invalid_scales_are_rejected(parabola, x_scale, kind, match):
    with pytest.raises(kind, match=match):
        minimize(parabola, np.full(4, 9.0), x_scale=x_scale)


def rows_of(fun):
    def rows(x, *args):
        pairs = [fun(row) for row in x]
        return np.array([f for f, _ in pairs]), np.stack([g for _, g in pairs])

    return rows


@pytest.mark.parametrize("bounds", [None, (-2.0, 0.9), (0.0, np.inf), "each"])
@pytest.mark.parametrize("indices", [False, True])
def test_x_scale_in_a_batch_gives_bitwise_the_result_of_scaling_by_hand(rosenbrock, bounds, indices):
    x0 = np.stack([np.full(8, start) for start in (-1.2, 0.5, 2.0)])
    each = np.array([-2.0, -1, -0.5])[:, None] * np.ones(8)
    hand, box = None, None
    if bounds == "each":
        hand, box = Bounds(each, 0.9), Bounds(each * POWERS, 0.9 * POWERS)
    elif bounds:
        hand, box = Bounds(*bounds), Bounds(*(limit * POWERS for limit in bounds))
    by_hand = minimize_batch(rows_of(rosenbrock), x0, bounds=hand, indices=indices)
    bad = rows_of(in_units(rosenbrock, POWERS))
    ours = minimize_batch(bad, x0 * POWERS, bounds=box, indices=indices, x_scale=POWERS)
    same(ours.x, by_hand.x * POWERS)
    same(ours.jac, by_hand.jac / POWERS)
    same(ours.nfev, by_hand.nfev)
    same(ours.pg_norm_inf, by_hand.pg_norm_inf)


def test_bounds_of_a_scaled_batch_hold_exactly(rosenbrock):
    units = TENS * 1.37
    lower, upper = -0.3 * units, np.array([0.9, 0.7, 0.4])[:, None] * units

    def fun(x, p):
        assert (x >= lower).all() and (x <= upper[p]).all()
        return rows_of(in_units(rosenbrock, units))(x)

    result = minimize_batch(fun, 3 * upper, bounds=Bounds(lower, upper), x_scale=units, indices=True)
    assert result.success.all() and (result.x[:, 0] == upper[:, 0]).all()


def test_invalid_scales_of_a_batch_are_rejected(rosenbrock):
    for x_scale, match in (([1, 0, 1], "x_scale is 0 at index 1"), (np.ones(4), "x_scale has 4 elements"),
                           (-1, "x_scale is -1 at index 0")):
        with pytest.raises(ValueError, match=match):
            minimize_batch(rows_of(rosenbrock), np.zeros((2, 3)), x_scale=x_scale)


def test_x_scale_may_be_a_torch_tensor(rosenbrock):
    torch = pytest.importorskip("torch")
    units = torch.tensor(POWERS)

    def fun(x):
        f, g = rosenbrock(x.numpy() / POWERS)
        return f, torch.tensor(g / POWERS)

    by_hand = minimize(rosenbrock, np.full(8, -1.2))
    same(minimize(fun, -1.2 * units, x_scale=units).x.numpy(), by_hand.x * POWERS)

    def rows(x):
        pairs = [fun(row) for row in x]
        return torch.tensor([f for f, _ in pairs], dtype=torch.float64), torch.stack([g for _, g in pairs])

    box = Bounds(-2 * units, 0.9 * units)
    result = minimize_batch(rows, torch.stack([-1.2 * units, 0.5 * units]), bounds=box, x_scale=units)
    by_hand = minimize_batch(rows_of(rosenbrock), np.outer([-1.2, 0.5], np.ones(8)), bounds=Bounds(-2, 0.9))
    same(result.x.numpy(), by_hand.x * POWERS)


def test_x_scale_may_be_a_jax_array_or_pytree():
    jax = pytest.importorskip("jax")
    jnp = pytest.importorskip("jax.numpy")
    import cuda_opt.jax

    before = jax.config.read("jax_enable_x64")
    jax.config.update("jax_enable_x64", True)
    try:
        x0 = {"a": jnp.full(3, -1.2), "b": jnp.array(2.0)}
        units = {"a": jnp.array([1e-4, 1.0, 1e4]), "b": 1e6}

        def fun(x):
            y = jnp.append(x["a"] / units["a"], x["b"] / units["b"])
            return (100 * (y[1:] - y[:-1] ** 2) ** 2 + (1 - y[:-1]) ** 2).sum()

        start = {"a": x0["a"] * units["a"], "b": x0["b"] * 1e6}
        result = cuda_opt.jax.minimize(fun, start, x_scale=units)
        np.testing.assert_allclose(result.x["a"] / units["a"], 1, atol=1e-3)
        flat = jnp.array([1e-4, 1.0, 1e4])
        many = cuda_opt.jax.minimize_batch(
            lambda x: ((x / flat - 1) ** 2).sum(), jnp.outer(jnp.arange(3.0), flat),
            bounds=Bounds(0 * flat, 0.5 * flat), x_scale=flat,
        )
        same(np.asarray(many.x), np.tile(0.5 * np.asarray(flat), (3, 1)))
        by_memory = cuda_opt.jax.minimize(fun, start, x_scale=units, jit=False)
        np.testing.assert_allclose(by_memory.x["a"], result.x["a"], rtol=1e-6)
        for solve in (
            lambda s: cuda_opt.jax.minimize(lambda x: (x**2).sum(), flat, x_scale=s).x,
            lambda s: cuda_opt.jax.minimize_batch(lambda x: (x**2).sum(), flat[None], x_scale=s).x,
        ):
            with pytest.raises(TypeError, match="x_scale is given, but JAX is tracing the solve"):
                jax.jit(solve)(flat)
    finally:
        jax.config.update("jax_enable_x64", before)


@pytest.mark.parametrize("dtype, start, scale", [
    (np.float32, 3e-10, 1e30), (np.float32, 3e-36, 3e8), (np.float64, 3e-190, 1e180), (np.float64, 7, 1e-315),
    (np.float64, -2, 1e-310),
])
@pytest.mark.parametrize("one", [True, False])
def test_a_start_that_becomes_another_number_is_refused(dtype, start, scale, one):
    x0 = np.full(3 if one else (2, 3), start, dtype)
    with pytest.raises(cuda_opt.ImproperInput, match="scale"):
        (minimize if one else minimize_batch)(lambda x: ((x * x).sum(-1), 2 * x), x0, x_scale=scale)


@pytest.mark.parametrize("start", [2.0, 1.0])
@pytest.mark.parametrize("dtype, size", [(np.float32, 1e20), (np.float64, 1e200)])
def test_a_slope_that_overflows_when_scaled_is_undefined_and_returned_unchanged(dtype, size, start):
    x0, s = np.array([start, 1], dtype), np.array([size, 1], dtype)
    bounds = Bounds(np.array([1, -5], dtype), np.array([9, 5], dtype))

    def fun(x):
        return size * float(x[0]) + 0.5 * float(x[1]) ** 2, np.array([size, x[1]], dtype)

    r = minimize(fun, x0, bounds=bounds, x_scale=s)
    assert r.task == Task.NOT_FINITE and "x_scale" in r.message
    same(r.jac, fun(r.x)[1])


@pytest.mark.parametrize("solve", [minimize, minimize_batch])
def test_bounds_that_leave_the_range_of_numbers_when_they_are_scaled(solve):
    def end(x0, lower, upper, x_scale):
        x0 = np.full(2 if solve is minimize else (2, 2), x0)
        return solve(lambda x: (0 * x.sum(-1), 0 * x), x0, bounds=Bounds(lower, upper), x_scale=x_scale).x

    for lower, upper in ((1e200, np.inf), (-np.inf, -1e200)):
        with pytest.raises(cuda_opt.ImproperInput, match="scale"):
            end(0.0, lower, upper, 1e-200)
    same(end(1.0, -1e200, 1e200, 1e-200), 1)  # z has no bounds
    same(end(0.0, -1e-200, 1e-200, 1e200), -1e-200)  # the bounds of z are equal


DOSES = np.array([0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000]) * 1e-9
RESPONSES = np.array([2.0, 1, 5, 16, 41, 74, 88, 97, 96])
RANGES = [(0, 200), (-50, 100), (1e-12, 1e-3), (0.1, 10)]


def dose_response(p):
    """Half the squares of top / (1 + (middle / dose)^slope) + bottom - response."""
    top, bottom, middle, slope = p
    u = (middle / DOSES) ** slope
    q = 1 / (1 + u)
    off, w = top * q + bottom - RESPONSES, top * q * q * u
    slopes = [off @ q, off.sum(), -(off @ w) * slope / middle, -(off @ (w * np.log(middle / DOSES)))]
    return off @ off / 2, np.array(slopes)


@pytest.mark.parametrize("start", [[100, 0, 1e-8, 1], [100, 0, 1e-6, 1], [50, 50, 1e-7, 2], [80, 10, 3e-9, 0.7]])
def test_a_curve_in_natural_units_is_fitted_without_scales(start):
    result = minimize(dose_response, np.array(start, float), bounds=RANGES)
    assert result.success and result.fun < 7.3 and result.nfev < 500  # the minimum is 7.229, and all take 80 to 150


def test_the_message_of_a_failed_solve_names_variables_of_different_size():
    options = {"INITIAL_HESSIAN": InitialHessian.SCALAR}  # which does not begin from the sizes of x
    result = minimize(dose_response, [100, 0, 1e-8, 1], bounds=RANGES, options=options)
    assert not result.success
    assert "x[2] = " in result.message and "try x_scale=[100, " in result.message


def with_a_variable_from_zero(p):
    """dose_response() plus half the square of w - 1, for a fifth variable w."""
    f, g = dose_response(p[:4])
    return f + (p[4] - 1) ** 2 / 2, np.append(g, p[4] - 1)


def test_a_curve_with_a_variable_that_starts_at_zero_is_fitted_without_scales():
    result = minimize(with_a_variable_from_zero, [100, 0, 1e-8, 1, 0], bounds=[*RANGES, (None, None)])
    assert result.success and result.fun < 7.3


def test_the_hint_ignores_variables_without_a_size_and_solves_with_scales():
    start = [100, 0, 1e-8, 1]
    fixed = Solver(np.array([3e9, *start]), bounds=[(3e9, 3e9), *RANGES])
    assert "x[3] = " in hint_on_sizes(fixed) and "x[0] = " not in hint_on_sizes(fixed)
    assert not hint_on_sizes(Solver(np.array(start), bounds=RANGES, x_scale=np.ones(4)))
    assert not hint_on_sizes(Solver(np.array([1.0, 0, -2, 5])))
    assert hint_on_sizes(Solver(np.array([1.0] * 8 + [1e-5]))).endswith("try x_scale")
