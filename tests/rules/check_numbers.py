#!/usr/bin/env python3
"""Usage: check_numbers.py SOURCE_ROOT

Tests that tools/numbers --check finds the faults that it has to find: a document that differs from the tables, a number
of README.md that no table contains, a table without its source, and a page that shows another run than
docs/tables/sources.csv. Each test changes a copy of README.md and docs/. The rounding of ratios is compared with
fractions that this program computes."""
import csv
import importlib.util
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from fractions import Fraction
from pathlib import Path

ROOT = Path(sys.argv.pop(1)).resolve()
sys.dont_write_bytecode = True


def module(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / f"tools/{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


class Check(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        shutil.copy(ROOT / "README.md", self.root)
        documents = [path for pattern in ("*.md", "*.csv", "bars.svg") for path in (ROOT / "docs").rglob(pattern)]
        for path in documents:
            copy = self.root / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
        self.readme = self.root / "README.md"

    def numbers(self, *arguments):
        command = [sys.executable, "-B", ROOT / "tools/numbers", "--root", self.root, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout + done.stderr

    def assert_found(self, words):
        status, out = self.numbers("--check")
        self.assertNotEqual(status, 0, out)
        self.assertRegex(out, words)

    def change(self, path, pattern, replacement):
        text, count = re.subn(pattern, replacement, path.read_text(), count=1, flags=re.M)
        self.assertEqual(count, 1, f"{path.name} has no {pattern}")
        path.write_text(text)

    def test_an_unchanged_copy_passes(self):
        self.assertEqual(self.numbers("--check"), (0, ""))

    def derive(self, what):
        tool = ROOT / "tools/paper_tables.py"
        subprocess.run([sys.executable, "-B", tool, self.root, what], check=True, timeout=60)

    def test_the_tables_of_the_papers_are_made_of_their_sources(self):
        for what, table, source, pattern in (
                ("list", "papers", "sources", r'^(table1,"NVIDIA H)\d+'),
                ("table4", "table4-ends", "table4-cuda", r'^(1000000,"CUDA, exact",5,)\d+')):
            path = self.root / f"docs/tables/{table}.csv"
            before = path.read_text()
            self.derive(what)
            self.assertEqual(path.read_text(), before)
            self.change(self.root / f"docs/tables/{source}.csv", pattern, r"\g<1>987")
            self.derive(what)
            self.assertIn("987", path.read_text())
            self.assert_found("papers.md differs" if what == "list" else "benchmarks.md differs")

    def test_a_run_without_an_end_is_not_in_the_table_of_ends(self):
        path = self.root / "docs/tables/table4-cpu.csv"
        self.change(path, r",converged,", ",limit,")
        self.derive("table4")
        with open(self.root / "docs/tables/table4-ends.csv", newline="") as file:
            self.assertEqual(next(csv.DictReader(file))["end_lbfgsb"], "not measured yet")

    def test_a_changed_number_is_found_and_repaired(self):
        before = self.readme.read_text()
        self.change(self.readme, r"(<!-- number metric.solved -->)\d+", r"\g<1>336")
        self.assert_found("README.md differs")
        self.assertEqual(self.numbers(), (0, ""))
        self.assertEqual(self.readme.read_text(), before)

    def test_a_changed_table_is_found(self):
        self.change(self.root / "docs/tables/python-gpu.csv", r"^10000000,1.850", "10000000,1.750")
        self.assert_found("README.md differs.*\n.*bars.svg differs|bars.svg differs.*\n.*README.md differs")

    def test_a_changed_row_of_the_comparisons_is_found(self):
        self.change(self.readme, r"\*\*720\*\*", "**721**")
        self.assert_found("README.md differs")

    def test_a_changed_row_of_a_table_is_found(self):
        self.change(self.root / "docs/python.md", r"\| 1\.850 \|", "| 1.750 |")
        self.assert_found("docs/python.md differs")

    def test_a_number_without_a_table_is_found(self):
        for prose in ("It takes 0.5 times as long.", "It takes 12 ms.", "It is 40 % faster.", "It took 3 minutes."):
            with self.subTest(prose):
                text = (ROOT / "README.md").read_text()
                self.readme.write_text(text.replace("## Requirements", f"{prose}\n\n## Requirements"))
                self.assert_found("README.md.* is quoted from no table")

    def test_an_unknown_key_is_found(self):
        self.change(self.readme, "<!-- number metric.solved -->", "<!-- number metric.solve -->")
        self.assert_found("no table has the number metric.solve")

    def test_a_number_at_the_begin_of_a_line_is_found(self):
        self.change(self.readme, r" <!-- number metric.solved -->", r"\n<!-- number metric.solved -->")
        self.assert_found("the line begins with a number")

    def test_a_table_without_its_source_is_found(self):
        for column in ("", "NVIDIA H200,,41dbc87,command", "NVIDIA H200,2026-11-22,,command"):
            with self.subTest(column):
                shutil.copy(ROOT / "docs/tables/sources.csv", self.root / "docs/tables")
                self.change(self.root / "docs/tables/sources.csv", "^python-gpu,.*$", f"python-gpu,{column}")
                self.assert_found("sources.csv lacks .* of the table python-gpu")

    def test_a_page_with_another_run_is_found(self):
        pages = [path for path in (self.root / "docs").rglob("*.md") if "\n<!-- table4 -->\n" in path.read_text()]
        self.assertEqual(len(pages), 1)
        self.change(pages[0], r"(<!-- table4 -->\n.*\n\nRun on )\d{4}", r"\g<1>2025")
        self.assert_found("another run of the table table4")

    def test_a_run_is_entered(self):
        run = "Run on 2027-01-02 at commit abc1234: NVIDIA H100, driver 1.2"
        self.assertEqual(self.numbers("--source", "table4", "bench/bench_table4 --csv", run), (0, ""))
        row = module("numbers_data").Tables(self.root / "docs/tables").source("table4")
        self.assertEqual([row["device"], row["date"], row["commit"], row["command"]],
                         ["NVIDIA H100, driver 1.2", "2027-01-02", "abc1234", "bench/bench_table4 --csv"])


class Rounding(unittest.TestCase):
    """A printed ratio never favours this library more than the ratio of any two numbers that round to the table's."""

    def test_ratios(self):
        data = module("numbers_data")
        for ours, theirs in (("0.036", "0.271"), ("1.850", "4.576"), ("0.358", "0.344"), ("55", "181"), ("2", "3000")):
            half_ours = Fraction(5, 10 ** (len(ours.partition(".")[2]) + 1))
            half_theirs = Fraction(5, 10 ** (len(theirs.partition(".")[2]) + 1))
            least = (Fraction(theirs) - half_theirs) / (Fraction(ours) + half_ours)
            fast = Fraction(data.times_as_fast(ours, theirs).replace(",", ""))
            long = Fraction(data.times_as_long(ours, theirs))
            self.assertLessEqual(fast, least)
            self.assertGreater(fast, least * Fraction(9, 10))
            self.assertGreaterEqual(long, 1 / least)
            self.assertLess(long, 1 / least * Fraction(11, 10))

    def test_numbers_as_printed(self):
        data = module("numbers_data")
        self.assertEqual([data.down("7.49"), data.down("0.959"), data.down("878.9"), data.down("1234.5")],
                         ["7.4", "0.95", "878", "1,234"])
        self.assertEqual([data.up("0.303"), data.up("1.01")], ["0.31", "1.1"])


if __name__ == "__main__":
    unittest.main()
