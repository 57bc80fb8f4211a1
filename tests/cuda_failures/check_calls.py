#!/usr/bin/env python3
"""Usage: check_calls.py ARCHIVE NAME...

Checks that cuda_failures intercepts each call of the CUDA runtime that the library makes. The undefined symbols of the
archive must be the given names and those of calls that cannot fail."""
import re
import subprocess
import sys

CANNOT_FAIL = {"cudaGetLastError", "cudaPeekAtLastError", "cudaGetErrorName", "cudaGetErrorString"}
listing = subprocess.run(["nm", "--undefined-only", sys.argv[1]], check=True, capture_output=True, text=True).stdout
# Other names that begin with underscores are calls that the compiler inserts.
called = set(re.findall(r"\bU (cuda[A-Z]\w*|__cudaLaunchKernel\w*)", listing)) - CANNOT_FAIL
wrapped = set(sys.argv[2:])
for name in sorted(called - wrapped):
    print(f"{name} is called by the library, but is not in calls.txt")
for name in sorted(wrapped - called):
    print(f"{name} is in calls.txt, but is not called by the library")
if called == wrapped and called:
    print(f"{len(called)} calls of the CUDA runtime")
sys.exit(called != wrapped or not called)
