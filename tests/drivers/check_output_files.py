#!/usr/bin/env python3
"""Usage: check_output_files.py DRIVER_PROGRAM OTHER_PROGRAM ...

Tests the output files of a run: checkpoints that are written through symbolic links, next to files of other programs,
at a limit, and on a full disk. All programs are also run with closed standard descriptors, and with output that is
lost."""
import csv
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAMS = sys.argv[1:]
DRIVER = PROGRAMS[0]
del sys.argv[1:]


def run(*arguments, **options):
    return subprocess.run([DRIVER, *map(str, arguments), "--backend", "host"], capture_output=True, text=True,
                          timeout=300, **options)


class InFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "state"

    def names(self):
        return sorted(path.name for path in self.folder.iterdir())


class Checkpoints(InFolder):
    def test_other_files_remain_unchanged(self):
        """Other files and links in the folder of the checkpoint do not change."""
        other, link, copy = (self.folder / name for name in ("other", "state.new", "state.new.new"))
        other.write_text("precious")
        copy.write_text("precious, too")
        link.symlink_to(other)
        done = run(100, 5, "--checkpoint", self.file, "--every", 1)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual((other.read_text(), copy.read_text(), link.is_symlink()), ("precious", "precious, too", True))
        self.assertEqual(self.names(), ["other", "state", "state.new", "state.new.new"])

    def test_checkpoint_is_written_through_symbolic_links(self):
        """The target of a link is replaced or created, and the links remain."""
        (self.folder / "elsewhere").mkdir()
        target, inner, outer = (self.folder / name for name in ("elsewhere/state", "elsewhere/inner", "outer"))
        inner.symlink_to("state")
        outer.symlink_to("elsewhere/inner")
        for before in (None, "old"):
            if before:
                target.write_text(before)
            self.assertEqual(run(100, 5, "--checkpoint", outer, "--every", 1).returncode, 0)
            self.assertTrue(outer.is_symlink() and inner.is_symlink())
            self.assertGreater(target.stat().st_size, 1000)
            self.assertEqual(sorted(path.name for path in target.parent.iterdir()), ["inner", "state"])
        self.assertEqual(run(100, 5, "--resume", outer).returncode, 0)

    def test_cycle_of_symbolic_links_is_an_error(self):
        self.file.symlink_to("other")
        (self.folder / "other").symlink_to("state")
        done = run(100, 5, "--checkpoint", self.file)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"\Adriver_program: cannot write '[^\n]+': Too many levels of symbolic links\n\Z")

    def test_mode_of_a_checkpoint_obeys_the_umask(self):
        old = os.umask(0o027)
        self.addCleanup(os.umask, old)
        run(100, 5, "--checkpoint", self.file, "--every", 1)
        self.assertEqual(self.file.stat().st_mode & 0o777, 0o640)

    def test_run_that_ends_at_a_limit_can_be_resumed(self):
        """A run that ends at a limit writes a checkpoint of its end, and a run resumed from it has the same result."""
        table = self.folder / "table"

        def rows():
            with table.open() as file:
                return [{key: value for key, value in row.items() if key != "seconds"} for row in csv.DictReader(file)]

        self.assertEqual(run(1000, 5, "--csv", table).returncode, 0)
        whole = rows()
        for limit in (("--max-iterations", 10), ("--max-iterations", 10, "--every", 4), ("--max-evaluations", 15),
                      ("--max-iterations", 1), ("--max-evaluations", 1)):
            with self.subTest(limit=limit):
                self.file.unlink(missing_ok=True)
                limited = run(1000, 5, *limit, "--checkpoint", self.file)
                ended = int(re.search(r"ITERATIONS = (\d+)\n", limited.stdout)[1])
                unlimited = ("--max-iterations", 0, "--max-evaluations", 0)
                done = run(1000, 5, *unlimited, "--resume", self.file, "--csv", table)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertEqual(int(re.search(r"RESUMED AT ITERATION (\d+)", done.stdout)[1]), ended)
                self.assertEqual(rows()[-5:], whole[-5:])

    def test_run_that_ends_at_the_time_limit_can_be_resumed(self):
        problem = (90000, 5, "--problem", "torsion", "--threads", 1)  # takes more than 500 iterations
        done = run(*problem, "--max-seconds", 0.1, "--eps", 0, "--max-iterations", 0, "--checkpoint", self.file)
        ended = int(re.search(r"ITERATIONS = (\d+)\n", done.stdout)[1])
        resumed = run(*problem, "--max-seconds", 0, "--max-iterations", ended + 2, "--resume", self.file)
        at = int(re.search(r"RESUMED AT ITERATION (\d+)", resumed.stdout)[1])
        self.assertLessEqual(ended - at, 1)

    def test_full_disk_keeps_the_last_checkpoint(self):
        """A limit on the file size simulates a full disk. The last checkpoint remains, without any temporary file."""
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        self.file.write_text("the last one")
        done = run(1000, 5, "--checkpoint", self.file, "--every", 1, preexec_fn=limit)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Adriver_program: cannot write '[^\n]+': File too large\n\Z")
        self.assertEqual((self.file.read_text(), self.names()), ("the last one", ["state"]))


class LostOutput(InFolder):
    """No program writes to a file that got the descriptor of standard output. If output is lost, the program fails."""
    def test_csv_file_is_complete_if_descriptors_are_closed(self):
        table = self.folder / "table"
        for closed in (">&-", "<&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"):
            with self.subTest(closed=closed):
                command = f'exec "$0" 1000 5 --backend host --iprint -1 --csv "$1" {closed}'
                done = subprocess.run(["sh", "-c", command, DRIVER, table], stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL, timeout=300)
                self.assertEqual(done.returncode, 0)
                lines = table.read_text().splitlines()
                self.assertGreater(len(lines), 5)
                self.assertEqual({line.count(",") for line in lines}, {lines[0].count(",")})

    def test_programs_fail_if_their_output_is_lost(self):
        runs = {"driver_program": ["4 2", "4 2 --check-gradient", "4 2 --iprint 0,0"], "batch_program": ["4 2"],
                "cvt_program": ["4 16", "4 16 --iprint 0"], "search_program": ["4 2", "4 2 --polish 1 --iprint 0"]}
        for program in PROGRAMS:
            for arguments in ("--help", "--list", "--version", *runs[Path(program).name]):
                for lost, why in ((">&-", "Bad file descriptor"), ("> /dev/full", "No space left on device")):
                    if lost == "> /dev/full" and not os.path.exists("/dev/full"):
                        continue
                    with self.subTest(program=program, arguments=arguments, lost=lost):
                        done = subprocess.run(["sh", "-c", f'exec "$0" {arguments} {lost}', program],
                                              stderr=subprocess.PIPE, text=True, timeout=60)
                        self.assertEqual(done.returncode, 1)
                        self.assertRegex(done.stderr, rf"\A\w+: cannot write to standard output: {why}\n\Z")


if __name__ == "__main__":
    unittest.main(verbosity=2)
