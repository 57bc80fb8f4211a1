#!/usr/bin/env python3
"""Usage: check_hardening.py fortified|plain|linked LIBRARY ...

Checks the ELF headers of the shared libraries by readelf: all symbols are bound when the library is loaded (BIND_NOW),
the tables of addresses are read-only from then on (RELRO), return addresses are guarded (stack protector), the stack is
not executable, the text has no relocations, and dlclose does not unload the library (NODELETE). fortified: the checking
functions of the C library are called as well. linked: the stack protector is not required, because a library without
arrays does not need it. Prints what is missing."""
import re
import subprocess
import sys


def readelf(option, library):
    return subprocess.run(["readelf", "--wide", option, library], check=True, capture_output=True, text=True).stdout


def missing(library, kind):
    dynamic, segments = readelf("--dynamic", library), readelf("--segments", library)
    symbols = set(re.findall(r"UND (\w+)", readelf("--dyn-syms", library)))
    flags = " ".join(re.findall(r"\((?:FLAGS|FLAGS_1)\)\s+(.*)", dynamic)).split()
    stack = re.search(r"GNU_STACK(?:\s+0x\w+){5}\s+(\S+)", segments)
    if "BIND_NOW" not in flags and "NOW" not in flags:
        yield "BIND_NOW"
    if "NODELETE" not in flags:
        yield "NODELETE"
    if "GNU_RELRO" not in segments:
        yield "RELRO"
    if not stack or "E" in stack[1]:
        yield "a stack that is not executable"
    if "TEXTREL" in dynamic:
        yield "text without relocations"
    if kind != "linked" and "__stack_chk_fail" not in symbols:
        yield "the stack protector"
    if kind == "fortified" and not any(re.fullmatch(r"__\w+_chk", symbol) for symbol in symbols):
        yield "the C library's checking functions"


def main(kind, libraries):
    found = [f"{library}: lacks {what}" for library in libraries for what in missing(library, kind)]
    print("\n".join(found) or f"{len(libraries)} libraries are hardened")
    return 1 if found or not libraries else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
