"""Compares a log of this library with the log of the manual's example run, `./driver_program 1000000 7`.

The file manual_run.txt contains the log as far as the manual shows it. The comparison is line by line: every label and
every figure must agree to the digits printed, except for times.

One figure differs in its last digit: f of the last iterate is 6.752264e-10 in the manual. Its last digit depends on the
rounding errors of 37 iterations, which differ between hosts: it is 6.752263e-10 on CUDA, in exact arithmetic and on an
AMD EPYC with GCC 12, and 6.752262e-10 on an Intel Xeon with AVX-512 and GCC 13."""
import re
from pathlib import Path

LAST_F = {"6.752264e-10": ("6.752263e-10", "6.752262e-10")}
TIME = re.compile(r"\d+\.\d{6} ms$")
LEFT_OUT = re.compile(r"\(rows (\d+) to (\d+)\)")
ROW = re.compile(r" *\d+ +\d+ +\d\.\d{6}e[+-]\d\d +\d\.\d{6}e[+-]\d\d +\d\.\d{6}e[+-]\d\d")


def agrees(line, expected):
    """Returns whether a line agrees with the line of the manual."""
    if ROW.fullmatch(expected):
        figures, wanted = line.split(), expected.split()
        return ROW.fullmatch(line) and len(figures) == len(wanted) and all(
            figure == other or figure in LAST_F.get(other, ()) for figure, other in zip(figures, wanted))
    if TIME.search(expected):
        return bool(TIME.search(line)) and TIME.sub("", line) == TIME.sub("", expected)
    return line == expected


def compare(lines, first="Function to minimize: Rosenbrock"):
    """Compares lines with those of the manual, from its line `first` on. Returns the number of lines that were read.

    Raises AssertionError at the first line that differs."""
    expected = Path(__file__).with_suffix(".txt").read_text().splitlines()
    at = 0
    for wanted in expected[expected.index(first):]:
        if left_out := LEFT_OUT.fullmatch(wanted):
            for iteration in range(int(left_out[1]), int(left_out[2]) + 1):
                assert at < len(lines) and ROW.fullmatch(lines[at]), f"row {iteration} is missing"
                assert int(lines[at].split()[0]) == iteration, f"line {at + 1} should be row {iteration}: {lines[at]}"
                at += 1
            continue
        assert at < len(lines), f"missing: {wanted}"
        assert agrees(lines[at], wanted), f"line {at + 1} is\n{lines[at]}\nand in the manual\n{wanted}"
        at += 1
    return at
