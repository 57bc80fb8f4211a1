#!/usr/bin/env python3
"""Usage: paper_tables.py ROOT table4 [CSV ...]
       paper_tables.py ROOT sites CSV
       paper_tables.py ROOT list

Writes tables of docs/tables that are made from other tables, for docs/notes/papers.md. tools/tables calls it.

table4: the end of each run of table 4 of the 2014 paper. The rows of each CSV, which bench_table4 wrote, are first
added to docs/tables/table4-cpu.csv or table4-cuda.csv. Writes docs/tables/table4-ends.csv.
sites: draws the file that bench_cvt --sites wrote as docs/tables/cvt-sites.png.
list: the tables and figures of the two papers with their counterparts. Writes docs/tables/papers.csv."""
import csv
import struct
import sys
import zlib
from pathlib import Path

# Table 4 as printed: n, iterations on the CPU, iterations on the GPU, energy of the GPU less that of the CPU.
PRINTED = {400: (52, 49, "-9.99e-15"), 1600: (133, 105, "-9.99e-16"), 3600: (144, 155, "1.20e-14"),
           6400: (193, 199, "-6.90e-14"), 10000: (241, 237, "3.00e-14"), 40000: (549, 464, "-1.91e-13"),
           160000: (921, 1035, "-1.85e-12"), 360000: (1272, 1315, "2.44e-12"), 640000: (1685, 1793, "3.98e-12"),
           1000000: (2310, 1907, "7.86e-12"), 1440000: (2915, 2636, "8.78e-12"), 2250000: (2917, 3213, "-4.52e-12"),
           4000000: (4197, 3971, "5.88e-11")}
ABSENT = "not measured yet"


def read(path):
    if not path.exists():
        return []
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def write(path, rows):
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def add_runs(folder, paths):
    """Adds the runs of these files to the tables. A new run replaces one of the same size by the same solver."""
    for name, wanted in (("table4-cpu", "L-BFGS-B 3.0"), ("table4-cuda", "CUDA, ")):
        runs = {(int(row["n"]), row["solver"]): row
                for path in (folder / f"{name}.csv", *paths) for row in read(Path(path))
                if row["solver"].startswith(wanted) and row["end"] in ("converged", "line search")}
        if runs:
            write(folder / f"{name}.csv", [runs[key] for key in sorted(runs)])


def ends_of_table4(folder):
    runs = {(int(row["n"]), row["solver"]): row
            for name in ("table4-cpu", "table4-cuda") for row in read(folder / f"{name}.csv")}

    def of(n, solver, column):
        return runs[n, solver][column] if (n, solver) in runs else ABSENT

    rows = []
    for n, (cpu_iterations, gpu_iterations, difference) in PRINTED.items():
        f = [of(n, solver, "f") for solver in ("L-BFGS-B 3.0", "CUDA, exact", "CUDA, approximate")]
        apart = [ABSENT if ABSENT in (f[0], other) else f"{float(other) - float(f[0]):.2e}" for other in f[1:]]
        machine = of(n, "L-BFGS-B 3.0", "machine").partition(";")[0].replace("(R)", "").replace(" Processor", "")
        gpu = of(n, "CUDA, exact", "machine").partition("; ")[2]
        rows.append({
            "n": n, "iterations_lbfgsb": of(n, "L-BFGS-B 3.0", "iterations"), "paper_cpu": cpu_iterations,
            "iterations_exact": of(n, "CUDA, exact", "iterations"),
            "iterations_approximate": of(n, "CUDA, approximate", "iterations"), "paper_gpu": gpu_iterations,
            "f_lbfgsb": f[0] if f[0] == ABSENT else f"{float(f[0]):.15f}",
            "exact_minus_lbfgsb": apart[0], "approximate_minus_lbfgsb": apart[1], "paper_difference": difference,
            "end_lbfgsb": of(n, "L-BFGS-B 3.0", "end"),
            "machines": f"{machine if machine == ABSENT else 'one core of an ' + machine}; {gpu}"})
    write(folder / "table4-ends.csv", rows)


def png(path, colours, pixels):
    """An image with a palette; pixels is an array of bytes, one row of the image in each row."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = pixels.shape
    lines = b"".join(b"\0" + row.tobytes() for row in pixels)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
                     + chunk(b"PLTE", bytes(sum(colours, ()))) + chunk(b"IDAT", zlib.compress(lines, 9))
                     + chunk(b"IEND", b""))


def draw_sites(path, to, side=1000, gap=20):
    """The Voronoi cells of two runs, L-BFGS-B 3.0 on the left and the CUDA backend on the right. The colour of a cell
    is its number of neighbours, and cells at the boundary of the square are grey."""
    import numpy as np
    from scipy.spatial import Delaunay, cKDTree

    colours = [(255, 255, 255), (60, 60, 60), (190, 190, 190), (242, 239, 230), (49, 108, 178), (205, 73, 55),
               (120, 60, 130)]
    white, edge, boundary, six, five, seven, other = range(len(colours))
    sites = {}
    for row in read(path):
        sites.setdefault(row["solver"], []).append((float(row["x"]), float(row["y"])))
    panels = []
    for solver in ("L-BFGS-B 3.0", "exact"):
        x = np.array(sites[solver])
        triangles = Delaunay(x)
        starts, _ = triangles.vertex_neighbor_vertices
        neighbours = np.diff(starts)
        colour = np.select([neighbours == 6, neighbours == 5, neighbours == 7], [six, five, seven], other)
        colour[(np.minimum(x, 1 - x) < 0.7 / np.sqrt(len(x))).any(axis=1)] = boundary
        centres = (np.arange(side) + 0.5) / side
        at = np.stack(np.meshgrid(centres, centres[::-1]), axis=-1)
        nearest = cKDTree(x).query(at.reshape(-1, 2))[1].reshape(side, side)
        panel = colour[nearest]
        panel[:, 1:][nearest[:, 1:] != nearest[:, :-1]] = edge
        panel[1:][nearest[1:] != nearest[:-1]] = edge
        panels += [panel, np.full((side, gap), white)]
        counts = {k: int((neighbours[colour != boundary] == k).sum()) for k in range(4, 9)}
        print(f"{solver}: cells away from the boundary by their neighbours: {counts}")
    png(to, colours, np.concatenate(panels[:-1], axis=1).astype(np.uint8))


# The paper, the item, its subject, the table of docs/tables, the page to read if the item is a sketch, and the
# numbers of the deviations on the page of the list.
ITEMS = [
    ("2014", "table 1", "one-breakpoint Cauchy point, eight problems, n = 40,000", "table1", "", "1, 2"),
    ("2014", "table 2", "tessellations, ms of an iteration", "cvt", "", "1, 3"),
    ("2014", "table 3", "tessellations, one-breakpoint Cauchy point", "cvt", "", "1"),
    ("2014", "table 4", "torsion: iterations and final energies of complete runs", "table4-ends", "", "1"),
    ("2014", "table 4", "torsion: ms of an iteration", "table4", "", "1, 3"),
    ("2014", "figure 1", "sketch of one iteration", "", "[algorithm.md](../algorithm.md)", ""),
    ("2014", "figure 2", "sketch of the panel's product", "", "[backends.md](../backends.md)", ""),
    ("2014", "figure 3", "8 x M by M x 8: sweep 1, cuBLAS and cuSPARSE", "figure3-rates", "", "4"),
    ("2014", "figure 4", "sketch: marks, scan, compaction", "", "[backends.md](../backends.md)", ""),
    ("2014", "figure 5", "20,000 sites and their Delaunay triangles", "cvt-sites", "", "1"),
    ("2014", "figure 6", "ms of the solver against the sites", "cvt", "", "3"),
    ("2014", "figure 7", "energy against iterations, 20,000 sites", "cvt", "", "1"),
    ("2014", "figure 8", "ms of a whole iteration against the sites", "cvt", "", "5"),
    ("2014", "figure 9", "torsion, ms of an iteration against n", "table4", "", "3"),
    ("2009", "table 1", "Ackley, 2,048 to 15,360 walks", "search-table1", "", "6"),
    ("2009", "table 2", "the parts of a search", "search-profile", "", "6, 7"),
    ("2009", "table 3", "the tasks on the GPU", "search-profile", "", "6, 7"),
    ("2009", "table 4", "twelve functions", "search-table4", "", "6"),
    ("2009", "table 5", "a time limit, twelve functions", "search-table5-10s", "", "6, 8"),
    ("2009", "table 5", "the same on the CPU, and both times spent", "search-table5-host", "", "8"),
    ("2009", "figure 1", "the procedure", "", "[search.md](../search.md)", ""),
]


def list_items(folder):
    sources = {row["table"]: row for row in read(folder / "sources.csv")}
    rows = []
    for paper, item, subject, table, page, deviations in ITEMS:
        source = sources[table] if table else {}
        suffix = ".png" if table == "cvt-sites" else ".csv"
        run = f"{source['device']}; {source['commit']}, {source['date']}" if table else "-"
        rows.append({
            "item": f"{paper}, {item}", "subject": subject,
            "counterpart": f"[{table}{suffix}](../tables/{table}{suffix})" if table else page,
            "command": f"`{source['command']}`" if table else "-", "run": run,
            "deviations": deviations or "-"})
    write(folder / "papers.csv", rows)


def main():
    if len(sys.argv) < 3:
        raise SystemExit(__doc__.partition("\n\n")[0])
    folder, what, rest = Path(sys.argv[1]) / "docs/tables", sys.argv[2], sys.argv[3:]
    if what == "table4":
        add_runs(folder, rest)
        ends_of_table4(folder)
    elif what == "sites" and len(rest) == 1:
        draw_sites(Path(rest[0]), folder / "cvt-sites.png")
    elif what == "list":
        list_items(folder)
    else:
        raise SystemExit(__doc__.partition("\n\n")[0])


if __name__ == "__main__":
    main()
