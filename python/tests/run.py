"""Runs the tests of the package by pytest. If NumPy or pytest is missing, the program prints this and exits with the
status for skipped tests."""
import importlib.util
import sys
from pathlib import Path

SKIPPED = 77


def main():
    missing = [name for name in ("numpy", "pytest") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"skipped: {sys.executable} has no {' and no '.join(missing)}")
        return SKIPPED

    import pytest

    return pytest.main(["-p", "no:cacheprovider", "-rs", str(Path(__file__).parent)])


# A process that a test starts may import this file, and must not run the tests again.
if __name__ == "__main__":
    sys.exit(main())
