"""Compares the prototypes of the C functions in the package with the C header. ``tests/rules/check_interfaces.py``
compares the constants."""
import ctypes
import ctypes.util
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import pytest

import cuda_opt
from cuda_opt import _constants, _library

HEADER = Path(__file__).parents[2] / "include/cuda_opt.h"
OTHERS = [HEADER.parent / name for name in ("cuda_opt/ranks.h", "cuda_opt_batch.h")]
# The package does not call these functions of the C interface. The enumeration Task already has the names of the tasks.
NOT_CALLED = {"task_name"}


@pytest.fixture(scope="module")
def header():
    if not HEADER.exists():
        pytest.skip("no include/cuda_opt.h beside the tests")
    return re.sub(r"/\*.*?\*/", "", "".join(path.read_text() for path in [HEADER, *OTHERS]), flags=re.S)


def test_the_type_of_each_key_agrees_with_the_library():
    """The package reads each key of a setting or result by the function for its type, integer or real. The C library
    rejects a key in the function for the other type, so that each key has to be readable from at least one handle."""
    solver = cuda_opt.Solver(3)
    search = cuda_opt._handle.Handle(_library.library.cuda_opt_create_search, solver._space, 3, 2)
    batch = cuda_opt._handle.Handle(_library.library.cuda_opt_create_batch, solver._space, 3, 2, 5)
    for name in [*_constants.INTEGERS, *_constants.REALS]:
        read = []
        for handle in (solver, search, batch):
            try:
                read.append(handle[name])
            except cuda_opt.ImproperInput:
                pass
        assert read, name


def test_prototypes_agree_with_the_header(header):
    functions = dict(re.findall(r"^CUDA_OPT_API .*?cuda_opt_(\w+)\((.*?)\);", header, re.M | re.S))
    assert functions.keys() - NOT_CALLED == _library._PROTOTYPES.keys()
    types = {ctypes.c_int64: "int64_t", ctypes.c_int32: "int32_t", ctypes.c_double: "double", ctypes.c_float: "float"}
    for name, (_, *arguments) in _library._PROTOTYPES.items():
        text = functions[name].strip()
        declared = [] if text == "void" else re.split(r",(?![^()]*\))", text)
        assert len(arguments) == len(declared), name
        for kind, declaration in zip(arguments, declared):
            if kind in types:
                assert declaration.split()[0] == types[kind] and "*" not in declaration, (name, declaration)
            else:
                assert "*" in declaration, (name, declaration)


def test_the_version_agrees_with_the_header(header):
    parts = re.findall(r"#define CUDA_OPT_VERSION_\w+ (\d+)", header)
    assert cuda_opt.__version__ == cuda_opt.version == ".".join(parts)


def test_exceptions_derive_from_builtin_ones_and_can_be_pickled():
    assert issubclass(cuda_opt.ImproperInput, (cuda_opt.Error, ValueError))
    assert issubclass(cuda_opt.OutOfMemory, MemoryError)
    error = pickle.loads(pickle.dumps(_library.error(-3, "no")))
    assert (type(error), error.code, str(error)) == (cuda_opt.ImproperInput, cuda_opt.Task.IMPROPER_INPUT, "no")


def test_a_library_that_lacks_a_function_is_rejected():
    """A shared library that lacks a function, such as an older build, is rejected with a message of one line. The test
    uses the mathematical library of C, which has none of the functions."""
    libm = ctypes.util.find_library("m")
    if libm is None:
        pytest.skip("there is no libm")
    environment = {**os.environ, "CUDA_OPT_LIBRARY": libm}
    done = subprocess.run([sys.executable, "-c", "import cuda_opt"], env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(f"ImportError: {libm} has no function cuda_opt_create: it is not a library of cuda_opt")
