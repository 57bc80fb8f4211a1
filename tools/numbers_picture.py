"""The bars of the first page, docs/tables/bars.svg. A shorter bar is better, and each pair has a scale of its own that
begins at 0. The colours follow the reader's light or dark mode."""
from xml.sax.saxutils import escape

WIDTH, LEFT, LONGEST, TOP, HEIGHT = 860, 190, 560, 54, 108
STYLE = """text { fill: #24292f } .small { fill: #57606a } .ours { fill: #1a7f37 } .theirs { fill: #8c959f }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .small { fill: #9aa4af } .ours { fill: #3fb950 } .theirs { fill: #6e7681 }
}"""


def comparisons(tables, numbers):
    """Heading, problem and measured table, then the two names with their values as printed, and the unit."""
    yield (
        f"Test problems not solved, of {numbers['metric.problems']}",
        f"1 to {numbers['metric.largest-n']} variables, solved: projected gradient at most 1e-6 "
        "in 10,000 evaluations, SciPy with ftol = 0",
        ("metric", "metric-peers"),
        ("cuda_opt, host", numbers["metric.unsolved"]),
        ("SciPy 1.10 L-BFGS-B", numbers["metric.unsolved-scipy"]),
        "",
    )
    yield (
        "Time per iteration on the same GPU, in torch",
        "chained Rosenbrock function, 10,000,000 variables, evaluations included, 10 pairs, scalar initial Hessian",
        ("python-gpu",),
        ("cuda_opt", numbers["python-gpu.torch-1e7"]),
        ("torch.optim.LBFGS", numbers["python-gpu.torch-lbfgs-1e7"]),
        "ms",
    )
    yield (
        "Time for a batch of 100,000 problems on the same GPU",
        "chained Rosenbrock functions of 20 variables; optax under vmap ends after 500 iterations",
        ("batch-optax",),
        ("cuda_opt, C++ functor", numbers["batch-optax.ours"]),
        ("optax.lbfgs, compiled", numbers["batch-optax.optax"]),
        "s",
    )


def caption(tables, names):
    """Device, commit and date of each table; what two tables share is not repeated."""
    parts = []
    for name in names:
        row = tables.source(name)
        part = f"{row['device'].partition(', driver')[0].partition(';')[0]}, commit {row['commit']}, {row['date']}"
        parts.append(part.replace("commit before", "before commit"))
    return "; SciPy: ".join(parts)


def bars(tables, numbers):
    rows = list(comparisons(tables, numbers))
    height = TOP + HEIGHT * len(rows) - 18
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="14">',
        f"<style>{STYLE}</style>",
        '<text x="16" y="24" font-size="18" font-weight="bold">Shorter is better</text>',
    ]
    for i, (heading, problem, names, *pair, unit) in enumerate(rows):
        y = TOP + HEIGHT * i
        out.append(f'<text x="16" y="{y}" font-weight="bold">{escape(heading)}</text>')
        out.append(f'<text class="small" x="16" y="{y + 18}" font-size="12">{escape(problem)}</text>')
        most = max(float(value) for _, value in pair)
        for j, (name, value) in enumerate(pair):
            top = y + 27 + 22 * j
            length = LONGEST * float(value) / most
            out.append(f'<text x="{LEFT - 10}" y="{top + 14}" text-anchor="end">{escape(name)}</text>')
            whose = "theirs" if j else "ours"
            out.append(f'<rect class="{whose}" x="{LEFT}" y="{top}" width="{length:.1f}" height="18"/>')
            label = f"{value} {unit}".strip()
            out.append(f'<text x="{LEFT + length + 8:.1f}" y="{top + 14}" font-weight="bold">{label}</text>')
        out.append(f'<text class="small" x="16" y="{y + 83}" font-size="11">{escape(caption(tables, names))}</text>')
    return "\n".join(out) + "\n</svg>\n"
