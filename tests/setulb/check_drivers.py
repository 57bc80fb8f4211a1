#!/usr/bin/env python3
"""Usage: check_drivers.py SOURCE_ROOT LIBRARY [FORTRAN_COMPILER]

Compares the output of the three drivers of L-BFGS-B, in Fortran as the distribution installs them and in C, with
libcuda_opt_setulb and with L-BFGS-B 3.0. L-BFGS-B 3.0 is also run from starts that differ from the driver's by a few
rounding errors. Where its line is the same from all nine starts, rounding errors change a number by less than about
half a unit of the last digit. Our line must then have the same words, and the same numbers up to two units. Other lines
are not compared. Drivers are skipped, with a message, if a compiler or the package of the drivers is missing. If the
library is for another processor, the environment variables CC and EMULATOR name the C compiler and the emulator for the
programs that use it."""
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

root, library = Path(sys.argv[1]), Path(sys.argv[2])
fortran = sys.argv[3] if len(sys.argv) > 3 else None
EXAMPLES = Path("/usr/share/doc/liblbfgsb-examples")
NUMBER = re.compile(r"[-+]?\d+\.\d+(?:[DE][-+]\d+|[-+]\d{3})?", re.I)
MOVES = [sign * k * 1e-15 for k in (1, 2, 3, 4) for sign in (1, -1)]  # the start is multiplied by 1 plus these
folders = [library.parent, library.parent.parent]  # in a build folder, libcuda_opt is one folder above
ours = ["-L" + str(library.parent), "-lcuda_opt_setulb"] + ["-Wl,-rpath," + str(folder) for folder in folders]
theirs = ["-llbfgsb"]
FLAGS = ["-std=c11", "-O1", "-ffp-contract=off", "-I", str(root / "include")]
CC, CC_OF_OURS = ["cc", *FLAGS], [os.environ.get("CC", "cc"), *FLAGS]
EMULATOR = os.environ.get("EMULATOR", "").split()
failures, compared = [], 0


def text_of(path):
    for candidate in (path, path.with_name(path.name + ".gz")):
        if candidate.exists():
            return (gzip.open if candidate.suffix == ".gz" else open)(candidate, "rt").read()
    return None


def built(compiler, source, libraries, program):
    subprocess.run([*compiler, str(source), *libraries, "-lm", "-o", str(program)], check=True)
    return program


def printed(program, arguments, **environment):
    """Returns the lines without those with times, after which other output may follow."""
    command = [*(EMULATOR if program.name == "ours" else []), str(program), *arguments]
    run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=program.parent,
                         env={**os.environ, **environment})
    return [line.rstrip() for line in run.stdout.splitlines() if "seconds." not in line and line.strip()]


def value(number):
    return float(re.sub(r"(?<=\d)([-+]\d{3})$", r"E\1", re.sub("d", "e", number, flags=re.I)))


def unit(number):
    """Returns one unit of the last printed digit, or of the ninth significant one if more are printed."""
    mantissa, exponent = re.match(r"[-+]?([\d.]+)[DE]?(.*)", number, re.I).groups()
    digits = mantissa.replace(".", "").lstrip("0")
    return 10.0 ** (max(0, len(digits) - 9) - len(mantissa.partition(".")[2]) + int(exponent or 0))


def agree(line, expected, units):
    numbers, others = NUMBER.findall(line), NUMBER.findall(expected)
    return NUMBER.sub("#", line) == NUMBER.sub("#", expected) and all(
        abs(value(a) - value(b)) <= units * unit(b) for a, b in zip(numbers, others))


def compare(what, mine, program, arguments=()):
    """Compares our lines with those of a program that is linked with L-BFGS-B 3.0."""
    global compared
    compared += 1
    reference = printed(program, arguments)
    moved = [printed(program, arguments, LD_PRELOAD=str(program.parent / "moved.so"), MOVED=str(move))
             for move in MOVES]
    if all(len(lines) == len(reference) for lines in moved) and len(mine) != len(reference):
        failures.append(f"{what}: {len(mine)} lines, not {len(reference)}")
    certain = 0
    for at, (line, expected, *others) in enumerate(zip(mine, reference, *moved)):
        if all(agree(other, expected, 0.5) for other in others):
            certain += 1
            if not agree(line, expected, 2.01):
                failures.append(f"{what}, line {at + 1}:\n  {line}\n  {expected}")
    if 2 * certain < len(reference):
        failures.append(f"{what}: only {certain} of {len(reference)} lines do not depend on rounding errors")


def skipped(what):
    print(f"skipped: {what}")


def check_fortran(folder):
    if not fortran or not shutil.which(fortran):
        return skipped("the drivers in Fortran: no Fortran compiler")
    compiler = [fortran, "-std=legacy", "-w", "-O1"]
    for driver in (1, 2, 3):
        for dialect, suffix in (("77", ".f"), ("90", ".f90")):
            text = text_of(EXAMPLES / f"driver{driver}{suffix}")
            if text is None:
                return skipped(f"the drivers in Fortran: no driver{driver}{suffix} in {EXAMPLES}")
            source = folder / f"driver{suffix}"
            source.write_text(text)
            mine = printed(built(compiler, source, ours, folder / "ours"), ())
            compare(f"driver {driver}, Fortran {dialect}", mine, built(compiler, source, theirs, folder / "theirs"))


def check_c(folder):
    source = root / "tests/setulb/sample_drivers.c"
    mine, reference = built(CC_OF_OURS, source, ours, folder / "ours"), built(CC, source, theirs, folder / "theirs")
    for arguments in ("1", "2", "3", "1 0", "1 10"):  # the second argument of a driver is iprint
        compare(f"driver {arguments}, C", printed(mine, arguments.split()), reference, arguments.split())


os.environ.setdefault("OMP_NUM_THREADS", "1")
with tempfile.TemporaryDirectory() as scratch:
    if not list(Path("/usr/lib").glob("**/liblbfgsb.so")):
        skipped("the drivers: liblbfgsb is not installed")
    else:
        folder = Path(scratch)
        built([*CC, "-shared", "-fPIC"], root / "tests/setulb/moved_start.c", ["-ldl"], folder / "moved.so")
        check_fortran(folder)
        check_c(folder)
print("\n".join(failures) or f"{compared} drivers print the same")
sys.exit(1 if failures else 0 if compared else 77)
