#!/usr/bin/env python3
"""Usage: check_examples.py SOURCE_ROOT NAME

Compiles an example of examples/c, cpp, cuda or fortran with the command at its head, runs it with a small problem, and
checks its output and plots. The program is run by with_installed. The relinked example is also linked with L-BFGS-B
3.0, if that is installed, and must find the same minimum. Without a device, examples in CUDA are only compiled."""
import csv
import os
import re
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

SKIPPED = 77


def run(command):
    print(f"$ {command}")
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    print(done.stdout + done.stderr, end="")
    return done


def succeed(command):
    done = run(command)
    if done.returncode:
        sys.exit(f"exit status {done.returncode}")
    return done.stdout


def expect(condition, what):
    if not condition:
        sys.exit(what)


def commands_of(source):
    """Returns the command at the head of the file that compiles it, up to the name of the output file."""
    return re.findall(r"(?:nvcc|cc|c\+\+|gfortran) [^\n]*? -o \w+", source.read_text())


def points_drawn(path):
    """Returns the number of points of each line in a plot. The file is parsed, so that it must be well formed."""
    lines = [node for node in xml.etree.ElementTree.parse(path).iter() if node.get("points")]
    return [len(re.findall(r"-?[\d.]+", line.get("points"))) // 2 for line in lines]


def expect_axes(path, *names):
    """Checks that the axes have these names and at least four numbers each."""
    texts = [node.text for node in xml.etree.ElementTree.parse(path).iter() if node.tag.endswith("text") and node.text]
    expect(set(names) <= set(texts), f"the axes have not the names {names}: {texts}")
    numbers = [text for text in texts if re.fullmatch(r"-?[\d.]+", text)]
    expect(len(numbers) >= 4 * len(names), f"the axes have only the numbers {numbers}")


def nnls(commands):
    succeed(commands[0])
    printed = succeed("./nnls 5000 nnls.svg")
    variables, zeros = map(int, re.search(r"(\d+) variables, (\d+) of them 0", printed).groups())
    expect(variables == 5000 and 2500 < zeros < 5000, "of the 5000 variables most, but not all, should be 0")
    expect(float(re.search(r"off the conditions of the minimum by (\S+)", printed)[1]) <= 1e-3, "not at the minimum")
    expect(points_drawn("nnls.svg") == [400, 400, 400], "the picture has not three lines of 400 points")
    expect_axes("nnls.svg", "b", "x", "variable i")
    wrong = run("./nnls 0")
    expect(wrong.returncode == 2 and "at least 1" in wrong.stderr, "0 variables should be refused")


def deblur(commands):
    succeed(commands[0])
    printed = succeed("./deblur 128 deblur.pgm")
    measured, restored = (float(error) for error in re.findall(r"([\d.]+) (?:measured|restored)", printed))
    expect(restored < 0.5 * measured, f"the error is {restored}, of {measured} before")
    size = len(Path("deblur.pgm").read_bytes())
    expect(size == len(b"P5\n384 128\n255\n") + 384 * 128, f"the picture has {size} bytes")
    expect(run("./deblur 3").returncode == 2, "a picture smaller than the box should be refused")
    expect(run("./deblur 64 /dev/full").returncode == 1, "a picture that is not written should be an error")


def decays(commands):
    succeed(commands[0])
    printed = succeed("./decays 2000 decays.svg")
    curves, converged, zeros = map(int, re.search(r"(\d+) curves, (\d+) fits .*?, (\d+) offsets", printed).groups())
    expect(curves == converged == 2000, "all fits should have converged")
    expect(400 < zeros < 600, "of the 1000 curves without an offset about half should have the bound for theirs")
    residual, rates = map(float, re.search(r"rms residual ([\d.]+), rates off by +([\d.]+) %", printed).groups())
    expect(0.018 < residual < 0.0195, "24 values with a noise of 0.02 leave sqrt(21/24) of it, or a little more")
    expect(rates < 5, f"the rates are off by {rates} %")
    expect(points_drawn("decays.svg") == [101, 101, 101], "the picture has not three fitted curves")
    expect_axes("decays.svg", "time t (s)", "signal s (arbitrary units)")
    wrong = run("./decays 0")
    expect(wrong.returncode == 2 and "at least 1" in wrong.stderr, "0 curves should be refused")


def relinked(commands):
    theirs, ours = commands
    expect("-llbfgsb" in theirs and "cuda_opt_setulb" in ours, "two commands, of which the first is version 3.0's")
    f = {}
    for name, command in (("L-BFGS-B 3.0", theirs), ("cuda_opt", ours)):
        done = run(command)
        if name != "cuda_opt" and done.returncode:
            print("skipped: L-BFGS-B 3.0 is not installed")
            continue
        expect(done.returncode == 0, "it does not compile")
        f[name] = float(re.search(r"f = +(\S+)", succeed("./relinked 300 rope.svg"))[1])
    expect(abs(f["cuda_opt"] - f.get("L-BFGS-B 3.0", f["cuda_opt"])) <= 1e-7, f"the minima differ: {f}")
    expect(points_drawn("rope.svg") == [302, 302, 300], "the picture has not hill, ceiling and rope")
    wrong = run("./relinked 0")
    expect(wrong.returncode == 2 and "at least 1" in wrong.stderr, "0 variables should be refused")


def obstacle(commands):
    succeed(commands[0])
    expect(run("./obstacle 2").returncode == 2, "a grid of 2 cells should be refused")
    done = run("./obstacle 31 heights.csv")
    if re.search("no CUDA-capable device|CUDA driver version is insufficient", done.stderr):
        expect("CUDA_OPT_TEST_REQUIRE_CUDA" not in os.environ, "there is no CUDA device")
        print("skipped: no CUDA device")
        sys.exit(SKIPPED)
    expect(done.returncode == 0, f"exit status {done.returncode}")
    rows = list(csv.DictReader(done.stdout.splitlines()))
    evaluations = [int(row["evaluations"]) for row in rows]
    without, with_operator = evaluations[:2], evaluations[2:]
    expect(len(rows) == 5 and all(2 * count < min(without) for count in with_operator),
           f"the operator should save half of the evaluations: {evaluations}")
    expect([int(row["solves"]) > 0 for row in rows] == [False, False, True, True, True], "wrong numbers of solves")
    refusals = [int(row["refusals"]) for row in rows]
    expect(refusals[:2] == [0, 0] and max(refusals) <= 10, f"wrong numbers of refusals: {refusals}")
    for row in rows:  # this is the area that SciPy's L-BFGS-B finds with bench/python/obstacle.py
        expect(abs(float(row["f"]) - 0.26651233) < 2e-8, f"the area minus 1 is {row['f']}")
        expect(float(row["projected_gradient"]) <= 1e-6 / 31, "the projected gradient is too large")
    heights = [line.split(",") for line in Path("heights.csv").read_text().splitlines()]
    in_contact = sum(height.endswith("*") for line in heights for height in line)
    expect([len(line) for line in heights] == [30] * 30 and 50 < in_contact < 450, "wrong heights")


root, name = Path(sys.argv[1]), sys.argv[2]
check = {"c/nnls.c": nnls, "cpp/deblur.cpp": deblur, "cuda/obstacle.cu": obstacle, "fortran/decays.f90": decays,
         "fortran/relinked.f90": relinked}
there = {str(path.relative_to(root / "examples")) for path in (root / "examples").glob("*/*") if path.suffix != ".py"}
there = {name for name in there if not name.startswith("ranks/")}  # these have other tests, which use MPI
expect(there == set(check), f"examples that are not tested: {sorted(there ^ set(check))}")
Path(Path(name).name).symlink_to(root / "examples" / name)
check[name](commands_of(root / "examples" / name))
