"""The build backend of pyproject.toml: meson-python, with the CUDA compiler that tools/find_nvcc finds.

`pip install . --config-settings=cuda-compiler=pypi` lets pip fetch NVIDIA's compiler from PyPI into the environment in
which it builds the wheel; no CUDA toolkit is needed then. --config-settings=xla-headers=pypi lets it fetch the jaxlib
whose headers are needed for solves within JAX programs. pip shows what this module prints if it is called with -v."""
import site
import subprocess
import sys
from pathlib import Path

import mesonpy

_TOOLS = Path(__file__).resolve().parent
# The release whose compiler the tests of CUDA code are run with, as in tools/setup.
# The oldest jaxlib with all that the handler needs: what is compiled with its headers runs in later versions, too.
_JAXLIB = ["jaxlib == 0.5.3"]
_COMPILER = [f"nvidia-{part} == 13.0.*" for part in ("cuda-nvcc", "nvvm", "cuda-crt", "cuda-runtime", "cuda-cccl")]


def _split(settings):
    """meson-python's own settings, and whether the compiler and XLA's headers are to be fetched from PyPI."""
    settings = dict(settings or {})
    fetched = []
    for name in "cuda-compiler", "xla-headers":
        fetched.append(settings.pop(name, None))
        if fetched[-1] not in (None, "pypi"):
            raise SystemExit(f"cuda_opt: the setting {name} can only be pypi, not {fetched[-1]!r}")
    return settings, *(what == "pypi" for what in fetched)


def _from_pypi():
    """The compiler in the environment in which pip runs this module."""
    for folder in [*sys.path, *site.getsitepackages()]:
        nvcc = Path(folder) / "nvidia/cu13/bin/nvcc"
        if nvcc.exists():
            return str(nvcc)
    raise SystemExit("cuda_opt: cuda-compiler=pypi, but nvidia-cuda-nvcc is not installed beside meson-python")


def _choose_compiler(settings):
    """The settings, with a file for Meson that names the compiler. The user is told which it is."""
    settings, pypi, _ = _split(settings)
    arguments = settings.get("setup-args", [])
    arguments = [arguments] if isinstance(arguments, str) else list(arguments)
    if "-Dcuda=disabled" in arguments:
        return settings
    if pypi:
        nvcc = _from_pypi()
    else:
        nvcc = subprocess.run([_TOOLS / "find_nvcc"], stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
    if not nvcc:
        print("cuda_opt: there is no nvcc, so the host backend alone is built; "
              "--config-settings=cuda-compiler=pypi fetches a compiler", flush=True)
        return settings
    print(f"cuda_opt: the CUDA backend is compiled by {nvcc}", flush=True)
    # Meson reads no environment variable for nvcc. The file stays, because an editable installation configures again.
    file = _TOOLS.parent / "build-pip/nvcc.ini"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"[binaries]\ncuda = ['{_TOOLS / 'nvcc'}', '{nvcc}']\n")
    return {**settings, "setup-args": [f"--native-file={file}", *arguments]}


def _fetched(settings):
    """The packages that pip has to fetch because of the settings."""
    _, compiler, headers = _split(settings)
    return (_COMPILER if compiler else []) + (_JAXLIB if headers else [])


def get_requires_for_build_wheel(config_settings=None):
    return mesonpy.get_requires_for_build_wheel(_split(config_settings)[0]) + _fetched(config_settings)


def get_requires_for_build_editable(config_settings=None):
    return mesonpy.get_requires_for_build_editable(_split(config_settings)[0]) + _fetched(config_settings)


def get_requires_for_build_sdist(config_settings=None):
    return mesonpy.get_requires_for_build_sdist(_split(config_settings)[0])


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return mesonpy.build_wheel(wheel_directory, _choose_compiler(config_settings), metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return mesonpy.build_editable(wheel_directory, _choose_compiler(config_settings), metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    return mesonpy.build_sdist(sdist_directory, _split(config_settings)[0])
