#!/usr/bin/env python3
"""Usage: check_hardening.py fortified|plain|linked LIBRARY ...

What the shared libraries promise to the programs that load them, read from their ELF headers by readelf: all symbols
bound when they are loaded (BIND_NOW), the tables of addresses read-only from then on (RELRO), a guard before the return
addresses (stack protector), no executable stack, no relocation in the text, not unloaded by dlclose (NODELETE).
fortified: and calls of the C library's checking functions. linked: without the guards, which a library that has no
arrays does not need. Prints what is missing."""
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
