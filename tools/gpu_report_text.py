"""The text of the report that tools/gpu_report prints, in Markdown."""
import re
import time

import gpu_report_plan as plan

STATES = ("passed", "failed", "timed out", "not run")
SHOWN_LINES = 40  # of the log of a part that did not pass


def without_folders_of_machine(line):
    """The line of a log without the folders of the device's machine. Each temporary folder, and an installation's root
    in it, is named as such, and of an installed Python package only the file's path in the package is left."""
    line = re.sub(r"/(?:var/)?tmp/[\w.-]+(?:/root\b)?", "TEMPORARY-FOLDER", line)
    return re.sub(r"/\S*/(?:site|dist)-packages/", "", line)


def text_of(result):
    state, reason = result["state"], result["reason"]
    return f"{state} {reason}" if state == "timed out" else f"{state}: {reason}" if reason else state


def seconds_of(result):
    return "" if result["state"] == "not run" else result["seconds"]


def table(head, rows):
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield f"| {' | '.join(str(cell).replace('|', ',') for cell in row)} |"


def block(lines):
    return ["```text", *lines, "```"]


def kernels_of(log):
    """Name, time and bytes of each kernel in the output of ncu."""
    name = moved = ""
    for line in log.splitlines():
        words = line.split()
        if "Context" in line:
            name = re.sub(r"[<(,].*", "", re.sub("^ *(void )?", "", line))
        elif "dram__bytes" in line:
            moved = f"{words[2]} {words[1]}"
        elif "gpu__time" in line:
            yield f"  {name:<32} {words[2]:>9} {words[1]} {moved:>14}"


def printed(part, result):
    """The output of a part below its heading, or the reason why there is none."""
    if part.heading:
        yield part.heading
    if result["state"] != "passed":
        yield f"{part.command}: {text_of(result)}"
    elif part.section == "kernels":
        yield part.name
        yield from kernels_of(result["log"])
    else:
        yield from result["log"].splitlines()


def tests_of_meson(part, result):
    yield from result.get("rows", [])
    if result["state"] != "passed":
        yield f"all of {part.name}", text_of(result), seconds_of(result)


def body(section, pairs):
    """The lines of a section, from its parts and their results."""
    if all(result["state"] == "not run" for _, result in pairs):
        reasons = sorted({result["reason"] for _, result in pairs if result["reason"]})
        return [f"Not run{': ' if reasons else ''}{', '.join(reasons)}."]
    if section == "suites":
        return table(("suite", "state", "counts", "seconds"),
                     ((part.name, text_of(result), result["counts"], seconds_of(result)) for part, result in pairs))
    if section == "sanitizers":
        return table(("tool", "what", "state", "counts", "seconds"),
                     ((part.tool, part.name.removeprefix(f"{part.tool}, "), text_of(result), result["counts"],
                       seconds_of(result)) for part, result in pairs))
    if section == "programs":
        return table(("test", "result", "seconds"), (row for pair in pairs for row in tests_of_meson(*pair)))
    lines = block(line for pair in pairs for line in printed(*pair))
    return [f"`{pairs[0][0].command}`", "", *lines] if section == "log" else lines


def head(results, newest):
    origin, states = newest["origin"], [result["state"] for result in results]
    compared = "compared with the commit" if origin["compared"] else "not compared with the commit, for lack of git"
    yield from ("# Report of the last run on a GPU", "", "Made by `tools/gpu_report`; no number is edited by hand.", "")
    yield from ("| | |", "|---|---|")
    for name, value in (("date", time.strftime("%F", time.gmtime(newest["finished"]))), ("commit", origin["commit"]),
                        ("device", origin["device"]), ("driver", origin["driver"]),
                        ("sources", f"`{origin['sources']}`, {compared}"),
                        ("parts", ", ".join(f"{states.count(state)} {state}" for state in STATES)),
                        ("CUDA compiler", origin["compiler"]), ("processor", origin["processor"])):
        yield f"| {name} | {value} |"


def report(results, newest):
    pairs = [(part, results.get(part.identifier) or {"state": "not run", "reason": "", "counts": ""})
             for part in plan.parts()]
    yield from head([result for _, result in pairs], newest)
    for section, (title, introduction) in plan.SECTIONS.items():
        yield from ["", f"## {title}"] * bool(title)
        yield from ("", introduction, "")
        yield from body(section, [pair for pair in pairs if pair[0].section == section])
    faults = [(part, result) for part, result in pairs if result["state"] in ("failed", "timed out")]
    if faults:
        yield from ("", "## Parts that did not pass: the last lines of their logs")
    for part, result in faults:
        yield from ("", f"{part.section}, {part.name}: {text_of(result)}", "", f"`{result['command']}`", "")
        yield from block(map(without_folders_of_machine, result["log"].splitlines()[-SHOWN_LINES:]))
