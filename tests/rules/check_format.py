#!/usr/bin/env python3
"""Usage: check_format.py SOURCE_ROOT

Checks that all C, C++ and CUDA code, including the code blocks of the documents, is formatted according to
.clang-format. Prints the places that are not; `clang-format -i FILE` corrects a file. The check is skipped if
clang-format is not installed, or has another version, whose format may differ."""
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

VERSION = "14"
SUFFIX_OF_BLOCK = {"c": ".c", "cpp": ".cpp", "cuda": ".cu"}
SUFFIXES = (".h", ".hpp", ".cuh", ".c", ".cpp", ".cu")
FOLDERS = ("include", "lib", "compat", "testfuncs", "drivers", "apps", "tests", "bench", "examples")
BLOCK = re.compile(r"^```(c|cpp|cuda)\n((?:.*\n)*?)^```$", re.M)
AT_ONCE = 20  # files per process
SKIPPED = 77

root = Path(sys.argv[1]).resolve()


def clang_format(*arguments, text=None):
    return subprocess.run(["clang-format", *arguments], cwd=root, input=text, capture_output=True, text=True)


def misplaced_in(files):
    """Returns the places that clang-format reports, as FILE:LINE:COLUMN."""
    done = clang_format("--dry-run", "-Werror", *files)
    places = re.findall(r"^(\S+:\d+:\d+): error", done.stderr, re.M)
    return places or ([done.stderr.strip()] if done.returncode else [])


def misplaced_blocks_in(document):
    text = document.read_text()
    for found in BLOCK.finditer(text):
        done = clang_format(f"--assume-filename={root}/block{SUFFIX_OF_BLOCK[found[1]]}", text=found[2])
        if done.stdout != found[2]:
            yield f"{document.relative_to(root)}:{text.count(chr(10), 0, found.start()) + 1}: this block"


if not shutil.which("clang-format"):
    print("skipped: clang-format is not installed")
    sys.exit(SKIPPED)
version = clang_format("--version").stdout
if f"version {VERSION}." not in version:
    print(f"skipped: version {VERSION} of clang-format is needed, and this is: {version.strip()}")
    sys.exit(SKIPPED)

files = sorted(
    str(path.relative_to(root)) for folder in FOLDERS for path in (root / folder).rglob("*") if path.suffix in SUFFIXES
)
documents = [root / "README.md", *sorted(root.glob("docs/*.md"))]
with ThreadPoolExecutor() as executor:
    batches = executor.map(misplaced_in, (files[i : i + AT_ONCE] for i in range(0, len(files), AT_ONCE)))
    of_blocks = executor.map(lambda document: list(misplaced_blocks_in(document)), documents)
    broken = [place for batch in (*batches, *of_blocks) for place in batch]

broken = [f"{place} is not laid out as .clang-format says" for place in broken]
print("\n".join(broken) or f"{len(files)} files and the blocks of {len(documents)} documents are laid out")
sys.exit(1 if broken or not files else 0)
