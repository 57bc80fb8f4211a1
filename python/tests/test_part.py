"""Tests solves on several ranks, which are threads here. Each rank has a solver for its own part of x."""
import threading

import numpy as np
import pytest

import cuda_opt

N = 4000
TARGET = np.linspace(-1, 2, N)


class Everyone:
    """An all-gather between threads, where each thread acts as one rank."""

    def __init__(self, ranks):
        self.barrier, self.sent = threading.Barrier(ranks, timeout=300), [None] * ranks

    def gather_of(self, rank):
        def gather(send, receive):
            self.sent[rank] = send
            self.barrier.wait()
            receive[:] = np.concatenate(self.sent)
            self.barrier.wait()

        return gather


def on_ranks(ranks, solve):
    """Return the result of solve(part, size) on each rank, or the exception that it raised there."""
    everyone, results = Everyone(ranks), [None] * ranks

    def run(rank):
        try:
            results[rank] = solve(*cuda_opt.Part.even(rank, ranks, N, everyone.gather_of(rank)))
        except Exception as failure:
            results[rank] = failure

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(ranks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def minimised(part, size):
    solver = cuda_opt.Solver(np.zeros(size), part=part, bounds=cuda_opt.Bounds(0, 1), THREADS=1)
    own = slice(part.first, part.first + size)
    for task in solver:
        assert task == cuda_opt.Task.EVALUATE_FG
        difference = solver.x - TARGET[own]
        solver.f, solver.g = difference @ difference / 2, difference
    assert solver["DIMENSION"] == N
    return solver.status, solver.message, float(solver.f), np.array(solver.x)


def test_all_ranks_obtain_the_same_minimum():
    expected = np.clip(TARGET, 0, 1)
    for ranks in (1, 2, 3):
        ends = on_ranks(ranks, minimised)
        assert {end[:3] for end in ends} == {ends[0][:3]}
        assert ends[0][0] == cuda_opt.Task.CONVERGED
        assert ends[0][2] == pytest.approx(((expected - TARGET) ** 2).sum() / 2, rel=1e-12)
        np.testing.assert_allclose(np.concatenate([end[3] for end in ends]), expected, atol=1e-6)


@pytest.mark.parametrize("bounds", [None, cuda_opt.Bounds(0, 1), "arrays", "pairs"])
def test_some_ranks_may_have_no_variables(bounds):
    """If there are more ranks than segments of variables, some ranks have no variables. The solve is still correct.
    """
    everyone, results = Everyone(3), [None] * 3

    def run(rank):
        part, size = cuda_opt.Part.even(rank, 3, 100, everyone.gather_of(rank))
        own = {"arrays": cuda_opt.Bounds(np.zeros(size), np.ones(size)), "pairs": [(0, 1)] * size}
        limits = own.get(bounds) if isinstance(bounds, str) else bounds
        solver = cuda_opt.Solver(np.zeros(size), part=part, bounds=limits, THREADS=1, INITIAL_HESSIAN=2)
        for _ in solver:
            solver.f, solver.g = 2 * ((solver.x - 0.3) @ (solver.x - 0.3)), 4 * (solver.x - 0.3)
            assert solver.metric().shape == (size,)
        results[rank] = solver.status, size, float(solver.f), solver.x.sum()

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(result[1] for result in results) == [0, 0, 100]
    assert all(result[0] is cuda_opt.Task.CONVERGED and result[2] == results[0][2] for result in results)
    assert sum(result[3] for result in results) == pytest.approx(30)


def test_different_settings_are_rejected_on_all_ranks():
    def solve(part, size):
        solver = cuda_opt.Solver(np.zeros(size), part=part, EPS=1e-3 if part.rank == 1 else 1e-4)
        return next(solver)

    for failure in on_ranks(2, solve):
        assert isinstance(failure, cuda_opt.ImproperInput)
        assert "rank 1 has CUDA_OPT_EPS" in str(failure)


def test_an_exception_of_the_all_gather_is_raised():
    def gather(send, receive):
        raise OSError("the cable is cut")

    solver = cuda_opt.Solver(np.zeros(N), part=cuda_opt.Part(0, 1, 0, N, gather))
    with pytest.raises(OSError, match="cable"):
        next(solver)
    assert "the exchange between the ranks failed: the cable is cut" in solver.message


def test_invalid_characters_in_the_message_of_a_failure_are_replaced():
    def gather(send, receive):
        raise OSError("cable \udcff")

    solver = cuda_opt.Solver(np.zeros(5), part=cuda_opt.Part(0, 1, 0, 5, gather))
    with pytest.raises(OSError, match="cable"):
        next(solver)
    assert "failed: cable ?" in solver.message


def test_a_long_message_of_a_failed_rank_is_truncated():
    """A long message of a failed rank is truncated at a fixed number of bytes. The end may be within a character of
    several bytes, which must not damage the rest of the message."""
    for length in range(200, 280):

        def gather(send, receive):
            raise OSError("x" * (length % 2) + "ü" * length)

        solver = cuda_opt.Solver(np.zeros(5), part=cuda_opt.Part(0, 1, 0, 5, gather))
        with pytest.raises(OSError):
            next(solver)
        assert "üü" in solver.message


def test_a_rank_out_of_range_is_rejected():
    with pytest.raises(cuda_opt.ImproperInput, match="rank 2 of 2"):
        cuda_opt.Solver(np.zeros(10), part=cuda_opt.Part(2, 2, 0, N, None))


def test_an_exception_of_the_log_on_one_rank_ends_all_ranks():
    """If the log function raises on one rank, the next all-gather reports this, so that no other rank waits. The rank
    that failed raises the original exception."""

    def solve(part, size):
        lines = []

        def log(line):
            lines.append(line)
            if part.rank == 1 and len(lines) == 8:
                raise KeyError("this log is full")

        solver = cuda_opt.Solver(np.zeros(size), part=part, EPS=0, PGTOL=1e-8, IPRINT_FREQUENCY=1)
        solver.set_log(log)
        own = slice(part.first, part.first + size)
        for _ in solver:
            difference = solver.x - TARGET[own]
            solver.f = difference @ difference / 2 + (difference**4).sum()
            solver.g = difference + 4 * difference**3

    others = on_ranks(3, solve)
    assert isinstance(others.pop(1), KeyError)
    for other in others:
        assert isinstance(other, cuda_opt.Error)
        assert "rank 1: 'this log is full'" in str(other)
