"""Tests that cuda_opt.jax compiles a solve only once, and tests solves inside functions that JAX transforms.

The tested properties are the same as in the tests of jaxopt's LBFGSB: value, bounds, pytrees, jit, vmap, implicit
differentiation, auxiliary output and single precision."""
import gc
import weakref

import numpy as np
import pytest

import cuda_opt

jax = pytest.importorskip("jax")
jnp = jax.numpy
import cuda_opt.jax as solver  # noqa: E402

Bounds = cuda_opt.Bounds
pytestmark = pytest.mark.usefixtures("doubles")


def squares(x, centre, weight=1.0):
    """Return a weighted sum of squares. Its minimiser in a box is the point of the box nearest to the centre."""
    return jnp.sum(weight * (x - centre) ** 2)


CENTRE = np.linspace(-1, 2, 7)
BOX = Bounds(-0.5, 1.5)
NEAREST = np.clip(CENTRE, -0.5, 1.5)


class Counting:
    """A function that counts how often JAX traces it, so that tests can count compilations."""

    def __init__(self):
        self.traces = 0

    def __call__(self, x, centre):
        self.traces += 1
        return squares(x, centre)


def test_a_solve_is_compiled_once_for_each_function_and_shape():
    fun = Counting()
    for start in (0.0, 1.0, 2.0):
        result = solver.minimize(fun, jnp.full(7, start), (CENTRE * start,), BOX)
        np.testing.assert_allclose(result.x, np.clip(CENTRE * start, -0.5, 1.5), atol=1e-6)
    assert fun.traces == 1
    solver.minimize(fun, jnp.zeros(3), (CENTRE[:3],))
    assert fun.traces == 2
    rows = Counting()
    for start in (0.0, 1.0):
        solver.minimize_batch(rows, jnp.full((4, 7), start), (jnp.tile(CENTRE, (4, 1)),), BOX)
        seen = rows.traces if start == 0 else seen
    # JAX traces the function of a batch once for each of 4, 2 and 1 active problems.
    assert rows.traces == seen <= 3


def test_compiled_solves_do_not_keep_functions_alive():
    data = np.zeros(5)

    def fun(x):
        return jnp.sum((x - data) ** 2)

    solver.minimize(fun, jnp.ones(5))
    solver.minimize_batch(fun, jnp.ones((2, 5)))
    reference = weakref.ref(fun)
    del fun
    gc.collect()
    assert reference() is None


def test_a_changed_static_argument_causes_a_compilation():
    """Numbers and arrays among the arguments of fun are traced. Other arguments are static, and a change of one causes
    a new compilation."""
    traces = []

    def fun(x, name, *, options):
        traces.append(name)
        return jnp.sum((x - options["centre"]) ** (4 if name == "quartic" else 2)) * options["scale"]

    for name, centre in (("square", 0.5), ("square", 0.7), ("quartic", 0.5), ("square", 0.5)):
        given = {"options": {"centre": centre, "scale": 2, "note": None}}
        result = solver.minimize(fun, jnp.zeros(3), (name,), kwargs=given, tol=1e-12)
        np.testing.assert_allclose(result.x, centre, atol=1e-2 if name == "quartic" else 1e-6)
    assert traces == ["square", "quartic"]
    with pytest.raises(TypeError, match="neither numeric nor hashable"):
        solver.minimize(fun, jnp.zeros(3), ({"a", "b"},), kwargs=given)


def test_static_leaves_of_x0_are_returned_unchanged():
    def fun(tree):
        return jnp.sum((tree["activation"](tree["w"]) - 0.25) ** 2) + (tree["b"] - 1) ** 2

    x0 = {"w": jnp.zeros(3), "activation": jnp.tanh, "b": 0, "flag": True, "none": None}
    lower = {"w": -1, "activation": None, "b": None, "flag": None, "none": None}
    upper = {"w": 0.2, "activation": 0, "b": 0.75, "flag": 0, "none": None}
    result = solver.minimize(fun, x0, bounds=Bounds(lower, upper))
    assert result.x["activation"] is jnp.tanh and result.x["flag"] is True and result.x["none"] is None
    np.testing.assert_allclose(result.x["w"], 0.2)
    assert result.x["b"] == 0.75 and result.x["b"].dtype == jnp.float64


@pytest.mark.parametrize("x64", [True, False])
@pytest.mark.parametrize("start", [np.arange(3), jnp.arange(3), jnp.zeros(3, jnp.float32)])
def test_the_precision_of_x0_determines_that_of_the_result(start, x64):
    """Integers in x0 are converted to JAX's default precision, and a float32 x0 stays float32."""
    expected = jnp.float32 if not x64 or start.dtype == jnp.float32 else jnp.float64
    jax.config.update("jax_enable_x64", x64)
    result = solver.minimize(squares, start, (0.5,), (0, 0.25))
    assert result.x.dtype == result.jac.dtype == expected and isinstance(result.x, jax.Array)
    np.testing.assert_array_equal(result.x, 0.25)
    result = solver.minimize(lambda t: squares(t["a"], 0.5) + squares(t["b"], 3), {"a": start, "b": 7})
    assert result.x["b"].dtype == expected


def test_bounds_may_be_prefix_trees_and_contain_none():
    x0 = {"a": jnp.zeros((2, 3)), "rest": [jnp.zeros(2), jnp.zeros(())]}

    def fun(t):
        return squares(t["a"], 9.0) + squares(t["rest"][0], 9.0) + squares(t["rest"][1], -9.0)

    upper = {"a": jnp.array([1.0, 2, 3]), "rest": 4}
    result = solver.minimize(fun, x0, bounds=Bounds({"a": None, "rest": -1.0}, upper))
    np.testing.assert_array_equal(result.x["a"], [[1, 2, 3], [1, 2, 3]])
    np.testing.assert_array_equal(result.x["rest"][0], 4)
    assert result.x["rest"][1] == -1
    with pytest.raises(ValueError, match="a side of the bounds has a list where x0 has a dict"):
        solver.minimize(fun, x0, bounds=Bounds([0, 1], None))


@pytest.mark.parametrize("value_and_grad", [False, True])
def test_auxiliary_output_is_that_of_the_minimiser(value_and_grad):
    def with_aux(x, centre):
        return squares(x, centre), {"sum": x.sum(), "twice": 2 * x}

    fun = jax.value_and_grad(with_aux, has_aux=True) if value_and_grad else with_aux
    form = {"value_and_grad": value_and_grad, "has_aux": True}
    for jit in (True, False):
        result = solver.minimize(fun, jnp.zeros(7), (CENTRE,), BOX, jit=jit, **form)
        np.testing.assert_array_equal(result.aux["twice"], 2 * result.x)
    inside = jax.jit(lambda c: solver.minimize(fun, jnp.zeros(7), (c,), BOX, **form))(CENTRE)
    np.testing.assert_allclose(inside.aux["twice"], 2 * NEAREST, atol=1e-6)


def test_a_solve_inside_jit_returns_the_complete_result():
    inside = jax.jit(lambda x0, c: solver.minimize(squares, x0, (c,), BOX))(jnp.zeros(7), CENTRE)
    outside = solver.minimize(squares, jnp.zeros(7), (CENTRE,), BOX)
    np.testing.assert_array_equal(inside.x, outside.x)
    np.testing.assert_allclose(inside.jac, outside.jac, atol=1e-15)
    assert inside.fun == pytest.approx(outside.fun) and bool(inside.success) and inside.status == 0
    assert (inside.nit, inside.nfev) == (outside.nit, outside.nfev)
    limited = jax.jit(lambda c: solver.minimize(squares, jnp.zeros(7), (c, jnp.arange(1.0, 8)), options={"maxiter": 1}))
    assert limited(CENTRE).status == 1 and limited(CENTRE).task == cuda_opt.Task.ITERATION_LIMIT


def test_x0_may_be_a_pytree_inside_jit():
    def fun(tree, centre):
        return squares(tree["a"], centre) + squares(tree["b"], -3.0)

    x0 = {"a": jnp.zeros((2, 2)), "b": jnp.zeros(())}
    result = jax.jit(lambda c: solver.minimize(fun, x0, (c,), ({"a": None, "b": -1}, {"a": 2, "b": None})))(5.0)
    np.testing.assert_array_equal(result.x["a"], np.full((2, 2), 2))
    assert result.x["b"] == -1


@pytest.mark.parametrize("n", [7, 4097])
def test_vmap_solves_problems_as_a_batch_or_one_by_one(n):
    """Under vmap the problems are solved as one batch, or one by one if they have more variables than the batch
    interface allows."""
    centres = jnp.stack([jnp.linspace(-1, 2, n), jnp.linspace(3, -2, n), jnp.zeros(n)])

    def mapped(x0, centre, weight, lower):
        return solver.minimize(squares, x0, (centre, weight), (lower, 1.5))

    lower = jnp.array([-0.5, -0.25, 1.0])
    many = jax.jit(jax.vmap(mapped, (None, 0, None, 0)))(jnp.zeros(n), centres, jnp.ones(n), lower)
    np.testing.assert_allclose(many.x, np.clip(centres, lower[:, None], 1.5), atol=1e-6)
    assert many.success.all() and many.nit.shape == (3,)
    if n < 100:
        each = jax.vmap(jax.vmap(mapped, (None, 0, None, None)), (None, None, None, 0))
        both = each(jnp.zeros(n), centres, jnp.ones(n), lower)
        np.testing.assert_allclose(both.x, np.clip(centres, lower[:, None, None], 1.5), atol=1e-6)


def test_vmap_works_in_float32_if_jax_enable_x64_is_off():
    jax.config.update("jax_enable_x64", False)
    centres = jnp.stack([CENTRE, -CENTRE]).astype(jnp.float32)
    many = jax.vmap(lambda c: solver.minimize(squares, jnp.zeros(7, jnp.float32), (c,), BOX).x)(centres)
    assert many.dtype == jnp.float32
    np.testing.assert_allclose(many, np.clip(centres, -0.5, 1.5), atol=1e-4)


def test_the_host_callback_uses_the_precision_of_the_calling_thread():
    """The host callback runs in another thread. It uses doubles even if jax_enable_x64 is on for the calling thread
    only."""
    jax.config.update("jax_enable_x64", False)
    enabled = jax.enable_x64(True) if hasattr(jax, "enable_x64") else jax.experimental.enable_x64()
    with enabled:
        found = jax.jit(lambda c: solver.minimize(squares, jnp.zeros(7), (c,), BOX, tol=1e-12).x)(jnp.asarray(CENTRE))
        assert found.dtype == jnp.float64
        np.testing.assert_allclose(found, NEAREST, atol=1e-12)


def test_solves_work_inside_scan_and_cond():
    def minimum(centre):
        return solver.minimize(squares, jnp.zeros(7), (centre,), BOX).x

    _, found = jax.lax.scan(lambda carry, c: (carry, minimum(c)), 0, jnp.stack([CENTRE, -CENTRE]))
    np.testing.assert_allclose(found, np.clip([CENTRE, -CENTRE], -0.5, 1.5), atol=1e-6)
    either = jax.jit(lambda c: jax.lax.cond(c[0] < 0, minimum, lambda c: c, c))
    np.testing.assert_allclose(either(CENTRE), NEAREST, atol=1e-6)
    np.testing.assert_array_equal(either(CENTRE + 5), CENTRE + 5)


def test_batches_are_solved_if_their_bounds_alone_are_traced():
    def rows(upper):
        return solver.minimize_batch(squares, jnp.zeros((2, 7)), (jnp.ones(2),), (-0.5, upper)).x

    assert jax.vmap(rows)(jnp.array([0.25, 0.5]))[1] == pytest.approx(0.5)
    assert jax.grad(lambda upper: rows(upper).sum())(0.25) == pytest.approx(14)


def test_problems_under_vmap_may_all_be_improper():
    def solve(x0):
        return solver.minimize(squares, x0, (1.0,))

    for function in (jax.vmap(solve), jax.jit(jax.vmap(solve))):
        result = function(jnp.full((2, 7), jnp.nan))
        assert result.task.tolist() == 2 * [cuda_opt.Task.IMPROPER_INPUT]


def test_minimize_batch_works_inside_jit():
    centres = jnp.stack([CENTRE, -CENTRE, 2 * CENTRE])
    upper = jnp.full((3, 7), 1.5)

    def found(centres):
        return solver.minimize_batch(squares, jnp.zeros((3, 7)), (centres,), (-0.5, upper))

    result = jax.jit(found)(centres)
    np.testing.assert_allclose(result.x, np.clip(centres, -0.5, 1.5), atol=1e-6)
    for settings in ({"callback": print}, {"diagonal": lambda x, c: x}):
        with pytest.raises(TypeError, match="JAX is tracing the solve"):
            jax.jit(lambda c: solver.minimize_batch(squares, jnp.zeros((3, 7)), (c,), **settings).x)(centres)
    with pytest.raises(TypeError, match="JAX is tracing the solve"):
        jax.jit(lambda c: solver.minimize(squares, jnp.zeros(7), (c,), callback=print).x)(CENTRE)


def test_a_closure_over_traced_values():
    def found(centre):
        return solver.minimize(lambda x: squares(x, centre), jnp.zeros(7), bounds=BOX).x

    np.testing.assert_allclose(jax.jit(found)(CENTRE), NEAREST, atol=1e-6)
    gradient = jax.grad(lambda c: (found(c) * jnp.arange(7)).sum())(CENTRE)
    np.testing.assert_allclose(gradient, np.arange(7) * ((CENTRE > -0.5) & (CENTRE < 1.5)), atol=1e-8)


def test_values_of_the_minimum_have_derivatives():
    """The derivative of the minimum of f with respect to data is the partial derivative of f at the minimiser."""
    value = jax.grad(lambda c: solver.minimize(squares, jnp.zeros(7), (c,), BOX).fun)
    np.testing.assert_allclose(value(CENTRE), -2 * (NEAREST - CENTRE), atol=1e-6)


def test_errors_that_are_known_when_jit_traces_are_raised_and_others_are_return_codes():
    with pytest.raises(ValueError, match="there is no option nonsense"):
        jax.jit(lambda c: solver.minimize(squares, jnp.zeros(7), (c,), options={"nonsense": 1}).x)(CENTRE)
    for x0, bounds in ((jnp.zeros(7), (2, 1)), (jnp.full(7, jnp.nan), None)):
        result = jax.jit(lambda c, x0, bounds: solver.minimize(squares, x0, (c,), bounds))(CENTRE, x0, bounds)
        assert int(result.task) == cuda_opt.Task.IMPROPER_INPUT and int(result.status) == 2 and not result.success


def test_several_solves_at_once_cause_no_deadlock():
    """The host callback calls JAX while JAX waits for the callback. This causes no deadlock, even with large arrays and
    several callbacks at once."""
    n = 200_000
    centre = jnp.linspace(-1, 2, n)

    @jax.jit
    def several(c):
        found = [solver.minimize(squares, jnp.zeros(n), (k * c,), BOX).x for k in (1.0, 2.0, 3.0)]
        return jnp.stack(found).sum(1)

    expected = [np.clip(k * np.linspace(-1, 2, n), -0.5, 1.5).sum() for k in (1, 2, 3)]
    for _ in range(3):
        np.testing.assert_allclose(several(centre), expected, rtol=1e-6)
