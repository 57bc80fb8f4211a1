#!/usr/bin/env python3
"""Usage: check_memory.py BATCH_PROGRAM SEARCH_PROGRAM

Tests that a run on the host that needs more than half of the available memory warns, and that a run that needs more
than the machine has is refused."""
import re
import subprocess
import sys
import unittest
from pathlib import Path

PROGRAMS = sys.argv[1:]
del sys.argv[1:]

# For 20 variables: the options of a run, and the bytes that each further problem or walk needs. A problem with m = 5
# has its workspace, x, the gradient and the start. A walk has its point and 32 bytes.
RUNS = {
    "batch_program": [((), 4453 + 3 * 8 * 20)],
    "search_program": [((), 8 * 20 + 32), (("--precision", "single"), 4 * 20 + 32), (("--rounds", 5), 2 * 8 * 20 + 32)],
}


class Memory(unittest.TestCase):
    def test_required_memory_is_reported_and_checked(self):
        with open("/proc/meminfo") as file:
            kilobytes = {line.split(":")[0]: int(line.split()[1]) for line in file}
        whole = 1024 * (kilobytes["MemTotal"] + kilobytes["SwapTotal"])
        # In a container, the available memory may be that of the machine, which can exceed the memory of the container.
        available = min(1024 * kilobytes["MemAvailable"], whole)
        for program in PROGRAMS:
            name = Path(program).name
            for options, bytes_of_each in RUNS[name]:
                def run(bytes):
                    # With this limit on its address space, the program ends when it allocates the memory.
                    numbers = (int(bytes / bytes_of_each), 20)
                    command = ["bash", "-c", 'ulimit -v 1000000; exec "$0" "$@" --backend host', program,
                               *numbers[:: 1 if name == "batch_program" else -1], *options]
                    return subprocess.run(map(str, command), capture_output=True, text=True, timeout=60)

                with self.subTest(program=name, options=options):
                    done = run(0.7 * available)
                    self.assertEqual((done.returncode, done.stdout), (1, ""))
                    self.assertRegex(done.stderr, rf"\A{name}: this run needs \S+ GB of the \S+ GB of memory that are "
                                                  rf"available\n{name}: out of memory[^\n]*\n\Z")
                    # The memory of the threads, whose number may be large, is counted once and not per problem.
                    needed = 1e9 * float(re.search(r"needs (\S+) GB", done.stderr)[1])
                    self.assertAlmostEqual(needed, 0.7 * available, delta=0.02 * 0.7 * available)
                    done = run(2 * whole)
                    self.assertEqual((done.returncode, done.stdout), (1, ""))
                    self.assertRegex(done.stderr, rf"\A{name}: out of memory: this run needs \S+ GB, and the machine "
                                                  r"has \S+ GB\n\Z")


if __name__ == "__main__":
    unittest.main(verbosity=2)
