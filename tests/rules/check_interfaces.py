#!/usr/bin/env python3
"""Usage: check_interfaces.py SOURCE_ROOT VERSION

The enumerations of the C headers are the list of all constants. This program checks the Fortran modules,
python/cuda_opt/_constants.py, the tables of docs/return_codes.md and the tables of options in lib/api against it, and
each key against the kind of value that its number implies. It checks that the modules have the same functions, with the
same number of arguments, that the version is the same in the build, the changelogs and the citation, and that no number
is used twice."""
import importlib.util
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # no bytecode is written into the source tree
root, version = Path(sys.argv[1]), sys.argv[2]
HEADERS = ("include/cuda_opt.h", "include/cuda_opt/ranks.h", "include/cuda_opt_batch.h")
header = re.sub(r"/\*.*?\*/", "", "".join((root / name).read_text() for name in HEADERS), flags=re.S)
MODULES = ("include/cuda_opt.f90", "include/cuda_opt_ranks.f90", "include/cuda_opt_batches.f90")
module = re.sub(r"!.*", "", "".join((root / name).read_text() for name in MODULES)).replace("&\n", "")
broken = []
# Prefixes of constants that are neither keys nor tasks nor codes.
VALUES = ("CUDA_OPT_GRADIENT_", "CUDA_OPT_BACKEND_", "CUDA_OPT_INITIAL_HESSIAN_", "CUDA_OPT_F_OF_", "CUDA_OPT_F_WHOLE")


def same(what, in_header, in_other, other="the module"):
    for name in sorted(in_header.keys() | in_other.keys()):
        if in_header.get(name) != in_other.get(name):
            broken.append(f"{what} {name}: {in_header.get(name)} in the header, {in_other.get(name)} in {other}")


def constants(pattern, text):
    return {name: int(value) for name, value in re.findall(pattern, text)}


def arguments(text):
    return 0 if text.strip() in ("", "void") else len(re.findall(r",(?![^()]*\))", text)) + 1


def former_names(text):
    """Returns the names that are defined by another name, with this other name."""
    return dict(re.findall(r"\b(CUDA_OPT_\w+)\s*= (CUDA_OPT_\w+)", text))


enumerators = constants(r"\b(CUDA_OPT_\w+) = (-?\d+)", header)
versions = constants(r"#define (CUDA_OPT_VERSION_\w+) (\d+)", header)
same("constant", {**enumerators, **versions}, constants(r"\b(CUDA_OPT_\w+)\s*= (-?\d+)", module))
former = former_names(header)
same("former name", former, former_names(module))
broken += [f"{name} is defined by {now}, which has no number" for name, now in former.items() if now not in enumerators]

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


def python_constants():
    """Returns the constants of the Python package by their names in C: INTEGERS, REALS, all constants, and the former
    names."""
    spec = importlib.util.spec_from_file_location("constants", root / PYTHON)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    others = {name: getattr(module, name) for name in dir(module) if name.startswith(("BACKEND_", "F_", "BATCH_"))}
    others.update({task.name: int(task) for task in module.Task})
    others.update({f"GRADIENT_{value.name}": int(value) for value in module.Gradient})
    others.update({f"INITIAL_HESSIAN_{value.name}": int(value) for value in module.InitialHessian})
    kinds = (module.INTEGERS, module.REALS, others)
    integers, reals, others = ({f"CUDA_OPT_{name}": value for name, value in kind.items()} for kind in kinds)
    former = {name: now for name, now in module.OTHER_NAMES.items() if now not in module.LINE_SEARCH}
    new = module.InitialHessian
    former.update({f"METRIC_{old.name}": f"INITIAL_HESSIAN_{new(old).name}" for old in module.Metric})
    former = {f"CUDA_OPT_{name}": f"CUDA_OPT_{now}" for name, now in former.items()}
    return integers, reals, {**integers, **reals, **others}, former


# The kind of value that the hundreds of a key's number imply (cuda_opt.h). Those of cuda_opt_batch.h are integers.
KINDS = {1: "integer setting", 2: "real setting", 3: "integer result", 4: "real result", 5: "integer of a batch"}
PYTHON = "python/cuda_opt/_constants.py"
integers, reals, in_python, former_in_python = python_constants()
same("constant", enumerators, in_python, PYTHON)
same("former name", former, former_in_python, PYTHON)
kind_of = {name: KINDS[value // 100] for name, value in enumerators.items() if value // 100 in KINDS}
broken += [f"{PYTHON}: {name} is no integer" for name in integers if "integer" not in kind_of.get(name, "")]
broken += [f"{PYTHON}: {name} is no real number" for name in reals if "real" not in kind_of.get(name, "")]

# Each setting must be in the table of its kind, under the name of its key. Each result must be in a table or in a
# comparison.
TABLES = ("lib/lbfgsb/settings.hpp", "lib/api/options.cpp", "lib/api/search.cpp", "lib/api/batch.cpp")
OF_TABLE = {"int_settings": "integer setting", "real_settings": "real setting", "int_results": "integer result",
            "real_results": "real result"}
OF_TABLE.update({table.replace("_", "_search_"): kind for table, kind in list(OF_TABLE.items())})
handled = set()
for path in TABLES:
    text = re.sub(r"//.*", "", (root / path).read_text())
    for table, rows in re.findall(r"\b(\w+)\[\] = \{\n(.*?)\n\};", text, re.S):
        for row in rows.splitlines():
            key, name = re.match(r'\s*\{(\w+), (?:"(\w+)")?', row).groups()
            if kind_of.get(key) != OF_TABLE[table]:
                broken.append(f"{path}: {key} is in the table {table}, but no {OF_TABLE[table]} of the header")
            if "settings" in table and key != f"CUDA_OPT_{name}":
                broken.append(f"{path}: {key} has the name {name}")
            handled.add(key)
    compared = re.findall(r"\b(?:case |key == )(CUDA_OPT_\w+)", text)
    handled.update(key for key in compared if "setting" not in kind_of.get(key, ""))
broken += [f"{key}, a key of the header, is in no table" for key in sorted(kind_of.keys() - handled)]

codes = [value for name, value in enumerators.items() if not name.startswith(VALUES) or value < 0]
broken += [f"number {value} is used twice" for value in sorted(set(codes)) if codes.count(value) > 1]

# docs/return_codes.md must have one row for each task and each return code, with its number.
endings = re.search(r"enum \{[^}]*\bCUDA_OPT_CONVERGED = .*?\}", (root / "include/cuda_opt.h").read_text(), re.S)[0]
page = (root / "docs/return_codes.md").read_text().replace("\u2212", "-")
documented = re.findall(r"^\| `(\w+)` \| (-?\d+) \| \S", page, re.M)
same(
    "task or return code",
    constants(r"\b(CUDA_OPT_\w+) = (-?\d+)", endings),
    {f"CUDA_OPT_{name}": int(number) for name, number in documented},
    "docs/return_codes.md",
)

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
sys.exit(1 if broken or not enumerators or not functions or not kind_of else 0)
