#!/usr/bin/env python3
"""Usage: check_cvt_program.py CVT_PROGRAM exact|grid png|no-png

cvt_program as a user meets it: that a tessellation comes out well, exit statuses, one line for each wrong density, the
files. The other arguments say whether the program was built with Boost.Polygon and with libpng."""
import csv
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

PNG, EXACT = sys.argv.pop() == "png", sys.argv.pop() == "exact"
PROGRAM = sys.argv.pop()
SEED = ("--seed", 1000 * int(os.environ.get("CUDA_OPT_TEST_SEED", 0)))
NUMBER = r"[-+.\de]+"


def run(*arguments, **options):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300, **options)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def value(self, name, text):
        found = re.search(rf"{name} = ({NUMBER})", text)
        self.assertTrue(found, f"no {name} in\n{text}")
        return float(found[1])


class Tessellations(Case):
    def converged(self, *options):
        done = run(200, 256, *SEED, "--max-iterations", 1000, "--tolerance", 0.02, *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertLess(self.value("ENERGY", done.stdout), 0.6 * self.value("AT THE START", done.stdout))
        self.assertLess(self.value("FARTHEST FROM ITS CENTROID", done.stdout), 0.1)
        self.assertEqual(self.value("EMPTY CELLS", done.stdout), 0)
        return done.stdout

    def test_on_the_host(self):
        first = self.converged("--backend", "host", "--threads", 1)
        again = self.converged("--backend", "host", "--threads", 2)
        times = re.compile(r"SECONDS.*")
        self.assertEqual(times.sub("", first), times.sub("", again))

    def test_until_the_energy_no_longer_falls(self):
        done = run(30, 64, *SEED, "--until-still", "--max-iterations", 0, "--backend", "host", "--threads", 1)
        self.assertIn(done.returncode, (0, 1))  # 1: where no step decreases it
        self.assertRegex(done.stdout, "f has stopped decreasing|line search|converged")
        near = run(30, 64, *SEED, "--max-iterations", 0, "--backend", "host", "--threads", 1)
        self.assertLessEqual(self.value("ENERGY", done.stdout), self.value("ENERGY", near.stdout))
        self.assertGreater(self.value("ITERATIONS", done.stdout), self.value("ITERATIONS", near.stdout))
        refused = run(30, 64, "--until-still", "--tolerance", 1e-3)
        self.assertEqual((refused.returncode, refused.stdout), (2, ""))
        self.assertIn("--until-still: is the only test, but there is --tolerance", refused.stderr)

    def test_on_cuda(self):
        if run(1, 1, "--backend", "cuda", "--iprint", "-1", "--max-iterations", 1).returncode:
            self.assertFalse(os.environ.get("CUDA_OPT_TEST_REQUIRE_CUDA"), "CUDA is required")
            self.skipTest("no CUDA device")
        self.converged("--backend", "cuda")

    def test_quality(self):
        if not EXACT:
            self.skipTest("built without Boost.Polygon")
        text = self.converged("--backend", "host")
        lines = [line for line in text.splitlines() if line.startswith((" START", " END"))]
        rows = {line[1:23].strip(): line[23:].split() for line in lines}
        self.assertLess(float(rows["START"][2]), 0.75)
        self.assertGreater(float(rows["END, CENTRE IN SQUARE"][2]), 0.88)
        self.assertGreater(float(rows["END, CENTRE IN SQUARE"][4]), 48)
        exact = self.value("OF THE EXACT DIAGRAM", text)
        self.assertLess(abs(self.value("ENERGY", text) - exact), 1e-3 * exact)

    def test_density(self):
        image = self.folder / "half.pgm"
        image.write_text("P2 # the left half weighs nine times the right half\n2 1 9\n9 1\n")
        table = self.folder / "run.csv"
        for density in ("gaussian", "linear", "waves", image):
            with self.subTest(density=density):
                options = ("--density", density, "--max-iterations", 30, "--csv", table, "--backend", "host")
                done = run(100, 128, *SEED, *options)
                self.assertEqual(done.stderr, "")
                with table.open() as file:
                    energies = [float(row["f"]) for row in csv.DictReader(file)]
                self.assertEqual(energies, sorted(energies, reverse=True))
                self.assertLess(energies[-1], energies[0])

    def test_one_site(self):
        done = run(1, 64, "--backend", "host")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertAlmostEqual(self.value("ENERGY", done.stdout), 1 / 6, places=4)

    def test_a_site_a_pixel(self):
        done = run(64, 8, *SEED, "--backend", "host", "--max-iterations", 50)
        self.assertIn(done.returncode, (0, 1))
        self.assertEqual(done.stderr, "")

    def test_interrupt(self):
        command = [PROGRAM, "2000", "512", "--tolerance", "0", "--max-iterations", "0", "--backend", "host"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
            for line in program.stdout:
                if line.startswith("   2 "):
                    program.send_signal(signal.SIGINT)
                    break
            rest = program.stdout.read()
            self.assertEqual((program.wait(), program.stderr.read()), (1, ""))
        # The quality of the cells is left out if it would take long, as on a busy machine.
        self.assertRegex(rest, r"\n stopped by the caller after [^\n]*\n ENERGY = ")


class Replies(Case):
    def test_help_list_version(self):
        for option in ("--help", "--list", "--version"):
            done = run(option)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertTrue(done.stdout)

    def refused(self, *arguments, saying=""):
        with self.subTest(arguments=arguments):
            done = run(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, r"\Acvt_program: [^\n]+\n\Z")
            self.assertIn(saying, done.stderr)

    def test_densities(self):
        self.refused(10, 64, "--density", "uniform", saying="there is no density 'uniform'; the nearest is ")
        self.refused(10, 64, "--density", self.folder / "none.pgm", saying="cannot be read")
        image = self.folder / "image.pgm"
        for content, saying in (
            (b"", "is no PGM image"),
            (b"P6\n1 1 255\nabc", "is no PGM image"),
            (b"P5\n2", "ends before its height"),
            (b"P5\n0 3 255\n", "a width of 0"),
            (b"P5\n2 2 70000\n", "a largest value of 70000"),
            (b"P5\n2 2 255\nabc", "ends before its last pixel"),
            (b"P5\n2 1 100\na\xff", "a pixel of 255, above its largest value of 100"),
            (b"P2\n2 1 9\n9 x", "ends before its pixel"),
            (b"P5\n2 2 255\n\0\0\0\0", "zero at all pixels"),
        ):
            image.write_bytes(content)
            self.refused(10, 64, "--density", image, saying=saying)

    def test_no_log(self):
        done = run(20, 64, "--iprint", -1, "--tolerance", 0.1, "--backend", "host")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        done = run(20, 64, "--iprint", -1, "--max-iterations", 2, "--backend", "host")
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1))


class Files(Case):
    def test_points(self):
        points = self.folder / "points"
        run(50, 64, "--points", points, "--max-iterations", 5, "--backend", "host")
        sites = [[float(word) for word in line.split()] for line in points.read_text().splitlines()]
        self.assertEqual([len(site) for site in sites], 50 * [2])
        self.assertTrue(all(0 <= value <= 1 for site in sites for value in site))
        self.assertEqual(len({tuple(site) for site in sites}), 50)

    def test_svg(self):
        if not EXACT:
            self.skipTest("built without Boost.Polygon")
        picture = self.folder / "a.svg"
        run(50, 64, "--plot", picture, "--max-iterations", 5, "--backend", "host")
        root = ElementTree.parse(picture).getroot()
        paths = [e for e in root.iter() if e.tag.endswith("path")]
        dots = "".join(e.get("d") for e in paths if e.get("stroke-linecap") == "round")
        self.assertEqual(dots.count("M"), 2 * 50)
        cells = "".join(e.get("d") for e in paths if e.get("fill") != "none")
        self.assertEqual(cells.count("Z"), 2 * 50)

    def test_png(self):
        if not PNG:
            self.skipTest("built without libpng")
        picture = self.folder / "a.png"
        run(50, 64, "--png", picture, "--max-iterations", 5, "--backend", "host")
        data = picture.read_bytes()
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual(struct.unpack(">II", data[16:24]), (2 * 64 + 16, 64))

    def test_files_that_cannot_be_written(self):
        for option in ("--csv", "--points", "--plot", "--png"):
            done = run(50, 64, option, self.folder / "no" / "folder")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertRegex(done.stderr, r"\Acvt_program: cannot write [^\n]+\n\Z")
        if os.path.exists("/dev/full"):
            done = run(50, 64, "--csv", "/dev/full")
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            with open("/dev/full", "w") as full:
                for question in ("--help", "--list"):
                    done = subprocess.run([PROGRAM, question], stdout=full, stderr=subprocess.PIPE, text=True)
                    self.assertEqual((done.returncode, done.stderr),
                                     (1, "cvt_program: cannot write to standard output: No space left on device\n"))

    def test_two_outputs_to_one_file(self):
        file = self.folder / "a.pgm"
        for pair in (("--csv", "--plot"), ("--points", "--png"), ("--csv", "--density")):
            done = run(50, 64, pair[0], file, pair[1], file)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, r"\Acvt_program: --[^\n]+ is the file of --[^\n]+, too [^\n]+\n\Z")

    def test_a_limit_of_time_and_former_names(self):
        done = run(500, 512, "--iterations", 0, "--tolerance", 0, "--max-seconds", 0.05, "--backend", "host")
        self.assertEqual(done.returncode, 1)
        self.assertIn("the limit of 0.05 seconds is reached", done.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
