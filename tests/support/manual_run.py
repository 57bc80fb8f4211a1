"""Compares a log of this library with the log of the manual's example run, `./driver_program 1000000 7`.

The file manual_run.txt contains the log as far as the manual shows it. The comparison is line by line: every label and
every figure must agree to the digits printed, except for times and for the rows from iterate 32 on.

In these rows, rounding errors decide the last digits. If the start is multiplied by 1 + k 1e-15, |k| <= 12, the figures
change by up to 6e-8 in the rows 32 to 36, and by up to 2e-7 in the last. There, one rounding error in each variable
changes f by up to sqrt(n) ||g|| 2^-53 / f = 1.7e-7. A figure of these rows agrees if it differs by at most 2e-6. In the
rows 1 to 6, the same starts change no figure by 1e-10, and all digits are certain."""
import re
from pathlib import Path

TOLERANCE, LAST_CERTAIN_ROW = 2e-6, 6
TIME = re.compile(r"\d+\.\d{6} ms$")
LEFT_OUT = re.compile(r"\(rows (\d+) to (\d+)\)")
ROW = re.compile(r" *\d+ +\d+ +\d\.\d{6}e[+-]\d\d +\d\.\d{6}e[+-]\d\d +\d\.\d{6}e[+-]\d\d")


def row_agrees(line, expected):
    """Returns whether a row of the table agrees with the row of the manual, whose last figures may be missing."""
    figures, wanted = line.split(), expected.split()
    if int(wanted[0]) <= LAST_CERTAIN_ROW:
        return figures[:len(wanted)] == wanted
    return figures[:2] == wanted[:2] and all(
        abs(float(figure) / float(other) - 1) <= TOLERANCE for figure, other in zip(figures[2:], wanted[2:]))


def agrees(line, expected):
    """Returns whether a line agrees with the line of the manual."""
    if ROW.fullmatch(expected):
        return ROW.fullmatch(line) and row_agrees(line, expected)
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
