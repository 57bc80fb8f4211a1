"""Tests ``pattern_search``. The user's vectorised function evaluates all points of a batch."""
import re

import numpy as np
import pytest
from problems import random_seed

import cuda_opt


def rastrigin(x):
    return 10 * len(x) + (x**2 - 10 * np.cos(2 * np.pi * x)).sum(0)


BOX = [(-5.12, 5.12)] * 4


def test_pattern_search_finds_the_global_minimum():
    result = cuda_opt.pattern_search(rastrigin, BOX[:2], walks=400, seed=random_seed())
    assert result.success and result.status == 0 and result.fun == pytest.approx(0, abs=1e-6)
    np.testing.assert_allclose(result.x, 0, atol=1e-4)
    assert result.fun == rastrigin(result.x) and result.nfev > 400 and result.nit > 0
    assert "walks" in result.message


def test_points_are_read_only_in_the_box_and_determined_by_the_seed():
    shapes = []

    def fun(points, scale):
        shapes.append(points.shape)
        assert (np.abs(points) <= 5.12).all()
        with pytest.raises(ValueError):
            points[0, 0] = 1
        return scale * rastrigin(points)

    result = cuda_opt.pattern_search(fun, BOX, 30, (2.0,), seed=random_seed(1))
    assert shapes[0] in ((4, 30), (4, 60)) and max(batch for _, batch in shapes) <= 60
    assert {n for n, _ in shapes} == {4}
    again = cuda_opt.pattern_search(rastrigin, BOX, 30, seed=random_seed(1))
    np.testing.assert_array_equal(result.x, again.x)
    assert result.fun == 2 * again.fun
    assert cuda_opt.pattern_search(rastrigin, BOX, 30, seed=random_seed(2)).fun != again.fun


def test_a_solve_from_each_of_the_best_walks_does_not_increase_f():
    """With ``keep``, the points and values of the best walks are returned in ascending order of f. A solve by
    ``minimize`` from each of these points does not end at a higher value."""
    result = cuda_opt.pattern_search(rastrigin, BOX, 20, keep=5, options={"HALVINGS": 4}, seed=random_seed())
    assert result.walks_x.shape == (5, 4) and (np.diff(result.walks_fun) >= 0).all()
    np.testing.assert_array_equal(result.walks_x[0], result.x)
    every = cuda_opt.pattern_search(rastrigin, BOX, 20, keep=20, options={"HALVINGS": 4}, seed=random_seed())
    np.testing.assert_array_equal(every.walks_x[:5], result.walks_x)
    assert len(np.unique(every.walks_x, axis=0)) == 20 and (np.diff(every.walks_fun) >= 0).all()
    np.testing.assert_array_equal(rastrigin(result.walks_x.T), result.walks_fun)
    for x, f in zip(result.walks_x, result.walks_fun):
        gradient = lambda x: 2 * x + 20 * np.pi * np.sin(2 * np.pi * x)  # noqa: E731
        polished = cuda_opt.minimize(rastrigin, x, jac=gradient, bounds=BOX)
        assert polished.fun <= f


def test_each_limit_or_target_gives_its_return_code():
    for settings, task in (
        ({"maxiter": 3}, "ITERATION_LIMIT"),
        ({"maxfun": 500}, "EVALUATION_LIMIT"),
        ({"options": {"F_TARGET": 10.0}}, "CONVERGED"),
        ({"at_smallest_step": "restart", "maxiter": 100}, "ITERATION_LIMIT"),
        ({"at_smallest_step": "repeat", "maxiter": 100}, "ITERATION_LIMIT"),
    ):
        result = cuda_opt.pattern_search(rastrigin, BOX, 25, **settings, seed=random_seed())
        assert result.task.name == task and result.success == (task == "CONVERGED"), settings


def test_trial_points_have_the_given_steps_and_satisfy_the_bounds():
    lower, upper = np.array([1.0, -5]), np.array([4.0, -2])
    box, steps = cuda_opt.Bounds(lower, upper), np.array([0.1, 0.3])
    seen = []

    def fun(x):
        seen.append(x.copy())
        return (x**2).sum(0)

    result = cuda_opt.pattern_search(fun, box, 10, steps=steps, seed=random_seed())
    # The first trials change the first coordinate of each start by a step in both directions.
    starts, trials = seen[0], seen[1].reshape(2, 2, 10)
    np.testing.assert_allclose(trials[0], np.clip(starts[0] + [[0.1], [-0.1]], 1, 4))
    np.testing.assert_array_equal(trials[1], [starts[1]] * 2)
    np.testing.assert_allclose(result.x, [1, -2], atol=1e-3)
    half = cuda_opt.pattern_search(lambda x: (x**2).sum(0), cuda_opt.Bounds(lower, 7), 10, seed=random_seed())
    np.testing.assert_allclose(half.x, [1, 0], atol=1e-3)


@pytest.mark.parametrize("bounds", [None, rastrigin, 3, "ab", [(0, 1), 2], [(0, 1, 2)] * 3, ["a", "b"]])
def test_invalid_bounds_are_rejected(bounds):
    with pytest.raises(ValueError, match="^bounds has to be Bounds with arrays, or a pair .lower, upper. for each"):
        cuda_opt.pattern_search(rastrigin, bounds)


def test_stop_iteration_in_the_callback_ends_the_search():
    seen = []

    def callback(intermediate_result):
        seen.append(intermediate_result.fun)
        if len(seen) == 7:
            raise StopIteration

    result = cuda_opt.pattern_search(rastrigin, BOX, 25, callback=callback)
    assert result.task is cuda_opt.Task.STOPPED and len(seen) == 7 and result.fun <= seen[-1]


def test_a_search_stopped_at_any_batch_returns_an_evaluated_point():
    """The search may be stopped after any batch. The point that it returns has been evaluated, and the value is that
    of this point."""
    for last in range(1, 30):
        batches = []

        def callback(intermediate_result):
            batches.append(intermediate_result.nfev)
            if len(batches) == last:
                raise StopIteration

        result = cuda_opt.pattern_search(rastrigin, BOX, 20, callback=callback, seed=random_seed())
        assert result.task is cuda_opt.Task.STOPPED and len(batches) == last
        assert result.fun == rastrigin(result.x)


@pytest.mark.parametrize("limit, words", [({"maxfun": 19}, "batch of 20 points .* limit of 19 evaluations"),
                                          ({"options": {"MAX_SECONDS": 1e-300}}, "the time limit was reached before")])
def test_a_limit_before_the_first_batch_gives_a_status_and_no_point(limit, words):
    """A limit that is reached before the first batch gives a status, like any other limit. All points and values are
    NaN, because nothing has been evaluated."""
    result = cuda_opt.pattern_search(rastrigin, BOX, 20, keep=2, **limit)
    assert result.status == 1 and not result.success and result.nfev == 0
    assert re.search(words, result.message)
    assert np.isnan([result.fun, *result.x, *result.walks_fun, *result.walks_x.ravel()]).all()
    assert result.walks_x.shape == (2, len(BOX))


@pytest.mark.parametrize("at_smallest_step", ["end", "repeat", "restart"])
def test_limits_of_a_pattern_search_mean_the_same_as_in_minimize(at_smallest_step):
    """The limit 0 has the same effect as 1. In the C library 0 means no limit, with which "repeat" never ends."""
    def search(**limits):
        return cuda_opt.pattern_search(rastrigin, BOX, 20, at_smallest_step=at_smallest_step, **limits)

    assert search(maxiter=0).nit == search(maxiter=0.5).nit == search(maxiter=1).nit == 1
    assert search(maxfun=0).nfev == search(maxfun=1).nfev == 0
    assert search(maxiter=3, maxfun=np.inf).nit == 3


def test_steps_may_be_a_list():
    listed, array = (cuda_opt.pattern_search(rastrigin, BOX, 20, steps=steps) for steps in
                     ([0.25] * len(BOX), np.full(len(BOX), 0.25)))
    assert listed.fun == array.fun


class OwnError(Exception):
    pass


def test_pattern_search_rejects_invalid_input():
    def search(fun=rastrigin, bounds=tuple(BOX), *arguments, **settings):
        return cuda_opt.pattern_search(fun, bounds, *arguments, **settings)

    def failing(points):
        raise OwnError

    with pytest.raises(OwnError):
        search(failing)
    for kind, text, arguments, settings in (
        (ValueError, r"the array of fun's values has the shape \(4,", [lambda x: x[:, 0]], {}),
        (ValueError, "inf", [rastrigin, [(0, np.inf)] * 2], {}),
        (ValueError, "two numbers", [rastrigin, cuda_opt.Bounds(0, 1)], {}),
        (ValueError, r"an array of bounds has the shape \(2, 2\)", [rastrigin, cuda_opt.Bounds(np.eye(2), 1)], {}),
        (ValueError, "1.*0", [rastrigin, [(1, 0)]], {}),
        (TypeError, "float64", [rastrigin, cuda_opt.Bounds(np.zeros(2, np.float32), 1)], {}),
        (ValueError, "walks", [rastrigin, BOX, 0], {}),
        (ValueError, "walks is 2.5: it has to be an integer", [rastrigin, BOX, 2.5], {}),
        (ValueError, "walks is 18446744073709551620", [rastrigin, BOX, 2**64 + 4], {}),
        (ValueError, "SEARCH_SEED is 18446744073709551616", [], {"seed": 2**64}),
        (ValueError, "keep is 0: it has to be at least 1", [], {"keep": 0}),
        (ValueError, "the step 0", [], {"steps": np.zeros(4)}),
        (ValueError, "steps has 3 elements", [], {"steps": np.ones(3)}),
        (ValueError, "at_smallest_step is 'stop'", [], {"at_smallest_step": "stop"}),
        (ValueError, r"at_smallest_step is \[\]", [], {"at_smallest_step": []}),
        (ValueError, "variable 0 .* has the bounds -inf and 1 ", [rastrigin, [(None, 1), (0, 1)]], {}),
        (ValueError, "maxiter is -1: it has to be a number of at least 0", [], {"maxiter": -1}),
        (ValueError, "maxfun is nan: it has to be a number of at least 0", [], {"maxfun": np.nan}),
        (TypeError, "steps is a str: it has to be an array", [], {"steps": "a"}),
        (TypeError, "like is a list: it has to be an array", [], {"like": [0.0]}),
        (TypeError, "fun is a float: it has to be a function", [3.0], {}),
        (TypeError, "callback is a int: it has to be a function", [], {"callback": 3}),
        (TypeError, "options is a list: it has to be a dict", [], {"options": ["F_TARGET"]}),
    ):
        with pytest.raises(kind, match=text):
            search(*arguments, **settings)
    nowhere = search(lambda x: np.full(x.shape[1], np.nan))
    assert nowhere.task is cuda_opt.Task.NOT_FINITE and not nowhere.success
