"""Runs SciPy's own installed tests of L-BFGS-B with cuda_opt in place of SciPy's implementation
(scipy_substitution.py)."""
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import cuda_opt

MODULES = ["test_optimize", "test_lbfgsb_hessinv", "test_lbfgsb_setulb", "test__basinhopping", "test__dual_annealing"]
OF_THE_PATH = {
    "test_optimize::TestOptimizeSimple::test_l_bfgs_b": "it compares the iterates with those of L-BFGS-B 3.0",
    "test_lbfgsb_setulb::test_gh_issue18730": "the gradient is of single precision, and the test requires more digits "
    "than it has",
}


def outcomes_of(variant, tmp_path, names, *selection, metric=None):
    """Return the outcome of each of SciPy's tests in the modules ``names`` that called L-BFGS-B, with the last line of
    its error message."""
    found = tmp_path / "outcomes.json"
    environment = {**os.environ, "CUDA_OPT_SUBSTITUTION": variant, "CUDA_OPT_OUTCOMES": str(found)}
    environment.pop("PYTEST_ADDOPTS", None)  # options of this run, such as several processes
    if metric is not None:
        environment["CUDA_OPT_SUBSTITUTION_METRIC"] = str(int(metric))
    package = Path(cuda_opt.__file__).parents[1]
    paths = [str(Path(__file__).parent), str(package), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    modules = [f"scipy.optimize.tests.{name}" for name in names]
    options = ["-q", "--tb=line", "-p", "no:cacheprovider", "-p", "scipy_substitution", "--pyargs"]
    command = [sys.executable, "-m", "pytest", *options, *modules, *selection]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    # pytest exits with 1 if some tests have failed.
    assert done.returncode in (0, 1), done.stdout[-2000:] + done.stderr[-2000:]
    return json.loads(found.read_text())


@pytest.mark.parametrize("variant", ["differences", "bare", "named"])
def test_the_tests_of_scipy_pass_with_cuda_opt(variant, tmp_path):
    pytest.importorskip("scipy.optimize")
    missing = [name for name in MODULES if importlib.util.find_spec(f"scipy.optimize.tests.{name}") is None]
    if missing:
        pytest.skip(f"SciPy is installed without {', '.join(missing)}")
    outcomes = outcomes_of(variant, tmp_path, MODULES)
    failed = {name for name, (outcome, _) in outcomes.items() if outcome == "failed"}
    assert len(outcomes) >= 75  # 82 in SciPy 1.10, 100 in 1.17
    assert not {name: outcomes[name] for name in failed - OF_THE_PATH.keys()}
    # The tests in OF_THE_PATH must pass with the scalar initial Hessian, which SciPy uses.
    if of_path := failed & OF_THE_PATH.keys():
        modules = sorted({name.partition("::")[0] for name in of_path})
        words = [name.rpartition("::")[2] for name in of_path]
        again = outcomes_of(variant, tmp_path, modules, "-k", " or ".join(words), metric=cuda_opt.Metric.ONE_NUMBER)
        assert {name: again[name][0] for name in of_path} == dict.fromkeys(of_path, "passed")
