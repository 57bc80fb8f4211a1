#!/usr/bin/env python3
"""Usage: long_checks.py [CHECK ...]

Runs checks of the Python package that measure time or need many runs, and that are therefore not part of the suite:

    daemon_threads   200 interpreters exit with status 0 while daemon threads are solving
    nan_problems     if a third of the problems start at NaN, minimize_batch takes at most 1.2 times as long
    properties       the property-based tests with 2000 new examples each

Without arguments all checks are run. The exit status is 1 if one fails. Set CUDA_OPT_LIBRARY and PYTHONPATH as for the
tests."""
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import cuda_opt

DAEMON = """
import sys, threading, time
import numpy as np
import cuda_opt
begun = threading.Event()
c = np.linspace(-1, 2, 20000)
def fun(x):
    begun.set()
    d = x - c
    return d @ d + (d**4).sum(), 2 * d + 4 * d**3
def work():
    while True:
        cuda_opt.minimize(fun, np.zeros(c.size))
def work_with_a_log():
    while True:
        solver = cuda_opt.Solver(np.zeros(c.size), IPRINT_FREQUENCY=1)
        solver.set_log(len)
        for _ in solver:
            solver.f, solver.g = fun(solver.x)
def work_on_batches():
    x0 = np.ones((500, 4))
    while True:
        cuda_opt.minimize_batch(lambda x: ((x**4).sum(1), 4 * x**3), x0)
for function in (work, work_with_a_log, work_on_batches):
    threading.Thread(target=function, daemon=True).start()
begun.wait()
time.sleep(float(sys.argv[1]))
"""


def daemon_threads(runs=200):
    for run in range(runs):
        command = [sys.executable, "-c", DAEMON, str(0.01 * (1 + run % 10))]
        child = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if child.returncode or child.stderr:
            return False, f"run {run + 1}: exit {child.returncode} {child.stderr[-500:]}"
    return True, f"{runs} runs, status 0 each"


def nan_problems(count=60000, rounds=7):
    clean = np.ones((count, 2))
    third = clean.copy()
    third[::3] = np.nan

    def seconds(x0):
        begin = time.perf_counter()
        cuda_opt.minimize_batch(lambda x: ((x * x).sum(1), 2 * x), x0, options={"maxcor": 3})
        return time.perf_counter() - begin

    runs = [(seconds(clean), seconds(third)) for _ in range(rounds)][1:]
    without, with_nan = (min(times) for times in zip(*runs))
    said = f"{without:.3f} s without NaN, {with_nan:.3f} s with a third: {with_nan / without:.2f} times"
    return with_nan <= 1.2 * without, said


def properties(examples=2000):
    tests = Path(__file__).with_name("test_properties.py")
    environment = {**os.environ, "CUDA_OPT_TEST_EXAMPLES": os.environ.get("CUDA_OPT_TEST_EXAMPLES", str(examples))}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", str(tests)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    lines = done.stdout.strip().splitlines()
    return done.returncode == 0, "\n".join(lines[-1:] if done.returncode == 0 else lines[-60:])


CHECKS = {function.__name__: function for function in (daemon_threads, nan_problems, properties)}


def main(names):
    if unknown := set(names) - CHECKS.keys():
        print(f"long_checks: there is no check {', '.join(sorted(unknown))}\n\n{__doc__}", file=sys.stderr)
        return 2
    status = 0
    for name in names or CHECKS:
        right, said = CHECKS[name]()
        print(f"{name}: {'passed' if right else 'failed'}: {said}", flush=True)
        status |= not right
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
