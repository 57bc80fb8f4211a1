"""The plan of tools/gpu_report: each part of a run on a GPU with its command, its time limit and an estimated time.

Every command runs in the build folder. The estimates are the seconds that the parts took in the last run. They
determine the order in which parts start, and whether a part still fits into the remaining time.
"""
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Part:
    section: str
    name: str  # unique within the section
    command: str
    estimate: float
    limit: float = 400
    program: str = ""  # the program of this tree that the command runs
    cases: tuple = ()  # patterns for names of test cases, each of which has to match; () stands for all test cases
    share: tuple = (1, 1)  # (i, k): every k-th of these test cases, beginning with the i-th
    suite: str = ""
    heading: str = ""  # printed in the section before the output of this part
    tool: str = ""  # of compute-sanitizer
    all_devices: bool = False

    @property
    def uses_catch(self):
        return self.program.startswith("tests/") and self.program.split("/")[-1].startswith("test_")

    @property
    def identifier(self):
        return re.sub(r"[^\w.]+", "-", f"{self.section} {self.name}")

    def selection(self, names):
        """(the test cases of the part, the patterns without a match).

        This does not use Catch2's own patterns, which allow * only at their ends and ignore case: there *Cuda* also
        matches cudaopt_test::HostDouble.
        """
        unmatched = [pattern for pattern in self.cases if not any(fnmatchcase(name, pattern) for name in names)]
        chosen = [name for name in names if any(fnmatchcase(name, pattern) for pattern in self.cases)]
        return chosen[self.share[0] - 1::self.share[1]], unmatched


# Suite, number of parts, estimates. A suite with very many test cases runs in parts, because each small copy or
# kernel takes about a millisecond while other processes use the same GPU, and parallel parts overlap that waiting
# time. The numbers of parts have no divisor in common with 5: test cases come in groups of five, one for each
# configuration.
SUITES = (
    ("batch", 4, (204, 61, 550, 378)),
    ("reference", 1, (264,)),
    ("unit", 1, (6,)),
    ("api", 1, (11,)),
    ("robustness", 1, (1,)),
    ("testfuncs", 1, (47,)),
    ("ranks", 1, (550,)),
    ("unlp", 1, (155,)),
    ("setulb", 1, (68,)),
    ("search", 1, (58,)),
    ("cvt", 1, (6,)),
    ("mathematics", 9, (71, 54, 57, 57, 62, 48, 54, 62, 54)),
    ("parity", 31, (387, 550, 550, 550, 550, 321, 261, 314, 295, 289, 317, 130, 124, 56, 50, 32,
        89, 109, 109, 19, 18, 165, 184, 202, 89, 91, 34, 70, 141, 134, 96)),
)
# A suite that is split into parts runs only the test cases that use CUDA.
ON_CUDA = {"batch": ("*Cuda*", "*on CUDA*"), "parity": ("*Cuda*", "A checkpoint can be continued on the other backend")}


def suite(name, estimate, share=(1, 1)):
    program, k = f"tests/{name}/test_{name}", share[1]
    label, cases = (f"{name} on CUDA, {share[0]} of {k}", ON_CUDA.get(name, ("*Cuda*",))) if k > 1 else (name, ())
    return Part("suites", label, f"{program} --durations yes", estimate, 1000, program=program, cases=cases,
                share=share, suite=name, all_devices=name == "ranks")


def side_by_side():
    for name, count, estimates in SUITES:
        yield from (suite(name, estimates[i - 1], (i, count)) for i in range(count, 0, -1))
    failures = "tests/cuda_failures/cuda_failures"
    yield Part("failures", "every call of the CUDA runtime", failures, 500, 1000, program=failures)
    for name in "consumers", "drivers":
        command = f"meson test --no-rebuild --timeout-multiplier 3 --logbase gpu-report-{name} --suite {name}"
        yield Part("programs", name, command, 200, limit=900, all_devices=True)


def iterations():
    """The commands of bench_iteration, each with the heading that precedes it."""
    own, wide = "--own-bounds", "--lower -1e9 --upper 1e9"
    sizes = (4000000, 100000000)

    def run(n, m, bounds=own, heading=""):
        return heading, n, f"--n {n} --m {m} --problem torsion {bounds} --iterations 30"

    for real in "", " --single":
        for m in 3, 5, 8, 17:
            for n in 4000000, 30000000, 100000000:
                yield run(n, f"{m}{real}")
                yield run(n, f"{m}{real}", "--lower -inf --upper inf")
    yield from (run(n, 5) for n in (1000, 10000, 100000, 1000000))
    yield from (run(n, f"{m} --history-bits {bits}") for bits in (32, 16) for m in (5, 17, 20) for n in sizes)
    yield from (run(n, f"{m} --history-bits 16 --product-bits 32", heading="products in single precision")
                for m in (5, 10, 17, 20) for n in sizes)
    yield from (run(n, f"{m} --metric {metric}", heading=f"--metric {metric}")
                for metric in (0, 1, 2) for m in (5, 17) for n in sizes)
    for m in ("5", "17", "20", "5 --single", "17 --single", "5 --history-bits 32", "20 --history-bits 32",
              "5 --history-bits 16 --product-bits 32", "20 --history-bits 16 --product-bits 32"):
        yield run(4000000, m, wide, "bounds that no variable reaches")
    for uniform in "", " --uniform":
        for bits in 64, 16:
            yield run(4000000, f"5 --history-bits {bits}", f"--lower 0 --upper 3{uniform}",
                      "bounds in arrays, and as numbers")


def timed():
    """Timed programs. Each device runs one program at a time, and nothing else runs."""
    driver = "drivers/driver_program"
    yield Part("log", "log", f"{driver} 1000000 7 --initial-hessian scalar --backend cuda", 10, program=driver)
    bench = "bench/bench_iteration"
    before = None
    for number, (heading, n, options) in enumerate(iterations()):
        yield Part("iteration", options, f"{bench} --backend cuda {options}{'' if number else ' --header'}",
                   2 + n * 4e-8, program=bench, heading="" if heading == before else heading)
        before = heading
    for m in ("5", "17", "5 --single", "17 --single", "5 --history-bits 16", "17 --history-bits 16",
              "5 --history-bits 16 --product-bits 32", "17 --history-bits 16 --product-bits 32", "5 --metric 2",
              "17 --metric 2"):
        yield Part("kernels", f"m = {m}", "ncu --clock-control none --cache-control none"
                   " --metrics gpu__time_duration.sum,dram__bytes.sum --launch-skip 120 --launch-count 4"
                   f" {bench} --backend cuda --n 4000000 --m {m} --problem torsion --own-bounds --iterations 30",
                   10, program=bench)
    bench = "bench/bench_batch"
    for what in ("100000 --n 20", "100000 --n 20 --bounds", "100000 --n 5", "100000 --n 5 --bounds", "10000 --n 100",
                 "10000 --n 100 --bounds"):
        yield Part("batches", what, f"{bench} --no-host --problems {what}", 5, program=bench)
    bench = "bench/bench_crossings"
    for what in ("160000 --m 5 --problem torsion --own-bounds --iterations 200",
                 "1000000 --m 5 --problem torsion --own-bounds --iterations 600",
                 "4000000 --m 5 --problem torsion --own-bounds --iterations 1500",
                 "1000000 --m 5 --problem rosenbrock --lower -1.5 --upper 0.8",
                 "4000000 --m 5 --problem rosenbrock --lower -1.5 --upper 0.8"):
        yield Part("crossings", what, f"{bench} --backend cuda --n {what}", 5, program=bench)


def against_lbfgsb():
    """Also timed. Each program runs alone because the host threads use all cores."""
    bench = "bench/bench_against_lbfgsb"
    for what, estimate in (("1000 --m 5 --iterations 60 --threads 1,2 --cuda --header", 2),
                           ("1000000 --m 5 --iterations 20 --threads 1,2,0 --cuda", 10),
                           ("4000000 --m 5 --iterations 10 --threads 1,2,0 --cuda", 20)):
        yield Part("l-bfgs-b", what, f"{bench} --n {what}", estimate, program=bench)


MEMCHECK = ("memcheck",)
SHARED = ("memcheck", "racecheck", "synccheck")  # for kernels whose threads exchange data through shared memory
ALL = ("memcheck", "racecheck", "synccheck", "initcheck")
BOTH, BFLOAT16 = ("CudaDouble", "CudaFloat"), ("CudaDouble16", "CudaFloat16")
APART = ("CudaDouble32",) + BFLOAT16  # history precision below the precision of x
PLAIN = ("",)  # test cases without a configuration in their names

# The runs of compute-sanitizer: kernels, suite, test case, configurations, tools. Each comment says why this test
# case was chosen. Each kernel family occurs once, in small test cases because compute-sanitizer slows kernels down 10
# to 100 times: n is below and above the number of variables per block, and there are few iterations. Every line gives
# one part per configuration and tool.
SANITIZED = (
    # n = 1, 31, 200, 1000: from part of a tile to several blocks, with NaN and infinity in the sums.
    ("inner products, staged", "mathematics",
     "Sweep 1 counts components of g that are not finite", BOTH + APART, SHARED),
    # The only small test case (n = 1000) of the kernel for more pairs (m = 30) than fit in registers.
    ("inner products, wide", "mathematics",
     "Windows of breakpoints are equivalent to the reference after sweep 1 with many pairs", BOTH, SHARED),
    # n = 1000, first with bfloat16 products and then in double precision.
    ("inner products, bfloat16", "mathematics",
     "Sweep 1 uses double precision if squares overflow or underflow in single precision", BFLOAT16,
     SHARED),
    # Every width of these kernels, n = 1 to 9001; too slow for racecheck.
    ("inner products, bfloat16, every width", "mathematics",
     "Sweep 1 in single precision is equivalent to the reference", BFLOAT16, MEMCHECK),
    # The kernel that forms products by rectangles, 23 to 80 pairs, n = 1 to 1001. Its warps meet at a named barrier.
    ("inner products, many pairs", "mathematics",
     "Sweep 1 and windows of breakpoints are equivalent to the reference for many pairs",
     BFLOAT16, ("memcheck", "synccheck")),
    # The kernels that also update the learned diagonal, n = 1 to 3000.
    ("inner products, learned diagonal", "mathematics", "Sweep 1 updates the diagonal before it uses it", BOTH,
     MEMCHECK),
    # n = 1, 5, 130; the plain kernel if the history precision is that of x, otherwise the kernel for groups of pairs.
    ("direction, plain", "mathematics", "A direction whose terms overflow gives a finite trial point", BOTH,
     SHARED),
    ("direction, pair groups", "mathematics", "A direction whose terms overflow gives a finite trial point", APART,
     SHARED),
    # The same kernel with several groups, n = 1 to 200001.
    ("direction, many pairs", "mathematics", "Sweep 2 with many pairs is equivalent to the reference", BFLOAT16,
     MEMCHECK),
    # n = 1 to 1000 with every kind of bounds, and the kernel that finds the truncation.
    ("direction, truncation", "mathematics", "The truncation factor alpha matches the reference",
     BOTH + BFLOAT16, MEMCHECK),
    # Kernels with one thread per variable, n = 1 to 5000, with every kind of bounds.
    ("variables, step", "mathematics",
     "Steps along d stay in the box and the largest step matches the reference", BOTH, MEMCHECK),
    ("variables, best point", "mathematics",
     "The base point and the best iterate are restored bitwise", BOTH + BFLOAT16,
     MEMCHECK),
    # n = 1 to 5000 in tests of all windows; the wide panels above run find_crossed under racecheck.
    ("crossed", "mathematics", "Windows of breakpoints are equivalent to the reference", BOTH, MEMCHECK),
    # map_reduce in one kernel, in which the last block finishes the reduction; n = 1 to 5000.
    ("reductions", "mathematics", "Norms are accurate if squares overflow or underflow", BOTH, SHARED),
    # A whole solve with n below one tile, and m above n.
    ("a solve of three variables", "parity", "A solve with m larger than n converges", BOTH, MEMCHECK),
    # Whole solves with 1600 and 1000 variables and 60 iterations, with and without bounds.
    ("a solve, twice", "parity", "A solve after a reset is bitwise identical", BOTH + APART, ALL),
    # Most variables are at their bounds. The bitmap of zero tiles is kept, dropped and rebuilt; n = 20003, 30
    # iterations.
    ("tiles of zeros", "parity",
     "A warm start after a load is bitwise identical if blocks of variables are active", BOTH, MEMCHECK),
    # n = 4900, 100 iterations: the direction by groups of pairs, bfloat16 products and zero tiles alternate.
    ("a solve with bfloat16 products", "parity",
     "Two solves with products in single precision are bitwise identical", BFLOAT16,
     MEMCHECK),
    # n = 6000 on up to five ranks; the other test cases of this file have up to 4,300,003 variables.
    ("ranks", "ranks", "Ranks on each backend agree and repeat their bits and find the minimum", BOTH,
     MEMCHECK),
    # n = 9000, 12 iterations; the bfloat16 kernels on ranks.
    ("ranks, bfloat16", "ranks",
     "Ranks match one rank bitwise if products are inaccurate in single precision", BFLOAT16,
     MEMCHECK),
    # One thread per problem and one warp per problem, with 33 and 70 problems; written for compute-sanitizer.
    ("batches by a functor", "batch",
     "A batch of few problems by a functor has the same bits on CUDA as on the host", PLAIN, ALL),
    # By reverse communication: 9 problems with one warp each, and 5001 problems of one variable with one thread each;
    # written for compute-sanitizer.
    ("batches by calls", "batch",
     "A batch of few problems by the C interface has the same bits on CUDA as on the host", PLAIN, ALL),
    # Single precision: 12 to 14 problems of three variables.
    ("batches in both precisions", "batch", "A batch converges from starts at or very close to 0", BOTH, SHARED),
    # 70 walks of 5 iterations; NaN everywhere, so that no walk moves.
    ("pattern search", "search", "On CUDA the best value of a function that is NaN everywhere is infinite", PLAIN, ALL),
    # One thread per walk and one warp per walk; 333 walks of 60 iterations.
    ("pattern search, single precision", "search",
     "In single precision the walks have the same bits on CUDA as on the host", PLAIN, MEMCHECK),
    ("pattern search by batches", "search",
     "A search by batches takes the walks of the published algorithm on CUDA", PLAIN, MEMCHECK),
    # The only device function of the manual's interface with its own kernel, n = 0 to 1,000,003.
    ("unlp, sum of a vector", "unlp", "A vector is summed", ("CudaDouble",), SHARED),
    ("unlp, vectors in device memory", "unlp", "The solution is fetched to the host", ("CudaDouble",), MEMCHECK),
    # Every function of the C interface is called once on CUDA; each test case is short.
    ("api suite", "api", "*Cuda*", PLAIN, MEMCHECK),
    ("test functions", "testfuncs",
     "f and g of each problem on CUDA equal those on the host up to rounding", BOTH, MEMCHECK),
    ("tessellations", "cvt", "On CUDA*", PLAIN, MEMCHECK),
)


# Estimated seconds of the parts that take longer than the others.
SLOW = {"calls of CUDA that fail": 150, "batches by calls": 120, "batches by a functor": 80, "ranks": 120,
        "tiles of zeros": 80, "api suite": 100, "test functions": 80}


def sanitizers():
    def part(tool, name, program, arguments="", cases=(), options=""):
        options += " --report-api-errors no" if tool == "memcheck" else ""
        estimate = SLOW.get(name.split(", Cuda")[0], 30)
        return Part("sanitizers", f"{tool}, {name}", " ".join(
            f"compute-sanitizer --error-exitcode 9 --tool {tool}{options} {program} {arguments}".split()), estimate,
            240, program, cases, tool=tool)

    failures = "tests/cuda_failures/cuda_failures"
    # An earlier version let every 23rd call fail, and took more than 150 s.
    yield part("memcheck", "calls of CUDA that fail", failures, "101", options=" --leak-check full")
    for tool in ALL[1:]:
        yield part(tool, "a solve of each kind", failures, "1000000")
    for kernels, suite_name, case, configurations, tools in SANITIZED:
        for configuration in configurations:
            for tool in tools:
                # The name of a configuration may be printed with or without its namespace.
                yield part(tool, f"{kernels}, {configuration}" if configuration else kernels,
                           f"tests/{suite_name}/test_{suite_name}",
                           cases=(f"{case} - *{configuration}" if configuration else case,))


def groups(at_once, devices):
    """(parts, number of simultaneous parts) of each group. The groups run one after the other."""
    return [
        ([suite("cuda", 42)], 1),  # alone: its kernels spin, and it measures time
        (list(side_by_side()), at_once),
        (list(timed()), devices),
        (list(against_lbfgsb()), 1),
        (list(sanitizers()), at_once),  # last: the suites would take three times as long at the same time
    ]


def parts():
    return [part for group, _ in groups(1, 1) for part in group]


# The sections of the report, which --only and --leave-out accept as well as suites: (heading, meaning of the numbers).
SECTIONS = {
    "suites": ("The suites, CUDA tests required",
               "Each suite, or part of a suite, is a separate process. Seconds: wall time of that process. `cuda` ran"
               " alone, the others ran at the same time."),
    "failures": ("", "Each call of the CUDA runtime fails in turn, once and from then on:"),
    "programs": ("Programs and consumers",
                 "By `meson test`, suites consumers and drivers, with CUDA required. Seconds: wall time of each test."),
    "log": ("The log of the manual", "Times are in seconds, the workspace is in bytes."),
    "iteration": ("An iteration against its bytes",
                  "ms/iter: milliseconds per iteration. GB/iter: 10^9 bytes per iteration, counted as in"
                  " `bench/solver/iteration.cpp`. GB/s: these bytes divided by that time. of copy: GB/s divided by the"
                  " rate of a device-to-device copy in the same run. x floor: time divided by that of copying 12"
                  " vectors of x and 4m + 2 columns; further evaluations of line searches are included."),
    "kernels": ("The kernels of an iteration",
                "n = 4,000,000, torsion with its own bounds, measured by `ncu --clock-control none"
                " --cache-control none`: four consecutive kernels. Each line gives the time on the GPU in"
                " microseconds, and the bytes read from and written to device memory."),
    "batches": ("Many small problems",
                "s: seconds for the whole batch. iterations and evaluations: means per problem."),
    "crossings": ("Iterations that cross breakpoints", "Times are milliseconds inside the solver per iteration."),
    "l-bfgs-b": ("Against L-BFGS-B 3.0 on one core of this machine",
                 "ms/iter: milliseconds per iteration. of 3.0: that time divided by the time of L-BFGS-B 3.0."),
    "sanitizers": ("compute-sanitizer",
                   "memcheck ignores errors of the CUDA runtime that a test provokes, for instance"
                   " a failed allocation. `cuda_failures` lets every 101st call of the runtime fail in turn, or only"
                   " the first. The other parts are small test cases, chosen so that each family of kernels runs once"
                   " (`tools/gpu_report_plan.py`). Seconds: wall time under the tool, while other parts ran."),
}
