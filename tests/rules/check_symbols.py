#!/usr/bin/env python3
"""Usage: check_symbols.py SOURCE_ROOT

Checks that the table of symbols in docs/algorithm.md matches the code: every name in its third column occurs in a file
that its fourth column names."""
import re
import sys
from pathlib import Path

root = Path(sys.argv[1])
table = (root / "docs/algorithm.md").read_text().split("## Symbols")[1].split("\n## ")[0]
broken, names = [], 0
for row in re.findall(r"^\| .* \|$", table, re.M):
    cells = re.split(r"(?<!\\)\|", row.strip("|"))
    if len(cells) != 4:
        broken.append(f"not four cells: {row}")
        continue
    symbol, _, code, where = (cell.strip() for cell in cells)
    # A file without a folder is in the folder of the file before it, or in lbfgsb/.
    texts, folder = [], "lbfgsb"
    for file in re.findall(r"[\w/]+\.[hc]pp", where):
        folder, _, name = file.rpartition("/") if "/" in file else (folder, "", file)
        path = root / "lib" / folder / name
        texts.append(path.read_text() if path.is_file() else "")
        if not path.is_file():
            broken.append(f"{symbol}: no file lib/{folder}/{name}")
    for quoted in re.findall(r"`(.*?)`", code):
        for name in re.findall(r"[A-Za-z_]\w{2,}", quoted):
            names += 1
            if not any(re.search(rf"\b{name}\b", text) for text in texts):
                broken.append(f"{symbol}: {name} is not in {where}")

print("\n".join(broken) or f"{names} names are where the table says")
sys.exit(1 if broken or not names else 0)
