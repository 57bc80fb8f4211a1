#!/usr/bin/env python3
"""Usage: check_drivers.py SOURCE_ROOT LIBRARY [FORTRAN_COMPILER]

Compares the output of the three drivers of L-BFGS-B, in Fortran as the distribution installs them and in C, with
libcuda_opt_setulb and with L-BFGS-B 3.0. Every word and digit must be the same. If the output of L-BFGS-B here differs
from the recorded one, which another compiler produced, then from that line on numbers may differ by ten times this
difference. Drivers are skipped, with a message, if a compiler or the package of the drivers is missing. If the library
is for another processor, the environment variables CC and EMULATOR name the C compiler and the emulator for the
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
folders = [library.parent, library.parent.parent]  # in a build folder, libcuda_opt is one folder above
ours = ["-L" + str(library.parent), "-lcuda_opt_setulb"] + ["-Wl,-rpath," + str(folder) for folder in folders]
theirs = ["-llbfgsb"]
failures, compared = [], 0


def text_of(path):
    for candidate in (path, path.with_name(path.name + ".gz")):
        if candidate.exists():
            return (gzip.open if candidate.suffix == ".gz" else open)(candidate, "rt").read()
    return None


def lines_of(text):
    """Removes the lines with times, after which other output may follow."""
    return [line.rstrip() for line in text.splitlines() if "seconds." not in line and line.strip()]


def printed(compiler, source, libraries, folder, arguments=()):
    program = Path(folder) / "program"
    subprocess.run([*compiler, str(source), *libraries, "-lm", "-o", str(program)], check=True)
    emulator = os.environ.get("EMULATOR", "").split() if libraries is ours else []
    command = [*emulator, str(program), *arguments]
    run = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=folder)
    return lines_of(run.stdout)


def value(number):
    return float(re.sub(r"(?<=\d)([-+]\d{3})$", r"E\1", re.sub("d", "e", number, flags=re.I)))


def last_place(number):
    """Returns one unit of the last printed digit, or of the ninth if more are printed."""
    mantissa = re.match(r"[-+]?(\d+)\.(\d+)", number)
    digits = min(len((mantissa[1] + mantissa[2]).lstrip("0")), 9)
    return 1.01 * 10.0 ** -(digits - 1) * abs(value(number))


def difference(line, other):
    """Returns the largest relative difference of the numbers in two lines, or None if other text differs."""
    numbers, others = NUMBER.findall(line), NUMBER.findall(other)
    if NUMBER.sub("#", line) != NUMBER.sub("#", other) or len(numbers) != len(others):
        return None
    return max((abs(value(a) - value(b)) / (abs(value(b)) or 1) for a, b in zip(numbers, others)), default=0)


def compare(what, mine, reference, recorded=None):
    global compared
    compared += 1
    if len(mine) != len(reference):
        failures.append(f"{what}: {len(mine)} lines, not {len(reference)}")
    allowed = 0
    for at, (line, expected) in enumerate(zip(mine, reference)):
        if recorded and at < len(recorded) and (apart := difference(recorded[at], expected)):
            allowed = max(allowed, 10 * apart)
        apart = difference(line, expected)
        places = [last_place(n) / (abs(value(n)) or 1) for n in NUMBER.findall(expected)]
        if apart is None or apart > max([allowed, *places]):
            failures.append(f"{what}, line {at + 1}:\n  {line}\n  {expected}")


def skipped(what):
    print(f"skipped: {what}")


def check_fortran(folder):
    if not fortran or not shutil.which(fortran):
        return skipped("the drivers in Fortran: no Fortran compiler")
    for driver in (1, 2, 3):
        for dialect, suffix in (("77", ".f"), ("90", ".f90")):
            text = text_of(EXAMPLES / f"driver{driver}{suffix}")
            if text is None:
                return skipped(f"the drivers in Fortran: no driver{driver}{suffix} in {EXAMPLES}")
            source = Path(folder) / f"driver{suffix}"
            source.write_text(text)
            compiler = [fortran, "-std=legacy", "-w", "-O1"]
            recorded = text_of(EXAMPLES / f"output_{dialect}_{driver}")
            compare(
                f"driver {driver}, Fortran {dialect}",
                printed(compiler, source, ours, folder),
                printed(compiler, source, theirs, folder),
                lines_of(recorded) if recorded else None,
            )


def check_c(folder):
    # Other compiler flags replace the run of another compiler. The second argument of a driver is iprint.
    source, compiler = root / "tests/setulb/sample_drivers.c", ["cc", "-std=c11", "-O1", "-I", str(root / "include")]
    plain, fast = [*compiler, "-ffp-contract=off"], [*compiler, "-Ofast", "-march=native"]
    for_library = [os.environ.get("CC", "cc"), *plain[1:]]
    for arguments in ("1", "2", "3", "1 0", "1 10"):
        run = (source, folder, arguments.split())
        reference, other = (printed(flags, run[0], theirs, *run[1:]) for flags in (plain, fast))
        compare(f"driver {arguments}, C", printed(for_library, run[0], ours, *run[1:]), reference, other)


os.environ.setdefault("OMP_NUM_THREADS", "1")
with tempfile.TemporaryDirectory() as scratch:
    if not list(Path("/usr/lib").glob("**/liblbfgsb.so")):
        skipped("the drivers: liblbfgsb is not installed")
    else:
        check_fortran(scratch)
        check_c(scratch)
print("\n".join(failures) or f"{compared} drivers print the same")
sys.exit(1 if failures else 0 if compared else 77)
