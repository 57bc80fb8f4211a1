#!/usr/bin/env python3
"""Usage: check_calls.py ARCHIVE NAME...

The seam of cuda_failures stands before every call of the CUDA runtime that the library makes: those that its archive
refers to are the names given, but for those that cannot fail."""
import re
import subprocess
import sys

CANNOT_FAIL = {"cudaGetLastError", "cudaPeekAtLastError", "cudaGetErrorName", "cudaGetErrorString"}
listing = subprocess.run(["nm", "--undefined-only", sys.argv[1]], check=True, capture_output=True, text=True).stdout
# Other names that begin with underscores are what the compiler puts in by itself.
called = set(re.findall(r"\bU (cuda[A-Z]\w*|__cudaLaunchKernel\w*)", listing)) - CANNOT_FAIL
wrapped = set(sys.argv[2:])
for name in sorted(called - wrapped):
    print(f"{name} is called, but not among those that fail in turn")
for name in sorted(wrapped - called):
    print(f"{name} is among those that fail in turn, but not called")
if called == wrapped and called:
    print(f"{len(called)} calls of the CUDA runtime")
sys.exit(called != wrapped or not called)
