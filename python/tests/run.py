"""Runs the tests of the package by pytest. If NumPy or pytest is missing, it says so and exits with the status for
skipped tests."""
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


if __name__ == "__main__":  # processes that a test starts may import this file
    sys.exit(main())
