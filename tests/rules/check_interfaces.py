#!/usr/bin/env python3
"""Usage: check_interfaces.py SOURCE_ROOT VERSION

The C headers and the Fortran modules say the same: constants with their numbers, functions with the number of their
arguments, and the version, which is also the build's, the changelogs' and the citation's. No number stands for two
things."""
import re
import sys
from pathlib import Path

root, version = Path(sys.argv[1]), sys.argv[2]
HEADERS = ("include/cuda_opt.h", "include/cuda_opt/ranks.h", "include/cuda_opt_batch.h")
header = re.sub(r"/\*.*?\*/", "", "".join((root / name).read_text() for name in HEADERS), flags=re.S)
MODULES = ("include/cuda_opt.f90", "include/cuda_opt_ranks.f90", "include/cuda_opt_batches.f90")
module = re.sub(r"!.*", "", "".join((root / name).read_text() for name in MODULES)).replace("&\n", "")
broken = []
VALUES = ("CUDA_OPT_BACKEND_", "CUDA_OPT_METRIC_", "CUDA_OPT_F_OF_", "CUDA_OPT_F_WHOLE")  # no keys, tasks or codes


def same(what, in_header, in_module):
    for name in sorted(in_header.keys() | in_module.keys()):
        if in_header.get(name) != in_module.get(name):
            broken.append(f"{what} {name}: {in_header.get(name)} in the header, {in_module.get(name)} in the module")


def constants(pattern, text):
    return {name: int(value) for name, value in re.findall(pattern, text)}


def arguments(text):
    return 0 if text.strip() in ("", "void") else len(re.findall(r",(?![^()]*\))", text)) + 1


enumerators = constants(r"\b(CUDA_OPT_\w+) = (-?\d+)", header)
versions = constants(r"#define (CUDA_OPT_VERSION_\w+) (\d+)", header)
same("constant", {**enumerators, **versions}, constants(r"\b(CUDA_OPT_\w+)\s*= (-?\d+)", module))

functions = re.findall(r"^CUDA_OPT_API .*?(cuda_opt_\w+)\((.*?)\);", header, re.M | re.S)
bindings = re.findall(r"(?:function|subroutine) (cuda_opt_\w+)\((.*?)\) bind\(c, name='(\w+)'\)", module)
same(
    "arguments of",
    {name: arguments(text) for name, text in functions},
    {name: arguments(text) for name, text, _ in bindings},
)
broken += [f"{name} is bound to {bound}" for name, _, bound in bindings if name != bound]
public = re.findall(r"cuda_opt_\w+", " ".join(re.findall(r"^ *public :: (.*)$", module, re.M)))
broken += [f"{name} is not public in its module" for name, _, _ in bindings if name not in public]

codes = [value for name, value in enumerators.items() if not name.startswith(VALUES) or value < 0]
broken += [f"number {value} is used twice" for value in sorted(set(codes)) if codes.count(value) > 1]

changelog = re.search(r"^## \[(.*?)\]", (root / "CHANGELOG.md").read_text(), re.M)
citation = re.search(r"^version: (\S+)$", (root / "CITATION.cff").read_text(), re.M)
packaged = re.match(r"cuda-opt \((.*?)\)", (root / "packaging/debian/changelog").read_text())
for place, found in {
    "CITATION.cff": citation and citation[1],
    "packaging/debian/changelog": packaged and packaged[1],
    "include/cuda_opt.h": ".".join(str(number) for number in versions.values()),
    "CHANGELOG.md": changelog and changelog[1],
}.items():
    if found != version:
        broken.append(f"version: {found} in {place}, {version} in the build")

print("\n".join(broken) or f"{len(enumerators)} constants and {len(functions)} functions agree")
sys.exit(1 if broken or not enumerators or not functions else 0)
