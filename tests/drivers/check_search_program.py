#!/usr/bin/env python3
"""Usage: check_search_program.py SEARCH_PROGRAM

Tests search_program from the point of view of a user: its results and output, bitwise reproducibility, exit statuses,
the CSV, SVG and point files, the gain by polishing, and Ctrl-C."""
import csv
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

PROGRAM = sys.argv.pop(1)
SEED = 1000 * int(os.environ.get("CUDA_OPT_TEST_SEED", 0))
FUNCTIONS = ["ackley", "griewank", "penalised-1", "penalised-2", "quartic", "rastrigin", "rosenbrock", "schwefel-1.2",
             "schwefel-2.22", "schwefel-2.21", "sphere", "step"]


def run(*arguments, **options):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300, **options)


def search(*arguments):
    seed = () if "--seed" in arguments else ("--seed", SEED)
    return run("--backend", "host", "--threads", 1, *seed, *arguments)


class Search(unittest.TestCase):
    def best(self, done):
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return float(re.search(r"^f = (\S+), of walk \d+; ", done.stdout, re.M)[1])

    def test_each_function_decreases_by_30_percent(self):
        for name in FUNCTIONS:
            for n in (1, 7, 20):
                with self.subTest(name=name, n=n):
                    done = search(n, 64, "--function", name, "--max-iterations", 30)
                    first = float(re.search(r"^ +0 +64 +64 +(\S+) ", done.stdout, re.M)[1])
                    self.assertLessEqual(self.best(done), 0.7 * first)
                    self.assertIn("the limit of 30 iterations was reached\n", done.stdout)

    def test_results_depend_on_the_seed_but_not_on_the_number_of_threads(self):
        lines = []
        for threads in (1, 2):
            done = run(20, 200, "--backend", "host", "--threads", threads, "--seed", 7 + SEED, "--function", "griewank")
            lines.append([re.sub(r" +\S+$|, \S+ a second$", "", line) for line in done.stdout.splitlines()])
        self.assertEqual(lines[0], lines[1])
        other = search(20, 200, "--seed", 8 + SEED, "--function", "griewank")
        self.assertNotEqual(self.best(done), self.best(other))

    def test_number_of_evaluations(self):
        # one evaluation at the start, then two trials per variable and iteration
        done = search(5, 10, "--max-iterations", 3)
        self.assertRegex(done.stdout, r"\n        3 +310 +10 ")

    def test_more_iterations_and_more_walks_are_not_worse(self):
        few, long, many = (self.best(search(10, walks, "--max-iterations", iterations, "--function", "rastrigin"))
                           for walks, iterations in ((50, 10), (50, 60), (500, 10)))
        self.assertLess(long, few)
        self.assertLessEqual(many, few)

    def test_box_and_initial_step_are_used(self):
        done = search(3, 10, "--function", "sphere", "--lower", 1, "--upper", 2, "--max-iterations", 40)
        self.assertAlmostEqual(self.best(done), 3, delta=1e-9)
        done = search(3, 10, "--function", "sphere", "--step", 1e-9, "--max-iterations", 2)
        self.assertGreater(self.best(done), 1)

    def test_smallest_step_and_time_limit_end_a_search(self):
        done = search(2, 10, "--at-smallest-step", "stop", "--halvings", 2, "--max-iterations", 10000)
        self.assertIn("all walks have ended at their smallest steps\n", done.stdout)
        done = search(2, 10, "--max-iterations", 1e9, "--max-seconds", 0.2, "--iprint", 0)
        self.assertIn("the time limit of 0.2 s was reached\n", done.stdout)
        # only the start and the last iteration, which is the start if the processor is busy
        self.assertLessEqual(len(re.findall(r"^ +\d+ ", done.stdout, re.M)), 2)

    def test_rounds_restart_the_walks(self):
        done = search(2, 10, "--max-iterations", 30, "--rounds", 7)
        starts = [int(row[0].replace(",", "")) - 10 * 4 * k
                  for k, row in enumerate(re.findall(r"^ +\d+ +(\S+) +(10) ", done.stdout, re.M))]
        # each round starts all walks again
        self.assertEqual(starts, [10] * 8 + [20] * 7 + [30] * 7 + [40] * 7 + [50] * 2)
        one, more = (self.best(search(10, 50, "--function", "rastrigin", "--rounds", 20, "--max-iterations", k))
                     for k in (20, 200))
        self.assertLess(more, one)
        done = search(5, 10, "--max-iterations", 1e9, "--rounds", 50, "--max-seconds", 0.05)
        last = int(re.findall(r"^ +(\d+) ", done.stdout, re.M)[-1])
        self.assertEqual(last % 50, 0)

    def test_single_precision_finds_similar_values(self):
        for name in FUNCTIONS:
            for n in (7, 20):
                with self.subTest(name=name, n=n):
                    arguments = (n, 100, "--function", name, "--seed", 3 + SEED)
                    double, single = (search(*arguments, "--precision", name) for name in ("double", "single"))
                    start = r"^ +0 +100 +100 +(\S+) "
                    first, rounded = (float(re.search(start, done.stdout, re.M)[1]) for done in (double, single))
                    self.assertAlmostEqual(rounded, first, delta=1e-5 * first)
                    self.assertLess(self.best(single), 3 * self.best(double) + 1e-5)
                    self.assertIn(", host, single precision\n", single.stdout)

    def test_polishing_improves_the_best_value(self):
        for name in FUNCTIONS[:-1]:
            with self.subTest(name=name):
                done = search(30, 50, "--function", name, "--max-iterations", 20, "--polish", 3)
                before = self.best(done)
                polished, gain = map(float, re.search(r"^polished f = (\S+), (\S+) below", done.stdout, re.M).groups())
                self.assertLess(polished, before)
                self.assertAlmostEqual(gain, before - polished, delta=1e-6 * before)
                self.assertEqual(len(re.findall(r"^ +\d+  +\S+  +\S+ +\d+$", done.stdout, re.M)), 3)
        done = search(30, 50, "--function", "step", "--polish", 3)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (2, "", "search_program: --polish: step has no gradient to follow (see --help)\n"))

    def test_cuda_and_host_find_similar_values(self):
        if run(2, 1, "--backend", "cuda", "--iprint", -1).returncode:
            self.assertFalse(os.environ.get("CUDA_OPT_TEST_REQUIRE_CUDA"), "CUDA is required")
            self.skipTest("no CUDA device")
        for name in FUNCTIONS:
            for n in (7, 20):
                with self.subTest(name=name, n=n):
                    arguments = (n, 2000, "--function", name, "--seed", 3 + SEED)
                    host, cuda = search(*arguments), run(*arguments, "--backend", "cuda")
                    start = r"^ +0 +2,000 +2,000 +(\S+) "
                    of_host, of_cuda = (float(re.search(start, done.stdout, re.M)[1]) for done in (host, cuda))
                    self.assertAlmostEqual(of_host, of_cuda, delta=1e-5 * of_host)
                    self.assertLess(self.best(cuda), 3 * self.best(host) + 1e-9)

    def test_interrupt_prints_the_best_value(self):
        command = [PROGRAM, "20", "100", "--backend", "host", "--max-iterations", "1e9"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
            for line in program.stdout:
                if line.startswith("        2 "):
                    program.send_signal(signal.SIGINT)
                    break
            log = program.stdout.read()
            self.assertEqual((program.wait(), program.stderr.read()), (1, ""))
        self.assertRegex(log, r"\ninterrupted\nf = \S+, of walk \d+; ")

    def test_interrupt_without_a_log_reports_the_best_value_as_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            rows = Path(folder, "rows")
            command = [PROGRAM, "20", "100", "--backend", "host", "--max-iterations", "1e9", "--iprint", "-1", "--csv"]
            command.append(rows)
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
                while program.poll() is None and not (rows.exists() and rows.read_text().count("\n") > 2):
                    time.sleep(0.01)
                program.send_signal(signal.SIGINT)
                self.assertRegex(program.stderr.read(), r"\Asearch_program: interrupted, f = \S+\n\Z")
            self.assertEqual(program.returncode, 1)


class Replies(unittest.TestCase):
    def test_help_list_version(self):
        done = run("--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("--polish", done.stdout)
        done = run("--list")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(re.findall(r"^([\w.-]+): ", done.stdout, re.M), FUNCTIONS)
        self.assertRegex(run("--version").stdout, r"\Asearch_program of cuda_opt \d+\.\d+\.\d+\n\Z")

    def test_files_and_sizes_that_are_impossible_end_a_run_with_status_1(self):
        for arguments in ((20, 10, "--csv", "/nonexistent/x"), (20, 1e15), (20, 2**61)):
            done = run("--backend", "host", *arguments)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            # a sanitizer may have printed lines before
            self.assertRegex(done.stderr, r"(?:\A|\n)search_program: [^\n]+\n\Z")


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.csv, self.svg, self.point = (Path(folder.name, name) for name in ("run.csv", "run.svg", "point.txt"))

    def test_csv_file_agrees_with_the_log(self):
        done = search(4, 30, "--max-iterations", 12, "--csv", self.csv)
        with self.csv.open() as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([int(row["iteration"]) for row in rows], list(range(13)))
        self.assertEqual([int(row["evaluations"]) for row in rows], [30 * (1 + 8 * k) for k in range(13)])
        values = [float(row["f"]) for row in rows]
        self.assertEqual(values, sorted(values, reverse=True))
        logged = [line.split()[3] for line in done.stdout.splitlines() if re.match(r" +\d+ ", line)]
        self.assertEqual(["%.6e" % value for value in values], logged)

    def test_plot_is_well_formed_and_labelled(self):
        step = (3, 50, "--function", "step", "--max-iterations", 40)
        for arguments in ((20, 100), (3, 1, "--max-iterations", 0), step):
            self.assertEqual(search(*arguments, "--plot", self.svg, "--csv", self.csv).returncode, 0)
            texts = [element.text for element in ElementTree.parse(self.svg).iter() if element.tag.endswith("text")]
            with self.csv.open() as file:
                f = [float(row["f"]) for row in csv.DictReader(file)]
            flat = min(f) > 1e-3 * max(f) and min(f) < max(f)
            self.assertEqual(texts.count("best f \u2212 lowest f" if flat else "best f"), 2)
            self.assertIn("iterations", texts)
            self.assertIn("evaluations of f, all walks together", texts)

    def test_point_file_contains_the_best_point(self):
        for more in ((), ("--polish", 2)):
            done = search(6, 40, "--function", "sphere", "--point", self.point, *more)
            x = [float(line) for line in self.point.read_text().splitlines()]
            self.assertEqual(len(x), 6)
            f = re.findall(r"^(?:polished )?f = (\S+),", done.stdout, re.M)[-1]
            self.assertTrue(math.isclose(sum(x_j * x_j for x_j in x), float(f), rel_tol=1e-13))

    def test_full_disk_ends_a_run_with_status_1(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        for option in ("--csv", "--plot", "--point"):
            done = search(20, 10, option, "/dev/full")
            self.assertEqual((done.returncode, done.stderr),
                             (1, "search_program: cannot write '/dev/full': No space left on device\n"))
        with open("/dev/full", "w") as full:
            for arguments in (("20", "10"), ("--help",), ("--list",)):
                done = subprocess.run([PROGRAM, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
                self.assertEqual((done.returncode, done.stderr),
                                 (1, "search_program: cannot write to standard output: No space left on device\n"))

    def test_two_outputs_to_one_file_are_refused(self):
        for pair in (("--csv", "--plot"), ("--point", "--csv"), ("--plot", "--point")):
            done = search(20, 10, pair[0], self.csv, pair[1], self.csv)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, r"\Asearch_program: --[^\n]+ is the file of --[^\n]+, too [^\n]+\n\Z")

    def test_former_option_names_are_accepted(self):
        former = search(3, 10, "--iterations", 7, "--time-limit", 1000)
        self.assertEqual(former.returncode, 0)
        self.assertIn("the limit of 7 iterations was reached\n", former.stdout)
        self.assertNotIn("--time-limit", search("--help").stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
