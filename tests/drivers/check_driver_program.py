#!/usr/bin/env python3
"""Usage: check_driver_program.py DRIVER_PROGRAM

Tests driver_program from the point of view of a user: its solves, exit statuses, the CSV and SVG files, Ctrl-C,
checkpoints, and runs that are resumed from them."""
import csv
import fcntl
import itertools
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

DRIVER = sys.argv.pop(1)
SEED = int(os.environ.get("CUDA_OPT_TEST_SEED", 0))
SET_PIPE_SIZE = 1031  # fcntl.F_SETPIPE_SZ, from Python 3.10 on


def run(*arguments, **options):
    return subprocess.run([DRIVER, *map(str, arguments)], capture_output=True, text=True, timeout=300, **options)


def started(*arguments):
    """Starts the program. The pipe of its output is so small that the program has to wait until its log is read: it
    cannot end before the test sends a signal, however late the test is."""
    reading, writing = os.pipe()
    fcntl.fcntl(writing, SET_PIPE_SIZE, 4096)
    driver = subprocess.Popen([DRIVER, *map(str, arguments)], stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    driver.stdout = os.fdopen(reading)
    return driver


def interrupted(*arguments, at):
    """Runs the program and sends SIGINT after a line of its output. Returns the remaining output, status and errors."""
    with started(*arguments) as driver:
        for line in driver.stdout:
            if line.startswith(at):
                driver.send_signal(signal.SIGINT)
                break
        return driver.stdout.read(), driver.wait(), driver.stderr.read()


class Solves(unittest.TestCase):
    def test_until_still_continues_beyond_the_standard_test(self):
        done = run(400, 5, "--problem", "torsion", "--until-still", "--backend", "host", "--csv", os.devnull)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        f = [float(value) for value in re.findall(r"^ +\d+ +\d+ +(\S+) ", done.stdout, re.M)]
        self.assertEqual(sorted(f, reverse=True), f)
        self.assertAlmostEqual(f[-1], -0.41611287, delta=1e-6)
        gnorm = float(re.findall(r"^ +\d+ +\d+ +\S+ +(\S+) ", done.stdout, re.M)[-1])
        # The standard test would end the solve at 1e-5. f no longer decreases at about sqrt(2 * 8 * 1e-16 * |f|), which
        # is 3e-8, where 8 bounds the eigenvalues of the Hessian.
        self.assertLess(gnorm, 1e-6)
        for other in ("--eps", "--pgtol", "--factr"):
            refused = run(400, 5, "--until-still", other, 0)
            self.assertEqual((refused.returncode, refused.stdout), (2, ""))
            self.assertIn("--until-still", refused.stderr)

    def test_check_gradient_accepts_each_problem(self):
        """The check is made at the start, within the bounds. All gradients are correct, so errors are false alarms."""
        names = re.findall(r"^([a-z][a-z0-9_-]*): ", run("--list").stdout, re.M)
        self.assertGreaterEqual(len(names), 10)
        for name in names:
            for precision in ("double", "single"):
                with self.subTest(name=name, precision=precision):
                    done = run(100, 5, "--problem", name, "--precision", precision, "--backend", "host",
                               "--check-gradient")
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    self.assertRegex(done.stdout, r"\Ag agrees with differences of f along [23] directions[^\n]*\n\Z")

    def test_each_problem_converges_in_both_precisions(self):
        # In single precision, 1e-5 is close to the rounding errors of Wood's gradient: of 41 sizes from 800 to 2,400,
        # 19 do not reach it with a scalar initial Hessian and 12 with a learned diagonal. All of them reach 3e-5, and
        # the tolerance is three times this.
        for name in ("rosenbrock", "beale", "powell", "wood", "trigonometric"):
            for precision, eps in (("double", 1e-5), ("single", 1e-4)):
                with self.subTest(name=name, precision=precision):
                    done = run(1000, 7, "--problem", name, "--precision", precision, "--eps", eps, "--iprint", 10)
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    self.assertIn(f"PRECISION = {precision.upper()}", done.stdout)

    def test_each_problem_of_minpack2_ends_in_both_precisions(self):
        for name in ("torsion", "bearing", "minimal-surface", "optimal-design", "ginzburg-landau-1d", "combustion",
                     "lennard-jones-2d", "lennard-jones-3d", "ginzburg-landau-2d"):
            n = 81 if name == "lennard-jones-3d" else 100
            enough = ("--f-target", -1) if name == "ginzburg-landau-1d" else ("--eps", 1e-3)
            for precision in ("double", "single"):
                with self.subTest(name=name, precision=precision):
                    done = run(n, 7, "--problem", name, "--precision", precision, *enough, "--iprint", "10,0")
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    self.assertRegex(done.stdout, r"\n ITERATIONS = [1-9]")

    def test_n_is_rounded_to_a_grid(self):
        done = run(1610, 8, "--problem", "torsion", "--max-iterations", 2)
        self.assertEqual(done.stderr, "driver_program: n is 1600, not 1610: 40 x 40 interior points\n")
        self.assertIn("\n 40 x 40 interior points\n", done.stdout)
        self.assertIn("\nNumber of variables n = 1600;\n", done.stdout)
        done = run(1600, 8, "--problem", "bearing", "--nx", 10, "--max-iterations", 2)
        self.assertEqual(done.stderr, "")
        self.assertIn("\n 10 x 160 interior points\n", done.stdout)
        done = run(1600, 8, "--problem", "bearing", "--nx", 10, "--ny", 5, "--max-iterations", 2)
        self.assertEqual(done.stderr, "driver_program: n is 50, not 1600: 10 x 5 interior points\n")

    def test_options_replace_bounds_and_parameters_of_a_problem(self):
        own = ("--problem", "torsion", "--eps", 1e-9, "--backend", "host")
        done = run(1600, 8, *own)
        self.assertIn("BOUNDS = [own, own]", done.stdout)
        self.assertIn("F = -4.17865756732", done.stdout)
        self.assertIn("FREE = 1112   AT LOWER = 0   AT UPPER = 488", done.stdout)
        done = run(1600, 8, *own, "--lower", -1)  # this replaces the problem's lower bounds, but not its upper bounds
        self.assertIn("BOUNDS = [-1, own]", done.stdout)
        self.assertIn("FREE = 1112   AT LOWER = 0   AT UPPER = 488", done.stdout)
        done = run(1600, 8, *own, "--lower", "-inf", "--upper", "inf")
        self.assertIn("FREE = 1600   AT LOWER = 0   AT UPPER = 0", done.stdout)
        done = run(1600, 8, *own, "--parameter", "c=20", "--parameter", "nx=50", "--ny", 32)
        self.assertIn("\n 50 x 32 interior points\n", done.stdout)
        self.assertNotIn("F = -4.17865756732", done.stdout)

    def test_bounds_are_active_in_a_box(self):
        done = run(100, 5, "--lower", "0", "--upper", "0.5")
        self.assertEqual(done.returncode, 0)
        self.assertIn("FREE = 50   AT LOWER = 0   AT UPPER = 50", done.stdout)

    def test_iteration_limit_ends_a_run_with_status_1(self):
        self.assertEqual(run(100, 5, "--max-iterations", 3).returncode, 1)

    def test_stpmin_and_stpmax_may_both_exceed_or_fall_below_the_defaults(self):
        for smallest, largest in ((1e30, 1e31), (1e-31, 1e-30), (2, 2)):
            done = run(100, 5, "--stpmin", smallest, "--stpmax", largest, "--max-iterations", 3)
            self.assertNotEqual((done.returncode, done.stdout), (2, ""), done.stderr)

    def test_run_without_a_log_prints_only_errors(self):
        done = run(100, 5, "--iprint", "-1,0")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        done = run(100, 5, "--iprint", "-1,0", "--max-iterations", 3)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1))

    def test_interrupt_prints_the_results(self):
        log, *end = interrupted(400000, 7, "--problem", "powell", "--eps", 0, "--max-iterations", 0, at="   2 ")
        self.assertEqual(end, [1, ""])
        self.assertIn("WORKSPACE", log)


class Replies(unittest.TestCase):
    def test_help_list_version(self):
        for option in ("--help", "--list", "--version"):
            done = run(option)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertTrue(done.stdout)

    def test_files_and_sizes_that_are_impossible_end_a_run_with_status_1(self):
        for arguments in ((100, 5, "--csv", "/nonexistent/x"), (100, 5, "--checkpoint", "/nonexistent/x"),
                          (100, 5, "--checkpoint", "/dev/null"),
                          (100, 5, "--resume", "/nonexistent/x"), (100, 5, "--resume", "/"), (2**62, 5)):
            done = run(*arguments)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertRegex(done.stderr, r"\Adriver_program: [^\n]+\n\Z")


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.csv, self.svg = Path(folder.name, "run.csv"), Path(folder.name, "run.svg")

    def test_csv_file_agrees_with_the_log(self):
        done = run(1000, 5, "--csv", self.csv)
        with self.csv.open() as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([int(row["iteration"]) for row in rows], list(range(len(rows))))
        self.assertAlmostEqual(float(rows[0]["f"]), 12100, delta=1e-9)
        logged = [line.split() for line in done.stdout.splitlines() if line.startswith("   ") and "e" in line]
        for row, line in zip(rows[1:], logged):
            self.assertEqual([row["iteration"], row["evaluations"]], line[:2])
            self.assertEqual(["%e" % float(row[key]) for key in ("f", "pg_norm2", "step")], line[2:])

    def test_plot_is_well_formed_and_labelled(self):
        for arguments in ((1000, 5), (2, 1, "--max-iterations", 1), (2, 1, "--f-target", 1e9), (4, 2, "--upper", -5)):
            run(*arguments, "--plot", self.svg)
            texts = [element.text for element in ElementTree.parse(self.svg).iter() if element.tag.endswith("text")]
            self.assertIn("||Pg||", texts)
            self.assertIn("iterations", texts)

    def ordinate(self, *arguments):
        """Returns the label of f and the number of its values in the plot."""
        run(*arguments, "--backend", "host", "--csv", self.csv, "--plot", self.svg)
        elements = list(ElementTree.parse(self.svg).iter())
        texts = [element.text for element in elements if element.tag.endswith("text")]
        curve = next(element for element in elements if element.tag.endswith("path"))
        return [text for text in texts if text in ("f", "f \u2212 lowest f")], curve.get("d").count(" ")

    def test_plot_shows_f_minus_its_lowest_value_if_f_is_nearly_constant(self):
        self.assertEqual(self.ordinate(1000, 5)[0], ["f"])  # f decreases by many orders of magnitude
        flat = self.ordinate(400, 5, "--problem", "minimal-surface", "--lower", 0)
        with self.csv.open() as file:
            f = [float(row["f"]) for row in csv.DictReader(file)]
        self.assertGreater(min(f), 1e-3 * max(f))
        self.assertEqual(flat, (["f \u2212 lowest f"], len([value for value in f if value > min(f)])))
        self.assertEqual(self.ordinate(400, 5, "--problem", "torsion")[0], ["f \u2212 lowest f"])  # f is negative

    def test_two_outputs_to_one_file_are_refused(self):
        linked, link = self.csv.with_name("linked"), self.csv.with_name("link")
        linked.touch()
        link.symlink_to(linked)
        other = f"{self.csv.parent}/../{self.csv.parent.name}/{self.csv.name}"
        for pair in (("--csv", self.csv, "--plot", self.csv), ("--csv", self.csv, "--plot", other),
                     ("--plot", link, "--csv", linked), ("--csv", self.csv, "--checkpoint", self.csv),
                     ("--resume", other, "--csv", self.csv)):
            done = run(100, 5, *pair)
            self.assertEqual((done.returncode, done.stdout, self.csv.exists()), (2, "", False), pair)
            self.assertRegex(done.stderr, r"\Adriver_program: --[^\n]+ is the file of --[^\n]+, too [^\n]+\n\Z")

    def test_m_may_be_given_by_position_or_by_name(self):
        by_place, by_name = (re.findall(r"^ +\d+ +\d+ .*$", run(100, *m).stdout, re.M) for m in ((4,), ("--m", 4)))
        self.assertGreater(len(by_place), 5)
        self.assertEqual(by_name, by_place)
        for arguments, sentence in (((), "n is required"), ((100, 4, "--m", 5), "--m: m is 4 already, and now 5")):
            self.assertEqual(run(*arguments).stderr, f"driver_program: {sentence} (see --help)\n")

    def test_m_is_5_by_default(self):
        default, five, four = (re.findall(r"^ +\d+ +\d+ .*$", run(1000, *m).stdout, re.M) for m in ((), (5,), (4,)))
        self.assertGreater(len(default), 5)
        self.assertEqual(default, five)
        self.assertNotEqual(default, four)

    def test_full_disk_ends_a_run_with_status_1(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        for option in ("--csv", "--plot"):
            done = run(100, 5, option, "/dev/full")
            self.assertEqual((done.returncode, done.stderr),
                             (1, "driver_program: cannot write '/dev/full': No space left on device\n"))
        with open("/dev/full", "w") as full:
            for arguments in (("100", "5"), ("--help",), ("--list",)):
                done = subprocess.run([DRIVER, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
                self.assertEqual((done.returncode, done.stderr),
                                 (1, "driver_program: cannot write to standard output: No space left on device\n"))


class Checkpoints(unittest.TestCase):
    PROBLEM = (19600, 5, "--problem", "torsion", "--backend", "host", "--eps", 0)
    TORSION = (*PROBLEM, "--threads", 1, "--max-iterations", 700)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.csv, self.file = (Path(folder.name, name) for name in ("run.csv", "run"))

    def resumed(self):
        return ("--resume", self.file) if self.file.exists() else ()

    def table(self):
        """Returns the rows without their times, which differ in each run."""
        return [line.rsplit(",", 1)[0] for line in self.csv.read_text().splitlines()[1:]]

    def end(self, done):
        """Returns the results in the log, without those that count only the iterations of this run, and the status."""
        return re.findall(r"^ (?!BACKEND|ITERATIONS)\S.*$", done.stdout, re.M)[-7:], done.returncode

    def whole(self, *arguments):
        done = run(*self.TORSION, "--csv", self.csv, *arguments)
        self.assertEqual(done.stderr, "")
        return self.table(), self.end(done)

    def test_run_killed_at_random_lines_of_its_log_has_the_same_result_if_resumed(self):
        table, end = self.whole()
        self.assertGreater(len(table), 300)
        moments = random.Random(5 + 1000 * SEED)
        kills = resumptions = 0
        while kills < 50:
            resumptions += self.file.exists()
            command = (*self.TORSION, *self.resumed(), "--checkpoint", self.file, "--every", 5, "--csv", self.csv)
            lines = moments.randrange(100)
            with subprocess.Popen([DRIVER, *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  bufsize=0) as driver:
                log = list(itertools.islice(driver.stdout, lines))
                if len(log) == lines:
                    driver.kill()
                    kills += 1
                    continue
                log, errors = b"".join(log).decode(), driver.stderr.read()
            self.assertEqual(errors, b"")
            # If the run was killed after the checkpoint at the limit, the resumed run has no further iterates.
            lines, status = self.end(subprocess.CompletedProcess(driver.args, driver.returncode, log))
            self.assertEqual((lines[-6:], status), (end[0][-6:], end[1]))
            rows = self.table()
            self.assertEqual(rows, table[len(table) - len(rows):])
            self.file.unlink()  # the next run starts from the beginning
        done = run(*self.TORSION, *self.resumed(), "--csv", self.csv)
        rows = self.table()
        self.assertEqual((self.end(done)[0][-6:], rows), (end[0][-6:], table[len(table) - len(rows):]))
        self.assertGreater(resumptions, 0)

    def test_interrupted_run_has_the_same_result_if_resumed(self):
        table, end = self.whole()
        log, *status = interrupted(*self.TORSION, "--checkpoint", self.file, at="  20 ")
        self.assertEqual(status, [1, ""])
        self.assertIn("stopped by the caller", log)
        last = int(re.findall(r"^ *(\d+) +\d+ +\S+e", log, re.M)[-1])
        done = run(*self.TORSION, *self.resumed(), "--csv", self.csv)
        resumed = int(re.search(r"\nRESUMED AT ITERATION (\d+)\n", done.stdout)[1])
        self.assertIn(resumed, (last - 1, last))  # the current evaluation is completed
        self.assertEqual((self.table(), self.end(done)), (table[resumed:], end))
        self.assertEqual([path.name for path in self.file.parent.glob("*.new")], [])

    def test_resumed_run_keeps_the_history_precision(self):
        bits = ("--history-bits", 16)
        table, end = self.whole(*bits)
        run(*self.PROBLEM, "--max-iterations", 20, *bits, "--checkpoint", self.file, "--every", 5)
        for again in bits, ():
            done = run(*self.TORSION, *self.resumed(), "--csv", self.csv, *again)
            self.assertEqual((done.stderr, self.end(done)), ("", end))
            self.assertEqual(self.table()[-1], table[-1])
        done = run(*self.TORSION, *self.resumed(), "--history-bits", 32)
        self.assertEqual((done.returncode, done.stderr), (2, f"driver_program: --history-bits: '{self.file}' has a "
                                                             "history of 16 bits, not 32\n"))

    def test_resumed_run_keeps_its_settings_unless_they_are_given(self):
        table, _ = self.whole()
        run(*self.PROBLEM, "--max-iterations", 30, "--checkpoint", self.file, "--every", 7)
        done = run(*self.PROBLEM, *self.resumed(), "--csv", self.csv)
        self.assertIn("the limit of 30 iterations is reached", done.stdout)
        self.assertEqual(self.table(), table[30:31])
        done = run(*self.PROBLEM, *self.resumed(), "--max-iterations", 50, "--threads", 2, "--csv", self.csv)
        self.assertIn("the limit of 50 iterations is reached", done.stdout)
        self.assertEqual(self.table(), table[30:51])
        self.assertRegex(done.stdout, r"\n ITERATIONS = 20\n")

    def test_run_in_single_precision_can_be_resumed(self):
        single = (*self.PROBLEM, "--precision", "single", "--csv", self.csv, "--max-iterations")
        run(*single, 60)
        table = self.table()
        run(*single, 40, "--checkpoint", self.file)
        run(*single, 60, *self.resumed())
        self.assertEqual(self.table(), table[40:])

    def test_unsuitable_or_damaged_checkpoints_are_refused(self):
        run(100, 5, "--max-iterations", 5, "--checkpoint", self.file, "--every", 1)
        good = self.file.read_bytes()
        for arguments, damage, says in (
                ((100, 5), lambda bytes: b"", "these 0 bytes are not a checkpoint"),
                ((100, 5), lambda bytes: b"iteration,evaluations\n" * 100, "these 2200 bytes are not a checkpoint"),
                ((100, 5), lambda bytes: bytes[:-1], "the checkpoint is incomplete"),
                ((100, 5), lambda bytes: bytes[:900] + b"!" + bytes[901:], "the checkpoint is damaged"),
                ((102, 5), lambda bytes: bytes, "n = 100, m = 5 and 64 bits, but the handle has n = 102"),
                ((100, 6), lambda bytes: bytes, "but the handle has n = 100, m = 6"),
                ((100, 5, "--precision", "single"), lambda bytes: bytes, "m = 5 and 32 bits"),
                ((100, 5, "--lower", 3), lambda bytes: bytes, "the bounds are not those of the solve that was saved")):
            with self.subTest(arguments=arguments, says=says):
                self.file.write_bytes(damage(good))
                done = run(*arguments, *self.resumed())
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr, r"\Adriver_program: [^\n]+\n\Z")
                self.assertIn(says, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
