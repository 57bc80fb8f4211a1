"""The tables of docs/tables, where each was measured, and the numbers that documents quote from them.

A ratio of times is rounded to the disadvantage of this library. The figures of a table are themselves rounded, so it is
formed from the ends of their intervals: 0.036 is taken as 0.0365 if it is our time, and as 0.0355 if it is the other's.
A ratio of evaluations is a mean of exact counts, and is rounded to the nearest number."""
import csv
import math
import re
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from pathlib import Path

SOURCES = "sources"
COLUMNS = ("device", "date", "commit", "command")


class Tables:
    """Tables by their names; a table that is read must have a complete row in sources.csv."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.sources = {row["table"]: row for row in self.read(SOURCES)}

    def read(self, name):
        with open(self.folder / f"{name}.csv", newline="") as file:
            return list(csv.DictReader(file))

    def source(self, name):
        row = self.sources.get(name, {})
        missing = [column for column in COLUMNS if not row.get(column)]
        if missing:
            raise SystemExit(f"numbers: docs/tables/sources.csv lacks {', '.join(missing)} of the table {name}")
        return row

    def rows(self, name, **wanted):
        self.source(name)
        return [row for row in self.read(name) if all(row[key] == value for key, value in wanted.items())]

    def row(self, name, **wanted):
        found = self.rows(name, **wanted)
        if len(found) != 1:
            raise SystemExit(f"numbers: {len(found)} rows of the table {name} have {wanted}, not one")
        return found[0]


def interval(text):
    """The least and the greatest number that are printed as this text."""
    value = Decimal(text)
    half = Decimal((0, (5,), value.as_tuple().exponent - 1))
    return value - half, value + half


def rounded(value, digits, rounding):
    """With this number of significant digits, but at least all digits before the point."""
    value = Decimal(value)
    places = min(0, value.adjusted() + 1 - digits)
    return f"{value.quantize(Decimal((0, (1,), places)), rounding=rounding):,}"


def down(value, digits=2):
    return rounded(value, digits, ROUND_FLOOR)


def up(value, digits=2):
    return rounded(value, digits, ROUND_CEILING)


def times_as_fast(ours, theirs):
    """The other's time over ours, at least."""
    return down(interval(theirs)[0] / interval(ours)[1])


def times_as_long(ours, theirs):
    """Our time over the other's, at most."""
    return up(interval(ours)[1] / interval(theirs)[0])


def evaluations(tables, solver):
    """For each of the 336 problems: the evaluations with 10 pairs, and whether it was solved."""
    name = "metric-peers" if solver == "scipy" else "metric"
    found = {row["problem"]: row for row in tables.rows(name, m="10", solver=solver)}
    return {problem: (int(row["evaluations"]), row["solved"] == "1") for problem, row in found.items()}


def mean_ratio(ours, theirs):
    """The geometric mean of the ratio of evaluations over the problems that both solve."""
    both = [problem for problem in ours if ours[problem][1] and theirs.get(problem, (0, False))[1]]
    return math.exp(sum(math.log(ours[problem][0] / theirs[problem][0]) for problem in both) / len(both)), len(both)


def of_evaluations(tables):
    learned = evaluations(tables, "learned")
    yield "metric.problems", str(len(learned))
    yield "metric.largest-n", f"{max(int(row['n']) for row in tables.rows('metric')):,}"
    yield "metric.solved", str(sum(solved for _, solved in learned.values()))
    yield "metric.unsolved", str(sum(not solved for _, solved in learned.values()))
    for name, other in {"scipy": "scipy", "lbfgsb": "L-BFGS-B 3.0", "scalar": "plain"}.items():
        theirs = evaluations(tables, other)
        ratio, both = mean_ratio(learned, theirs)
        yield f"metric.solved-{name}", str(sum(solved for _, solved in theirs.values()))
        yield f"metric.unsolved-{name}", str(sum(not solved for _, solved in theirs.values()))
        yield f"metric.over-{name}", rounded(ratio, 2, ROUND_HALF_EVEN)
        yield f"metric.both-{name}", str(both)


def of_python(tables):
    for size, n in {"1e3": 1_000, "1e5": 100_000, "1e7": 10_000_000}.items():
        row = tables.row("python-gpu", n=str(n))
        for key, text in row.items():
            if key != "n":
                yield f"python-gpu.{key.removesuffix('_ms').replace('_', '-')}-{size}", text
        yield f"python-gpu.over-torch-{size}", times_as_fast(row["torch_ms"], row["torch_lbfgs_ms"])
        yield f"python-gpu.over-optax-{size}", times_as_fast(row["jax_ms"], row["optax_ms"])
        yield f"python-gpu.graph-over-torch-{size}", times_as_fast(row["graph_ms"], row["torch_lbfgs_ms"])
        yield f"python-gpu.share-of-optax-{size}", times_as_long(row["jax_ms"], row["optax_ms"])
        yield f"python-gpu.graph-share-of-optax-{size}", times_as_long(row["graph_ms"], row["optax_ms"])
        yield f"python-gpu.torch-share-of-optax-{size}", times_as_long(row["torch_ms"], row["optax_ms"])
    for size, n in {"1e3": 1_000, "1e5": 100_000, "1e6": 1_000_000}.items():
        row = tables.row("python-overhead", n=str(n))
        yield f"python-overhead.ours-{size}", f"{int(row['cuda_opt_us']):,}"
        yield f"python-overhead.scipy-{size}", f"{int(row['scipy_us']):,}"
        yield f"python-overhead.ratio-{size}", times_as_long(row["cuda_opt_us"], row["scipy_us"])
        yield f"python-overhead.over-scipy-{size}", times_as_fast(row["cuda_opt_us"], row["scipy_us"])


def of_paper_tables(tables):
    """Time within the solver; a speed-up is that of these tables, over equally many iterations."""
    for size, n in {"1e4": 10_000, "1e6": 1_000_000, "4e6": 4_000_000}.items():
        row = tables.row("table4", n=str(n), solver="CUDA, exact")
        yield f"table4.over-lbfgsb-{size}", down(Decimal(row["speed_up"]))
    row = tables.row("figure2", n="2000000", precision="double", backend="cuda")
    yield "figure2.over-lbfgsb-2e6", down(Decimal(row["speed_up_over_lbfgsb"]))
    row = tables.row("table4-converged", n="160000", solver="host, exact")
    yield "table4-converged.host-over-lbfgsb", down(Decimal(row["speed_up"]))
    row = tables.row("table4-converged", n="400", solver="CUDA, exact")
    host = tables.row("table4-converged", n="400", solver="host, exact")
    yield "table4-converged.cuda-over-host-400", times_as_fast(row["ms_per_iteration"], host["ms_per_iteration"])


def of_batches_and_diffusion(tables):
    row = tables.row("batch-optax", problems="100000", n="20")
    yield "batch-optax.ours", row["functor_s"]
    yield "batch-optax.optax", row["optax_s"]
    yield "batch-optax.over-optax", times_as_fast(row["functor_s"], row["optax_s"])
    for m in ("5", "17"):
        row = tables.row("diffusion", n="10000000", m=m)
        for key in ("learned_evaluations", "scalar_evaluations"):
            yield f"diffusion.{key.replace('_', '-')}-m{m}", f"{int(row[key]):,}"
        for key in ("learned_s", "scalar_s"):
            yield f"diffusion.{key.replace('_', '-')}-m{m}", row[key]


def of_standard_errors(tables):
    for name, solver in {"ours": "cuda_opt", "scipy": "SciPy"}.items():
        row = tables.row("standard-errors", model="all", solver=solver)
        yield f"standard-errors.fits-{name}", row["fits"]
        yield f"standard-errors.within-{name}", str(int(100 * Decimal(row["within_1.25"])))
        yield f"standard-errors.median-{name}", rounded(row["median"], 3, ROUND_HALF_EVEN)
        yield f"standard-errors.largest-{name}", row["largest"]


def of_obstacle(tables):
    rows = {row["method"]: row for row in tables.rows("obstacle-gpu", n="3996001")}
    scalar = rows["scalar"]
    for name, method in {"one-solve": "operator: one solve", "2-steps": "operator: 2 steps",
                         "3-steps": "operator: 3 steps"}.items():
        yield f"obstacle-gpu.evaluations-{name}", f"{int(rows[method]['evaluations']):,}"
        yield f"obstacle-gpu.applications-{name}", f"{int(rows[method]['applications']):,}"
        yield f"obstacle-gpu.time-{name}", times_as_long(rows[method]["seconds"], scalar["seconds"])
        share = Decimal(rows[method]["evaluations"]) / Decimal(scalar["evaluations"])
        yield f"obstacle-gpu.share-{name}", rounded(share, 2, ROUND_HALF_EVEN)
    yield "obstacle-gpu.refusals-2-steps", rows["operator: 2 steps"]["refusals"]
    for name, method in {"scalar": "scalar", "3-steps": "operator: 3 steps"}.items():
        ms = 1000 * Decimal(rows[method]["seconds"]) / int(rows[method]["evaluations"])
        yield f"obstacle-gpu.ms-{name}", rounded(ms, 2, ROUND_HALF_EVEN)
    times = {}
    for row in tables.rows("obstacle-gpu"):
        times.setdefault(row["n"], {})[row["method"].removeprefix("operator: ")] = Decimal(row["seconds"])
    for name in ("one solve", "3 steps"):
        over = [of[name] / min(of[key] for key in ("one solve", "2 steps", "3 steps")) for of in times.values()]
        yield f"obstacle-gpu.{name.replace(' ', '-')}-least-over-fastest", rounded(min(over), 2, ROUND_HALF_EVEN)
        yield f"obstacle-gpu.{name.replace(' ', '-')}-most-over-fastest", rounded(max(over), 2, ROUND_HALF_EVEN)


def numbers(tables):
    """Each number that a document may quote, by its key TABLE.NAME."""
    found = {}
    for part in (of_evaluations, of_python, of_paper_tables, of_batches_and_diffusion, of_standard_errors, of_obstacle):
        for key, text in part(tables):
            if key in found or not re.fullmatch(r"[\w-]+\.[\w-]+", key):
                raise SystemExit(f"numbers: the key {key} is not new, or not TABLE.NAME")
            found[key] = text
    return found
