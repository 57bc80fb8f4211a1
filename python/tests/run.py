"""The tests of the package, by pytest; skipped aloud where NumPy or pytest is missing."""
import importlib.util
import sys
from pathlib import Path

SKIPPED = 77

missing = [name for name in ("numpy", "pytest") if importlib.util.find_spec(name) is None]
if missing:
    print(f"skipped: {sys.executable} has no {' and no '.join(missing)}")
    sys.exit(SKIPPED)

import pytest  # noqa: E402

folder = Path(__file__).parent
sys.exit(pytest.main(["-p", "no:cacheprovider", "-rs", str(folder)]))
