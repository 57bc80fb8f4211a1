"""The build backend of pyproject.toml: meson-python, with the CUDA compiler that tools/find_nvcc finds.

`pip install . --config-settings=cuda-compiler=pypi` lets pip fetch NVIDIA's compiler from PyPI into the environment in
which it builds the wheel; no CUDA toolkit is needed then. pip shows what this module prints if it is called with -v."""
import site
import subprocess
import sys
from pathlib import Path

import mesonpy

_TOOLS = Path(__file__).resolve().parent
# The release whose compiler the tests of CUDA code are run with, as in tools/setup.
_COMPILER = [f"nvidia-{part} == 13.0.*" for part in ("cuda-nvcc", "nvvm", "cuda-crt", "cuda-runtime", "cuda-cccl")]


def _split(settings):
    """meson-python's own settings, and whether the compiler of PyPI is to be used."""
    settings = dict(settings or {})
    compiler = settings.pop("cuda-compiler", None)
    if compiler not in (None, "pypi"):
        raise SystemExit(f"cuda_opt: the setting cuda-compiler can only be pypi, not {compiler!r}")
    return settings, compiler == "pypi"


def _from_pypi():
    """The compiler in the environment in which pip runs this module."""
    for folder in [*sys.path, *site.getsitepackages()]:
        nvcc = Path(folder) / "nvidia/cu13/bin/nvcc"
        if nvcc.exists():
            return str(nvcc)
    raise SystemExit("cuda_opt: cuda-compiler=pypi, but nvidia-cuda-nvcc is not installed beside meson-python")


def _choose_compiler(settings):
    """The settings, with a file for Meson that names the compiler. The user is told which it is."""
    settings, pypi = _split(settings)
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


def get_requires_for_build_wheel(config_settings=None):
    settings, pypi = _split(config_settings)
    return mesonpy.get_requires_for_build_wheel(settings) + (_COMPILER if pypi else [])


def get_requires_for_build_editable(config_settings=None):
    settings, pypi = _split(config_settings)
    return mesonpy.get_requires_for_build_editable(settings) + (_COMPILER if pypi else [])


def get_requires_for_build_sdist(config_settings=None):
    return mesonpy.get_requires_for_build_sdist(_split(config_settings)[0])


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return mesonpy.build_wheel(wheel_directory, _choose_compiler(config_settings), metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return mesonpy.build_editable(wheel_directory, _choose_compiler(config_settings), metadata_directory)


def build_sdist(sdist_directory, config_settings=None):
    return mesonpy.build_sdist(sdist_directory, _split(config_settings)[0])
