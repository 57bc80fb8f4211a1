#!/usr/bin/env python3
"""Usage: check_tree.py SOURCE_ROOT

Checks the rules that keep the tree legible: which files a file may include, how long a line may be, which functions the
library must not call, which of several notations is used, whether the links of the documents are valid, and whether all
pages are listed. Prints one line for each place that breaks a rule."""
import re
import sys
from pathlib import Path

# The layers of lib/. A file includes only files of its own layer or a lower one.
LAYER = {"boundary": 0, "exec": 1, "dense": 1, "line_search": 1, "lbfgsb": 2, "sweeps": 3, "pattern": 4,
         "backend": 4, "operator": 4, "scaling": 4, "gradient_check": 4, "ranks": 4, "batch": 4,
         "solver": 4, "api": 5}
# The folders that the files of another folder may include besides their own. A folder that is not listed here may
# include all.
ALLOWED = {
    "include": ["lib/batch"],  # the headers that cuda_opt/batch.cuh includes are installed with it
    "lib": ["include"],  # and by LAYER
    "compat": ["include", "lib/boundary"],
    "testfuncs": ["lib/exec"],
    "drivers": ["include", "testfuncs"],
    "apps": ["drivers", "include", "testfuncs", "lib/exec"],
}
SOURCES = (".h", ".hpp", ".cuh", ".c", ".cpp", ".cu", ".f90", ".py")
IN_DIALECT = (".hpp", ".cuh", ".cpp", ".cu")
MOST_COLUMNS = 120
ENDS = r"\b(?:exit|_Exit|abort|terminate)\s*\("
PRINTS = r"\b(?:f?printf|f?puts|putchar)\s*\(|\bstd::c(?:out|err|log)\b"
# Notations that are not used in C++ and CUDA, and their replacements.
DIALECT = {
    re.compile(r"\bstd::u?int\d+_t\b"): "int64_t and its like without std::",
    re.compile(r"(?<![\w:])size_t\b"): "std::size_t, which any header of C++ declares",
    re.compile(r"(?:^\s*|[;{}] |, )(?:\+\+|--)[\w.>\[\]-]+(?:;|\)(?: |$))"): "i++ where its value is not used",
}
# Doxygen builds the reference only from include/.
DOXYGEN = re.compile(r"^\s*/\*[*!]|//[/!](?!/)")
UNFINISHED = re.compile(r"\b(TO[D]O|FIX[M]E|X[X]X)\b")  # the brackets prevent a match with this line


def folder_of(path):
    """Returns the folder to which a rule applies: a subfolder of lib or compat, otherwise the top folder."""
    return "/".join(path.parts[:2]) if path.parts[0] in ("lib", "compat") else path.parts[0]


def included(root, path, text):
    """Finds the files of this tree that the file includes. Their paths are relative to the root."""
    for name in re.findall(r'^\s*#\s*include\s*["<]([^">]+)[">]', text, re.M):
        for folder in (path.parent, Path("."), Path("lib"), Path("include")):
            if (root / folder / name).is_file():
                yield (root / folder / name).resolve().relative_to(root)
                break


def may_include(path, other):
    if folder_of(other) == folder_of(path) or path.parts[0] not in ALLOWED:
        return True
    if path.parts[0] == other.parts[0] == "lib":
        return LAYER[other.parts[1]] <= LAYER[path.parts[1]]
    return folder_of(other) in ALLOWED[path.parts[0]]


def without_comments_and_strings(text):
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', lambda m: "\n" * m[0].count("\n"), text, flags=re.S)


def broken_rules(root, path):
    text = (root / path).read_text()
    lines = text.splitlines()
    if path.parts[0] == "lib" and path.parts[1] not in LAYER:
        yield f"{path}: lib/{path.parts[1]} is in no layer"
        return
    for other in included(root, path, text):
        if not may_include(path, other):
            yield f"{path}: must not include {other}"
    for number, line in enumerate(lines, 1):
        if len(line) > MOST_COLUMNS:
            yield f"{path}:{number}: {len(line)} columns, more than {MOST_COLUMNS}"
        if UNFINISHED.search(line):
            yield f"{path}:{number}: unfinished: {line.strip()}"
    if path.suffix in IN_DIALECT:
        for number, line in enumerate(without_comments_and_strings(text).splitlines(), 1):
            for pattern, instead in DIALECT.items():
                if match := pattern.search(line):
                    yield f"{path}:{number}: {match[0].strip()}: write {instead}"
        for number, line in enumerate(lines if path.parts[0] != "include" else [], 1):
            if DOXYGEN.search(line):
                yield f"{path}:{number}: {line.strip()}: write //, as no reference is built from it"
    if path.parts[0] in ("lib", "compat"):
        # Through compat/, the user of the library requests a log on standard output (iprint) or prints a vector.
        forbidden = re.compile(ENDS if path.parts[0] == "compat" else f"{ENDS}|{PRINTS}")
        for number, line in enumerate(without_comments_and_strings(text).splitlines(), 1):
            if match := forbidden.search(line):
                yield f"{path}:{number}: the library must not use {match[0]}"


def dead_links(root):
    for document in sorted([*root.glob("*.md"), *root.glob("docs/*.md"), *root.glob("docs/notes/*.md")]):
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", document.read_text()):
            if not (document.parent / target).exists():
                yield f"{document.relative_to(root)}: links to {target}, which is not there"


def unlisted_pages(root):
    """Finds the pages that docs/meson.build lacks, and the laboratory notes that docs/notes/index.md lacks."""
    listed = (root / "docs/meson.build").read_text()
    notes = (root / "docs/notes/index.md").read_text()
    for page in sorted((root / "docs").rglob("*.md")):
        name = page.relative_to(root / "docs").with_suffix("").as_posix()
        if f"'{name}'" not in listed:
            yield f"docs/meson.build: lacks the page {name}"
        if name.startswith("notes/") and name != "notes/index" and f"({page.name})" not in notes:
            yield f"docs/notes/index.md: lacks the note {page.name}"


def main(root):
    folders = (
        "include", "lib", "compat", "testfuncs", "drivers", "apps", "tests", "python", "examples", "bench", "tools",
        "docs",
    )
    files = [path for folder in folders for path in sorted((root / folder).rglob("*")) if path.is_file()]
    checked = [path.relative_to(root) for path in files if path.suffix in SOURCES]
    broken = [message for path in checked for message in broken_rules(root, path)]
    broken += [*dead_links(root), *unlisted_pages(root)]
    print("\n".join(broken) or f"{len(checked)} files keep the rules")
    return 1 if broken or not checked else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
