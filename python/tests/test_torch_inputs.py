"""Tests LBFGSB with the inputs of torch's own tests of LBFGS (torch.testing._internal). The tests check the properties
that torch requires of every optimizer. Each test runs with each of these inputs, some of which set line_search_fn and
maximize."""
import copy
import io
import pickle

import pytest
from problems import random_seed

torch = pytest.importorskip("torch")
# The tests are skipped without the package expecttest, which torch.testing._internal imports.
pytest.importorskip("expecttest")
optimizers = pytest.importorskip("torch.testing._internal.common_optimizers")  # from torch 2.2 on
from cuda_opt.torch import LBFGSB  # noqa: E402

INFO = next(info for info in optimizers.optim_db if info.optim_cls is torch.optim.LBFGS)
INPUTS = INFO.optim_inputs_func(device="cpu")


@pytest.fixture(params=INPUTS, ids=[one.desc.replace(" ", "_") for one in INPUTS])
def options(request):
    """Return the keyword arguments of the optimizer from one of torch's test inputs."""
    return copy.deepcopy(request.param.kwargs)


@pytest.fixture(params=[torch.float64, torch.float32], ids=["double", "single"])
def dtype(request):
    return request.param


class Affine:
    """The loss |A x + b|^2 as a function of A and b. The problem has many solutions."""

    def __init__(self, dtype=torch.float64, contiguous=True, sign=1):
        generator = torch.Generator().manual_seed(random_seed())
        shape = (10, 5) if contiguous else (10, 5, 2)
        weight, bias = (torch.rand(*size, generator=generator, dtype=dtype) for size in (shape, shape[:1] + shape[2:]))
        self.weight, self.bias = (
            torch.nn.Parameter(one if contiguous else one[..., 0]) for one in (weight, bias)
        )
        self.input, self.sign = torch.rand(5, generator=generator, dtype=dtype), sign

    @property
    def parameters(self):
        return [self.weight, self.bias]

    def loss(self):
        y = self.weight.mv(self.input) + self.bias
        return self.sign * (y * y.conj()).real.sum()

    def closure_of(self, optimizer):
        def closure():
            assert torch.is_grad_enabled()
            optimizer.zero_grad()
            loss = self.loss()
            loss.backward()
            return loss

        return closure


def problem_of(options, **keywords):
    return Affine(sign=-1 if options.get("maximize") else 1, **keywords)


def descends(problem, optimizer, scheduler=None, steps=10):
    """Perform some steps and check that none of them increases the loss. Return whether the final loss is lower than
    the first."""
    closure = problem.closure_of(optimizer)
    losses = [problem.sign * float(problem.loss())]
    for _ in range(steps):
        optimizer.step(closure)
        if scheduler is not None:
            scheduler.step()
        losses.append(problem.sign * float(problem.loss()))
    assert all(later <= earlier * (1 + 1e-6) for earlier, later in zip(losses, losses[1:]))
    return losses[-1] < losses[0]


@pytest.mark.parametrize("contiguous", [True, False])
def test_the_loss_decreases_and_no_step_increases_it(options, dtype, contiguous):
    problem = problem_of(options, dtype=dtype, contiguous=contiguous)
    assert descends(problem, LBFGSB(problem.parameters, **options))


@pytest.mark.parametrize(
    "schedule",
    [
        lambda optimizer: torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.9),
        lambda optimizer: torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.8),
        lambda optimizer: torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.4, total_iters=4),
        lambda optimizer: torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 4),  # to lr = 0
    ],
    ids=["step", "exponential", "linear", "cosine"],
)
def test_the_loss_decreases_with_a_scheduler(options, schedule):
    problem = problem_of(options)
    optimizer = LBFGSB(problem.parameters, **options)
    assert descends(problem, optimizer, schedule(optimizer))


def test_the_loss_decreases_with_two_groups(options):
    problem = problem_of(options)
    lr = options.pop("lr", 1)
    groups = [{"params": [problem.weight], "lr": lr}, {"params": [problem.bias]}]
    optimizer = LBFGSB(groups, **options)
    assert descends(problem, optimizer, torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.9))


def test_named_parameters_are_accepted(options):
    problem = problem_of(options)
    if "param_names" not in torch.optim.SGD([("w", problem.weight)], lr=1).param_groups[0]:
        pytest.skip("names are from torch 2.6 on")
    optimizer = LBFGSB([("weight", problem.weight), ("bias", problem.bias)], **options)
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]
    assert descends(problem, optimizer)


def test_the_loss_that_the_first_step_returns_is_that_of_torch(options):
    problem = problem_of(options)
    optimizer = LBFGSB(problem.parameters, **options)
    loss = optimizer.step(problem.closure_of(optimizer))
    other = problem_of(options)
    theirs = torch.optim.LBFGS(other.parameters, **options)
    expected = theirs.step(other.closure_of(theirs))
    assert torch.equal(loss, expected) and type(loss) is type(expected) and loss.requires_grad == expected.requires_grad


def test_the_final_loss_is_no_higher_than_that_of_torch(options, dtype):
    """On Rosenbrock's function the loss of LBFGSB after about 60 evaluations is no higher than that of torch's LBFGS
    with the same options. The loss is also accepted if it is below 1e-6, or if that of torch is NaN."""
    losses = []
    for kind in (LBFGSB, torch.optim.LBFGS):
        x = torch.nn.Parameter(torch.tensor([-1.2, 1.0], dtype=dtype))
        sign = -1 if options.get("maximize") else 1
        optimizer, evaluations = kind([x], **options), []

        def closure():
            evaluations.append(1)
            optimizer.zero_grad()
            loss = sign * ((1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2)
            loss.backward()
            return loss

        while len(evaluations) < 60:
            optimizer.step(closure)
        losses.append(sign * float(closure()))
    assert losses[0] <= losses[1] or losses[0] < 1e-6 or losses[1] != losses[1]


def test_copies_of_an_optimizer_take_the_same_step(options):
    problem = problem_of(options)
    optimizer = LBFGSB(problem.parameters, **options)
    optimizer.step(problem.closure_of(optimizer))
    pairs = []
    for copied in (copy.deepcopy, lambda pair: pickle.loads(pickle.dumps(pair))):
        other, again = copied((problem, optimizer))
        assert [group.keys() for group in again.param_groups] == [group.keys() for group in optimizer.param_groups]
        again.step(other.closure_of(again))
        pairs.append((other.weight.detach(), other.bias.detach()))
    optimizer.step(problem.closure_of(optimizer))
    for weight, bias in pairs:
        assert torch.equal(weight, problem.weight) and torch.equal(bias, problem.bias)
        assert weight.data_ptr() != problem.weight.data_ptr()


def test_the_state_is_deterministic(options):
    states = []
    for _ in range(2):
        problem = problem_of(options)
        optimizer = LBFGSB(problem.parameters, **options)
        for _ in range(3):
            optimizer.step(problem.closure_of(optimizer))
        states.append(optimizer.state_dict())
    assert torch.equal(*(state["state"][0]["cuda_opt"] for state in states))
    assert states[0]["param_groups"] == states[1]["param_groups"]


@pytest.mark.parametrize("weights_only", [False, True])
def test_an_optimizer_continues_from_a_state_in_a_file(options, weights_only):
    """An optimizer that loads its state from a file takes the same steps as the original would have taken."""
    problem = problem_of(options)
    optimizer = LBFGSB(problem.parameters, **options)
    for _ in range(2):
        optimizer.step(problem.closure_of(optimizer))
    file = io.BytesIO()
    torch.save(optimizer.state_dict(), file)
    file.seek(0)
    other = problem_of(options)
    again = LBFGSB(other.parameters, **options)
    again.load_state_dict(torch.load(file, weights_only=weights_only))
    for _ in range(2):
        optimizer.step(problem.closure_of(optimizer))
        again.step(other.closure_of(again))
    assert torch.equal(problem.weight, other.weight) and torch.equal(problem.bias, other.bias)


def test_a_state_without_newer_options_can_be_loaded(options):
    problem = problem_of(options)
    optimizer = LBFGSB(problem.parameters, max_iter=1, **options)
    optimizer.step(problem.closure_of(optimizer))
    state = copy.deepcopy(optimizer.state_dict())
    for name in ("maximize", "line_search_fn", "tolerance_grad"):
        del state["param_groups"][0][name]
    optimizer.load_state_dict(state)
    assert descends(problem, optimizer)
    assert optimizer.param_groups[0]["tolerance_grad"] == options.get("tolerance_grad", 1e-7)


def test_hooks_are_called_in_order_until_they_are_removed(options):
    problem = problem_of(options)
    optimizer, called = LBFGSB(problem.parameters, **options), []
    handles = [
        optimizer.register_step_pre_hook(lambda *_: called.append("before")),
        optimizer.register_step_post_hook(lambda *_: called.append("after")),
        optimizer.register_state_dict_pre_hook(lambda *_: called.append("state")),
        optimizer.register_state_dict_post_hook(lambda *_: called.append("of state")),
        optimizer.register_load_state_dict_pre_hook(lambda *_: called.append("load")),
        optimizer.register_load_state_dict_post_hook(lambda *_: called.append("loaded")),
    ]
    optimizer.step(problem.closure_of(optimizer))
    optimizer.load_state_dict(optimizer.state_dict())
    assert called == ["before", "after", "state", "of state", "load", "loaded"]
    for handle in handles:
        handle.remove()
    optimizer.step(problem.closure_of(optimizer))
    assert len(called) == 6


@pytest.mark.parametrize("gradient", [None, 0.0])
def test_parameters_do_not_change_without_a_gradient(options, gradient):
    x = torch.rand(5, 1, generator=torch.Generator().manual_seed(random_seed()))
    before = x.clone()
    optimizer = LBFGSB([x], **options)
    x.grad = None if gradient is None else torch.full_like(x, gradient)
    loss = optimizer.step(lambda: torch.tensor([1]))
    assert torch.equal(x, before) and loss == torch.tensor([1])


@pytest.mark.parametrize("complex_dtype", [torch.complex128, torch.complex64])
def test_complex_parameters_have_the_iterates_of_pairs_of_real_numbers(options, complex_dtype):
    """With complex parameters the iterates are those of the corresponding pairs of real numbers."""
    problem = problem_of(options, dtype=complex_dtype)
    pairs = [torch.nn.Parameter(torch.view_as_real(one.detach().clone())) for one in problem.parameters]
    optimizer, of_pairs = LBFGSB(problem.parameters, **options), LBFGSB(pairs, **options)

    def closure():
        of_pairs.zero_grad()
        weight, bias = map(torch.view_as_complex, pairs)
        y = weight.mv(problem.input) + bias
        loss = problem.sign * (y * y.conj()).real.sum()
        loss.backward()
        return loss

    for _ in range(4):
        assert torch.equal(optimizer.step(problem.closure_of(optimizer)), of_pairs.step(closure))
    for one, pair in zip(problem.parameters, pairs):
        assert torch.equal(torch.view_as_real(one), pair) and torch.equal(torch.view_as_real(one.grad), pair.grad)


def test_the_repr_contains_the_options(options):
    problem = problem_of(options)
    text = repr(LBFGSB(problem.parameters, **options))
    assert text.startswith("LBFGSB") and all(name in text for name in options)


def test_invalid_arguments_raise_the_exceptions_of_torch():
    for one in INFO.optim_error_inputs_func(device="cpu", dtype=torch.float64):
        given = one.optimizer_error_input
        if one.error_on is optimizers.OptimizerErrorEnum.CONSTRUCTION_ERROR:
            expects = pytest.warns if issubclass(one.error_type, Warning) else pytest.raises
            with expects(one.error_type, match=one.error_regex):
                LBFGSB(given.params, **given.kwargs)


@pytest.mark.filterwarnings("ignore:optimizer contains a parameter group with duplicate")
def test_a_parameter_may_appear_twice():
    problem = Affine()
    optimizer = LBFGSB([problem.weight, problem.weight, problem.bias])
    assert optimizer.solver.n == 60 and descends(problem, optimizer)
