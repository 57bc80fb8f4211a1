#!/usr/bin/env python3
"""Usage: check_exports.py HEADER ... VERSION

Checks that the installed library exports exactly the functions of the headers, has a versioned soname, and can be
loaded without the libraries of CUDA, and that pkg-config returns its version. The program is run by with_installed."""
import os
import re
import subprocess
import sys

*headers, version = sys.argv[1:]
failures = []


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def expect(what, found, wanted):
    if found != wanted:
        failures.append(f"{what}: {found}, but should be {wanted}")


library = os.path.join(output("pkg-config", "--variable=libdir", "cuda_opt").strip(), "libcuda_opt.so")
declared = set()
for header in headers:
    with open(header) as file:
        declared |= set(re.findall(r"^CUDA_OPT_API .*?(cuda_opt_\w+)\(", file.read(), re.M))
symbols = [line.split() for line in output("nm", "--dynamic", "--defined-only", library).splitlines()]
exported = {name.split("@")[0] for *_, kind, name in symbols if kind != "A"}  # A: the name of a version
expect("exported, not in a header", sorted(exported - declared), [])
expect("in a header, not exported", sorted(declared - exported), [])

dynamic = output("readelf", "--dynamic", library)
expect("soname", re.findall(r"\(SONAME\).*\[(.*)\]", dynamic), ["libcuda_opt.so." + version.split(".")[0]])
needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
expect("CUDA's libraries needed", [name for name in needed if name.startswith("libcu")], [])
expect("real file", os.path.basename(os.path.realpath(library)), "libcuda_opt.so." + version)
expect("pkg-config --modversion", output("pkg-config", "--modversion", "cuda_opt").strip(), version)

print("\n".join(failures) or f"{len(exported)} functions exported; needs {' '.join(needed)}")
sys.exit(1 if failures else 0)
