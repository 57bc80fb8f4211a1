"""Tests the optimizer LBFGSB: options of torch.optim.LBFGS, parameter groups, complex parameters and state_dict()."""
import copy
import math
import os
import pickle
import subprocess
import sys

import pytest
from problems import random_seed

import cuda_opt

torch = pytest.importorskip("torch")
from cuda_opt.torch import LBFGSB  # noqa: E402


def parameter(values, dtype=torch.float64):
    return torch.nn.Parameter(torch.tensor(values, dtype=dtype))


def closure_of(optimizer, loss, seen=None):
    def closure():
        optimizer.zero_grad()
        value = loss()
        value.backward()
        if seen is not None:
            seen.append(value.item())
        return value

    return closure


def test_step_returns_the_loss_of_its_first_evaluation():
    x, seen = parameter([2.0, 3.0]), []
    optimizer = LBFGSB([x], max_iter=2)
    closure = closure_of(optimizer, lambda: (x**4).sum(), seen)
    first = optimizer.step(closure)
    assert first.item() == seen[0] == 97 and first.requires_grad
    for _ in range(4):
        here = (x**4).sum().item()
        assert optimizer.step(closure).item() == here
        assert optimizer.solver["F"] <= here


@pytest.mark.parametrize("form", [float, lambda loss: loss.reshape(1), lambda loss: loss.detach().float()])
def test_the_closure_may_return_the_loss_in_any_form(form):
    x = parameter([2.0, 3.0])
    optimizer = LBFGSB([x], max_iter=1)

    def closure():
        optimizer.zero_grad()
        loss = (x**4).sum()
        loss.backward()
        return form(loss)

    losses = [optimizer.step(closure) for _ in range(3)]
    assert len({type(loss) for loss in losses}) == 1 and float(losses[2]) < float(losses[0]) == 97
    if isinstance(losses[0], torch.Tensor):
        assert len({(loss.dtype, loss.shape) for loss in losses}) == 1


def test_maximize_gives_the_iterates_of_the_negative_loss():
    """maximize=True gives the same iterates as minimising the negative loss. Gradients and losses are those of the loss
    itself."""
    paths = []
    for sign, maximize in ((1, False), (-1, True)):
        x, path = parameter([2.0, 3.0]), []
        optimizer = LBFGSB([x], bounds=(0.5, None), maximize=maximize, max_iter=2)
        closure = closure_of(optimizer, lambda: sign * (x**4).sum())
        for _ in range(6):
            loss = optimizer.step(closure)
            assert sign * loss.item() >= 0
            path.append(x.tolist())
            assert torch.allclose(x.grad, sign * 4 * x.detach() ** 3)
        paths.append(path)
    assert paths[0] == paths[1] and paths[0][-1] == [0.5, 0.5]


def test_line_search_fn_strong_wolfe_has_no_effect():
    ends = []
    for search in (None, "strong_wolfe"):
        x = parameter([2.0, 3.0])
        optimizer = LBFGSB([x], line_search_fn=search)
        optimizer.step(closure_of(optimizer, lambda: (x**4).sum() + x.prod()))
        ends.append(x.tolist())
    assert ends[0] == ends[1]


def test_a_step_with_lr_0_does_not_change_the_parameters():
    x, seen = parameter([2.0, 3.0]), []
    optimizer = LBFGSB([x], lr=0.0)
    closure = closure_of(optimizer, lambda: (x**4).sum(), seen)
    for _ in range(3):
        assert optimizer.step(closure).item() == 97 and x.tolist() == [2, 3]
    assert len(seen) == 3 and x.grad.tolist() == [32, 108]
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: float(epoch % 2 == 1))
    optimizer.param_groups[0]["initial_lr"] = 1.0
    scheduler.base_lrs = [1.0]
    moved = []
    for _ in range(6):
        before = x.tolist()
        optimizer.step(closure)
        scheduler.step()
        moved.append(x.tolist() != before)
    assert moved == [False, True] * 3 and (x**4).sum() < 1e-3


@pytest.mark.parametrize("lr", [1, torch.tensor(1.0), torch.tensor([0.5]), torch.tensor(0.25, dtype=torch.float64)])
def test_lr_may_be_a_tensor(lr):
    x = parameter([2.0, 3.0])
    optimizer = LBFGSB([x], lr=lr)
    optimizer.step(closure_of(optimizer, lambda: (x**2).sum()))
    assert x.abs().max() < 0.1


def test_options_changed_in_a_group_take_effect_at_the_next_step():
    x = parameter([2.0, 3.0])
    optimizer = LBFGSB([x], history_size=4, tolerance_grad=1e-3, tolerance_change=1e-5, max_iter=3, max_eval=20)
    group = optimizer.param_groups[0]
    assert {name: group[name] for name in ("history_size", "tolerance_grad", "tolerance_change", "max_iter")} == {
        "history_size": 4, "tolerance_grad": 1e-3, "tolerance_change": 1e-5, "max_iter": 3
    }
    closure = closure_of(optimizer, lambda: (x**4).sum() + (x[0] * x[1]) ** 2)
    optimizer.step(closure)
    iterations = optimizer.solver["ITERATIONS"]
    assert iterations == 3
    group["tolerance_grad"], group["max_iter"] = 1e-9, 1
    optimizer.step(closure)
    assert optimizer.solver["PGTOL"] == 1e-9 and optimizer.solver["ITERATIONS"] == iterations + 1
    group["history_size"] = 7
    before = x.detach().clone()
    optimizer.step(closure)
    assert optimizer.solver["MEMORY"] == 7 and optimizer.solver["PGTOL"] == 1e-9 and not torch.equal(x, before)
    group["bounds"] = (1.5, None)
    optimizer.step(closure)
    assert x.min() >= 1.5
    group["history_size"] = -1
    with pytest.raises(ValueError, match="history_size is -1"):
        optimizer.step(closure)


def test_infinite_tolerances_are_always_or_never_reached():
    for tolerance, moves in ((math.inf, False), (-math.inf, True)):
        x = parameter([2.0, 3.0])
        optimizer = LBFGSB([x], tolerance_grad=tolerance)
        optimizer.step(closure_of(optimizer, lambda: (x**2).sum()))
        assert (x.tolist() != [2, 3]) is moves


def test_add_param_group_adds_a_valid_group_and_rejects_others():
    a, b, c = parameter([2.0, 3.0]), parameter([[4.0]]), parameter([5.0])
    optimizer = LBFGSB([a], max_iter=3)
    loss = lambda: ((torch.cat([a, b[0], c]) - 1) ** 4).sum()  # noqa: E731
    closure = closure_of(optimizer, loss)
    optimizer.step(closure)
    at, start = a.tolist(), loss().item()
    optimizer.add_param_group({"params": [b, c], "bounds": (2, None), "lr": 0.5})
    assert len(optimizer.param_groups) == 2 and a.tolist() == at and optimizer.solver.n == 4
    assert optimizer.param_groups[1]["history_size"] == 0
    for _ in range(20):
        optimizer.step(closure)
    assert b.item() == pytest.approx(2) and c.item() == pytest.approx(2) and loss().item() < start
    assert min(b.item(), c.item()) >= 2
    for bad, text in (
        ({"params": [torch.nn.Parameter(torch.zeros(1, device="meta"))]}, "parameter 3 is on meta, but the first on"),
        ({"params": [parameter([1.0])], "history_size": 3}, "history_size is 0 in one group and 3 in another"),
        ({"params": [parameter([1.0])], "bounds": (1, 2, 3)}, "bounds has 3 elements"),
        ({"params": [a]}, "some parameters appear in more than one"),
    ):
        with pytest.raises(ValueError, match=text):
            optimizer.add_param_group(bad)
    assert len(optimizer.param_groups) == 2 and optimizer.solver.n == 4
    optimizer.step(closure)
    for group in optimizer.param_groups:
        for one in group["params"]:
            assert 0 <= one.data_ptr() - optimizer.solver.x.data_ptr() < 32


def test_an_optimizer_may_have_parameters_without_elements():
    empty = torch.nn.Parameter(torch.empty(0, 3))
    optimizer = LBFGSB([empty])
    assert optimizer.solver is None and optimizer.step(lambda: 7.5) == 7.5
    optimizer.zero_grad()
    again = LBFGSB([torch.nn.Parameter(torch.empty(0, 3))])
    again.load_state_dict(optimizer.state_dict())
    copy.deepcopy(optimizer)
    x = parameter([3.0], torch.float32)
    optimizer.add_param_group({"params": [x]})
    optimizer.step(closure_of(optimizer, lambda: (x**2).sum()))
    assert x.abs().max() < 1e-3


@pytest.mark.parametrize("dtype", [torch.complex128, torch.complex64])
def test_complex_parameters_are_pairs_of_real_ones(dtype):
    """With complex parameters the iterates are those of the corresponding pairs of real parameters, in any order of the
    parameters."""
    real = {torch.complex128: torch.float64, torch.complex64: torch.float32}[dtype]
    start = torch.tensor([[1 + 2j, -1j], [0.5, 3 - 1j]], dtype=dtype)

    def distance(z, shift):
        z = torch.view_as_real(z) if z.is_complex() else z
        wanted = torch.arange(8, dtype=real).reshape(2, 2, 2)
        return ((z - wanted) ** 4).sum() + ((shift - 1) ** 2).sum()

    ends = []
    for z, odd in (
        (torch.nn.Parameter(start.clone()), parameter([0.0, 0.0, 0.0], real)),
        (torch.nn.Parameter(torch.view_as_real(start).clone()), parameter([0.0, 0.0, 0.0], real)),
    ):
        # Complex parameters come first in the buffer of the optimizer. With this order of the parameters, both
        # optimizers have the same buffer.
        group = [odd, z] if z.is_complex() else [z, odd]
        optimizer = LBFGSB(group, bounds=(-0.5, 5), max_iter=3)
        for _ in range(4):
            optimizer.step(closure_of(optimizer, lambda: distance(z, odd)))
        values = torch.view_as_real(z.detach()) if z.is_complex() else z.detach()
        gradient = torch.view_as_real(z.grad) if z.is_complex() else z.grad
        ends.append((values.tolist(), odd.tolist(), gradient.tolist()))
        assert values.min() >= -0.5 and values.max() <= 5
        other = copy.deepcopy(optimizer)
        assert [one.tolist() for one in other.param_groups[0]["params"]] == [one.tolist() for one in group]
    assert ends[0] == ends[1]


def test_complex_bounds_limit_the_real_and_imaginary_parts():
    z = torch.nn.Parameter(torch.zeros(2, dtype=torch.complex128))
    upper = torch.tensor([1 + 2j, 3 + 0.5j])
    optimizer = LBFGSB([z], bounds=(-1j - 1, upper))
    for _ in range(5):
        optimizer.step(closure_of(optimizer, lambda: (torch.view_as_real(z) - 9).square().sum()))
    assert z.tolist() == upper.tolist()
    real = parameter([0.0, 0.0])
    with pytest.raises(TypeError, match="a bound has elements of torch.complex64, the parameter of torch.float64"):
        LBFGSB([real], bounds=(None, upper))


def test_bounds_keep_their_double_precision():
    x = parameter([0.0, 0.0])
    optimizer = LBFGSB([{"params": [x], "bounds": (0.1, torch.tensor([0.7, 5.0], dtype=torch.float64))}])
    optimizer.step(closure_of(optimizer, lambda: (x + 1).square().sum()))
    assert x.tolist() == [0.1, 0.1]


def test_sparse_and_missing_gradients_are_accepted():
    embedding = torch.nn.Embedding(5, 2, sparse=True).double()
    unused = parameter([1.0])
    optimizer = LBFGSB([*embedding.parameters(), unused])

    def closure():
        embedding.weight.grad = unused.grad = None
        loss = (embedding(torch.tensor([1, 3])) - 2).square().sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    assert torch.allclose(embedding.weight[[1, 3]], torch.full((2, 2), 2.0, dtype=torch.float64)) and unused == 1


def test_the_state_of_the_first_parameter_counts_as_that_of_torch_does():
    x, seen = parameter([2.0, 3.0]), []
    optimizer = LBFGSB([x], max_iter=3)
    closure, iterations = closure_of(optimizer, lambda: (x**4).sum(), seen), 0
    assert not optimizer.state
    for step in range(12):
        if step == 6:
            optimizer.param_groups[0]["history_size"] = 3  # begins a new solve
        before = 0 if step == 6 or optimizer.solver.status is not None else optimizer.solver["ITERATIONS"]
        optimizer.step(closure)
        iterations += optimizer.solver["ITERATIONS"] - before
        assert optimizer.state[x] == {"n_iter": iterations, "func_evals": len(seen)}
    y = parameter([0.0, 0.0])
    again = LBFGSB([y], max_iter=3)
    again.load_state_dict(optimizer.state_dict())
    assert again.state[y] == copy.deepcopy(optimizer).state.popitem()[1] == optimizer.state[x]


def test_gradients_written_before_the_step_are_used():
    """If the closure writes no gradients, those that were written before the step are used, as in torch.optim.LBFGS."""
    x = parameter([1.0, 1.0])
    x.grad = torch.full_like(x, 2.0)
    optimizer = LBFGSB([x], max_iter=1)
    for _ in range(3):
        optimizer.step(lambda: 1)
        assert optimizer.solver["PG_NORM_INF"] == 2
    for write in (lambda x: setattr(x, "grad", torch.full_like(x, 2.0)), lambda x: (x * 2).sum().backward()):
        x = parameter([1.0, 1.0])
        optimizer = LBFGSB([x], max_iter=1)
        write(x)
        optimizer.step(lambda: torch.tensor(1.0))
        assert optimizer.solver["PG_NORM_INF"] == 2
    fixed = torch.ones(3)
    optimizer = LBFGSB([fixed])
    assert optimizer.step(lambda: 1) == 1 and fixed.tolist() == [1, 1, 1]


SAVES = """
import hashlib
import sys
import torch
from cuda_opt.torch import LBFGSB

for steps, maximize in ((0, False), (1, False), (4, False), (4, True)):
    torch.manual_seed(int(sys.argv[1]))
    model = torch.nn.Linear(3, 2).double()
    data = torch.rand(20, 3, dtype=torch.float64)
    optimizer = LBFGSB(model.parameters(), bounds=(-1, 1), max_iter=2, maximize=maximize)

    def closure():
        optimizer.zero_grad()
        loss = (model(data) - data[:, :2]).pow(4).sum() * (-1 if maximize else 1)
        loss.backward()
        return loss

    for _ in range(steps):
        optimizer.step(closure)
    state = optimizer.state_dict()["state"].get(0, {}).get("cuda_opt", torch.zeros(1, dtype=torch.uint8))
    print(hashlib.sha256(bytes(state.tolist())).hexdigest())
"""


def test_the_state_has_the_same_bytes_in_two_processes():
    """The state of an optimizer has the same bytes in two processes, although their measured times differ."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", SAVES, str(random_seed())]
    printed = [
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout for _ in range(2)
    ]
    # A loss and its negative with maximize=True give the same state, so that two of the four hashes are equal.
    assert printed[0] == printed[1] and len(set(printed[0].split())) == 3


def test_a_state_without_newer_options_can_be_loaded():
    """An optimizer continues from a saved state even if the state lacks options that were added in later versions."""
    for maximize in (False, True):
        sign = -1 if maximize else 1
        x = parameter([2.0, 3.0, -1.0])
        optimizer = LBFGSB([x], max_iter=2, maximize=maximize)
        optimizer.step(closure_of(optimizer, lambda: sign * (x**4).sum()))
        state = copy.deepcopy(optimizer.state_dict())
        if not maximize:
            del state["param_groups"][0]["maximize"], state["param_groups"][0]["line_search_fn"]
        y = parameter([0.0, 0.0, 0.0])
        again = LBFGSB([y], max_iter=2, maximize=maximize, history_size=3)
        again.load_state_dict(pickle.loads(pickle.dumps(state)))
        assert again.solver["MEMORY"] == 40 and y.tolist() == x.tolist() and y.grad.tolist() == x.grad.tolist()
        for _ in range(2):
            optimizer.step(closure_of(optimizer, lambda: sign * (x**4).sum()))
            again.step(closure_of(again, lambda: sign * (y**4).sum()))
        assert y.tolist() == x.tolist()


@pytest.mark.parametrize("state", [0, b"", [1, 2], torch.zeros(3), "x"])
def test_an_invalid_state_is_rejected(state):
    x = parameter([2.0, 3.0])
    optimizer = LBFGSB([x])
    before = optimizer.state_dict()
    with pytest.raises(TypeError, match="the state of the solve is a .*: it has to be a tensor of bytes"):
        optimizer.load_state_dict({**before, "state": {0: {"cuda_opt": state}}})
    with pytest.raises(cuda_opt.ImproperInput, match="are not a checkpoint"):
        optimizer.load_state_dict({**before, "state": {0: {"cuda_opt": torch.zeros(3, dtype=torch.uint8)}}})
    optimizer.step(closure_of(optimizer, lambda: (x**2).sum()))
    assert x.abs().max() < 1e-3


def test_checkpoints_without_times_are_valid():
    from cuda_opt._checkpoint import TIMES, without_times

    x = torch.zeros(5, dtype=torch.float64)
    solver = cuda_opt.Solver(x)
    for task in solver:
        solver.f, solver.g = ((x - 1) ** 2).sum(), 2 * (x - 1)
    saved = solver.save()
    timeless = without_times(saved)
    assert timeless[TIMES] == bytes(16) != saved[TIMES] and timeless[80:-8] == saved[80:-8]
    cuda_opt.Solver(torch.zeros(5, dtype=torch.float64)).load(timeless)
    damaged = bytearray(timeless)
    damaged[80] ^= 1
    with pytest.raises(cuda_opt.ImproperInput, match="damaged"):
        cuda_opt.Solver(torch.zeros(5, dtype=torch.float64)).load(bytes(damaged))
    assert without_times(timeless) == timeless
