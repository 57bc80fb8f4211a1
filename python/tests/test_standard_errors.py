"""The standard errors that hess_inv gives, compared with those of the exact inverse Hessian."""
import likelihoods
import numpy as np
import pytest

import cuda_opt


@pytest.mark.parametrize("model", likelihoods.FITS.values(), ids=likelihoods.FITS.keys())
def test_gradients_and_hessians_agree_with_central_differences(model):
    """The gradients and Hessians agree with central differences."""
    fit, h = model(0), 1e-5
    x = fit.x0 + 0.1
    for e in np.eye(4):
        (below, g_below), (above, g_above) = fit.fun(x - h * e), fit.fun(x + h * e)
        assert (above - below) / (2 * h) == pytest.approx(fit.fun(x)[1] @ e, rel=1e-5)
        np.testing.assert_allclose((g_above - g_below) / (2 * h), fit.hessian(x) @ e, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("model", likelihoods.FITS.values(), ids=likelihoods.FITS.keys())
def test_standard_errors_by_hess_inv_are_close_to_the_exact_ones(model):
    """Over 12 sets of data the largest error of a fit's four standard errors is less than 15 % in the median. The
    smallest and the largest differ by a factor of four and more, which a scalar matrix does not show."""
    worst = []
    for seed in range(12):
        fit = model(seed)
        result = cuda_opt.minimize(fit.fun, fit.x0)
        exact = fit.standard_errors(result.x)
        ours = np.sqrt([e @ (result.hess_inv @ e) for e in np.eye(4)])
        assert result.success and exact.max() > 4 * exact.min()
        worst.append(np.maximum(ours / exact, exact / ours).max())
    assert np.median(worst) < 1.15 and max(worst) < 4
