#!/usr/bin/env python3
"""Usage: check_metric.py DRIVER_PROGRAM

driver_program's initial Hessian: a multiple of the identity, as in the manual, or a learned diagonal where it is asked
for; and in a run that goes on from a checkpoint the one that it was saved with."""
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
    """The log's lines of iterates."""
    return re.findall(r"^ +\d+ +\d+ +\S+e.*$", log, re.M)


class Metric(unittest.TestCase):
    def test_it_is_learned_only_where_that_is_asked_for(self):
        def with_options(*options):
            return rows(run(1000, 5, "--backend", "host", "--threads", 1, *options).stdout)

        one, learned = (with_options("--metric", metric) for metric in ("one", "learned"))
        self.assertGreater(len(one), 10)
        self.assertNotEqual(one, learned)
        self.assertLess(len(learned), len(one))
        self.assertEqual(with_options(), one)

    def test_a_checkpoint_keeps_its_own(self):
        for metric, other in ("learned", "one"), ("one", "learned"):
            with tempfile.TemporaryDirectory() as folder:
                file, chosen = Path(folder, "run"), ("--metric", metric)
                whole = rows(run(*PROBLEM, *chosen, "--max-iterations", 100).stdout)
                self.assertEqual(len(whole), 100)
                run(*PROBLEM, *chosen, "--max-iterations", 20, "--checkpoint", file, "--every", 5)
                for again in chosen, ():
                    done = run(*PROBLEM, "--resume", file, "--max-iterations", 100, *again)
                    rest = rows(done.stdout)
                    self.assertGreaterEqual(len(rest), 80)
                    self.assertEqual((done.stderr, rest), ("", whole[-len(rest):]))
                done = run(*PROBLEM, "--resume", file, "--metric", other)
                self.assertEqual((done.returncode, done.stderr),
                                 (2, f"driver_program: --metric: '{file}' holds the other metric\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
