#!/usr/bin/env python3
"""Usage: check_initial_hessian.py DRIVER_PROGRAM

Tests the initial Hessian of driver_program: a multiple of the identity, as in the manual, or a learned diagonal if this
option is given. A run that is resumed from a checkpoint uses the initial Hessian of the saved run."""
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

DRIVER = sys.argv.pop(1)
PROBLEM = (19600, 5, "--problem", "torsion", "--backend", "host", "--threads", 1, "--eps", 0)


def run(*arguments):
    return subprocess.run([DRIVER, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def rows(log):
    """Returns the lines of the log that describe iterates."""
    return re.findall(r"^ +\d+ +\d+ +\S+e.*$", log, re.M)


class InitialHessian(unittest.TestCase):
    def test_diagonal_is_learned_only_on_request(self):
        def with_options(*options):
            return rows(run(1000, 5, "--backend", "host", "--threads", 1, *options).stdout)

        scalar, learned = (with_options("--initial-hessian", kind) for kind in ("scalar", "learned"))
        self.assertGreater(len(scalar), 10)
        self.assertNotEqual(scalar, learned)
        self.assertEqual(with_options(), scalar)
        former_names = (with_options("--metric", kind) for kind in ("one", "learned"))
        self.assertEqual((scalar, learned), tuple(former_names))

    def test_resumed_run_keeps_its_initial_hessian(self):
        for kind, other in ("learned", "scalar"), ("scalar", "learned"):
            with tempfile.TemporaryDirectory() as folder:
                file, chosen = Path(folder, "run"), ("--initial-hessian", kind)
                whole = rows(run(*PROBLEM, *chosen, "--max-iterations", 100).stdout)
                self.assertEqual(len(whole), 100)
                run(*PROBLEM, *chosen, "--max-iterations", 20, "--checkpoint", file, "--every", 5)
                for again in chosen, ():
                    done = run(*PROBLEM, "--resume", file, "--max-iterations", 100, *again)
                    rest = rows(done.stdout)
                    self.assertGreaterEqual(len(rest), 80)
                    self.assertEqual((done.stderr, rest), ("", whole[-len(rest):]))
                done = run(*PROBLEM, "--resume", file, "--initial-hessian", other)
                self.assertEqual((done.returncode, done.stderr),
                                 (2, f"driver_program: --initial-hessian: '{file}' has another initial Hessian\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
