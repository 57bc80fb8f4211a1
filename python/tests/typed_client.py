"""This program uses every field of the results. tools/test_python checks it with mypy --strict and pyright, which must
both know the type of each field. Only arrays may have the type Any, because the caller chooses their library."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_type

import numpy as np
import numpy.typing as npt

import cuda_opt

Vector = npt.NDArray[np.float64]
Counts = np.ndarray[Any, Any]


def parabola(x: Vector) -> tuple[float, Vector]:
    return float(x @ x) / 2, x


def rows(x: Vector) -> tuple[Vector, Vector]:
    return (x * x).sum(1) / 2, x


def columns(x: Vector) -> Vector:
    values: Vector = (x * x).sum(0)
    return values


def of_minimize(result: cuda_opt.OptimizeResult) -> str:
    assert_type(result.fun, float)
    assert_type(result.nit, int)
    assert_type(result.nfev, int)
    assert_type(result.njev, int)
    assert_type(result.status, int)
    assert_type(result.success, bool)
    assert_type(result.message, str)
    assert_type(result.task, cuda_opt.Task)
    assert_type(result.hess_inv, cuda_opt.InverseHessian)
    x: Vector = result.x
    g: Vector = result.jac
    product: Vector = result.hess_inv @ g
    return f"{result.message}: {x + product}"


def of_batch(result: cuda_opt.BatchResult) -> str:
    for counts in (result.nit, result.nfev, result.njev, result.codes, result.status, result.success):
        assert_type(counts, Counts)
    assert_type(result.pg_norm_inf, Counts)
    assert_type(result.rounds, int)
    assert_type(result.task, cuda_opt.Task)
    assert_type(result.message_of, Callable[[int], str])
    f: Vector = result.fun
    x: Vector = result.x + result.jac
    return result.message + result.message_of(0) + str(f.sum() + x.sum())


def of_search(result: cuda_opt.SearchResult) -> str:
    assert_type(result.fun, float)
    assert_type(result.walks_x, Counts)
    assert_type(result.walks_fun, Counts)
    assert_type(result.nit, int)
    assert_type(result.nfev, int)
    assert_type(result.status, int)
    assert_type(result.success, bool)
    assert_type(result.task, cuda_opt.Task)
    x: Vector = result.x
    return result.message + str(x)


def of_check(result: cuda_opt.CheckResult) -> str:
    assert_type(result.verdict, cuda_opt.Gradient)
    assert_type(result.success, bool)
    assert_type(result.component, int | None)
    assert_type(result.supplied, float)
    assert_type(result.difference, float)
    assert_type(result.error, float)
    assert_type(result.nfev, int)
    return result.message


def callback(intermediate_result: cuda_opt.IntermediateResult) -> None:
    assert_type(intermediate_result.fun, float)
    assert_type(intermediate_result.nit, int)


def callback_of_batch(intermediate_result: cuda_opt.BatchIntermediateResult) -> None:
    assert_type(intermediate_result.active, int)


def main() -> None:
    x0 = np.zeros(3)
    bounds = cuda_opt.Bounds(-1, 1)
    print(of_minimize(cuda_opt.minimize(parabola, x0, bounds=bounds, callback=callback)))
    print(of_minimize(cuda_opt.minimize(lambda x: parabola(x)[0], x0, jac="3-point", method="L-BFGS-B")))
    print(of_minimize(cuda_opt.minimize(parabola, x0, diagonal=np.ones(3))))
    print(of_minimize(cuda_opt.lbfgsb(parabola, x0, jac=True)))
    print(of_batch(cuda_opt.minimize_batch(rows, np.zeros((2, 3)), bounds=bounds, callback=callback_of_batch)))
    print(of_minimize(cuda_opt.minimize(parabola, x0, x_scale=np.ones(3))))
    print(of_check(cuda_opt.check_gradient(parabola, x0 + 1)))
    print(of_search(cuda_opt.pattern_search(columns, [(-1, 1)] * 3, walks=10)))
    solver = cuda_opt.Solver(x0, bounds=bounds)
    for task in solver:
        assert_type(task, cuda_opt.Task)
        solver.f, solver.g = parabola(x0)
    assert_type(solver.status, cuda_opt.Task | None)


if __name__ == "__main__":
    main()
