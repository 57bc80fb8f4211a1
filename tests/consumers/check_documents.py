#!/usr/bin/env python3
"""Usage: check_documents.py SOURCE_ROOT

Executes the code blocks of README.md, docs/*.md and docs/notes/*.md, each document in a separate folder. The program is
run by with_installed. Each fenced code block has a tag:

    c cpp fortran cuda    a file. Its first line names it in a comment, and a sh block of the document uses it. C, C++
    cmake meson python    and Fortran are also compiled with all warnings as errors. python3 is the interpreter that
                          CUDA_OPT_TEST_PYTHON names, and blocks that import a package that it lacks are skipped
    sh                    commands that are run with bash -e, if they contain nvcc only if nvcc is available
    text                  directly after a sh block its expected output, where ... stands for any text. Otherwise prose

Blocks without a tag are allowed only in reports that programs write.

A comment on the line above a sh block, <!-- not run: WHY --> or <!-- needs a CUDA device -->, says when the block is
not run. Blocks that are not run are skipped, with a message.

Properties of the machine are determined once for all blocks: whether each Python package can be imported, and whether
there is a device. Without a device, programs compiled by nvcc are not run, so nvcc uses few optimisations."""
import doctest
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(sys.argv.pop(1)).resolve()
FILES = {"c", "cpp", "fortran", "cuda", "cmake", "meson", "python"}
BLOCK = re.compile(r"^(?:<!-- (?P<note>.*?) -->\n)?^```(?P<tag>.*)\n(?P<text>(?:.*\n)*?)^```$", re.M)
FILE_NAME = re.compile(r"^(?://|/\*|!|#) *([\w.]+)")
STRICT = ["-pedantic", "-Wall", "-Wextra", "-Werror"]
# If these programs are missing, the blocks that call them are skipped, and so are the blocks that use their results.
PROGRAMS = ("nvcc", "gfortran", "cmake", "meson", "batch_program", "cvt_program", "driver_program")


@dataclass
class Block:
    line: int
    tag: str
    text: str
    note: str
    output: str = None  # the expected output of a sh block, if the document contains it

    @property
    def file_name(self):
        found = FILE_NAME.match(self.text)
        return found and found[1]


def blocks_of(text):
    blocks, end = [], 0
    for found in BLOCK.finditer(text):
        line = text.count("\n", 0, found.start("tag")) + 1
        block = Block(line, found["tag"].strip(), found["text"], found["note"] or "")
        if block.tag == "text" and blocks and blocks[-1].tag == "sh" and not text[end : found.start()].strip():
            blocks[-1].output = block.text
        blocks.append(block)
        end = found.end()
    return blocks


def run(command, folder, **options):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, **options)
    return done.returncode, done.stdout, done.stderr


def provide_python():
    """Puts a python3 on the search path that has the packages of the tests and the package of this source tree."""
    interpreter = os.environ.get("CUDA_OPT_TEST_PYTHON")
    if interpreter:
        folder = Path(tempfile.mkdtemp(dir="."), "bin").resolve()
        folder.mkdir()
        program = folder / "python3"
        program.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT / "python"} exec {interpreter} -B "$@"\n')
        program.chmod(0o755)
        os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"


@functools.lru_cache(maxsize=None)
def is_missing(package):
    """Returns whether the interpreter lacks this package. It runs in a folder without the files of the documents."""
    status, _, err = run(["python3", "-c", f"import {package}"], ".")
    return status != 0 and f"No module named '{package}'" in err


def missing_package(texts, own):
    """Returns the first package that Python files import and that neither the document nor python3 has, or None."""
    text = "\n".join(texts)
    names = re.findall(r"^\s*from (\w+)", text, re.M)
    for line in re.findall(r"^\s*import (.*)", text, re.M):
        names += re.findall(r"(?:^|, )(\w+)", line)
    return next((name for name in sorted({"numpy", *names} - own) if is_missing(name)), None)


@functools.lru_cache(maxsize=None)
def has_device():
    with tempfile.TemporaryDirectory() as folder:
        status, _, _ = run(["driver_program", "2", "1", "--backend", "cuda", "--iprint", "-1"], folder)
    return status == 0


def compile_fast_without_device():
    """Uses a flag of CUDA 13. An nvcc without this flag compiles as usual."""
    if not shutil.which("nvcc") or os.environ.get("CUDA_OPT_TEST_REQUIRE_CUDA"):
        return
    if shutil.which("driver_program") and has_device():
        return
    _, options, _ = run(["nvcc", "--help"], ".")
    if "(-Ofc)" in options:
        os.environ["NVCC_APPEND_FLAGS"] = f"{os.environ.get('NVCC_APPEND_FLAGS', '')} -Ofc max".strip()


class Document(unittest.TestCase):
    """The tests of one document. There is one test per block, and they are run in the order of the document."""

    folder = None
    unbuilt = False  # whether a command was skipped because its program is missing

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.__name__).resolve()
        cls.folder.mkdir()
        for block in cls.blocks:
            if block.tag in FILES and block.file_name:
                (cls.folder / block.file_name).write_text(block.text)

    def expect_success(self, result):
        status, out, err = result
        self.assertEqual(status, 0, f"\n{out}{err}")
        return out

    def check_tag(self, block):
        self.assertIn(block.tag, FILES | {"sh", "text"})

    def check_file(self, block):
        self.assertTrue(block.file_name, "the first line names no file")
        self.assertTrue(
            any(other.tag == "sh" and self.is_named(block.file_name, other.text) for other in self.blocks),
            f"no sh block uses {block.file_name}",
        )
        include = subprocess.run(
            ["pkg-config", "--cflags", self.package(block)], check=True, capture_output=True, text=True
        )
        compilers = {
            "c": ["cc", "-std=c11"],
            "cpp": ["c++", "-std=c++17"],
            "fortran": ["gfortran", "-std=f2008", f"-J{tempfile.mkdtemp(dir=self.folder)}", *self.fortran_modules()],
        }
        if block.tag == "python":
            compile(block.text, block.file_name, "exec")
            self.assertTrue(is_missing(block.file_name.removesuffix(".py")), "the file shadows an installed package")
        if block.tag not in compilers:
            return
        if not shutil.which(compilers[block.tag][0]):
            self.skipTest(f"no {compilers[block.tag][0]}")
        command = [*compilers[block.tag], *STRICT, "-fsyntax-only", *include.stdout.split(), block.file_name]
        self.expect_success(run(command, self.folder))

    def package(self, block):
        """Returns the pkg-config package whose flags the document uses to compile the file."""
        users = (other.text for other in self.blocks if other.tag == "sh" and block.file_name in other.text)
        found = re.search(r"pkg-config --cflags --libs (\w+)", "".join(users))
        return found[1] if found else "cuda_opt"

    @staticmethod
    def is_named(file_name, commands):
        """CMake and Meson find their files by name."""
        return {"CMakeLists.txt": "cmake ", "meson.build": "meson "}.get(file_name, file_name) in commands

    @staticmethod
    def fortran_modules():
        done = subprocess.run(["pkg-config", "--variable=fortran_modules", "cuda_opt"], capture_output=True, text=True)
        return done.stdout.split()

    def check_sh(self, block):
        if block.note.startswith("not run: "):
            self.skipTest(block.note)
        for program in PROGRAMS:
            if re.search(rf"\b{program} ", block.text) and not shutil.which(program):
                type(self).unbuilt = True
                self.skipTest(f"no {program}")
        for program in re.findall(r"^\./(\w+)", block.text, re.M):
            if self.unbuilt and not (self.folder / program).exists():
                self.skipTest(f"{program} was not built")
        if "python3 " in block.text:
            files = {other.file_name: other.text for other in self.blocks if other.tag == "python"}
            own = {name.removesuffix(".py") for name in files}
            if missing := missing_package([text for name, text in files.items() if name in block.text], own):
                self.skipTest(f"no {missing}")
        if block.note == "needs a CUDA device":
            if not shutil.which("driver_program"):
                self.skipTest("no driver_program to tell whether there is a CUDA device")
            if not has_device():
                self.assertFalse(os.environ.get("CUDA_OPT_TEST_REQUIRE_CUDA"), "CUDA is required")
                self.skipTest("no CUDA device")
        elif block.note:
            self.fail(f"unknown note: {block.note}")
        out = self.expect_success(run(["bash", "-euo", "pipefail", "-c", block.text], self.folder))
        if block.output is not None:
            same = doctest.OutputChecker().check_output(block.output, out, doctest.ELLIPSIS)
            self.assertTrue(same, f"\nshould print\n{block.output}but prints\n{out}")


def test_of(block):
    def test(self):
        self.check_tag(block)
        if block.tag in FILES:
            self.check_file(block)
        elif block.tag == "sh":
            self.check_sh(block)

    return test


def load_tests(loader, *_):
    provide_python()
    compile_fast_without_device()
    # otherwise JAX would allocate most of the device's memory
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    suite = unittest.TestSuite()
    pages = [path for folder in ("docs", "docs/notes") for path in sorted((ROOT / folder).glob("*.md"))]
    for path in [ROOT / "README.md", *pages]:
        blocks = blocks_of(path.read_text())
        tests = {f"test_line_{block.line:03}_{block.tag or 'without_tag'}": test_of(block) for block in blocks}
        # docs/notes contains file names that docs also contains
        name = "_".join(path.relative_to(ROOT).with_suffix("").parts)
        case = type(name, (Document,), {"blocks": blocks, **tests})
        suite.addTests(loader.loadTestsFromTestCase(case))
    return suite


if __name__ == "__main__":
    unittest.main(verbosity=2)
