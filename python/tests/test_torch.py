"""Tests solves that use torch tensors in place, and the optimizer LBFGSB."""
import math

import numpy as np
import pytest
from problems import random_seed

import cuda_opt

torch = pytest.importorskip("torch")
from cuda_opt.torch import LBFGSB  # noqa: E402

WITH_CUDA = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
DEVICES = ["cpu", pytest.param("cuda", marks=WITH_CUDA)]


def parabola(x):
    g = x - torch.arange(len(x), dtype=x.dtype, device=x.device)
    return g @ g / 2, g


@pytest.fixture(params=DEVICES)
def device(request):
    """Run a test on the host and on a CUDA device, there on a stream other than the default one."""
    if request.param == "cpu":
        yield request.param
        return
    with torch.cuda.stream(torch.cuda.Stream()):
        yield request.param


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("as_arrays", [False, True])
def test_minimize_returns_tensors_of_the_type_and_device_of_x0(dtype, as_arrays, device):
    x0 = torch.full((8,), 7.0, dtype=dtype, device=device)
    bounds = cuda_opt.Bounds(torch.zeros_like(x0), torch.full_like(x0, 3)) if as_arrays else cuda_opt.Bounds(0, 3)
    result = cuda_opt.minimize(parabola, x0, bounds=bounds)
    assert isinstance(result.x, torch.Tensor) and (result.x.dtype, result.x.device) == (x0.dtype, x0.device)
    assert result.x.tolist() == pytest.approx([0, 1, 2, 3, 3, 3, 3, 3], abs=1e-5)
    assert result.success and result.fun == pytest.approx(float(parabola(result.x)[0]))
    assert x0.tolist() == [7] * 8
    product = result.hess_inv @ torch.ones_like(x0)
    assert product.device == x0.device and (product > 0).all()


def test_torch_tensors_give_bitwise_the_result_of_numpy_arrays(rosenbrock):
    def fun(x):
        f, g = rosenbrock(np.array(x.tolist()))
        return f, torch.tensor(g.tolist(), dtype=x.dtype)

    ours = cuda_opt.minimize(fun, torch.full((6,), -1.2, dtype=torch.float64))
    assert ours.x.tolist() == cuda_opt.minimize(rosenbrock, np.full(6, -1.2)).x.tolist()


def test_gradients_by_autograd_are_accepted(device):
    def fun(x):
        x.requires_grad_()
        f = ((x - 1) ** 4).sum() + (x**2).sum()
        (g,) = torch.autograd.grad(f, x)
        return f, g

    seen = []
    x0 = torch.zeros(3, dtype=torch.float64, device=device, requires_grad=True)
    result = cuda_opt.minimize(fun, x0, callback=seen.append, tol=1e-10)
    assert not result.x.requires_grad and not result.jac.requires_grad
    assert float(result.jac.abs().max()) < 1e-5 and seen[-1].tolist() == result.x.tolist()
    assert len({one.data_ptr() for one in seen}) == len(seen)


def test_solver_overwrites_a_tensor_in_place(device):
    x = torch.zeros(5, dtype=torch.float64, device=device)
    solver = cuda_opt.Solver(x)
    for _ in solver:
        assert solver.x.data_ptr() == x.data_ptr()
        solver.f, solver.g = parabola(x)
    assert x.tolist() == pytest.approx(range(5), abs=1e-4)
    solver = cuda_opt.Solver(x.zero_())
    for _ in solver:
        torch.sub(x, 2, out=solver.g)
        torch.dot(solver.g, solver.g, out=solver.f)
    assert x.tolist() == pytest.approx([2] * 5, abs=1e-4)


def test_pattern_search_uses_tensors_on_the_device_of_like(device):
    like = torch.zeros(1, dtype=torch.float64, device=device)

    def fun(x):
        assert isinstance(x, torch.Tensor) and x.device == like.device
        return (x**2 - 10 * torch.cos(2 * math.pi * x) + 10).sum(0)

    result = cuda_opt.pattern_search(fun, [(-5, 5)] * 2, 300, like=like)
    assert isinstance(result.x, torch.Tensor) and result.fun == pytest.approx(0, abs=1e-6)


def test_invalid_tensors_are_rejected():
    double = torch.zeros(3, dtype=torch.float64)
    for x0, kind, text in (
        (double.half(), TypeError, "x0 has elements of float16"),
        (double.long(), TypeError, "x0 has elements of int64"),
        (double.view(3, 1), ValueError, r"x0 has the shape \(3, 1\)"),
        (double.to("meta"), TypeError, "x0 is on the device meta"),
    ):
        with pytest.raises(kind, match=text):
            cuda_opt.minimize(parabola, x0)
    with pytest.raises(ValueError, match="x0 is not contiguous"):
        cuda_opt.Solver(torch.zeros(6, dtype=torch.float64)[::2])
    for returned, kind, text in (
        ((0.0, np.zeros(3)), TypeError, "the gradient is a numpy.ndarray, but x0 is a torch tensor"),
        ((0.0, double[:2]), ValueError, r"the gradient has the shape \(2,\)"),
        ((0.0, double.to("meta")), ValueError, "the gradient is on the device meta, but x0 on cpu"),
        ((0.0, double + 1j), TypeError, "the gradient has elements of torch.complex128"),
        ((double, double), ValueError, r"the value of the function has the shape \(3,\)"),
        ((double[0] * 1j, double), TypeError, "the value of the function has elements of torch.complex128"),
    ):
        with pytest.raises(kind, match=text):
            cuda_opt.minimize(lambda x: returned, double)
    for bounds, kind, text in (
        (cuda_opt.Bounds(double.float(), None), TypeError, "the lower bound has elements of float32, but float64"),
        (cuda_opt.Bounds(torch.zeros(6, dtype=torch.float64)[::2], None), ValueError, "not contiguous"),
        (cuda_opt.Bounds(double[:2], None), ValueError, "the lower bound has 2 elements, but x0 has 3"),
        (cuda_opt.Bounds(None, double.to("meta")), ValueError, "the upper bound is on the device meta"),
    ):
        with pytest.raises(kind, match=text):
            cuda_opt.minimize(parabola, double, bounds=bounds)


def test_lbfgsb_rejects_tensors():
    with pytest.raises(TypeError, match="x0 is a torch.Tensor: this method takes NumPy arrays"):
        cuda_opt.lbfgsb(parabola, torch.zeros(3, dtype=torch.float64), jac=True)


def network(dtype=torch.float64, device="cpu"):
    """Return a network with two layers whose parameters are to be fitted, and a function that evaluates its loss."""
    torch.manual_seed(random_seed())
    model = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.Tanh(), torch.nn.Linear(5, 1)).to(device, dtype)
    data = torch.randn(40, 3, dtype=dtype, device=device)
    wanted = data[:, :1] * data[:, 1:2]
    return model, lambda: ((model(data) - wanted) ** 2).mean()


def closure_of(optimizer, loss):
    def closure():
        optimizer.zero_grad()
        value = loss()
        value.backward()
        return value

    return closure


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_optimizer(dtype, device):
    model, loss = network(dtype, device)
    optimizer = LBFGSB(model.parameters(), bounds=(-1, 1), max_iter=5)
    first = loss().item()
    losses = [float(optimizer.step(closure_of(optimizer, loss))) for _ in range(10)]
    assert all(later <= earlier for earlier, later in zip(losses, losses[1:])) and losses[-1] < first / 2
    assert losses[0] == pytest.approx(first, rel=1e-6) and optimizer.solver["F"] <= losses[-1]
    assert optimizer.solver["F"] == pytest.approx(loss().item(), rel=1e-4)
    values = torch.cat([parameter.detach().reshape(-1) for parameter in model.parameters()])
    assert (values.abs() <= 1).all() and (values.abs() == 1).any()
    assert isinstance(optimizer.step(closure_of(optimizer, loss)), torch.Tensor)


def test_parameters_and_gradients_remain_views_of_the_solver_s_memory(device):
    """Parameters and gradients are views of the solver's memory, so that nothing is copied. They remain views even if
    the closure replaces the gradients or sets them to None."""
    model, loss = network(device=device)
    optimizer = LBFGSB(model.parameters(), max_iter=3)
    gradients = []

    def closure(way):
        way()
        value = loss()
        value.backward()
        gradients.append(torch.cat([parameter.grad.reshape(-1) for parameter in model.parameters()]).clone())
        return value

    for way in (optimizer.zero_grad, lambda: optimizer.zero_grad(set_to_none=True), model.zero_grad):
        optimizer.step(lambda: closure(way))
        at = 0
        for parameter in model.parameters():
            assert parameter.data_ptr() == optimizer.solver.x.data_ptr() + 8 * at
            assert parameter.grad.data_ptr() == optimizer.solver.g.data_ptr() + 8 * at
            at += parameter.numel()
        current = torch.autograd.grad(loss(), list(model.parameters()))
        assert torch.allclose(torch.cat([g.reshape(-1) for g in current]), optimizer.solver.g)
        assert gradients[-1].abs().max() > 0


def test_bounds_of_each_group_hold_also_for_unused_parameters():
    a, b, unused = (torch.nn.Parameter(torch.full((2, 2), 5.0, dtype=torch.float64)) for _ in range(3))
    # The upper bounds are broadcast over the rows of the parameter.
    upper = torch.tensor([0.25, 0.75], dtype=torch.float64)
    optimizer = LBFGSB([{"params": [a], "bounds": (0, upper)}, {"params": [b, unused]}], bounds=(None, 3))
    closure = closure_of(optimizer, lambda: ((a - 1) ** 2).sum() + ((b - 4) ** 2).sum())
    while optimizer.solver.status is None:
        optimizer.step(closure)
    assert a.tolist() == [[0.25, 0.75]] * 2 and b.tolist() == [[3, 3]] * 2 and unused.tolist() == [[3, 3]] * 2
    assert optimizer.solver.status is cuda_opt.Task.CONVERGED
    assert len(optimizer.param_groups) == 2


def test_max_iter_and_max_eval_limit_a_step():
    def solver(**options):
        model, loss = network()
        optimizer = LBFGSB(model.parameters(), **options)
        optimizer.step(closure_of(optimizer, loss))
        return optimizer.solver

    limited = solver(max_iter=4, max_eval=50, HISTORY_BITS=32)
    assert limited["ITERATIONS"] == 4 and limited["HISTORY_BITS"] == 32
    # A step ends at the first iterate with at least max_eval evaluations.
    limited = solver(max_iter=100, max_eval=6)
    shorter = solver(max_iter=limited["ITERATIONS"] - 1, max_eval=100)
    assert limited["EVALUATIONS"] >= 6 > shorter["EVALUATIONS"]


def test_lr_below_one_shortens_the_steps():
    x = torch.nn.Parameter(torch.full((2,), 3.0, dtype=torch.float64))
    optimizer = LBFGSB([x], lr=0.25, max_iter=1)
    closure = closure_of(optimizer, lambda: (x**2).sum())
    for _ in range(4):
        optimizer.step(closure)
        assert optimizer.solver["STEP"] <= 0.25
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=2.0)
    optimizer.step(closure)
    scheduler.step()
    assert optimizer.param_groups[0]["lr"] == 0.5


def test_a_step_after_convergence_minimises_a_changed_loss():
    x, centre = torch.nn.Parameter(torch.zeros(3, dtype=torch.float64)), torch.ones(3, dtype=torch.float64)
    optimizer = LBFGSB([x])
    closure = closure_of(optimizer, lambda: ((x - centre) ** 2).sum())
    optimizer.step(closure)
    assert x.tolist() == pytest.approx([1] * 3) and optimizer.solver.status is cuda_opt.Task.CONVERGED
    centre.fill_(2)
    optimizer.step(closure)
    assert x.tolist() == pytest.approx([2] * 3)


def test_an_optimizer_that_loads_a_state_dict_takes_the_same_steps(tmp_path):
    """An optimizer that loads the saved state of another one takes the same steps as that one, although its own
    parameters had other values before."""
    model, loss = network()
    optimizer = LBFGSB(model.parameters(), bounds=(-1, 1), max_iter=3, max_eval=50)
    assert not optimizer.state_dict()["state"]
    optimizer.step(closure_of(optimizer, loss))
    torch.save(optimizer.state_dict(), tmp_path / "state")
    for _ in range(3):
        optimizer.step(closure_of(optimizer, loss))
    other, loss_of_other = network()
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.zero_()
    again = LBFGSB(other.parameters(), bounds=(-1, 1), max_iter=3, max_eval=50)
    again.load_state_dict(torch.load(tmp_path / "state"))
    for _ in range(3):
        again.step(closure_of(again, loss_of_other))
    for one, two in zip(model.parameters(), other.parameters()):
        assert torch.equal(one, two)
    assert again.state[next(other.parameters())] == optimizer.state[next(model.parameters())]
    assert again.solver["ITERATIONS"] == optimizer.solver["ITERATIONS"] == 12
    smaller = LBFGSB([torch.nn.Parameter(torch.zeros(3, dtype=torch.float64))])
    with pytest.raises(ValueError):
        smaller.load_state_dict(optimizer.state_dict())


def test_the_optimizer_rejects_invalid_arguments():
    x = torch.nn.Parameter(torch.zeros(3, dtype=torch.float64))
    for parameters, settings, text in (
        ([x, torch.nn.Parameter(torch.zeros(2, device="meta"))], {}, "parameter 1 is on meta, but the first on cpu"),
        ([x], {"lr": -1e-9}, "lr is -1e-09: it has to be at least 0"),
        ([x], {"lr": math.nan}, "lr is nan"),
        ([x], {"lr": torch.ones(2)}, r"Tensor lr must be 1-element: its shape is \(2,\)"),
        ([x], {"max_iter": 2.5}, "max_iter is 2.5: it has to be an integer"),
        ([x], {"max_eval": -1}, "max_eval is -1"),
        ([x], {"history_size": 2.5}, "history_size is 2.5"),
        ([x], {"tolerance_grad": math.nan}, "tolerance_grad is nan"),
        ([x], {"line_search_fn": "backtracking"}, "line_search_fn is 'backtracking': it has to be None or 'strong_"),
        ([x], {"bounds": (None, torch.zeros(4))}, r"a bound has the shape \(4,\), the parameter \(3,\)"),
        ([{"params": [x], "max_iter": 3}, {"params": [x.detach().clone()]}], {}, "max_iter is 3 in one group and 20"),
        ([x], {"max_iter": 0}, "max_iter is 0"),
        ([x], {"bounds": (1, 0)}, "1.*0"),
        ([x], {"bounds": (1, 2, 3)}, "bounds has 3 elements"),
        ([x], {"bounds": (torch.zeros(2), None)}, r"a bound has the shape \(2,\), the parameter \(3,\)"),
        ([x], {"history_size": -1}, "history_size is -1"),
        ([], {}, "empty"),
    ):
        with pytest.raises(ValueError, match=text):
            LBFGSB(parameters, **settings)
    for parameters, settings, text in (
        ([x], {"bounds": 3}, r"bounds is a int: it has to be a pair \(lower, upper\)"),
        ([x, torch.zeros(2, dtype=torch.int64)], {}, "parameter 1 has elements of torch.int64"),
        ([x], {"foreach": False}, r"LBFGSB.__init__\(\) got an unexpected keyword argument 'foreach'"),
        ([torch.zeros(0)], {"momentum": 0.9}, "an unexpected keyword argument 'momentum'"),
    ):
        with pytest.raises(TypeError, match=text):
            LBFGSB(parameters, **settings)


def test_a_step_repeats_an_evaluation_in_which_the_closure_failed():
    """An exception of the closure is raised unchanged. The next step repeats the evaluation, so that the solve takes
    the same steps as without exceptions."""

    class Broken(Exception):
        pass

    def solve(broken_ones):
        x = torch.nn.Parameter(torch.full((3,), 2.0, dtype=torch.float64))
        optimizer = LBFGSB([x], max_iter=50, max_eval=100)
        evaluate, calls = closure_of(optimizer, lambda: (x**4).sum() + (x * x[0]).sum()), []

        def closure():
            calls.append(1)
            if len(calls) in broken_ones:
                raise Broken
            return evaluate()

        for _ in broken_ones:
            with pytest.raises(Broken):
                optimizer.step(closure)
        optimizer.step(closure)
        return x.tolist(), len(calls) - len(broken_ones)

    assert solve([]) == solve([1, 4, 5])


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
def test_minimize_batch_works_with_torch_tensors(dtype, device):
    """Autograd computes the gradients from the sum of f over the problems. The problem indices select data, and each
    problem has its own box."""
    p_all = torch.arange(6, device=device)
    wanted = (torch.arange(4, device=device) + p_all[:, None]).to(dtype)
    rows = []

    def fun(x, p):
        assert p.dtype == torch.int64 and p.device == x.device and torch.equal(p, p_all[p])
        rows.append(len(x))
        f = ((x.requires_grad_() - wanted[p]) ** 2).sum(1) * (p != 2)
        f.sum().backward()
        return f, x.grad

    x0 = torch.full((4, 6), 7.0, dtype=dtype, device=device).T
    upper = torch.full((6, 4), 3.0, dtype=dtype, device=device)
    upper[5] = 4
    for lower in (0.5, torch.full((4,), 0.5, dtype=dtype, device=device), np.full((6, 4), 0.5)):
        result = cuda_opt.minimize_batch(fun, x0, bounds=cuda_opt.Bounds(lower, upper), indices=True)
        expected = torch.minimum(wanted.clamp(min=0.5), upper)
        expected[2] = 3
        assert torch.allclose(result.x, expected, atol=1e-5) and result.success.all()
        assert (result.x.dtype, result.fun.dtype, result.x.device) == (dtype, torch.float64, x0.device)
        assert not result.fun.requires_grad and not result.jac.requires_grad and (x0 == 7).all()
    assert rows[0] == 6 and min(rows) < 6
    lower = torch.full((6, 4), 0.5, dtype=dtype, device=device)
    lower[1, 1], upper[1, 1] = 2, 1
    result = cuda_opt.minimize_batch(fun, x0, bounds=cuda_opt.Bounds(lower, upper), indices=True)
    assert result.codes.tolist() == [0, cuda_opt.Task.IMPROPER_INPUT, 0, 0, 0, 0]
    assert result.fun.isnan().tolist() == [False, True, False, False, False, False] and result.jac[1].isnan().all()


def test_minimize_batch_rejects_invalid_tensors():
    x0 = torch.zeros((6, 4), dtype=torch.float64)
    for settings, kind, text in (
        ({"bounds": cuda_opt.Bounds(x0.float(), None)}, TypeError, "the lower bound has elements of float32"),
        ({"bounds": cuda_opt.Bounds(x0.T.contiguous().T, None)}, ValueError, "the lower bound is not contiguous"),
        ({"fun": lambda x: (x[0], x)}, ValueError, r"the array of fun's values has the shape \(4,\), not \(6,\)"),
        ({"fun": lambda x: (0.0, x)}, TypeError, "the array of fun's values is a float, but x0 is a torch tensor"),
        ({"fun": lambda x: (x[:, 0], x[0])}, ValueError, r"the array of gradients has the shape \(4,\), not \(6, 4\)"),
        ({"x0": x0.long()}, TypeError, "x0 has elements of int64"),
    ):
        with pytest.raises(kind, match=text):
            cuda_opt.minimize_batch(**{"fun": parabola, "x0": x0, **settings})


def test_recordings_of_successive_solves_use_the_same_stream(monkeypatch):
    """Successive solves record on the same stream, because cuBLAS keeps a workspace for each stream that it has used.
    """
    from cuda_opt._captured_torch import TorchRecorder, _idle_streams

    class Pretending:
        def __init__(self, *arguments):
            pass

    monkeypatch.setattr(torch.cuda, "Stream", Pretending)
    monkeypatch.setattr(torch.cuda, "CUDAGraph", Pretending)
    device = torch.device("cuda", 63)
    try:
        one_by_one = {id(TorchRecorder(device)._stream) for _ in range(40)}
        at_once = [TorchRecorder(device) for _ in range(3)]
        assert len(one_by_one) == 1 and len({id(recorder._stream) for recorder in at_once}) == 3
        assert id(at_once[0]._stream) in one_by_one
    finally:
        _idle_streams.pop(device, None)


def logistic_regression():
    """Return the parameter and the loss function of a logistic regression in single precision. Its features differ in
    size by four powers of ten."""
    def normal(shape, seed):
        return torch.randn(*shape, generator=torch.Generator().manual_seed(random_seed(seed)))

    features = normal((500, 3), 1) * torch.tensor([1.0, 100.0, 1e4])
    labels = (features @ torch.tensor([1.0, 0.01, 1e-4]) + normal((500,), 2) > 0).float()
    weights = torch.nn.Parameter(torch.zeros(3))

    def loss():
        return torch.nn.functional.binary_cross_entropy_with_logits(features @ weights, labels)

    return weights, loss


def closures_by_step(optimizer, loss, steps):
    counts = []

    def closure():
        counts[-1] += 1
        optimizer.zero_grad()
        value = loss()
        value.backward()
        return value

    for _ in range(steps):
        counts.append(0)
        optimizer.step(closure)
    return counts


def test_steps_at_the_rounding_level_call_the_closure_once():
    weights, loss = logistic_regression()
    assert closures_by_step(LBFGSB([weights]), loss, 22)[-5:] == [1] * 5


def test_a_step_continues_if_the_loss_or_x_changes_after_convergence():
    weights, loss = logistic_regression()
    factor = [1.0]
    optimizer = LBFGSB([weights])
    closures_by_step(optimizer, lambda: loss(), 10)
    before = weights.detach().clone()
    assert closures_by_step(optimizer, lambda: loss(), 1) == [1] and torch.equal(weights, before)
    factor[0] = 3.0
    shifted = closures_by_step(optimizer, lambda: loss() + factor[0] * ((weights - 1) ** 2).sum(), 3)
    assert shifted[0] > 1 and not torch.equal(weights, before)
    with torch.no_grad():
        weights.zero_()
    assert closures_by_step(optimizer, lambda: loss(), 1)[0] > 1


def test_a_step_from_outside_the_box_evaluates_the_loss_at_the_projection():
    weights, loss = logistic_regression()
    points = []

    def recorded():
        points.append(weights.detach().clone())
        return loss()

    optimizer = LBFGSB([weights], bounds=(-0.5, 0.5))
    closures_by_step(optimizer, recorded, 10)
    assert closures_by_step(optimizer, recorded, 1) == [1]
    # An assignment through ``.data`` does not change torch's version counter.
    weights.data.fill_(5.0)
    del points[:]
    assert closures_by_step(optimizer, recorded, 1)[0] > 2
    assert points[0].max() == 5 and torch.equal(points[1], torch.full((3,), 0.5))
    assert weights.abs().max() <= 0.5
