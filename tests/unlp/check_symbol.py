#!/usr/bin/env python3
"""Usage: check_symbol.py SOURCE_ROOT VERSION

Checks that the installed libcuda_opt_unlp exports only the manual's cuda_opt_unlp_solve, has a versioned soname, and
calls libcuda_opt. Both libraries have a function of this name, with different orders of the callback's arguments.
Programs and dlsym must find the intended one, independent of the order of the libraries. The script with_installed runs
this program."""
import ctypes
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

ROOT, VERSION, *NAMES = Path(sys.argv[1]), *sys.argv[2:]  # NAMES are passed by LookedUp
SAYS = "code = 0, istate = 0, info = 1, x[9] = 9.0000\n"


def output(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def pkg_config(*arguments):
    return output("pkg-config", *arguments).split()


LIBDIR = Path(*pkg_config("--variable=libdir", "cuda_opt_unlp"))
SMALL, WHOLE = LIBDIR / "libcuda_opt_unlp.so", LIBDIR / "libcuda_opt.so"


class Library(unittest.TestCase):
    def test_only_the_solve_is_exported(self):
        symbols = [line.split() for line in output("nm", "--dynamic", "--defined-only", SMALL).splitlines()]
        self.assertEqual([name for *_, kind, name in symbols if kind != "A"], ["cuda_opt_unlp_solve"])

    def test_file_name_and_soname_have_the_version(self):
        dynamic = output("readelf", "--dynamic", SMALL)
        major = VERSION.split(".")[0]
        self.assertEqual(re.findall(r"\(SONAME\).*\[(.*)\]", dynamic), [f"libcuda_opt_unlp.so.{major}"])
        self.assertIn(f"[libcuda_opt.so.{major}]", dynamic)
        self.assertEqual(SMALL.resolve().name, f"libcuda_opt_unlp.so.{VERSION}")
        self.assertEqual(pkg_config("--modversion", "cuda_opt_unlp"), [VERSION])

    def test_pkg_config_names_the_small_library_first(self):
        libraries = [flag for flag in pkg_config("--libs", "cuda_opt_unlp") if flag.startswith("-l")]
        self.assertEqual(libraries, ["-lcuda_opt_unlp", "-lcuda_opt"])


class Programs(unittest.TestCase):
    def built_and_run(self, source, *flags):
        strict = ("-std=c11", "-pedantic", "-Wall", "-Wextra", "-Werror")
        subprocess.run(["cc", *strict, ROOT / "tests/unlp" / source, *flags, "-o", "program"], check=True)
        return output("./program")

    def test_program_with_its_own_prototype(self):
        flags = pkg_config("--cflags", "--libs", "cuda_opt_unlp")
        self.assertEqual(self.built_and_run("own_prototype.c", *flags), SAYS)

    def test_program_that_is_linked_only_with_the_small_library(self):
        """The loader finds libcuda_opt through the small library."""
        source = (ROOT / "tests/unlp/own_prototype.c").read_text()
        Path("alone.c").write_text(source.replace("cuda_opt_unlp_set_iprint(-1, 0);", "")
                                   .replace("cuda_opt_unlp_info()", "1"))
        subprocess.run(["cc", "alone.c", f"-L{LIBDIR}", "-lcuda_opt_unlp", f"-Wl,-rpath-link,{LIBDIR}", "-o", "alone"],
                       check=True)
        needed = re.findall(r"\(NEEDED\).*\[(libcuda_opt.*)\]", output("readelf", "--dynamic", "alone"))
        self.assertEqual(needed, ["libcuda_opt_unlp.so." + VERSION.split(".")[0]])
        printed = output("./alone")
        self.assertTrue(printed.startswith("Xtol: 2.220446e-16\n") and printed.endswith(SAYS), printed)

    def test_other_order_of_arguments_with_either_library_first(self):
        libraries = ["-lcuda_opt", "-lcuda_opt_unlp"]
        for order in (libraries[:1], libraries, libraries[::-1]):
            with self.subTest(order=order):
                flags = [*pkg_config("--cflags", "cuda_opt"), f"-L{LIBDIR}", "-Wl,--no-as-needed", *order]
                self.assertEqual(self.built_and_run("both_orders.c", *flags), "code = 0, again 0, x[9] = 9.0000\n")


N = 10
POINTER = ctypes.POINTER(ctypes.c_double)


def fill(x, f, g, n):
    f[0] = 0
    for i in range(n):
        g[i] = x[i] - i
        f[0] += g[i] * g[i] / 2


ORDERS = {
    SMALL: ctypes.CFUNCTYPE(None, POINTER, POINTER, POINTER, ctypes.c_int)(fill),
    WHOLE: ctypes.CFUNCTYPE(None, ctypes.c_int, POINTER, POINTER, POINTER)(lambda n, x, f, g: fill(x, f, g, n)),
}


def solve(library, path):
    """Solves by the symbol that is looked up in this library. Returns the code, the last element of x and the state."""
    library.cuda_opt_unlp_set_iprint(-1, 0)
    x, f, g = ((ctypes.c_double * size)() for size in (N, 1, N))
    state = ctypes.c_int(0)
    code = library.cuda_opt_unlp_solve(N, 5, ORDERS[path], x, f, g, None, None, ctypes.c_double(1e-5),
                                       ctypes.byref(state))
    return code, round(x[N - 1], 4), state.value


class LookedUp(unittest.TestCase):
    """The symbols are looked up by dlsym. Each order of loading is tested in its own process."""

    def test_each_library_finds_its_own_symbol(self):
        for order in ("SMALL", "WHOLE", "SMALL WHOLE", "WHOLE SMALL"):
            for mode in "RTLD_LOCAL", "RTLD_GLOBAL":
                with self.subTest(order=order, mode=mode):
                    printed = output(sys.executable, __file__, ROOT, VERSION, *order.split(),
                                     env={**os.environ, "MODE": mode})
                    self.assertEqual(printed.splitlines(), ["(0, 9.0, 0)"] * len(order.split()))


if __name__ == "__main__":
    if "MODE" in os.environ:
        paths = [{"SMALL": SMALL, "WHOLE": WHOLE}[name] for name in NAMES]
        loaded = [(ctypes.CDLL(path, mode=getattr(ctypes, os.environ["MODE"])), path) for path in paths]
        for one in loaded:
            print(solve(*one))
    else:
        unittest.main(argv=sys.argv[:1], verbosity=2)
