"""Compares ``minimize_batch`` with solves of single problems, with SciPy, and with the conditions for a minimum."""
import gc
import weakref

import numpy as np
import pytest
from problems import PROBLEMS, random_seed

import cuda_opt
from cuda_opt import Bounds, Task

TIGHT = {"ftol": 0, "gtol": 1e-8, "maxcor": 5}


def rosenbrocks(x):
    """Return chained Rosenbrock functions and their gradients, for one point per row of x."""
    a, b = x[:, 1:] - x[:, :-1] ** 2, 1 - x[:, :-1]
    g = np.zeros_like(x)
    g[:, :-1] = -400 * x[:, :-1] * a - 2 * b
    g[:, 1:] += 200 * a
    return (100 * a**2 + b**2).sum(1), g


def parabolas(x, p):
    """Return f = sum (x_i - i - p)^2 / 2 and the gradient for each problem p. The minimiser in a box is the point of
    the box nearest to (p, p + 1, ...)."""
    g = x - np.arange(x.shape[1]) - p[:, None]
    return (g**2).sum(1) / 2, g


def starts(count, n):
    return np.random.default_rng(random_seed(1)).uniform(-2, 2, (count, n))


def projected(x, g, lower, upper):
    return x - np.clip(x - g, lower, upper)


def test_each_problem_satisfies_the_optimality_conditions_in_its_own_box():
    """Each problem of a batch has its own box. The results satisfy the conditions for a minimum, evaluated with the
    function itself."""
    random, x0 = np.random.default_rng(random_seed(2)), starts(300, 7)
    lower, upper = np.sort(random.uniform(-2, 2, (2, 300, 7)), 0)
    held = random.random(x0.shape) < 0.3
    lower[held], upper[~held & (random.random(x0.shape) < 0.3)] = -np.inf, np.inf
    lower[:100, 5:] = upper[:100, 5:] = 0.25  # equal bounds fix these variables
    result = cuda_opt.minimize_batch(rosenbrocks, x0, bounds=Bounds(lower, upper), options=TIGHT)
    assert result.success.all() and result.task is Task.CONVERGED and "all 300 problems" in result.message
    f, g = rosenbrocks(result.x)
    assert (lower <= result.x).all() and (result.x <= upper).all() and (result.x[:100, 5:] == 0.25).all()
    norms = np.abs(projected(result.x, g, lower, upper)).max(1)
    assert norms.max() <= 1e-8
    np.testing.assert_allclose(result.pg_norm_inf, norms, atol=1e-12)
    np.testing.assert_array_equal(result.fun, f)
    np.testing.assert_array_equal(result.jac, g)
    assert ((x0 < -2) | (x0 > 2)).sum() == 0 and np.ptp(result.nit) > 0 and (result.nfev >= result.nit).all()
    assert result.rounds == result.nfev.max()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_problem_has_bitwise_the_same_result_alone_and_in_a_batch(dtype):
    """The iterates of a problem do not depend on the other problems of the batch or on the number of threads. For
    comparison each problem is also solved alone."""
    x0, bounds = starts(40, 6).astype(dtype), Bounds(-1.5, 0.8)
    together = cuda_opt.minimize_batch(rosenbrocks, x0, bounds=bounds, options={"THREADS": 2})
    assert together.x.dtype == dtype and together.fun.dtype == np.float64
    for p in range(40):
        alone = cuda_opt.minimize_batch(rosenbrocks, x0[p : p + 1], bounds=bounds)
        np.testing.assert_array_equal(alone.x[0], together.x[p])
        assert (alone.nit[0], alone.nfev[0], alone.codes[0]) == (together.nit[p], together.nfev[p], together.codes[p])
        assert alone.message_of(0) == together.message_of(p)


@pytest.mark.parametrize("options", [{}, {"INITIAL_HESSIAN": cuda_opt.InitialHessian.SCALAR}])
def test_a_batch_makes_the_same_iterations_as_minimize(options):
    """The iterations of a batch agree with those of ``minimize`` with the same options, except for rounding errors,
    because sums have another order."""
    x0 = starts(50, 5)
    batch = cuda_opt.minimize_batch(rosenbrocks, x0, bounds=[(-1.5, 0.8)] * 5, options={"maxiter": 6, **options})
    assert (batch.status == 1).any() and set(batch.codes) <= {0, Task.ITERATION_LIMIT}
    for p, start in enumerate(x0):
        one = cuda_opt.minimize(
            lambda x: tuple(row[0] for row in rosenbrocks(x[None])), start, bounds=[(-1.5, 0.8)] * 5,
            options={"maxiter": 6, **options},
        )
        assert (one.nit, one.nfev, one.status) == (batch.nit[p], batch.nfev[p], batch.status[p])
        np.testing.assert_allclose(one.x, batch.x[p], rtol=0, atol=1e-9)


SCALES = np.logspace(0, 4, 20)


def bad_scaling(x, p):
    return SCALES @ (x**2 + x**4 / 2).T, SCALES * (2 * x + 2 * x**3)


def inverse_curvature(x, p):
    return 1 / (SCALES * (2 + 6 * x**2))


@pytest.mark.parametrize("lower, solution", [(0.25, 0.25), (-np.inf, 0)])
def test_diagonal_initial_hessians_reduce_the_evaluations_of_a_batch(lower, solution):
    """If the variables have different scales, a supplied and a learned diagonal lead to the same x as the scalar
    initial Hessian, with fewer evaluations."""
    calls = []

    def diagonal(x, p):
        calls.append(len(p))
        return inverse_curvature(x, p)

    def run(diagonal=None, **options):
        options = {"ftol": 0, "gtol": 1e-8, **options}
        result = cuda_opt.minimize_batch(bad_scaling, starts(30, 20), bounds=Bounds(lower, np.inf), options=options,
                                         indices=True, diagonal=diagonal)
        assert result.success.all()
        np.testing.assert_allclose(result.x, solution, rtol=0, atol=1e-7)
        return result

    plain, given, learned = run(INITIAL_HESSIAN=cuda_opt.InitialHessian.SCALAR), run(diagonal), run()
    np.testing.assert_array_equal(learned.nfev, run(INITIAL_HESSIAN=cuda_opt.InitialHessian.LEARNED).nfev)
    assert len(calls) == given.rounds and calls[0] == 30
    # If ``lower`` is 0.25, all variables soon become active, and the initial Hessian has little effect.
    if lower < 0:
        # Over 120 starts the ratios of the medians are 0.03 and 0.17.
        assert np.median(given.nfev / plain.nfev) < 0.1 and np.median(learned.nfev / plain.nfev) < 0.55


def test_an_invalid_diagonal_ends_only_its_own_problem():
    def bad(x, p):
        diagonal = inverse_curvature(x, p)
        diagonal[p == 7, 2] = -1
        return diagonal

    result = cuda_opt.minimize_batch(bad_scaling, starts(9, 20), diagonal=bad, indices=True)
    assert result.codes[7] == Task.BAD_DIAGONAL and np.delete(result.success, 7).all()
    assert "index 2 (counted from 0) is not positive and finite" in result.message_of(7)


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_minima_of_a_batch_are_no_higher_than_those_of_scipy(problem):
    """Each minimum of a batch is no higher than that of SciPy's L-BFGS-B from the same start, or x satisfies the
    conditions for another minimum. The starts are the standard start of the problem and points near it."""
    scipy = pytest.importorskip("scipy.optimize")
    x0 = problem.x0 + np.outer([0, 0.01, 0.1], np.ones_like(problem.x0))

    def fun(x):
        pairs = [problem(point) for point in x]
        return np.array([f for f, _ in pairs]), np.array([g for _, g in pairs])

    bounds = problem.pairs
    result = cuda_opt.minimize_batch(fun, x0, bounds=bounds, options={"ftol": 1e-12, "gtol": 1e-6})
    sides = np.array(bounds).T if bounds else ([-np.inf], [np.inf])
    for p, start in enumerate(x0):
        theirs = scipy.minimize(problem, start, jac=True, method="L-BFGS-B", bounds=bounds, tol=1e-12)
        f, g = problem(result.x[p])
        assert f == result.fun[p] and (result.x[p] == np.clip(result.x[p], *sides)).all()
        within = f <= theirs.fun + 1e-5 * max(1, abs(theirs.fun))
        assert within or np.abs(projected(result.x[p], g, *sides)).max() < 1e-4, (f, theirs.fun)


def test_fun_receives_only_the_active_problems_of_a_batch():
    """In a batch the user's function receives only the active problems, in ascending order, each with its own row. x is
    read-only and satisfies the bounds."""
    seen = []

    def fun(x, p, shift):
        assert x.shape == (len(p), 4) and p.dtype == np.int64 and (np.diff(p) > 0).all()
        assert (x >= 0).all() and (x <= 5).all()
        with pytest.raises(ValueError):
            x[0] = 1
        seen.append(p.copy())
        f, g = parabolas(x - shift, p)
        # For problems 0 to 2, the function returns f = 0 and g = 0 in the first evaluation, so that they converge at
        # once.
        done = p < 3
        # The function overwrites the indices that it has received, which must have no effect.
        p[:] = 5
        return np.where(done, 0, f), np.where(done[:, None], 0, g)

    result = cuda_opt.minimize_batch(fun, np.full((6, 4), 7.0), (0.5,), bounds=Bounds(0, 5), indices=True)
    np.testing.assert_array_equal(seen[0], range(6))
    # Problem 5 has converged as well, because its minimiser is the corner of the box at which it starts.
    np.testing.assert_array_equal(seen[1], [3, 4])
    np.testing.assert_array_equal(result.x[:3], np.full((3, 4), 5))
    np.testing.assert_allclose(result.x[3:], np.clip(np.arange(4) + np.arange(3, 6)[:, None] + 0.5, 0, 5))
    assert len(seen) == result.rounds


def test_a_batch_accepts_jac_as_a_function_and_lists():
    result = cuda_opt.minimize_batch(
        lambda x, p: parabolas(x, p)[0], [[0, 0], [0, 0]], jac=lambda x, p: parabolas(x, p)[1], indices=True
    )
    np.testing.assert_allclose(result.x, [[0, 1], [1, 2]], atol=1e-6)
    pairs = cuda_opt.minimize_batch(lambda x, p: list(parabolas(x, p)), [[0, 0], [0, 0]], indices=True)
    np.testing.assert_array_equal(pairs.x, result.x)


def test_a_batch_accepts_starts_in_any_memory_layout():
    x0 = starts(5, 3)
    expected = cuda_opt.minimize_batch(rosenbrocks, x0).x
    wide = np.zeros((5, 6))
    wide[:, ::2] = x0
    for same in (np.asfortranarray(x0), wide[:, ::2], x0.astype(">f8")):
        before = same.copy()
        np.testing.assert_array_equal(cuda_opt.minimize_batch(rosenbrocks, same).x, expected)
        np.testing.assert_array_equal(same, before)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_equal_bounds_in_any_form_give_bitwise_equal_results(dtype):
    """Bounds of a batch may be numbers, one row for all problems, or one row per problem, in any combination. The
    results for equal boxes are bitwise equal."""
    x0 = starts(5, 3).astype(dtype)
    whole, row = lambda side: np.full((5, 3), side, dtype), lambda side: np.full(3, side, dtype)  # noqa: E731
    expected = cuda_opt.minimize_batch(rosenbrocks, x0, bounds=Bounds(-1, 0.5)).x
    assert (expected == np.float32(0.5)).any()
    for lower in (-1, row(-1), whole(-1), [-1] * 3):
        for upper in (0.5, row(0.5), whole(0.5), whole(0.5).tolist(), np.asfortranarray(whole(0.5))):
            result = cuda_opt.minimize_batch(rosenbrocks, x0, bounds=Bounds(lower, upper))
            np.testing.assert_array_equal(result.x, expected)
    half, *others = (
        cuda_opt.minimize_batch(rosenbrocks, x0, bounds=Bounds(none, whole(0.5))).x
        for none in (None, -np.inf, [None] * 3, [[None, -np.inf, None]] * 5)
    )
    assert half.max() == 0.5
    for other in others:
        np.testing.assert_array_equal(other, half)
    own = np.array([[2, 3, 4.0]]) + np.arange(5)[:, None]
    held = cuda_opt.minimize_batch(rosenbrocks, x0, bounds=Bounds(own, own))
    np.testing.assert_array_equal(held.x, own)


def test_problems_that_fail_do_not_affect_the_other_problems():
    """A problem that cannot be solved ends with its own return code: because of NaN, a lower bound above an upper
    bound, an unbounded function, or a wrong gradient. The results of the other problems are bitwise the same as without
    such problems."""
    x0 = starts(12, 4)
    lower, upper = np.full((12, 4), -3.0), np.full((12, 4), 0.7)
    lower[3, 1] = 2
    lower[7], upper[7] = -np.inf, np.inf
    x0[5, 2] = np.nan

    def fun(x, p):
        f, g = rosenbrocks(x)
        f[p == 1] = np.nan
        unbounded = p == 7
        f[unbounded], g[unbounded] = -x[unbounded].sum(1), -1
        g[p == 9] *= -1
        return f, g

    with np.errstate(all="ignore"):
        result = cuda_opt.minimize_batch(fun, x0, bounds=Bounds(lower, upper), indices=True, options={"maxiter": 500})
    ill = {1: Task.NOT_FINITE, 3: Task.IMPROPER_INPUT, 5: Task.IMPROPER_INPUT, 9: Task.LINE_SEARCH_FAILED}
    assert {p: Task(result.codes[p]) for p in ill} == ill and result.codes[7] != 0
    assert result.task is Task.NOT_FINITE and not result.success[[*ill, 7]].any() and (result.status[[*ill]] == 2).all()
    assert "NaN" in result.message_of(1) and "l = 2" in result.message_of(3) and "x = nan" in result.message_of(5)
    assert "problem 1 (counted from 0)" in result.message
    for p in (3, 5):
        assert np.isnan([result.fun[p], result.pg_norm_inf[p], *result.jac[p]]).all() and result.nfev[p] == 0
    healthy = [p for p in range(12) if p not in ill and p != 7]
    alone = cuda_opt.minimize_batch(rosenbrocks, x0[healthy], bounds=Bounds(-3, 0.7), options={"maxiter": 500})
    assert result.success[healthy].all()
    for name in ("x", "fun", "jac", "nit", "nfev", "codes"):
        np.testing.assert_array_equal(result[name][healthy], alone[name])


def test_the_step_of_a_problem_is_shortened_where_its_f_is_undefined():
    """f contains log x, and is NaN at some trial points. The step of the problem is then shortened."""

    def logs(x):  # sum x - log x
        with np.errstate(invalid="ignore", divide="ignore"):
            return (x - np.log(x)).sum(1), 1 - 1 / x

    x0 = np.array([[1e-3, 0.5], [4.0, 9.0], [1.0, 1.0]])
    result = cuda_opt.minimize_batch(logs, x0, options=TIGHT)
    assert result.success.all()
    np.testing.assert_allclose(result.x, 1, atol=1e-4)


def test_stop_iteration_in_the_callback_ends_a_batch():
    seen = []

    def callback(intermediate_result):
        seen.append((intermediate_result.rounds, intermediate_result.active))
        if len(seen) == 4:
            raise StopIteration

    x0 = starts(9, 5)
    result = cuda_opt.minimize_batch(rosenbrocks, x0, callback=callback)
    assert seen == [(1, 9), (2, 9), (3, 9), (4, 9)] and result.rounds == 4
    assert result.task is Task.STOPPED and (result.codes == Task.STOPPED).all() and (result.status == 2).all()
    assert (result.fun <= rosenbrocks(x0)[0]).all()
    np.testing.assert_array_equal(result.fun, rosenbrocks(result.x)[0])


@pytest.mark.parametrize("x_scale", [None, [1, 2, 0.5]])
@pytest.mark.parametrize("as_arrays", [np.asarray, "torch"])
def test_the_callback_of_a_batch_receives_each_iterate(as_arrays, x_scale):
    """With REPORT_ITERATES=1 the callback receives each iterate of each problem once, and as many as ``minimize``
    reports. A StopIteration in it ends the batch."""
    if as_arrays == "torch":
        as_arrays = pytest.importorskip("torch").tensor
    x0, options = starts(20, 3), {"REPORT_ITERATES": 1, "gtol": 1e-9}
    paths = [[] for _ in x0]

    def fun(x):
        return tuple(as_arrays(one) for one in rosenbrocks(np.array(x.tolist())))

    def callback(intermediate_result):
        of = intermediate_result
        assert type(of.x) is type(as_arrays(x0)) and tuple(of.x.shape) == (len(of.problems), 3) and of.active <= 20
        np.testing.assert_array_equal(of.fun, rosenbrocks(np.array(of.x.tolist()))[0])
        for p, *values in zip(of.problems, of.nit, of.fun, of.x):
            paths[p].append(values)

    given = {"bounds": Bounds(-1.5, 0.8), "x_scale": x_scale, "options": options}
    result = cuda_opt.minimize_batch(fun, as_arrays(x0), callback=callback, **given)
    for p, start in enumerate(x0):
        assert [nit for nit, _, _ in paths[p]] == list(range(1, result.nit[p] + 1))
        assert paths[p][-1][1] == result.fun[p] and paths[p][-1][2].tolist() == result.x[p].tolist()
    alone, given_alone = [], {**given, "options": {**options, "maxcor": 10}}
    one = lambda x: tuple(row[0] for row in rosenbrocks(x[None]))  # noqa: E731
    cuda_opt.minimize(one, x0[0], callback=lambda intermediate_result: alone.append(intermediate_result), **given_alone)
    np.testing.assert_allclose([f for _, f, _ in paths[0]], [found.fun for found in alone], rtol=1e-6, atol=1e-12)

    called = []

    def stop(intermediate_result):
        called.append(intermediate_result.rounds)
        raise StopIteration

    stopped = cuda_opt.minimize_batch(fun, as_arrays(x0), callback=stop, **given)
    assert stopped.task is Task.STOPPED and [stopped.rounds - 1] == called


@pytest.mark.parametrize("at", range(1, 12))
def test_a_batch_stopped_in_any_round_returns_evaluated_points(at):
    """If a batch is stopped in any round, each problem returns an x and an f that its function has computed, whatever
    the arrays contained before."""
    offsets, seen = 1000.0 * np.arange(12), set()

    def fun(x, p):
        f, g = rosenbrocks(x)
        # Every third problem is easier and converges sooner, so that rows of the other problems are moved.
        short = p % 3 == 0
        f = offsets[p] + np.where(short, ((x - 1) ** 2).sum(1) / 2, f)
        seen.update((int(q), float(value), point.tobytes()) for q, value, point in zip(p, f, x))
        return f, np.where(short[:, None], x - 1, g)

    def callback(intermediate_result):
        if intermediate_result.rounds == at:
            raise StopIteration

    # The allocator is likely to give this memory to the solver after it is freed. If the solver returned an element
    # that it has not written, the value -1 would be visible in the result.
    poison = [np.full(size, -1.0) for size in (12, 36)]
    del poison
    result = cuda_opt.minimize_batch(fun, starts(12, 3), callback=callback, indices=True)
    assert result.rounds == at and result.task is Task.STOPPED
    for p in range(12):
        assert (p, float(result.fun[p]), result.x[p].tobytes()) in seen, p


def test_limits_and_tolerances_end_all_problems_of_a_batch():
    x0 = starts(9, 5)
    for options, codes in (
        ({"maxiter": 2}, {Task.ITERATION_LIMIT}),
        ({"maxfun": 3}, {Task.EVALUATION_LIMIT}),
        ({"F_TARGET": 1e9}, {Task.CONVERGED}),
        ({"MAX_SECONDS": 1e-9}, {Task.TIME_LIMIT}),
    ):
        result = cuda_opt.minimize_batch(rosenbrocks, x0, options=options)
        assert set(result.codes) == codes, options
        assert set(result.status) == ({0} if codes == {Task.CONVERGED} else {1})
    loose, tight = (cuda_opt.minimize_batch(rosenbrocks, x0, tol=tol).pg_norm_inf for tol in (1e-1, 1e-7))
    assert tight.max() < loose.max() / 10


class OwnError(Exception):
    pass


def test_exceptions_of_fun_are_raised_unchanged_and_memory_is_freed():
    class Function:
        def __call__(self, x):
            raise OwnError

    fun = Function()
    gone = weakref.ref(fun)
    with pytest.raises(OwnError):
        cuda_opt.minimize_batch(fun, starts(3, 2))
    del fun
    gc.collect()
    assert gone() is None
    result = cuda_opt.minimize_batch(rosenbrocks, starts(3, 2))
    handle = weakref.ref(result.message_of._batch)
    del result
    gc.collect()
    assert handle() is None


@pytest.mark.parametrize(
    "settings, kind, text",
    [
        ({"x0": np.zeros(3)}, ValueError, r"x0 has the shape \(3,\): it has to have two"),
        ({"x0": np.zeros((0, 3))}, ValueError, r"x0 has the shape \(0, 3\)"),
        ({"x0": np.zeros((3, 0))}, ValueError, r"x0 has the shape \(3, 0\)"),
        ({"x0": np.zeros((1, 4097))}, ValueError, "n is 4097, but has to be from 1 to 4096 in a batch"),
        ({"x0": np.zeros((2, 3), np.float16)}, TypeError, "x0 has elements of float16"),
        ({"x0": np.zeros((2, 3), complex)}, TypeError, "x0 has elements of complex128"),
        ({"x0": np.full((4, 3), np.nan)}, ValueError, "the start x is NaN or infinite at index 0"),
        ({"x0": "abc"}, TypeError, "x0 is a str"),
        ({"bounds": Bounds(2, 1)}, ValueError, "l = 2, u = 1 for all variables"),
        ({"bounds": Bounds([0, 2, 0], 1)}, ValueError, "l = 2, x = 0, u = 1"),
        ({"bounds": Bounds(np.nan, 1)}, ValueError, "(?i)nan"),
        ({"bounds": Bounds(np.zeros((3, 4)), 1)}, ValueError,
         r"the lower bound has the shape \(3, 4\): it has to be a number, or of shape \(3,\) or \(4, 3\)"),
        ({"bounds": Bounds(0, [1, 1])}, ValueError, r"the upper bound has the shape \(2,\)"),
        ({"bounds": Bounds(np.zeros((4, 3), complex), 1)}, TypeError, "the lower bound has elements of complex128"),
        ({"bounds": [(0, 1)]}, ValueError, "bounds has 1 pairs, but x0 has 3"),
        ({"bounds": 7}, TypeError, "bounds is a int"),
        ({"options": {"INITIAL_HESSIAN": 3}}, ValueError, "no preconditioner is given"),
        ({"options": {"INITIAL_HESSIAN": 1}}, ValueError, "selects a diagonal, but diagonal is not given"),
        ({"bounds": Bounds([[None, 0, 0]] * 3, 1)}, ValueError, r"the lower bound has the shape \(3, 3\)"),
        ({"diagonal": np.ones(3)}, ValueError, "diagonal is a numpy.ndarray: it has to be a function"),
        ({"diagonal": lambda x: np.ones(3)}, ValueError, r"the array of diagonals has the shape \(3,\), not \(4, 3\)"),
        ({"options": {"HISTORY_BITS": 32}}, ValueError, "HISTORY_BITS is not for"),
        ({"options": {"BATCH_PACKED": 0}}, ValueError, "BATCH_PACKED is given"),
        ({"options": {"disp": True}}, ValueError, "disp is given: a batch has no log"),
        ({"options": {"maxcor": 65}}, ValueError, "m is 65, but has to be from 0, the default, to 64"),
        ({"options": {"gtoll": 1}}, ValueError, "there is no option gtoll"),
        ({"jac": None}, ValueError, "jac is None"),
        ({"stream": "a"}, TypeError, "stream is 'a'"),
        ({"fun": lambda x: np.zeros(4)}, TypeError, "the function returned a numpy.ndarray: with jac=True"),
        ({"fun": lambda x: (np.zeros(3), x)}, ValueError, r"array of fun's values has the shape \(3,\), not \(4,\)"),
        ({"fun": lambda x: (0.0, x)}, ValueError, r"the array of fun's values has the shape \(1,\), not \(4,\)"),
        ({"fun": lambda x: (np.zeros(4), x.T)}, ValueError, r"array of gradients has the shape \(3, 4\), not \(4, 3\)"),
        ({"fun": lambda x: (np.zeros(4) * 1j, x)}, TypeError, "the array of fun's values has elements of complex128"),
        ({"fun": lambda x: (np.zeros(4), x * 1j)}, TypeError, "the array of gradients has elements of complex128"),
    ],
)
def test_minimize_batch_rejects_invalid_input(settings, kind, text):
    given = {"fun": rosenbrocks, "x0": np.zeros((4, 3)), **settings}
    with pytest.raises(kind, match=text) as error:
        cuda_opt.minimize_batch(**given)
    assert "\n" not in str(error.value) and len(str(error.value)) < 250


def test_message_of_rejects_an_index_out_of_range():
    result = cuda_opt.minimize_batch(rosenbrocks, np.zeros((4, 3)))
    for problem in (-1, 4):
        with pytest.raises(IndexError, match=f"there is no problem {problem}: they are counted from 0 to 3"):
            result.message_of(problem)
