#!/usr/bin/env python3
"""Usage: check_wrong_command_lines.py DRIVER_PROGRAM BATCH_PROGRAM CVT_PROGRAM SEARCH_PROGRAM

Runs each program with wrong command lines. Each of them has to end with status 2 and one line on standard error, which
contains the text after the bar: what was wrong. No output file is created."""
import os
import shlex
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PROGRAMS = {Path(path).name: Path(path).resolve() for path in sys.argv[1:]}
del sys.argv[1:]

WRONG = {
    "driver_program": """
        | n is required
        --problm wood 1000 | no option --problm; the nearest is --problem
        --problm=wood 1000 | no option --problm; the nearest is --problem
        1000 5 --max-iteratons 3 | no option --max-iteratons; the nearest is --max-iterations
        1000 5 --max_iterations=3 | no option --max_iterations; the nearest is --max-iterations
        1000 5 --max-iter 3 | no option --max-iter; the nearest is --max-iterations
        1000 --tol 1e-6 | no option --tol; the nearest is --gtol
        1000 --BACKEND host | no option --BACKEND; the nearest is --backend
        --check-gradeint 1000 | no option --check-gradeint; the nearest is --check-gradient
        1000 --until-stil 5 | no option --until-stil; the nearest is --until-still
        1000 --hepl | no option --hepl; the nearest is --help
        -problem wood 1000 | no option -problem; the nearest is --problem
        1000 -m 5 | no option -m; the nearest is --m
        -n 1000 | no option -n
        1000 5 6 | not expected: 6
        1000 wood | m: must be a whole number, not 'wood'
        problem=wood 1000 | n: must be a whole number, not 'problem=wood'
        1000.5 | n: must be a whole number, not '1000.5'
        1,000 | n: must be a whole number, not '1,000'
        nan | n: must be a whole number, not 'nan'
        '' | n: must be a whole number, not ''
        -5 | n must be at least 2, not -5
        0 5 | n must be at least 2, not 0
        99999999999999999999 | n: 99999999999999999999 is above 9223372036854775807
        -1e30 | n: -1e30 is below -9223372036854775808
        1000 3000000000 | m: 3000000000 is above 2147483647
        1000 0 | pairs m is 0
        1000 -3 | pairs m is -3
        1000 5 --m 6 | --m: m is 5 already, and now 6
        1000 --problem | --problem: needs a value, NAME
        1000 --problem --m 5 | --problem: needs a value, NAME, but is followed by --m
        1000 --csv --plot f.svg | --csv: needs a value, FILE, but is followed by --plot
        1000 --m= 5 | --m: needs a value, K
        1000 --problem rosenbrok | there is no problem 'rosenbrok'; the nearest is rosenbrock
        1000 --problem '' | --problem: there is no problem ''
        1000 --problem wood --problem beale | --problem: is given twice
        1000 --csv '' | --csv: must be the name of a file, not ''
        1000 --csv f --plot f | 'f' is the file of
        1000 --backend gpu | --backend: must be auto, cuda or host, not 'gpu'
        1000 --precision float | --precision: must be double or single, not 'float'
        1000 --iprint often | --iprint: must be a whole number, not 'often'
        1000 --iprint 1;0 | --iprint: must be a whole number, not '1;0'
        1000 --iprint 1,7 | --iprint: CUDA_OPT_IPRINT_TYPE is 7
        1000 --iprint 99999999999999999999 | --iprint: 99999999999999999999 is above
        1000 --eps 1e-5x --csv f | --eps: must be a number, not '1e-5x'
        1000 --eps '' | --eps: must be a number, not ''
        1000 --eps -1 --csv f | --eps: CUDA_OPT_EPS is -1
        1000 --gtol 2 | --gtol: CUDA_OPT_GTOL is 2
        1000 --max-iterations 2.5 | --max-iterations: must be a whole number, not '2.5'
        1000 --max-iterations -1 | --max-iterations: CUDA_OPT_MAX_ITERATIONS is -1
        1000 --history-bits 8 | --history-bits: CUDA_OPT_HISTORY_BITS is 8
        1000 --threads -1 | --threads: CUDA_OPT_THREADS is -1
        1000 --threads 5000000000 | --threads: 5000000000 is above 2147483647
        1000 --initial-hessian identity | --initial-hessian: must be scalar or learned, not 'identity'
        1000 --initial-hessian scalar --metric learned | --initial-hessian: is the present name of --metric
        1000 --lower 3 --upper 1 | --lower: 3 is above --upper 1
        1000 --lower nan | --lower: must be a number or -inf, not nan
        1000 --stpmin 5 --stpmax 1 | --stpmin: CUDA_OPT_STPMIN is 5
        1000 --until-still --eps 1e-3 | --until-still: is the only test, but there is --eps
        1000 --every 10 | --every: needs the file of --checkpoint
        1000 --checkpoint f --every 0 | --every: must be at least 1, but is 0
        1000 --check-gradient=always | --check-gradient: takes no value, but is given 'always'
        1000 --check-gradient --csv f | --check-gradient: solves nothing, so --csv
        1000 --check-gradient --plot f | --check-gradient: solves nothing, so --plot
        1000 --check-gradient --checkpoint f | --check-gradient: solves nothing, so --checkpoint
        1000 --check-gradient --resume f | --check-gradient: solves nothing, so --resume
        1000 --parameter c | --parameter: must be NAME=VALUE, as in c=5, not 'c'
        1000 --parameter '' | --parameter: must be NAME=VALUE, as in c=5, not ''
        1000 --parameter c=1 | there is no parameter 'c'
        1000 --problem torsion --parameter c=x | --parameter c: must be a number, not 'x'
        1000 --problem torsion --parameter c=1 --parameter c=2 | --parameter c: is given twice
        1000 --problem torsion --nx 10 --parameter nx=20 | --nx: is given by --parameter, too
        3 --problem torsion | torsion:
        7 5 | n must be a multiple of 2, and 7 is not
        1000 --upper -inf | --upper: must be a number or inf, not -inf
        1000 --lower 1e999 | --lower: must be a number or -inf, not inf
        1000 --maxfev 0 | --maxfev: CUDA_OPT_MAXFEV is 0
        1000 --threads 5000 | --threads: CUDA_OPT_THREADS is 5000
        1000 --nx 5 | there is no parameter 'nx'
        1000 --problem bearing --nx 1 | nx must be
        1000 --problem bearing --ny 2.5 | --ny: must be a whole number, not '2.5'
        1000 --problem bearing --nx -3 | nx must be
        1000 --problem torsion --parameter c=0 | c must be above 0
        1000 --problem torsion --parameter d=1 | there is no parameter 'd'; it has
        1000 --problem combustion --parameter lambda=7 | lambda must be between
        1000 --problem optimal-design --parameter lambda=1 | lambda must be between
        1000 --problem ginzburg-landau-1d --parameter t=8 | t must be between
        1024 --problem torsion --lower 0.4 | the lower bound is greater than the upper bound
        1000 --log other | --log: must be manual
        1000 --checkpoint f --every 1.5 | --every: must be a whole number, not '1.5'
        1000 --resume /dev/null | --resume: '/dev/null': these 0 bytes
        1000 --resume /dev/zero | --resume: '/dev/zero': these
    """,
    "batch_program": """
        | count is required
        10 | n is required
        --fnction sphere 10 2 | no option --fnction; the nearest is --function
        --fnction=sphere 10 2 | no option --fnction; the nearest is --function
        10 2 5 --sed=7 | no option --sed; the nearest is --seed
        10 2 --max-iteration 3 | no option --max-iteration; the nearest is --max-iterations
        10 2 --maxiter 3 | no option --maxiter; the nearest is --max-iterations
        10 2 --MAX_SECONDS 3 | no option --MAX_SECONDS; the nearest is --max-seconds
        10 2 --treads 3 | no option --treads; the nearest is --threads
        10 2 --listt | no option --listt; the nearest is --list
        10 2 -seed 3 | no option -seed; the nearest is --seed
        -n 2 10 | no option -n
        10 2 -m 5 | no option -m; the nearest is --m
        10 2 --problem sphere | no option --problem
        10 2 5 6 | not expected: 6
        ten 2 | count: must be a whole number, not 'ten'
        10 two | n: must be a whole number, not 'two'
        10 2 sphere | m: must be a whole number, not 'sphere'
        2.5 2 | count: must be a whole number, not '2.5'
        '' 2 | count: must be a whole number, not ''
        10 '' | n: must be a whole number, not ''
        1e30 2 | count: 1e30 is above 9223372036854775807
        inf 2 | count: inf is above 9223372036854775807
        0 2 | number of problems is 0
        -3 2 | number of problems is -3
        10 0 | number of variables n is 0
        10 -1 | number of variables n is -1
        10 5000 | number of variables n is 5000
        10 2 0 | pairs m is 0
        10 2 3000000000 | m: 3000000000 is above 2147483647
        10 2 65 --csv f | pairs m is 65
        10 2 5 --m 6 | --m: m is 5 already, and now 6
        10 2 --function | --function: needs a value, NAME
        10 2 --function --seed 1 | --function: needs a value, NAME, but is followed by --seed
        10 2 --seed= 3 | --seed: needs a value, K
        10 2 --function rosenbrok | there is no function 'rosenbrok'; the nearest is rosenbrock
        10 2 --function Sphere | there is no function 'Sphere'; the nearest is sphere
        10 2 --function step | --function: step has no gradient to follow
        10 2 --function '' | --function: there is no function ''
        10 2 --seed 1 --seed 2 | --seed: is given twice
        10 2 --seed -1 | --seed: must not be negative, but is -1
        10 2 --seed x | --seed: must be a whole number, not 'x'
        10 2 --lower 2 --upper 1 | --lower: 2 is above --upper 1
        10 2 --lower inf | --lower: must be a number or -inf, not inf
        10 2 --upper '' | --upper: must be a number, not ''
        10 2 --upper high | --upper: must be a number, not 'high'
        10 2 --backend cpu | --backend: must be auto, cuda or host, not 'cpu'
        10 2 --precision 64 | --precision: must be double or single, not '64'
        10 2 --initial-hessian diagonal | --initial-hessian: must be scalar or learned, not 'diagonal'
        10 2 --threads -1 | --threads: must not be negative, but is -1
        10 2 --threads 5000000000 | --threads: 5000000000 is above 2147483647
        10 2 --pgtol -1 --csv f | --pgtol: CUDA_OPT_PGTOL is -1
        10 2 --max-iterations -1 | --max-iterations: CUDA_OPT_MAX_ITERATIONS is -1
        10 2 --max-evaluations 1.5 | --max-evaluations: must be a whole number, not '1.5'
        10 2 --iprint 1,0 | --iprint: must be a whole number, not '1,0'
        10 2 --csv | --csv: needs a value, FILE
        10 2 --csv '' | --csv: must be the name of a file, not ''
        10 4097 | n is 4097, but has to be from 1 to 4096 in a batch
        10 2 --upper -inf | --upper: must be a number or inf, not -inf
        10 2 --lower nan | --lower: must be a number or -inf, not nan
    """,
    "cvt_program": """
        | sites is required
        10 | resolution is required
        --densty linear 10 64 | no option --densty; the nearest is --density
        --densty=linear 10 64 | no option --densty; the nearest is --density
        10 64 --tolerence 0.1 | no option --tolerence; the nearest is --tolerance
        10 64 --tol 0.1 | no option --tol; the nearest is --tolerance
        10 64 --iteratons 5 | no option --iteratons; the nearest is --max-iterations
        10 64 --max_seconds 5 | no option --max_seconds; the nearest is --max-seconds
        10 64 --Plot f | no option --Plot; the nearest is --plot
        10 64 --pngs f | no option --pngs; the nearest is --png
        10 64 --point f | no option --point; the nearest is --points
        10 64 --aproximate-cauchy | no option --aproximate-cauchy; the nearest is --approximate-cauchy
        10 64 --until-stil | no option --until-stil; the nearest is --until-still
        10 64 -seed 3 | no option -seed; the nearest is --seed
        10 64 -o f.svg | no option -o
        10 64 7 | not expected: 7
        ten 64 | sites: must be a whole number, not 'ten'
        10 64x64 | resolution: must be a whole number, not '64x64'
        10 64.5 | resolution: must be a whole number, not '64.5'
        '' 64 | sites: must be a whole number, not ''
        10 '' | resolution: must be a whole number, not ''
        0 64 | sites: there must be at least one, not 0
        -3 64 | sites: there must be at least one, not -3
        5000 64 | sites: 5000 are more than the 4096 pixels
        10 0 | resolution: must be from 1 to 16384 pixels a side, not 0
        10 -1 | resolution: must be from 1 to 16384 pixels a side, not -1
        10 16385 | resolution: must be from 1 to 16384 pixels a side, not 16385
        10 1e30 | resolution: 1e30 is above 9223372036854775807
        10 64 --density | --density: needs a value, NAME
        10 64 --density --seed 1 | --density: needs a value, NAME, but is followed by --seed
        10 64 --density constan | there is no density 'constan'; the nearest is constant
        10 64 --density '' | --density: there is no density ''
        10 64 --density image.png | density: there is no 'image.png'
        10 64 --density none.pgm --csv f | density: 'none.pgm' cannot be read
        10 64 --seed= 5 | --seed: needs a value, K
        10 64 --seed x | --seed: must be a whole number, not 'x'
        10 64 --seed -1 | --seed: must not be negative, but is -1
        10 64 --seed 1 --seed 2 | --seed: is given twice
        10 64 --m 0 | --m: must be at least 1, not 0
        10 64 --m 3000000000 | --m: 3000000000 is above 2147483647
        10 64 --max-iterations -1 | --max-iterations: must not be negative, but is -1
        10 64 --max-iterations 2.5 | --max-iterations: must be a whole number, not '2.5'
        10 64 --max-iterations 5 --iterations 6 | --max-iterations: is the present name of --iterations
        10 64 --max-seconds -1 | --max-seconds: must not be negative, but is -1
        10 64 --max-seconds 1s | --max-seconds: must be a number, not '1s'
        10 64 --tolerance nan | --tolerance: must not be negative, but is nan
        10 64 --tolerance inf | --tolerance: must be finite
        10 64 --until-still --tolerance 0.1 | --until-still: is the only test, but there is --tolerance
        10 64 --until-still=no | --until-still: takes no value, but is given 'no'
        10 64 --backend gpu | --backend: must be auto, cuda or host, not 'gpu'
        10 64 --threads -1 | --threads: CUDA_OPT_THREADS is -1
        10 64 --threads 5000 --csv f | --threads: CUDA_OPT_THREADS is 5000
        10 64 --iprint -2 | --iprint: must be -1 or more, not -2
        10 64 --iprint 1,0 | --iprint: must be a whole number, not '1,0'
        10 64 --plot | --plot: needs a value, FILE
        10 64 --plot '' | --plot: must be the name of a file, not ''
        10 64 --csv f --points f | 'f' is the file of
        10 4611686018427387904 | resolution: must be from 1 to 16384
        10 64 --tolerance x | --tolerance: must be a number, not 'x'
        10 64 --tolerance -1 | --tolerance: must not be negative, but is -1
    """,
    "search_program": """
        | n is required
        2 | walks is required
        --fnction sphere 2 16 | no option --fnction; the nearest is --function
        --fnction=sphere 2 16 | no option --fnction; the nearest is --function
        2 16 --halvngs 3 | no option --halvngs; the nearest is --halvings
        2 16 --max-iteratons 3 | no option --max-iteratons; the nearest is --max-iterations
        2 16 --iteration 3 | no option --iteration; the nearest is --max-iterations
        2 16 --time 3 | no option --time
        2 16 --at-smalest-step stop | no option --at-smalest-step; the nearest is --at-smallest-step
        2 16 --round 3 | no option --round; the nearest is --rounds
        2 16 --POLISH 3 | no option --POLISH; the nearest is --polish
        2 16 --points f | no option --points; the nearest is --point
        2 16 --vesion | no option --vesion; the nearest is --version
        2 16 -polish 3 | no option -polish; the nearest is --polish
        -n 2 16 | no option -n
        2 16 -v | no option -v
        2 16 30 | not expected: 30
        two 16 | n: must be a whole number, not 'two'
        2 many | walks: must be a whole number, not 'many'
        2 16.5 | walks: must be a whole number, not '16.5'
        '' 16 | n: must be a whole number, not ''
        2 '' | walks: must be a whole number, not ''
        0 16 | n: must be from 1 to 2147483647, not 0
        -2 16 | n: must be from 1 to 2147483647, not -2
        3e9 16 | n: must be from 1 to 2147483647, not 3000000000
        2 0 --csv f | number of walks is 0
        2 -1 | number of walks is -1
        2 1e30 | walks: 1e30 is above 9223372036854775807
        2 16 --function | --function: needs a value, NAME
        2 16 --function --seed 1 | --function: needs a value, NAME, but is followed by --seed
        2 16 --function spear | there is no function 'spear'; the nearest is sphere
        2 16 --function '' | --function: there is no function ''
        2 16 --lower 2 --upper 1 | --lower: 2 is above --upper 1
        2 16 --upper inf | --upper: must be finite, not inf
        2 16 --lower nan | --lower: must be finite, not nan
        2 16 --lower low | --lower: must be a number, not 'low'
        2 16 --step 0 --csv f | step has to be positive
        2 16 --step -1 | step has to be positive
        2 16 --step '' | --step: must be a number, not ''
        2 16 --seed -1 | --seed: must not be negative, but is -1
        2 16 --seed 1 --seed 2 | --seed: is given twice
        2 16 --seed=1 --seed 2 | --seed: is given twice
        2 16 --seed= 2 | --seed: needs a value, K
        2 16 --max-iterations -1 | number of iterations is -1
        2 16 --max-iterations few | --max-iterations: must be a whole number, not 'few'
        2 16 --max-iterations 5 --iterations 6 | --max-iterations: is the present name of --iterations, and both
        2 16 --halvings 0 | number of halvings is 0
        2 16 --halvings 3000000000 | --halvings: 3000000000 is above 2147483647
        2 16 --polish -1 | --polish: must not be negative, but is -1
        2 16 --function step --polish 1 | --polish: step has no gradient to follow
        2 16 --at-smallest-step go | --at-smallest-step: must be restart, stop or new-point, not 'go'
        2 16 --rounds -1 | iterations of a round are -1
        2 16 --rounds 5 --at-smallest-step stop | rounds of 5 iterations: with rounds a walk cannot end
        2 16 --backend gpu | --backend: must be auto, cuda or host, not 'gpu'
        2 16 --precision half | --precision: must be double or single, not 'half'
        2 16 --threads -1 | --threads: must not be negative, but is -1
        2 16 --max-seconds nan | --max-seconds: must not be negative, but is nan
        2 16 --iprint 1,0 | --iprint: must be a whole number, not '1,0'
        2 16 --plot | --plot: needs a value, FILE
        2 16 --point '' | --point: must be the name of a file, not ''
        2 16 --csv f --point f | 'f' is the file of
    """,
}


class WrongCommandLines(unittest.TestCase):
    def test_each_is_refused_with_a_line_that_names_what_is_wrong(self):
        self.assertEqual(set(PROGRAMS), set(WRONG))
        without_devices = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}  # no program has to wait for a device
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(4) as pool:
            def run(case):
                program, arguments, _ = case
                return subprocess.run([PROGRAMS[program], *shlex.split(arguments)], cwd=folder, env=without_devices,
                                      capture_output=True, text=True, timeout=60)

            cases = [(program, *map(str.strip, line.split("|"))) for program in WRONG
                     for line in WRONG[program].strip().splitlines()]
            for (program, arguments, words), done in zip(cases, pool.map(run, cases)):
                with self.subTest(program=program, arguments=arguments):
                    self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                    self.assertRegex(done.stderr, rf"\A{program}: [^\n]+\n\Z")
                    self.assertIn(words, done.stderr)
            self.assertEqual(os.listdir(folder), [])

    def test_each_program_has_fifty(self):
        for program, lines in WRONG.items():
            self.assertGreaterEqual(len(lines.strip().splitlines()), 50, program)


if __name__ == "__main__":
    unittest.main(verbosity=2)
