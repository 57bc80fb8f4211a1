#!/usr/bin/env python3
"""Usage: check_manual_page.py PAGE PROGRAM

Checks that the manual page has the options of --help with the same arguments and defaults, and causes no warnings."""
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

PAGE, PROGRAM = Path(sys.argv.pop(1)), sys.argv.pop(1)


def of_help():
    """Returns a dictionary: option: (argument, default)."""
    text = subprocess.run([PROGRAM, "--help"], check=True, capture_output=True, text=True).stdout
    name, argument = r"^  (?:-h,)?(--[\w-]+)", r"(?: ([\w,=]+))?(?: \.\.\.)?(?: Excludes: [-\w ]+)?"
    entries = re.findall(name + argument + r"(?: {2,}|\n {10,})(.*(?:\n {10,}.*)*)", text, re.M)
    return {name: (argument, "".join(re.findall(r" \[(.*?)\]", words)[:1])) for name, argument, words in entries}


def of_page():
    text = PAGE.read_text().replace(r"\-", "-")
    entries = re.findall(r'^\.TP\n\.(?:BI?|BR -h ", ") (--[\w-]+)(?: " (.*?)")?\n((?:(?!\.TP|\.S).*\n)*)', text, re.M)
    return {
        name: (argument, "".join(re.findall(r"^Default (.*)\.$", words, re.M)[:1])) for name, argument, words in entries
    }


class ManualPage(unittest.TestCase):
    def test_options_agree_with_help(self):
        self.maxDiff = None
        self.assertGreater(len(of_help()), 15)
        self.assertEqual(of_page(), of_help())

    def test_page_has_the_version_of_the_program(self):
        version = subprocess.run([PROGRAM, "--version"], check=True, capture_output=True, text=True).stdout.split()[-1]
        self.assertIn(f'"cuda_opt {version}"', PAGE.read_text())

    def test_groff_reports_no_warning(self):
        if not shutil.which("groff"):
            self.skipTest("no groff")
        done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-z", PAGE], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main(verbosity=2)
