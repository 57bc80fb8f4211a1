#!/usr/bin/env python3
"""Usage: check_dockerfile.py SOURCE_ROOT

Checks that packaging/Dockerfile is well formed, copies only files that exist, and uses only Meson options that exist.
If hadolint is installed, it must report nothing."""
import re
import shutil
import subprocess
import sys
from pathlib import Path

root = Path(sys.argv[1])
path = root / "packaging/Dockerfile"
lines = [line for line in path.read_text().splitlines() if not line.lstrip().startswith("#")]
instructions = [line.split(None, 1) for line in re.sub(r"\\\n", " ", "\n".join(lines)).splitlines() if line.strip()]
known = {"ARG", "FROM", "SHELL", "RUN", "COPY", "WORKDIR", "ENV", "USER", "CMD"}
broken = [f"no instruction: {words[0]}" for words in instructions if words[0] not in known or len(words) < 2]
if [words[0] for words in instructions[:2]] != ["ARG", "FROM"]:
    broken.append("it has to begin with ARG BASE and FROM")
if instructions[-2:][0][0] != "WORKDIR" or not any(words[0] == "USER" for words in instructions):
    broken.append("it has to end as a user, in a folder")

stages = {name for name in re.findall(r"^FROM \S+ AS (\w+)$", path.read_text(), re.M)}
for kind, rest in instructions:
    if kind == "COPY":
        words = rest.split()
        stage = [word.removeprefix("--from=") for word in words if word.startswith("--from=")]
        if stage and stage[0] not in stages:
            broken.append(f"COPY: there is no stage {stage[0]}")
        broken += [f"COPY: the tree has no {word}" for word in words[:-1] if not stage and not (root / word).exists()]
    if kind == "RUN":
        if subprocess.run(["bash", "-n"], input=rest, text=True).returncode:
            broken.append(f"RUN: bash does not take: {rest}")
        options = set(re.findall(r"^option\('([\w-]+)'", (root / "meson_options.txt").read_text(), re.M))
        broken += [f"Meson has no option {name}" for name in re.findall(r" -D([\w-]+)=", rest) if name not in options]
        broken += [f"the tree has no {name}" for name in re.findall(r"cp -r (\S+)", rest) if not (root / name).is_dir()]

if hadolint := shutil.which("hadolint"):
    done = subprocess.run([hadolint, str(path)], capture_output=True, text=True)
    broken += (done.stdout + done.stderr).splitlines() if done.returncode else []
else:
    print("hadolint is not installed: the file was parsed only")
print("\n".join(broken) or f"{len(instructions)} instructions")
sys.exit(1 if broken else 0)
