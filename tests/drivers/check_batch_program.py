#!/usr/bin/env python3
"""Usage: check_batch_program.py BATCH_PROGRAM

Tests batch_program from the point of view of a user: its results and output, bitwise reproducibility, exit statuses,
the CSV file, and Ctrl-C."""
import csv
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAM = sys.argv.pop(1)
SEED = 1000 * int(os.environ.get("CUDA_OPT_TEST_SEED", 0))
FUNCTIONS = {"ackley", "griewank", "penalised-1", "penalised-2", "quartic", "rastrigin", "rosenbrock", "schwefel-1.2",
             "schwefel-2.22", "schwefel-2.21", "sphere"}


def run(*arguments, **options):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300, **options)


def batch(*arguments):
    seed = () if "--seed" in arguments else ("--seed", SEED)
    return run("--backend", "host", "--threads", 1, *seed, *arguments)


def without_times(text):
    return re.sub(r"[\d.e+]+ s, \S+ problems a second", "", re.sub(r" +\d+\.\d{4}$", "", text, flags=re.M))


class Batch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.csv = str(Path(folder.name, "table.csv"))

    def rows(self, *arguments):
        done = batch(*arguments, "--csv", self.csv, "--iprint", -1)
        self.assertEqual(done.stdout, "")
        with open(self.csv) as file:
            return done, [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]

    def test_each_function_can_be_minimised(self):
        names = set(re.findall(r"^(\S+): ", run("--list").stdout, re.M))
        self.assertEqual(names, FUNCTIONS)
        for name in sorted(names):
            for n in (1, 6):
                with self.subTest(name=name, n=n):
                    done, rows = self.rows(20, n, "--function", name, "--factr", 10)
                    self.assertEqual([row["problem"] for row in rows], list(range(20)))
                    self.assertTrue(all(row["f"] >= 0 and row["evaluations"] >= 1 for row in rows))
                    smooth = name not in ("ackley", "schwefel-2.21", "schwefel-2.22")
                    if smooth:
                        self.assertEqual((done.returncode, done.stderr), (0, ""))
                        self.assertEqual({row["code"] for row in rows}, {0})
                    if name == "sphere":
                        self.assertLess(max(row["f"] for row in rows), 1e-10)

    def test_solutions_in_a_box_satisfy_pgtol(self):
        done, rows = self.rows(200, 10, "--lower", -2, "--upper", 0.5, "--factr", 0, "--pgtol", 1e-6)
        self.assertEqual(done.returncode, 0)
        self.assertLessEqual(max(row["pg_norm_inf"] for row in rows), 1e-6)
        self.assertGreater(min(row["f"] for row in rows), 1)  # the minimiser (1, ..., 1) with f = 0 is outside the box

    def test_output_agrees_with_the_csv_file(self):
        done = batch(300, 4, 7, "--seed", 3, "--iprint", 5)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        out = done.stdout
        self.assertTrue(out.startswith("Rosenbrock, chained, n = 4, m = 7: 300 problems in [-30, 30], seed 3, host\n"))
        logged = [(int(k), int(active)) for k, active in re.findall(r"^ +(\d+) +(\d+) +\d+\.\d{4}$", out, re.M)]
        rounds = int(re.search(r"^(\d+) rounds, ", out, re.M)[1])
        self.assertEqual([k for k, _ in logged], [*range(0, rounds, 5), rounds])
        self.assertTrue(logged[0][1] == 300 and logged[-1][1] == 0)
        self.assertRegex(out, r"\nended by +problems\nCONVERGED +300\n")
        least, median, most = map(int, re.search(r"^evaluations +(\d+) +(\d+) +(\d+)$", out, re.M).groups())
        self.assertTrue(least <= median <= most == rounds)
        _, rows = self.rows(300, 4, 7, "--seed", 3)
        total = int(sum(row["evaluations"] for row in rows))
        self.assertIn(f" rounds, {total:,} evaluations, ", out)
        self.assertEqual(max(row["evaluations"] for row in rows), most)
        self.assertTrue(out.endswith("\nconverged: all 300 problems\n"))

    def test_results_depend_on_the_seed_but_not_on_the_number_of_threads(self):
        one, again, other = (
            without_times(run(500, 6, "--backend", "host", "--iprint", 3, "--threads", threads, "--seed", seed).stdout)
            for threads, seed in ((1, 7), (3, 7), (1, 8))
        )
        self.assertEqual(one, again)
        self.assertNotEqual(one.replace("seed 7", ""), other.replace("seed 8", ""))

    def test_one_problem_without_bounds_and_problems_with_active_bounds(self):
        done, rows = self.rows(1, 20, "--lower", "-inf", "--upper", "inf")
        self.assertEqual((done.returncode, len(rows)), (0, 1))
        box, held = (self.rows(50, 3, "--lower", 2, "--upper", 2, "--function", "sphere"),
                     self.rows(50, 3, "--lower", 2, "--upper", "inf", "--function", "sphere"))
        for _, rows in (box, held):
            self.assertEqual({row["f"] for row in rows}, {12})

    def test_single_precision_converges_to_other_values(self):
        done, single = self.rows(100, 5, "--precision", "single", "--eps", 1e-2)
        _, double = self.rows(100, 5, "--eps", 1e-2)
        self.assertEqual(done.returncode, 0)
        self.assertTrue(all(row["f"] < 10 for row in single) and single != double)

    def test_learned_diagonal_saves_evaluations_and_is_off_by_default(self):
        quartic = (100, 20, "--function", "quartic", "--eps", 0, "--pgtol", 1e-8)  # coefficients from 1 to 20
        one, learned = (self.rows(*quartic, "--initial-hessian", kind) for kind in ("scalar", "learned"))
        self.assertEqual((one[0].returncode, learned[0].returncode), (0, 0))
        evaluations = [sum(row["evaluations"] for row in rows) for _, rows in (one, learned, self.rows(*quartic))]
        self.assertEqual(evaluations[0], evaluations[2])
        self.assertLess(evaluations[1], evaluations[0])

    def test_limits_end_a_run_with_status_1(self):
        for arguments, name in ((("--max-iterations", 2), "ITERATION_LIMIT"),
                                (("--max-evaluations", 3), "EVALUATION_LIMIT"),
                                (("--max-seconds", 1e-9), "TIME_LIMIT")):
            done = batch(50, 8, *arguments)
            self.assertEqual((done.returncode, done.stderr), (1, ""))
            self.assertRegex(done.stdout, rf"\n{name} +50\n")
            self.assertIn("0 of 50 problems have converged; the first that has not is problem 0", done.stdout)
        done = batch(50, 8, "--max-iterations", 2, "--iprint", -1)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"\Abatch_program: 0 of 50 problems have converged; .*\n\Z")
        self.assertEqual(batch(50, 8, "--f-target", 1e30).returncode, 0)

    def test_cuda_and_host_find_similar_values(self):
        done = run(1, 1, "--backend", "cuda", "--function", "sphere")
        if done.returncode:
            self.assertFalse(os.environ.get("CUDA_OPT_TEST_REQUIRE_CUDA"), "CUDA is required")
            self.assertIn("CUDA", done.stderr)
            self.skipTest("no CUDA device")
        for name in sorted(FUNCTIONS - {"ackley", "schwefel-2.21", "schwefel-2.22"}):
            for precision in ("double", "single"):
                with self.subTest(name=name, precision=precision):
                    arguments = (300, 7, "--function", name, "--precision", precision, "--factr", 1e9)
                    done = run(*arguments, "--csv", self.csv, "--backend", "cuda")
                    self.assertIn(", CUDA", done.stdout)
                    self.assertEqual(done.stderr, "")
                    with open(self.csv) as file:
                        on_cuda = sorted(float(row["f"]) for row in csv.DictReader(file))
                    _, rows = self.rows(*arguments)
                    on_host = sorted(row["f"] for row in rows)
                    middle = abs(on_cuda[150] - on_host[150])
                    self.assertLess(middle, 0.1 * abs(on_host[150]) + 1e-3)

    def test_size_that_is_impossible_ends_a_run_with_status_1(self):
        done = run(1e15, 4000, 20, "--backend", "host")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"\Abatch_program: out of memory[^\n]*\n\Z")

    def test_help_version_and_list(self):
        for option, words in (("--help", "Usage: batch_program [OPTIONS] count n [m]"),
                              ("--version", "batch_program of "), ("--list", "minimum 0 at (1, ..., 1)")):
            done = run(option)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn(words, done.stdout)

    def test_write_errors_end_a_run_with_status_1(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        done = batch(20, 10, "--csv", "/dev/full")
        self.assertEqual((done.returncode, done.stderr),
                         (1, "batch_program: cannot write '/dev/full': No space left on device\n"))
        with open("/dev/full", "w") as full:
            for arguments in (("20", "10"), ("--help",), ("--list",)):
                done = subprocess.run([PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
                self.assertEqual((done.returncode, done.stderr),
                                 (1, "batch_program: cannot write to standard output: No space left on device\n"))
        done = batch(2, 2, "--csv", "/nowhere/table.csv")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("cannot write '/nowhere/table.csv'", done.stderr)

    def test_interrupt_stops_all_problems(self):
        command = [PROGRAM, "20000", "100", "--backend", "host", "--threads", "1", "--iprint", "1", "--eps", "0",
                   "--max-iterations", "0"]
        running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        while not re.match(r" +1 ", line := running.stdout.readline()):
            self.assertNotEqual(line, "")
        running.send_signal(signal.SIGINT)
        out, err = running.communicate()
        self.assertEqual((running.returncode, err), (1, ""))
        self.assertRegex(out, r"\nSTOPPED +20,000\n")


if __name__ == "__main__":
    unittest.main(verbosity=2)
