"""Runs the tests of the package by pytest. If NumPy or pytest is missing, the program prints this and exits with the
status for skipped tests."""
import importlib.util
import sys
from pathlib import Path

SKIPPED = 77


class Failures:
    """Notes the failed tests, whose names are printed last: reports keep only the end of a log."""

    def __init__(self):
        self.names = []

    def pytest_runtest_logreport(self, report):
        if report.failed:
            self.names.append(f"failed: {report.nodeid} ({report.when})")


def main():
    missing = [name for name in ("numpy", "pytest") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"skipped: {sys.executable} has no {' and no '.join(missing)}")
        return SKIPPED

    import pytest

    failures = Failures()
    status = pytest.main(["-p", "no:cacheprovider", "-rfEs", str(Path(__file__).parent)], plugins=[failures])
    print(*failures.names, sep="\n", file=sys.stderr)
    return status


# A process that a test starts may import this file, and must not run the tests again.
if __name__ == "__main__":
    sys.exit(main())
