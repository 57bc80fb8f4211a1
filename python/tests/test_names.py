"""Tests options that have two names: a present and a former name, or a name that the line search shares."""
import warnings

import numpy as np
import pytest

import cuda_opt

LINE_SEARCH = [("line_search_ftol", "FTOL", 1e-2), ("line_search_gtol", "GTOL", 0.1), ("line_search_xtol", "XTOL", 0.5)]


def evaluations(rosenbrock, **options):
    result = cuda_opt.minimize(rosenbrock, np.full(10, -1.2), options={"INITIAL_HESSIAN": 0, **options})
    return result.nfev, result.fun


@pytest.mark.parametrize("name, former, value", LINE_SEARCH)
def test_both_names_of_a_line_search_setting_have_the_same_effect(name, former, value, rosenbrock):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        named = evaluations(rosenbrock, **{name: value})
    with pytest.warns(FutureWarning, match=f"{former} is a setting of the line search, and its name is {name}") as seen:
        assert evaluations(rosenbrock, **{former: value}) == named
    assert seen[0].filename == __file__
    solver = cuda_opt.Solver(np.ones(3), **{name: value})
    assert solver[former] == solver[name] == value
    with pytest.raises(ValueError, match=f"is given twice: its other name is {name}"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        evaluations(rosenbrock, **{name: value, former: value})
    with pytest.raises(ValueError, match=f"{name} is given twice: its other name is {former}$"), \
            warnings.catch_warnings():
        warnings.simplefilter("ignore")
        evaluations(rosenbrock, **{former: value, name: value})


def test_line_search_gtol_is_not_the_tolerance_of_the_convergence_test(rosenbrock):
    """gtol = 0.5 is a loose convergence criterion, which ends the solve early. line_search_gtol = 0.5 belongs to the
    curvature condition of the line search, and does not end the solve."""
    stopped, searched = (evaluations(rosenbrock, **{name: 0.5}) for name in ("gtol", "line_search_gtol"))
    assert stopped[1] > 1e-6 > searched[1]


def test_misspelled_and_invalid_line_search_options_are_rejected(rosenbrock):
    with pytest.raises(ValueError, match="there is no option Xtol, but there is line_search_xtol$"):
        evaluations(rosenbrock, Xtol=0.5)
    with pytest.raises(ValueError, match="GTOL is 2, but has to be"):
        evaluations(rosenbrock, line_search_gtol=2)


@pytest.mark.parametrize("solve", [cuda_opt.minimize, cuda_opt.minimize_batch])
@pytest.mark.parametrize("name, other", [
    ("ftol", "FACTR"), ("gtol", "PGTOL"), ("maxiter", "MAX_ITERATIONS"), ("maxfun", "MAX_EVALUATIONS"),
    ("maxls", "MAXFEV"), ("noise", "NOISE"), ("noise_abs", "NOISE_ABS"), ("disp", "IPRINT_FREQUENCY"),
])
def test_an_option_is_not_given_by_two_names(solve, name, other):
    x0 = np.ones(2) if solve is cuda_opt.minimize else np.ones((1, 2))
    with pytest.raises(ValueError, match=f"^{name} and {other} are both given, but they are the same option$"):
        solve(lambda x: ((x * x).sum(-1), 2 * x), x0, options={name: 1, other: 1})


def test_the_former_name_metric_is_equivalent_to_initial_hessian(rosenbrock):
    assert [int(value) for value in cuda_opt.InitialHessian] == [0, 1, 2, 3]
    assert [int(value) for value in cuda_opt.Metric] == [0, 1, 2]

    def run(options):
        result = cuda_opt.minimize(rosenbrock, np.full(10, -1.2), options=options)
        return result.nfev, result.fun

    scalar, learned = ({"INITIAL_HESSIAN": cuda_opt.InitialHessian[name]} for name in ("SCALAR", "LEARNED"))
    assert run({"METRIC": cuda_opt.Metric.ONE_NUMBER}) == run(scalar) != run(learned) == run({})
    with pytest.raises(ValueError, match="is given twice: its other name is INITIAL_HESSIAN"):
        run({**scalar, "METRIC": 0})
    solver = cuda_opt.Solver(np.ones(3), m=4, METRIC=2)
    assert solver["INITIAL_HESSIAN"] == solver["METRIC"] == 2
    assert solver["HISTORY_SIZE"] == solver["MEMORY"] == 4


def test_the_former_name_metric_is_equivalent_in_a_batch(rosenbrock):
    def fun(x):
        pairs = [rosenbrock(row) for row in x]
        return np.array([f for f, _ in pairs]), np.array([g for _, g in pairs])

    start = np.full((2, 6), -1.2)
    new, former, default = (cuda_opt.minimize_batch(fun, start, options=options).nfev.tolist()
                            for options in ({"INITIAL_HESSIAN": 0}, {"METRIC": 0}, {}))
    assert new == former != default
