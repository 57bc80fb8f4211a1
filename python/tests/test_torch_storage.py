"""Tests torch tensors whose memory is replaced or resized, and tensors whose memory differs from their values because
torch negates or conjugates lazily."""
import copy
import pickle

import pytest
from problems import random_seed

import cuda_opt

torch = pytest.importorskip("torch")
from cuda_opt.torch import LBFGSB  # noqa: E402

DATA = torch.rand(40, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(random_seed()))


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(random_seed())


def fit(model, optimizer, steps=15):
    """Fit a model whose exact solution exists, and return the loss before and after some steps."""

    def closure():
        optimizer.zero_grad()
        x = DATA.to(next(model.parameters()).dtype)
        loss = (model(x) - 3 * x.sum(1, keepdim=True)).square().mean()
        loss.backward()
        return loss

    before = closure().item()
    for _ in range(steps):
        optimizer.step(closure)
    return before, closure().item()


def new_data(model):
    for parameter in model.parameters():
        parameter.data = torch.rand_like(parameter)


def cast_and_back(model):
    """Give the parameters and the tensors of their gradients new memory."""
    model.float().double()


def turned_data(model):
    """Give a parameter new memory of the same shape with other strides."""
    model.weight.data = torch.rand(3, 1, dtype=torch.float64).T


def vector_to_parameters(model):
    torch.nn.utils.vector_to_parameters(torch.rand(4, dtype=torch.float64), model.parameters())


def there_and_back(model):
    parameters = list(model.parameters())
    torch.nn.utils.vector_to_parameters(torch.nn.utils.parameters_to_vector(parameters), parameters)


def in_place(model):
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.uniform_()


def loaded_in_place(model):
    model.load_state_dict({name: torch.rand_like(value) for name, value in model.state_dict().items()})


def second_optimizer(model):
    LBFGSB(model.parameters())


@pytest.mark.parametrize("steps_before", [0, 1])
@pytest.mark.parametrize(
    "change",
    [
        new_data, cast_and_back, turned_data, vector_to_parameters, there_and_back, in_place, loaded_in_place,
        second_optimizer,
    ],
)
def test_a_fit_succeeds_after_parameters_receive_other_memory_or_values(change, steps_before):
    model = torch.nn.Linear(3, 1).double()
    optimizer = LBFGSB(model.parameters(), max_iter=3)
    fit(model, optimizer, steps_before)
    change(model)
    assert fit(model, optimizer)[1] < 1e-6
    for parameter in model.parameters():
        address = parameter.data_ptr() - optimizer.solver.x.data_ptr()
        assert 0 <= address < 8 * optimizer.solver.n


def _loss(model):
    model.zero_grad()
    loss = (model(DATA)[:, 0] - 3 * DATA.sum(1)).square().mean()
    loss.backward()
    return loss


def test_a_step_begins_at_the_current_values_of_the_parameters():
    """A step begins at the current values of the parameters. If they have not changed, it continues the previous solve.
    """
    x = torch.nn.Parameter(torch.tensor([1.0, 2.0], dtype=torch.float64))
    optimizer = LBFGSB([x], max_iter=1)
    seen = []

    def closure():
        seen.append(x.tolist())
        optimizer.zero_grad()
        loss = (x**4).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    x.data = x.detach().clone()
    iterations = optimizer.solver["ITERATIONS"]
    optimizer.step(closure)
    assert optimizer.solver["ITERATIONS"] > iterations
    x.data = torch.tensor([3.0, -1.0], dtype=torch.float64)
    seen.clear()
    optimizer.step(closure)
    assert seen[0] == [3, -1]


def test_two_optimizers_may_fit_the_same_model_alternately():
    model = torch.nn.Linear(3, 1).double()
    one, two = LBFGSB(model.parameters(), max_iter=2), LBFGSB(model.parameters(), max_iter=2)
    losses = [fit(model, optimizer, 1) for _ in range(8) for optimizer in (one, two)]
    assert all(after <= before for before, after in losses) and losses[-1][1] < losses[0][0] / 100


def other_precision(model):
    model.float()


def bfloat16(model):
    model.bfloat16()


def other_shape(model):
    model.weight.data = torch.rand(2, 3, dtype=torch.float64)
    model.bias.data = torch.rand(2, dtype=torch.float64)


@pytest.mark.parametrize("steps_before", [0, 1])
@pytest.mark.parametrize("change, tolerance", [(other_precision, 1e-6), (bfloat16, 1e-2), (other_shape, 1e-6)])
def test_a_change_of_precision_or_shape_begins_a_new_solve(change, tolerance, steps_before):
    model = torch.nn.Linear(3, 1).double()
    optimizer = LBFGSB(model.parameters(), bounds=(-1, 4), max_iter=3)
    fit(model, optimizer, steps_before)
    change(model)
    optimizer.zero_grad()
    assert "cuda_opt" not in optimizer.state_dict()["state"].get(0, {}) and pickle.dumps(optimizer)
    kinds = [(parameter.dtype, parameter.shape) for parameter in model.parameters()]
    before, after = fit(model, optimizer)
    assert after < min(tolerance, before)
    assert kinds == [(parameter.dtype, parameter.shape) for parameter in model.parameters()]


@pytest.mark.parametrize("low", [torch.float32, torch.bfloat16])
def test_parameters_of_mixed_precision_are_fitted_copied_and_restored(low):
    def made():
        torch.manual_seed(random_seed())
        a = torch.nn.Parameter(torch.rand(3, dtype=torch.float64))
        b = torch.nn.Parameter(torch.rand(2, 2).to(low))
        return [a, b], LBFGSB([a, b], bounds=(0.25, None), max_iter=2)

    def step(parameters, optimizer):
        a, b = parameters

        def closure():
            optimizer.zero_grad()
            loss = ((a - 3) ** 4).sum() + ((b.double() - torch.eye(2, dtype=torch.float64)) ** 2 * a[:2]).sum()
            loss.backward()
            return loss

        return float(optimizer.step(closure))

    parameters, optimizer = made()
    first = step(parameters, optimizer)
    other, again = made()
    again.load_state_dict(optimizer.state_dict())
    copied = copy.deepcopy((parameters, optimizer))
    for _ in range(8):
        losses = [step(*pair) for pair in ((parameters, optimizer), (other, again), copied)]
        assert losses[0] == losses[1] == losses[2] <= first
        for one, two, three in zip(parameters, other, copied[0]):
            assert torch.equal(one, two) and torch.equal(one, three) and torch.equal(one.grad, two.grad)
    assert parameters[1].dtype == parameters[1].grad.dtype == low and optimizer.solver.x.dtype == torch.float64
    expected = torch.tensor([[1, 0.25], [0.25, 1]], dtype=torch.float64)
    assert torch.allclose(parameters[1].double(), expected, atol=0.01) and losses[0] < first
    with torch.no_grad():
        parameters[1].fill_(2)
    changed = step(parameters, optimizer)
    assert changed > losses[0] and step(parameters, optimizer) < changed


def test_a_gradient_whose_data_is_replaced_is_used():
    x = torch.nn.Parameter(torch.ones(2, dtype=torch.float64))
    optimizer = LBFGSB([x])

    def closure():
        optimizer.zero_grad()
        (x**2).sum().backward()
        x.grad.data = 2 * (x.detach() - 3)
        return ((x - 3) ** 2).sum()

    optimizer.step(closure)
    assert x.tolist() == pytest.approx([3, 3])


@pytest.mark.filterwarnings("ignore:Lazy modules")
def test_lazy_parameters_receive_their_shape_in_the_first_step():
    model = torch.nn.LazyLinear(1, dtype=torch.float64)
    optimizer = LBFGSB(model.parameters(), max_iter=3, bounds=(0, None))
    optimizer.zero_grad()
    assert optimizer.solver is None
    for _ in range(15):
        optimizer.step(lambda: _loss(model))
    assert _loss(model) < 1e-6 and optimizer.solver.n == 4


@pytest.mark.parametrize("steps_before", [0, 1])
def test_a_step_fails_after_the_parameters_are_replaced_by_new_objects(steps_before):
    """load_state_dict(assign=True) replaces the parameters."""
    model = torch.nn.Linear(3, 1).double()
    optimizer = LBFGSB(model.parameters(), max_iter=3)
    fit(model, optimizer, steps_before)
    for name, parameter in list(model.named_parameters()):
        setattr(model, name, torch.nn.Parameter(torch.rand_like(parameter)))
    with pytest.raises(RuntimeError, match="wrote no gradient of any parameter"):
        optimizer.step(lambda: _loss(model))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda pair: pickle.loads(pickle.dumps(pair))])
@pytest.mark.parametrize("steps_before", [0, 1, 30])
def test_a_copied_optimizer_takes_the_same_steps_as_the_original(copied, steps_before):
    """A copy of an optimizer, made together with its model, takes the same steps as the original and does not use its
    memory."""
    model = torch.nn.Linear(3, 1).double()
    optimizer = LBFGSB(model.parameters(), bounds=(-9, torch.full((1,), 9.0, dtype=torch.float64)), max_iter=3,
                       history_size=4, tolerance_grad=1e-9, STPMIN=1e-18, ROBUST=1)
    fit(model, optimizer, steps_before)
    other, again = copied((model, optimizer))
    for name in ("PGTOL", "FACTR", "STPMIN", "ROBUST", "MEMORY", "REPORT_ITERATES", "EVALUATIONS"):
        assert again.solver[name] == optimizer.solver[name]
    assert again.defaults["max_iter"] == 3 and again.param_groups[0]["params"][0] is other.weight
    values = [parameter.detach().clone() for parameter in model.parameters()]
    _, after = fit(other, again)
    assert after < 1e-6 and all(map(torch.equal, values, model.parameters()))
    fit(model, optimizer)
    assert all(map(torch.equal, other.parameters(), model.parameters()))


def test_a_shallow_copy_shares_the_parameters():
    model = torch.nn.Linear(3, 1).double()
    optimizer = LBFGSB(model.parameters(), max_iter=3)
    fit(model, optimizer, 1)
    assert fit(model, copy.copy(optimizer))[1] < 1e-6 and fit(model, optimizer)[1] < 1e-6


def test_a_resized_tensor_is_detected_at_the_next_step():
    """If other code resizes the memory of a tensor, the next step raises an exception. Otherwise the C library would
    write to freed memory."""

    def storage(tensor):
        return tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage()

    def started():
        x, lower = torch.ones(50, dtype=torch.float64), torch.zeros(50, dtype=torch.float64)
        solver = cuda_opt.Solver(x, bounds=cuda_opt.Bounds(lower, None))
        next(solver)
        solver.f, solver.g = 25.0, x
        return solver, {"x0": x, "the gradient": solver.g, "the lower bound": lower}

    for what in ("x0", "the gradient", "the lower bound"):
        for size in (0, 10, 5000):
            solver, arrays = started()
            storage(arrays[what]).resize_(size if not hasattr(arrays[what], "untyped_storage") else 8 * size)
            with pytest.raises(ValueError, match=f"{what} has {8 * size} bytes of memory, .*was given 400 bytes"):
                next(solver)
            solver.close()


def negated(values):
    """Return a tensor whose memory contains the values with the opposite sign, because torch negates lazily."""
    tensor = torch._neg_view(-torch.tensor(values, dtype=torch.float64))
    assert tensor.is_neg() and tensor.tolist() == values
    return tensor


def test_lazily_negated_tensors_are_used_with_their_values():
    x0, lower, upper = negated([1.0, -1.0]), negated([-2.0, -3.0]), negated([4.0, 5.0])
    box = cuda_opt.Bounds(lower, upper)
    result = cuda_opt.minimize(lambda x: (x.sum(), torch.ones_like(x)), x0, bounds=box)
    assert result.x.tolist() == [-2, -3]
    result = cuda_opt.minimize(lambda x: (-x.sum(), negated([-1.0, -1.0])), x0, bounds=box)
    assert result.x.tolist() == [4, 5]
    assert cuda_opt.minimize(lambda x: ((x**2).sum(), 2 * x), x0).x.abs().max() < 1e-6
    rows = torch._neg_view(-torch.ones(4, 2, dtype=torch.float64))
    result = cuda_opt.minimize_batch(lambda x: (x.sum(1), torch.ones_like(x)), rows, bounds=box)
    assert result.x.tolist() == [[-2, -3]] * 4
    with pytest.raises(ValueError, match="x0 is a lazily negated or conjugated tensor"):
        cuda_opt.Solver(x0)
    solver = cuda_opt.Solver(torch.zeros(2, dtype=torch.float64))
    next(solver)
    solver.g.copy_(torch.ones(2))
    # The new tensor has the same address, but represents values of the opposite sign.
    solver.g = torch._neg_view(solver.g)
    assert solver.g.tolist() == [-1, -1]
    found = cuda_opt.minimize(lambda x: ((x**2).sum(), 2 * x), torch.ones(2, dtype=torch.float64)).hess_inv
    assert torch.equal(found @ negated([2.0, 3.0]), found @ torch.tensor([2.0, 3.0], dtype=torch.float64))


def test_tensors_that_are_not_dense_are_rejected():
    dense = torch.zeros(3, dtype=torch.float64)
    with pytest.raises(TypeError, match="x0 has the layout torch.sparse_coo"):
        cuda_opt.minimize(lambda x: (0.0, x), dense.to_sparse())
    with pytest.raises(TypeError, match="the gradient has the layout torch.sparse_coo"):
        cuda_opt.minimize(lambda x: (0.0, x.to_sparse()), dense)
    with pytest.raises(TypeError, match="the lower bound has the layout torch.sparse_coo"):
        cuda_opt.minimize(lambda x: (0.0, x), dense, bounds=cuda_opt.Bounds(dense.to_sparse(), None))
