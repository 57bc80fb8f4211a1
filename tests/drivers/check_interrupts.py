#!/usr/bin/env python3
"""Usage: check_interrupts.py BATCH_PROGRAM CVT_PROGRAM

Tests Ctrl-C while the programs show on a terminal in which phase they are. A phase is shown after half a second, and
the test has to send the signal before the phase ends. Meson therefore runs this program alone, and the programs use one
thread, so that their phases are long enough on machines with many processors."""
import csv
import math
import re
import sys
import tempfile
import unittest
from pathlib import Path

from on_terminal import OnTerminal

CVT, BATCH = sys.argv.pop(), sys.argv.pop()
HOST = ("--backend", "host", "--threads", 1)


class Interrupts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name, "file")

    def interrupted(self, words, *command):
        """Sends SIGINT when the words are on the terminal. Returns standard output, and the text of the terminal."""
        program = OnTerminal(*command, *HOST)
        program.wait_for(words)
        status, out = program.interrupt()
        self.assertEqual(status, 1)
        return out, program.written

    def test_batch_program_before_the_first_evaluation(self):
        out, written = self.interrupted("drawing the random starts", BATCH, 100000, 100)
        self.assertTrue(out.startswith("Rosenbrock, chained, n = 100, m = 5: 100,000 problems in "))
        self.assertIn("batch_program: stopped before the first evaluation of all problems, so there is no result",
                      written)

    def test_batch_program_between_groups_of_problems(self):
        out, _ = self.interrupted("of 5,000 problems active", BATCH, 5000, 100, "--factr", 0, "--pgtol", 0,
                                  "--max-iterations", 0, "--csv", self.file)
        self.assertRegex(out, r"\nSTOPPED +5,000\n")
        with self.file.open() as file:  # f is that of the best iterate even if the last evaluation was omitted
            self.assertTrue(all(math.isfinite(float(row["f"])) for row in csv.DictReader(file)))

    def test_cvt_program_while_preparing(self):
        for arguments, phase in (((2000, 8192, "--density", "waves"), "sampling the density"),
                                 ((2000, 4096), "the energy at the start")):
            with self.subTest(phase=phase):
                _, written = self.interrupted(phase, CVT, *arguments)
                self.assertIn("cvt_program: stopped before the first iteration, so there is no result", written)

    def test_cvt_program_within_an_evaluation(self):
        out, _ = self.interrupted("0 iterations, 1 evaluations", CVT, 2000, 2560, "--tolerance", 0, "--iprint", 0,
                                  "--points", self.file)
        self.assertIn("stopped by the caller", out)
        self.assertTrue(math.isfinite(float(re.search(r"ENERGY = (\S+)", out)[1])))
        self.assertEqual(len(self.file.read_text().splitlines()), 2000)


if __name__ == "__main__":
    unittest.main(verbosity=2)
