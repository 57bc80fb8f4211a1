"""Compares the derivative of a minimiser subject to bounds, by ``cuda_opt.torch.argmin``, with differences of
minimisers."""
import warnings

import pytest
from problems import random_seed

torch = pytest.importorskip("torch")
from cuda_opt import ImproperInput  # noqa: E402
from cuda_opt.torch import argmin  # noqa: E402

DOUBLE = torch.float64


def random(*shape, seed=1):
    return torch.randn(*shape, dtype=DOUBLE, generator=torch.Generator().manual_seed(random_seed(seed)))


def regression():
    a = random(80, 30)
    return lambda x, t: 0.5 * ((a @ x - t) ** 2).sum() + 0.1 * (x**4).sum(), 30, random(80, seed=2), (-0.05, 0.3)


def logistic():
    a, signs = random(200, 20), random(200, seed=3).sign()

    def fun(x, t):
        return torch.nn.functional.softplus(-signs * (a @ x)).sum() + (t.exp() * x**2).sum()

    return fun, 20, 0.3 * random(20, seed=4), (0.0, None)


def membrane():
    def fun(x, t):
        u = torch.nn.functional.pad(x.reshape(8, 8), (1, 1, 1, 1))
        steep = u.diff(dim=0)[:, :-1] ** 2 + u.diff(dim=1)[:-1] ** 2
        return ((steep + 0.01) ** 2 / 4).sum() + steep.sum() - 0.1 * t @ x

    return fun, 64, 1 + 0.3 * random(64, seed=5), (0.0, 0.1)


def allocation():
    def fun(x, t):
        return -t @ x.softmax(0) + 0.5 * ((x - t.sin()) ** 2).sum() + 0.1 * x.cos().sum()

    return fun, 12, random(12, seed=6), (-0.8, 0.8)


def rosenbrock():
    def fun(x, t):
        return (20 * (x[1:] - x[:-1] ** 2) ** 2 + (t[:-1] - x[:-1]) ** 2).sum()

    return fun, 10, 1 + 0.1 * random(10, seed=7), (-1.0, 0.9)


def difference(f, e):
    """Return the derivative f'(0) by central differences of fourth order with the step e."""
    return (8 * (f(e) - f(-e)) - (f(2 * e) - f(-2 * e))) / (12 * e)


@pytest.mark.parametrize("problem", [regression, logistic, membrane, allocation, rosenbrock])
def test_derivatives_by_data_and_bounds_agree_with_differences(problem):
    fun, n, t, box = problem()
    lower = torch.full((n,), -20.0 if box[0] is None else box[0], dtype=DOUBLE)
    upper = torch.full((n,), 20.0 if box[1] is None else box[1], dtype=DOUBLE)
    directions = random(t.numel(), seed=8), random(n, seed=9), random(n, seed=10)
    inputs = [one.requires_grad_() for one in (t, lower, upper)]
    weights = random(n, seed=11)

    def loss(t, lower, upper, tol=None):
        return weights @ (3 * argmin(fun, torch.full((n,), 0.05, dtype=DOUBLE), t, (lower, upper), tol=tol)).sin()

    def active_at(t, lower, upper):
        with torch.no_grad():
            x = argmin(fun, torch.full((n,), 0.05, dtype=DOUBLE), t, (lower, upper), tol=1e-12)
        return ((x == lower) | (x == upper)).tolist()

    active = active_at(*inputs)
    assert 0 < sum(active) < n
    gradients = torch.autograd.grad(loss(*inputs), inputs)
    for which, (gradient, direction) in enumerate(zip(gradients, directions)):
        def moved(e):
            return [one + e * direction if i == which else one for i, one in enumerate(inputs)]

        # The solution has a kink where the set of active variables changes, so that a difference across it is useless.
        steps = [e for e in (1e-4, 1e-5) if active_at(*moved(-2 * e)) == active == active_at(*moved(2 * e))]
        if not steps:
            continue
        # The error of a minimiser, divided by the step, has to be smaller than the tolerance of the comparison.
        with torch.no_grad():
            slope = difference(lambda e: loss(*moved(e), tol=1e-12), steps[0])
        # No variable is at this bound, so that only the tolerance of the solves contributes to the difference.
        if not gradient.any():
            assert abs(slope) <= 1e-5
            continue
        assert abs(gradient @ direction - slope) <= 1e-7 * gradient.norm() * direction.norm(), (which, sum(active))


def test_derivatives_by_several_tensors_are_exact_without_bounds():
    a, b = random(4).requires_grad_(), torch.tensor(2.0, dtype=DOUBLE, requires_grad=True)
    x = argmin(lambda x, a, b: ((x - a) ** 2).sum() + b * (x**2).sum(), torch.zeros(4, dtype=DOUBLE), (a, b))
    torch.testing.assert_close(x, a / (1 + b))
    x.sum().backward()
    torch.testing.assert_close(a.grad, torch.full_like(a, 1 / 3))
    torch.testing.assert_close(b.grad, -a.detach().sum() / 9)


def test_second_derivatives_agree_with_differences_of_first_derivatives():
    """The parameters are a matrix, a vector and both bounds. One variable is at each bound, and two are free, so that
    small changes of the parameters do not change the active set."""
    matrix = torch.tensor([[4.0, 1, 0, 1], [1, 3, 1, 0], [0, 1, 5, -1], [1, 0, -1, 4]], dtype=DOUBLE)
    linear = torch.tensor([3.0, -6.0, 9.0, 2.0], dtype=DOUBLE)
    inputs = [matrix, linear, torch.full((4,), -0.8, dtype=DOUBLE), torch.full((4,), 0.9, dtype=DOUBLE)]

    def minimum(matrix, linear, lower, upper):
        def fun(x, matrix, linear):
            return x @ matrix @ x / 2 - linear @ x + (linear * x**3).sin().sum() / 20

        return argmin(fun, torch.zeros(4, dtype=DOUBLE), (matrix, linear), (lower, upper), tol=1e-12)

    x = minimum(*inputs)
    assert ((x > -0.8) & (x < 0.9)).tolist() == [True, False, False, True] and x[1] == -0.8 and x[2] == 0.9
    inputs = [one.requires_grad_() for one in inputs]
    assert torch.autograd.gradcheck(minimum, inputs, eps=1e-4, atol=1e-6)
    assert torch.autograd.gradgradcheck(minimum, inputs, eps=1e-4, atol=1e-6)


def test_derivatives_of_every_order_are_exact():
    """The minimiser of exp(x) - t x is log t. Its second derivative by t is -1 / t^2, and its fourth -6 / t^4."""
    t = torch.tensor([0.3, 1.7, 5.0], dtype=DOUBLE, requires_grad=True)

    def log(t):
        return argmin(lambda x, t: (x.exp() - t * x).sum(), torch.zeros(3, dtype=DOUBLE), t)

    derivative = log(t)
    for order, exact in enumerate((1 / t, -1 / t**2, 2 / t**3, -6 / t**4), 1):
        (derivative,) = torch.autograd.grad(derivative.sum(), t, create_graph=True)
        torch.testing.assert_close(derivative, exact, rtol=1e-7, atol=0, msg=f"order {order}")
    hessian = torch.autograd.functional.hessian(lambda t: (log(t) ** 3).sum(), t)
    torch.testing.assert_close(hessian, ((6 * t.log() - 3 * t.log() ** 2) / t**2).diag())
    _, slope = torch.autograd.functional.jvp(log, t, torch.ones_like(t))
    torch.testing.assert_close(slope, 1 / t)


def test_a_penalty_on_the_gradient_has_the_derivatives_of_the_closed_form():
    """The penalty is the squared norm of the gradient by a parameter and the bounds. It is differentiated by these and
    by a second parameter. The minimiser has a closed form. The third variable is at its bound."""
    a, b = torch.tensor([0.5, -2.0, 4.0], dtype=DOUBLE, requires_grad=True), (2 * one().detach()).requires_grad_()
    upper = torch.tensor([5.0, 5.0, 0.7], dtype=DOUBLE, requires_grad=True)

    def penalty(minimum):
        x = minimum(a, b, upper)
        gradients = torch.autograd.grad((x**3).sum() * b, (a, upper), create_graph=True)
        return sum((gradient**2).sum() for gradient in gradients)

    def solved(a, b, upper):
        return argmin(lambda x, a, b: ((x - a) ** 2).sum() + b * (x**2).sum(), X0, (a, b), (None, upper))

    def closed(a, b, upper):
        return torch.minimum(a / (1 + b), upper)

    first, second = (torch.autograd.grad(penalty(minimum), (a, b, upper)) for minimum in (solved, closed))
    assert all(one.any() for one in second)
    torch.testing.assert_close(first, second)


def test_a_derivative_that_could_be_differentiated_again_has_the_same_value():
    t, weights = random(12, seed=6).requires_grad_(), random(12, seed=9)
    x = argmin(allocation()[0], torch.zeros(12, dtype=DOUBLE), t, (-0.8, 0.8))
    plain, again = (
        torch.autograd.grad(weights @ x, t, retain_graph=True, create_graph=create)[0] for create in (False, True)
    )
    assert again.requires_grad and not plain.requires_grad and torch.equal(plain, again)


def test_argmin_warns_of_degenerate_active_variables():
    t = torch.tensor([-1.0, 0.0, 2.0], dtype=DOUBLE, requires_grad=True)
    x = argmin(lambda x, t: ((x - t) ** 2).sum(), -torch.ones(3, dtype=DOUBLE), t, (0.0, None))
    with pytest.warns(RuntimeWarning, match="1 of the 2 active variables are degenerate"):
        x.sum().backward()
    torch.testing.assert_close(t.grad, torch.tensor([0, 0, 1], dtype=DOUBLE))


def test_a_singular_hessian_of_the_free_variables_raises_an_exception():
    t = torch.ones((), dtype=DOUBLE, requires_grad=True)
    x = argmin(lambda x, t: (x[0] + x[1] - t) ** 2 + (x[2] - t) ** 2, torch.ones(3, dtype=DOUBLE), t)
    with pytest.raises(ValueError, match="singular or not positive definite at the solution, which therefore has no"):
        x[0].backward()
    # The derivative of a value that all minimisers share is found.
    shared = argmin(lambda x, t: (2 * x.sum() - t) ** 2, torch.ones(3, dtype=DOUBLE), t)
    assert float(torch.autograd.grad(shared.sum(), t)[0]) == pytest.approx(0.5)
    held = argmin(lambda x, t: (x[0] - t) ** 2 - x[1], torch.ones(2, dtype=DOUBLE), t, (0.0, 5.0))
    assert float(torch.autograd.grad(held[0], t)[0]) == pytest.approx(1)


def test_argmin_works_in_single_precision_and_warns_at_a_limit():
    t = torch.tensor([0.5, -0.25], requires_grad=True)
    x = argmin(lambda x, t: ((x - t) ** 4 + x**2).sum(), torch.zeros(2), t)
    assert x.dtype == torch.float32
    with pytest.warns(RuntimeWarning, match="argmin has not converged"):
        argmin(lambda x, t: ((x - t) ** 4 + x**2).sum(), torch.zeros(2), t, options={"maxiter": 1})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x.sum().backward()
    assert torch.isfinite(t.grad).all()
    with pytest.raises(TypeError, match="x0 is a list"):
        argmin(lambda x: x.sum(), [1.0])


def quartic(x, c):
    return ((x - c) ** 2).sum() + (x**4).sum() / 10


X0 = torch.zeros(3, dtype=DOUBLE)


def one():
    return torch.ones((), dtype=DOUBLE, requires_grad=True)


@pytest.mark.parametrize(
    "fun, error, match",
    [
        (lambda x, c: 1.0, TypeError, "the function returned a float: it has to return a tensor"),
        (lambda x, c: (x.sum(), 1), TypeError, "the function returned a tuple"),
        (lambda x, c: x, ValueError, "has the shape .3,.: it has to be one number"),
        (lambda x, c: x.sum() + 0j, TypeError, "has elements of torch.complex128"),
        (lambda x, c: quartic(x, c).detach(), ValueError, "has no gradient: it does not depend on x"),
    ],
)
def test_invalid_values_of_the_function_are_rejected(fun, error, match):
    with pytest.raises(error, match=match):
        argmin(fun, X0, one())


@pytest.mark.parametrize(
    "bounds, error, match",
    [
        ([0.0, 1.0], TypeError, "bounds is a list of 2: it has to be Bounds, or a tuple"),
        ((0.0, 1.0, 2.0), TypeError, "bounds is a tuple of 3"),
        (3, TypeError, "bounds is a int"),
        ((torch.zeros(2, dtype=DOUBLE), None), ValueError, "the lower bound has the shape .2,., but x0 has .3,."),
        ((None, X0 + 1j), TypeError, "the upper bound has elements of torch.complex128"),
    ],
)
def test_invalid_bounds_are_rejected(bounds, error, match):
    with pytest.raises(error, match=match):
        argmin(quartic, X0, one(), bounds)


def test_an_invalid_x0_and_an_invalid_maxcor_are_rejected():
    with pytest.raises(TypeError, match="^x0 has elements of int64: they have to be float64 or float32"):
        argmin(quartic, torch.zeros(3, dtype=torch.int64), one())
    with pytest.raises(ValueError, match="correction pairs m is 'a'"):
        argmin(quartic, X0, one(), options={"maxcor": "a"})
    with pytest.raises(ImproperInput, match="^CUDA_OPT_FACTR is -1"):
        argmin(quartic, X0, one(), options={"FACTR": -1})


def test_data_that_are_not_tensors_are_passed_unchanged():
    """Data that are not tensors are passed to the function unchanged. A list with tensors that require a gradient is
    rejected, because these tensors would obtain no derivative."""
    c = one()
    argmin(lambda x, c, factor, kind: quartic(x, c * factor[kind]), X0, (c, {"twice": 2.0}, "twice")).sum().backward()
    direct = torch.tensor(2.0, dtype=DOUBLE, requires_grad=True)
    argmin(quartic, X0, direct).sum().backward()
    assert c.grad == pytest.approx(2 * float(direct.grad), rel=1e-9)
    with pytest.raises(TypeError, match="data has a list with tensors that require a gradient"):
        argmin(lambda x, data: quartic(x, data[0]), X0, [c])


def test_functions_that_can_be_differentiated_only_once_are_rejected():
    class Squares(torch.autograd.Function):
        @staticmethod
        def forward(context, x, c):
            context.save_for_backward(x, c)
            return ((x - c) ** 2).sum()

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(context, v):
            x, c = context.saved_tensors
            return 2 * (x - c) * v, (-2 * (x - c) * v).sum()

    c = one()
    for fun in (Squares.apply, lambda x, c: Squares.apply(x, c) + (x**4).sum()):
        for create_graph in (False, True):
            with pytest.raises(ValueError, match="autograd cannot differentiate the gradient of fun"):
                torch.autograd.grad(argmin(fun, X0, c).sum(), c, create_graph=create_graph)
    argmin(lambda x, c: x.sum() + c**2, X0, c, (0.0, 1.0)).sum().backward()  # the gradient is constant
    assert c.grad is None or c.grad == 0


class Exponential(torch.autograd.Function):
    """t exp(x), which can be differentiated only once"""

    @staticmethod
    def forward(context, x, t):
        context.save_for_backward(x, t)
        return t * x.exp()

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context, v):
        x, t = context.saved_tensors
        return v * t * x.exp(), v * x.exp()


class UnmarkedExponential(Exponential):
    """The same without the mark once_differentiable"""

    @staticmethod
    @torch.no_grad()
    def backward(context, v):
        x, t = context.saved_tensors
        return v * t * x.exp(), v * x.exp()


class SumOfExponentials(torch.autograd.Function):
    """The sum of t exp(x), which can be differentiated only twice"""

    @staticmethod
    def forward(context, x, t, exponential=Exponential):
        context.save_for_backward(x, t)
        context.exponential = exponential
        return (t * x.exp()).sum()

    @staticmethod
    def backward(context, v):
        x, t = context.saved_tensors
        return v * context.exponential.apply(x, t), v * x.exp(), None


@pytest.mark.parametrize(
    "fun, slope",
    [
        (lambda x, t: SumOfExponentials.apply(x, t) - x.sum(), lambda t: -1 / t),
        (lambda x, t: SumOfExponentials.apply(x, t, UnmarkedExponential) - x.sum(), lambda t: -1 / t),
        (lambda x, t: SumOfExponentials.apply(x, torch.ones_like(x)) - (t * x).sum(), lambda t: 1 / t),
        (lambda x, t: SumOfExponentials.apply(x, t) + (t * x.exp()).sum() - 2 * x.sum(), lambda t: -1 / t),
    ],
)
def test_functions_that_can_be_differentiated_only_twice_have_first_derivatives_only(fun, slope):
    t = torch.tensor([0.5, 2.0, 3.0], dtype=DOUBLE, requires_grad=True)
    (derivative,) = torch.autograd.grad(argmin(fun, X0, t).sum(), t)
    torch.testing.assert_close(derivative, slope(t.detach()))
    with pytest.raises(ValueError, match="cannot differentiate the derivative of the minimum again: an operation in"):
        torch.autograd.functional.hessian(lambda t: argmin(fun, X0, t).sum(), t)


def test_nan_derivatives_are_returned():
    """NaN derivatives are not reported as a singular Hessian."""
    c = one()
    (argmin(quartic, X0, c) * torch.nan).sum().backward()
    assert c.grad.isnan()
