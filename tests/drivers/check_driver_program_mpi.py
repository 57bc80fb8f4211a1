#!/usr/bin/env python3
"""Usage: check_driver_program_mpi.py MPIRUN DRIVER_PROGRAM_MPI DRIVER_PROGRAM

Tests driver_program_mpi on 1 to 4 ranks. Only rank 0 writes a log, which is the same for any number of ranks. Its first
iterates are those of driver_program, which adds the terms of f in another order, except for torsion: all its variables
start at bounds, where rounding errors can decide among equal breakpoints."""
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import manual_run  # noqa: E402

PLAIN, WITH_MPI, MPIRUN = sys.argv.pop(), sys.argv.pop(), sys.argv.pop()
FLAGS = ["--oversubscribe", "--allow-run-as-root"]
# There may be fewer processors than ranks, and a container may not allow the binding of ranks to processors.
QUIET = ["--mca", "mpi_yield_when_idle", "1", "--bind-to", "none"]


def on_ranks(ranks, *arguments):
    command = [MPIRUN, "-n", str(ranks), *FLAGS, *QUIET, WITH_MPI, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def log_of(done):
    """Returns the lines without times and numbers of bytes: the iterates, the end of the solve, f, and counts."""
    return [line for line in done.stdout.splitlines() if not re.search(" ms$| BYTES$", line)]


def iterates(log):
    return [line.split() for line in log if re.match(r" *\d+ +\d+  ", line)]


class SameLog(unittest.TestCase):
    def check(self, problem, n, *options, iterations=10):
        arguments = [n, 5, "--problem", problem, *options]
        one = on_ranks(1, *arguments)
        self.assertEqual((one.returncode, one.stderr), (0, ""))
        self.assertGreater(len(iterates(log_of(one))), 3)
        for ranks in (2, 3, 4):
            with self.subTest(problem=problem, ranks=ranks):
                done = on_ranks(ranks, *arguments)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(log_of(done), log_of(one))
        plain = subprocess.run([PLAIN, *map(str, arguments), "--backend", "host"], capture_output=True, text=True)
        ours, theirs = iterates(log_of(one)), iterates(log_of(plain))
        for mine, other in list(zip(ours, theirs))[:iterations]:
            self.assertEqual(mine[:2], other[:2])
            for a, b in zip(mine[2:], other[2:]):
                self.assertLessEqual(abs(float(a) - float(b)), 1e-4 * abs(float(b)))

    def test_run_of_the_manual_on_two_ranks(self):
        """Compares each line of the log with the manual."""
        done = on_ranks(2, 1000000, 7)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        manual_run.compare(done.stdout.splitlines())

    def test_rosenbrock(self):
        self.check("rosenbrock", 20000)

    def test_powell(self):
        self.check("powell", 20000)

    def test_wood(self):
        self.check("wood", 9000, "--lower", "-2", "--upper", "0.9")

    def test_beale_in_single_precision(self):
        self.check("beale", 9000, "--precision", "single", "--eps", "1e-3", iterations=4)

    def test_torsion(self):
        self.check("torsion", 60 * 60, iterations=0)

    def test_torsion_with_halos_from_several_ranks(self):
        """A row of the grid has more points than a rank, so the halo of a rank comes from several ranks."""
        self.check("torsion", 1500 * 2, "--nx", 1500, "--ny", 2, "--max-iterations", 4000,
                   iterations=0)

    def test_bearing(self):
        self.check("bearing", 50 * 50, "--pgtol", "1e-3", "--eps", "0")


class OnCuda(unittest.TestCase):
    """Ranks are distributed round-robin over the GPUs. Halos are copied through the host if MPI is not CUDA-aware."""

    def test_log_is_the_same_for_any_number_of_ranks(self):
        arguments = [9000, 5, "--backend", "cuda", "--max-iterations", 300]
        first = on_ranks(1, *arguments, "--problem", "rosenbrock")
        if first.returncode != 0 and not os.environ.get("CUDA_OPT_TEST_REQUIRE_CUDA"):
            self.skipTest("no CUDA device: " + first.stderr.splitlines()[0])
        for problem in ("rosenbrock", "torsion", "bearing"):
            logs = [log_of(on_ranks(ranks, *arguments, "--problem", problem)) for ranks in (1, 2, 3)]
            self.assertGreater(len(iterates(logs[0])), 3)
            self.assertEqual(logs[1], logs[0])
            self.assertEqual(logs[2], logs[0])


class Arguments(unittest.TestCase):
    def refused(self, words, *arguments):
        done = on_ranks(3, *arguments)
        self.assertIn(words, done.stderr)
        self.assertEqual(done.stderr.count("driver_program_mpi:"), 1)
        self.assertEqual(done.stdout, "")
        self.assertNotEqual(done.returncode, 0)

    def test_problem_that_ranks_do_not_support_is_refused(self):
        self.refused("ranks have no problem 'lennard-jones", 96, 5, "--problem", "lennard-jones-2d")

    def test_option_that_ranks_do_not_support_is_refused(self):
        self.refused("--csv is not for driver_program_mpi", 1000, 5, "--csv", "/dev/null")

    def test_invalid_setting_is_reported_once(self):
        self.refused("CUDA_OPT_GTOL is 2", 1000, 5, "--gtol", "2")

    def test_ranks_without_variables(self):
        """n = 100 has a single segment, so two of three ranks have no variables."""
        for problem in ("rosenbrock", "powell", "wood", "beale", "torsion", "bearing"):
            with self.subTest(problem=problem):
                one, done = (on_ranks(ranks, 100, 5, "--problem", problem) for ranks in (1, 3))
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(log_of(done), log_of(one))

    def test_failure_or_mismatch_of_one_rank_ends_all_ranks(self):
        """The other ranks do not wait for a rank that fails before the solve or is started with other arguments."""
        for other, words in ((("100000", "5", "--problem", "nosuch"), "nosuch"), (("100002", "5"), "n = 100002"),
                             (("100000", "5", "--history-bits", "7"), "CUDA_OPT_HISTORY_BITS is 7")):
            with self.subTest(other=other):
                command = [MPIRUN, *FLAGS, *QUIET, "-n", "1", WITH_MPI, "100000", "5", ":", "-n", "1", WITH_MPI, *other]
                done = subprocess.run(command, capture_output=True, text=True, timeout=60)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(words, done.stderr)
                self.assertEqual(done.stderr.count("driver_program_mpi:"), 1)

    def test_iteration_limit_is_reported_once(self):
        done = on_ranks(2, 1000, 5, "--max-iterations", 3)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stderr.count("the limit of 3 iterations is reached"), 1)


if __name__ == "__main__":
    unittest.main()
