"""On problems with published definitions, the minima agree with those of SciPy's L-BFGS-B. This is tested with SciPy's
initial Hessian and with a learned one."""
import numpy as np
import pytest
from problems import PROBLEMS

import cuda_opt

optimize = pytest.importorskip("scipy.optimize")
OPTIONS = {"ftol": 1e-15, "gtol": 1e-9, "maxcor": 10}


def test_there_are_at_least_thirty_problems():
    assert len(PROBLEMS) >= 30


@pytest.mark.parametrize("metric", ["ONE_NUMBER", "LEARNED"])
@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda problem: problem.name)
def test_minima_agree_with_those_of_scipy(problem, metric):
    theirs = optimize.minimize(problem, problem.x0, jac=True, method="L-BFGS-B", bounds=problem.pairs, options=OPTIONS)
    options = {**OPTIONS, "INITIAL_HESSIAN": cuda_opt.Metric[metric]}
    ours = cuda_opt.minimize(problem, problem.x0, bounds=problem.pairs, options=options)
    assert ours.fun == pytest.approx(theirs.fun, rel=1e-8, abs=1e-8)
    assert ours.fun == problem.value(ours.x)
    np.testing.assert_array_equal(ours.jac, problem.gradient(ours.x))
    if problem.pairs:
        lower, upper = np.array(problem.pairs).T
        assert (lower <= ours.x).all() and (ours.x <= upper).all()
    by_scipy = optimize.minimize(
        problem, problem.x0, jac=True, method=cuda_opt.lbfgsb, bounds=problem.pairs, options=options
    )
    np.testing.assert_array_equal(by_scipy.x, ours.x)
