"""Runs the example programs with small sizes, and checks their pictures if matplotlib is installed."""
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "examples/python"


def run(name, *arguments):
    if not FOLDER.exists():
        pytest.skip("no examples beside the tests")
    command = [sys.executable, str(FOLDER / name), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, env=os.environ)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def picture(tmp_path):
    return ["--picture", str(tmp_path / "picture.png")] if importlib.util.find_spec("matplotlib") else []


def drawn(tmp_path):
    return not importlib.util.find_spec("matplotlib") or (tmp_path / "picture.png").stat().st_size > 1000


def test_every_example_is_run_by_a_test():
    tested = set(re.findall(r'run\("(\w+\.py)"', Path(__file__).read_text()))
    assert tested == {path.name for path in FOLDER.glob("*.py")} or not FOLDER.exists()


def test_scipy_drop_in_reaches_the_f_of_scipy(tmp_path):
    pytest.importorskip("scipy")
    out = run("scipy_drop_in.py", "--n", "200", *picture(tmp_path))
    theirs, ours = (float(f) for f in re.findall(r"f = ([\d.]+)", out))
    assert ours == pytest.approx(theirs, rel=1e-7) and drawn(tmp_path)


def test_torch_deblur_reduces_the_error_of_the_image(tmp_path):
    pytest.importorskip("torch")
    out = run("torch_deblur.py", "--size", "64", "--iterations", "60", "--device", "cpu", *picture(tmp_path))
    measured, restored = (float(error) for error in re.findall(r"([\d.]+) (?:measured|restored)", out))
    assert restored < 0.8 * measured and drawn(tmp_path)


def test_tomography_reaches_the_f_of_scipy(tmp_path):
    pytest.importorskip("scipy")
    out = run("tomography.py", "--size", "32", "--angles", "24", "--calls", "60", *picture(tmp_path))
    plain, own, theirs = (float(f) for f in re.findall(r"f = (-[\d.]+)", out))
    assert plain == pytest.approx(theirs, rel=1e-5) and own <= plain and drawn(tmp_path)


def test_t2_maps_agree_with_scipy_in_most_problems(tmp_path):
    pytest.importorskip("scipy")
    out = run("t2_maps.py", "--size", "40", "--compared", "200", *picture(tmp_path))
    same, compared = (int(number) for number in re.search(r"to 1e-3: (\d+) of (\d+)", out).groups())
    assert "converged: all 1600 problems" in out and compared == 200 and same > 190 and drawn(tmp_path)
    assert float(re.search(r"off by ([\d.]+)%", out)[1]) < 5
    # A difference of 0.5 is one standard deviation of a fitted parameter. Where f is flat, two solves end 0.007 apart.
    assert float(re.search(r"difference of f: (\S+);", out)[1]) < 0.05


def test_torch_monotone_fits_a_monotone_curve_only_with_bounds(tmp_path):
    pytest.importorskip("torch")
    out = run("torch_monotone.py", "--points", "30", "--steps", "8", "--device", "cpu", *picture(tmp_path))
    falls, falls_without_bounds = (int(places) for places in re.findall(r"falls in (\d+)", out))
    assert falls == 0 < falls_without_bounds
    assert float(re.search(r"least weight: (\S+)", out)[1]) >= 0 and drawn(tmp_path)


def test_torch_burgers_lowers_the_loss_of_adam(tmp_path):
    """The time limit permits one step of 20 iterations of each solver. This step has to reduce the loss that Adam has
    reached."""
    pytest.importorskip("torch")
    sizes = ["--seconds", "0.1", "--adam", "20", "--points", "100", "--history", "10", "--seeds", "0"]
    out = run("torch_burgers.py", *sizes, "--dtypes", "float64", "--device", "cpu", *picture(tmp_path))
    rows = re.findall(r"^float64 +0 (\w+) +(\S+) +(\S+) +(\d+)", out, re.M)
    assert [row[0] for row in rows] == ["Adam", "cuda_opt", "torch"], out
    (adam, *losses), errors = [float(row[1]) for row in rows], [float(row[2]) for row in rows]
    assert max(losses) < 0.9 * adam and max(errors[1:]) < errors[0] and drawn(tmp_path)
    assert rows[0][3] == "20" and all(int(row[3]) > 5 for row in rows)


def test_the_reference_of_torch_burgers_satisfies_burgers_equation(monkeypatch):
    """The reference of torch_burgers.py satisfies u_t + u u_x = (0.01 / pi) u_xx, by central differences."""
    pytest.importorskip("torch")
    if not FOLDER.exists():
        pytest.skip("no examples beside the tests")
    monkeypatch.syspath_prepend(str(FOLDER))
    burgers = importlib.import_module("torch_burgers")
    x, t, h = np.linspace(-0.9, 0.9, 37), 0.25, 1e-4
    u, left, right = (burgers.exact(t, place) for place in (x, x - h, x + h))
    u_t = (burgers.exact(t + h, x) - burgers.exact(t - h, x)) / (2 * h)
    residual = u_t + u * (right - left) / (2 * h) - burgers.VISCOSITY * (right - 2 * u + left) / h**2
    assert abs(residual).max() < 1e-4 * abs(u_t).max()
    np.testing.assert_allclose(burgers.exact(1e-9, x), -np.sin(np.pi * x), atol=1e-6)


def test_jax_heat_recovers_the_scale_and_the_conductivity(tmp_path):
    pytest.importorskip("jax")
    out = run("jax_heat.py", "--n", "40", "--steps", "30", *picture(tmp_path))
    assert float(re.search(r"scale ([\d.]+)", out)[1]) == pytest.approx(0.9, abs=0.02)
    assert float(re.search(r"conductivity ([\d.]+)", out)[1]) < 0.2 and drawn(tmp_path)


def test_cupy_membrane_converges(tmp_path):
    cupy = pytest.importorskip("cupy")
    if not cupy.cuda.is_available():
        pytest.skip("no CUDA device")
    out = run("cupy_membrane.py", "--size", "50", *picture(tmp_path))
    assert "converged" in out and drawn(tmp_path)


def test_botorch_candidates_are_no_worse_than_those_of_scipy(tmp_path):
    pytest.importorskip("botorch")
    out = run("botorch_candidates.py", "--cases", "2,1", "--seeds", "2", "--restarts", "5", *picture(tmp_path))
    ours, theirs = (float(best) for best in re.findall(r"best (\S+) by", out))
    assert ours >= theirs - 1e-4 and drawn(tmp_path)
    assert re.search(r"with x_2 fixed: \[[\d.]+, 0.25\]", out)


def test_deepxde_rod_recovers_a_coefficient_within_its_bounds(tmp_path):
    pytest.importorskip("torch")
    if not importlib.util.find_spec("deepxde"):  # importing it would print text and choose a backend
        pytest.skip("no deepxde")
    out = run("deepxde_rod.py", "--steps", "8", *picture(tmp_path))
    (d, r), (_, r_without_bounds) = (map(float, pair) for pair in re.findall(r"d = (\S+), r = (\S+),", out))
    assert d == pytest.approx(1, abs=0.1) and r >= 0 > r_without_bounds and drawn(tmp_path)


def test_equinox_poisson_finds_sparse_weights(tmp_path):
    pytest.importorskip("equinox")
    out = run("equinox_poisson.py", "--samples", "200", *picture(tmp_path))
    assert "converged: True" in out and drawn(tmp_path)
    zeros, error = re.search(r"(\d+) of 24 weights are 0, root mean square error (\S+)", out).groups()
    assert int(zeros) > 3 and float(error) < 0.3


def test_equinox_poisson_update_converges_to_the_minimum_of_run():
    """Repeated calls of update() converge to the minimum that run() finds, which satisfies the optimality conditions.
    """
    pytest.importorskip("equinox")
    if not FOLDER.exists():
        pytest.skip("no examples beside the tests")
    spec = importlib.util.spec_from_file_location("equinox_poisson", FOLDER / "equinox_poisson.py")
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    numbers = example.jnp.array([2.0, -3.0])

    def fun(params, centre):
        return ((params["x"] - centre) ** 2).sum() + (params["x"].sum() ** 2) / 2

    solver = example.BoxSolver(fun, (0, None), gtol=1e-10, ftol=0)
    params, state = solver.run({"x": example.jnp.ones(2)}, numbers)
    gradient = 2 * (params["x"] - numbers) + params["x"].sum()
    assert params["x"][1] == 0 < gradient[1] and abs(gradient[0]) < 1e-9 and state.converged
    stepped, state = {"x": example.jnp.ones(2)}, solver.init_state({"x": example.jnp.ones(2)}, numbers)
    for _ in range(20):
        stepped, state = solver.update(stepped, state, numbers)
    assert abs(stepped["x"] - params["x"]).max() < 1e-6 and state.iter_num > 1
