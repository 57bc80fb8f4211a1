#!/usr/bin/env python3
"""Usage: check_manual_log.py DRIVER_PROGRAM

Tests the log of driver_program: each line of the run in the manual, our additional results, and logs of other runs."""
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import manual_run  # noqa: E402

DRIVER = sys.argv.pop(1)


def run(*arguments):
    return subprocess.run([DRIVER, *map(str, arguments)], capture_output=True, text=True, timeout=300)


class Log(unittest.TestCase):
    def manual(self, *options):
        """Compares each line of the run in the manual, which our additional results follow. Returns the output."""
        done = run(1000000, 7, *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = done.stdout.splitlines()
        self.assertEqual(lines[manual_run.compare(lines)], "")
        self.assertEqual(lines.count(""), 1)
        return done.stdout

    def test_log_on_the_host_matches_the_manual(self):
        printed = self.manual("--backend", "host")
        below = printed.split("\n\n")[1].splitlines()
        norm = r"^ converged: the projected gradient's norm \S+ is below eps \* max\(1, \|\|x\|\|\)"
        self.assertRegex(below[0], norm)
        self.assertEqual(below[1:3], [" BACKEND = HOST   PRECISION = DOUBLE", " ITERATIONS = 37"])
        f, norm = map(float, re.fullmatch(r" F = (\d\.\d{15}e-10)   \|\|PG\|\| = (\d\.\d{6}e-03)", below[3]).groups())
        self.assertAlmostEqual(f / 6.752264e-10, 1, delta=manual_run.TOLERANCE)
        self.assertAlmostEqual(norm / 1.013915e-03, 1, delta=manual_run.TOLERANCE)
        self.assertRegex(below[4], r"^ WORKSPACE = \d+ BYTES$")
        self.assertEqual(len(below), 5)

    def test_times_in_the_log_are_consistent(self):
        def figure(label):
            return float(re.search(f"^{label}: (\\S+)(?: ms)?$", printed, re.M)[1])

        printed = run(100000, 7, "--backend", "host").stdout
        for count, total, average in (
                ("Number of function and gradient evaluations for L-BFGS",
                 "Total time for the function and gradient evaluations",
                 "Average time for the function and gradient evaluations"),
                ("Number of l-bfgs calls", "Total time for the execution of l-bfgs",
                 "Average time for the executions of l-bfgs"),
                ("Number of calls to mcsrch", "Total time for the execution of mcsrch",
                 "Average time for the execution of mcsrch")):
            self.assertGreater(figure(average), 0)
            self.assertAlmostEqual(figure(average) * figure(count), figure(total), delta=1e-6 * figure(count))
        self.assertLessEqual(figure("Total time for the execution of mcsrch"),
                             figure("Total time for the execution of l-bfgs"))
        self.assertLessEqual(figure("Total time for the function and gradient evaluations") +
                             figure("Total time for the execution of l-bfgs"),
                             figure("Total time for the minimization"))

    def test_obsolete_option_log_has_no_effect(self):
        plain, named = (re.sub(r"\S+ ms", "", run(100, 5, *option).stdout) for option in ((), ("--log", "manual")))
        self.assertIn("Number of calls to mcsrch", plain)
        self.assertEqual(named, plain)

    def test_iprint_selects_each_kth_iterate_and_the_last(self):
        def logged(frequency):
            return [int(i) for i in re.findall(r"^ *(\d+) +\d+ +\S+e", run(100, 5, "--iprint", frequency).stdout, re.M)]

        every = logged(1)
        self.assertEqual(every, list(range(1, len(every) + 1)))
        self.assertGreater(len(every), 10)
        self.assertEqual(logged(0), [1, len(every)])
        for k in (2, 5, len(every) - 1, len(every), 1000):
            self.assertEqual(logged(k), sorted({*range(1, len(every) + 1, k), len(every)}))

    def test_log_contains_limits_and_settings_and_vectors(self):
        done = run(100, 5, "--max-iterations", 2, "--xtol", 0.5, "--problem", "powell")
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stdout.startswith("Function to minimize: Powell singular\nXtol: 5.000000e-01\n"))
        self.assertNotIn("terminated without", done.stdout)
        self.assertIn("\n the limit of 2 iterations is reached", done.stdout)
        self.assertEqual(done.stdout.count("is reached"), 1)
        self.assertIn("\nTotal time for the minimization: ", done.stdout)
        printed = run(4, 5, "--iprint", "1,3").stdout
        self.assertRegex(printed, r"\ngnorm = \S+\n VECTOR X =\n  -1.200000e\+00 .*\n VECTOR G =\n.*\n\*\*\*\*\*\nI ")
        self.assertEqual(printed.count(" VECTOR X ="), 1 + len(re.findall(r"^ *\d+ +\d+ +\S+e", printed, re.M)))

    def test_log_on_cuda_matches_the_manual(self):
        if run(2, 1, "--backend", "cuda", "--iprint", "-1").returncode:
            self.assertFalse(os.environ.get("CUDA_OPT_TEST_REQUIRE_CUDA"), "CUDA is required")
            self.skipTest("no CUDA device")
        self.manual("--backend", "cuda")


if __name__ == "__main__":
    unittest.main(verbosity=2)
