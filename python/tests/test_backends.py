"""Tests the result of backends() on this machine, and on other machines that a substitute for the CUDA driver
simulates."""
import ctypes
import os
import subprocess
import sys

import pytest

import cuda_opt
from cuda_opt import _backends

NO_DEVICE = "the CUDA backend was asked for, but there is no CUDA device, or no driver for it"


class Driver:
    """A substitute for libcuda.so.1 that reports one GPU or none. It has the functions of the driver that the package
    calls."""

    def __init__(self, devices=1, capability=(9, 0), version=13000, status=0):
        self.devices, self.capability, self.version, self.status = devices, capability, version, status

    def cuInit(self, flags):
        return self.status

    def _answer(self, pointer, value, kind=ctypes.c_int):
        ctypes.cast(pointer, ctypes.POINTER(kind))[0] = value
        return 0

    def cuDeviceGetCount(self, count):
        return self._answer(count, self.devices)

    def cuDeviceGet(self, device, index):
        return self._answer(device, index)

    def cuDeviceGetName(self, name, length, device):
        name.value = b"Test GPU"
        return 0

    def cuDeviceGetAttribute(self, value, attribute, device):
        return self._answer(value, self.capability[{75: 0, 76: 1}[attribute]])

    def cuDriverGetVersion(self, version):
        return self._answer(version, self.version)


@pytest.mark.parametrize(
    ("failure", "driver", "reason", "device"),
    [
        (NO_DEVICE, None, "there is no NVIDIA driver: libcuda.so.1 is not found", ""),
        (NO_DEVICE, Driver(devices=0), "the NVIDIA driver finds no GPU", ""),
        (NO_DEVICE, Driver(status=100), "the NVIDIA driver finds no GPU", ""),
        (NO_DEVICE, Driver(status=999), "the NVIDIA driver does not start: its error is 999", ""),
        (
            NO_DEVICE,
            Driver(version=12040),
            "the NVIDIA driver is too old: it supports CUDA 12.4, and the library was built with a later one",
            "Test GPU (compute capability 9.0)",
        ),
        (
            "the CUDA device is older than compute capability 8.0",
            Driver(capability=(7, 5)),
            "Test GPU (compute capability 7.5) is too old: compute capability 8.0 or later is needed",
            "Test GPU (compute capability 7.5)",
        ),
        (
            "no kernel image is available",
            Driver(capability=(8, 6)),
            "no kernel image is available; the GPU is Test GPU (compute capability 8.6)",
            "Test GPU (compute capability 8.6)",
        ),
        ("", Driver(), "", "Test GPU (compute capability 9.0)"),
    ],
)
def test_the_reason_and_the_device_name_follow_from_the_driver(failure, driver, reason, device):
    assert _backends._explain(failure, driver) == (reason, device)


@pytest.mark.parametrize("driver", [None, Driver(), Driver(devices=0)])
def test_a_library_built_without_cuda_gives_that_reason_on_every_machine(driver):
    reason, _ = _backends._explain("the CUDA backend was asked for, but the library was built without CUDA", driver)
    assert reason == "this library was built without CUDA; install cuda-opt-cu13, or build it with nvcc"


def test_backends_reports_host_and_cuda_on_this_machine():
    found = cuda_opt.backends()
    assert list(found) == ["host", "cuda"]
    assert found["host"].works and not found["host"].reason and str(os.cpu_count()) in found["host"].device
    assert found["cuda"].works == (not found["cuda"].reason)
    if os.environ.get("CUDA_OPT_TEST_REQUIRE_CUDA"):
        assert found["cuda"].works


def test_a_backend_that_fails_has_the_message_of_the_library_as_reason(monkeypatch):
    monkeypatch.setattr(_backends, "BACKEND_HOST", 7)
    assert "backend" in cuda_opt.backends()["host"].reason


def test_python_m_cuda_opt_prints_the_version_and_the_backends():
    done = subprocess.run([sys.executable, "-m", "cuda_opt"], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    first, host, cuda = done.stdout.splitlines()
    assert first == f"cuda_opt {cuda_opt.version}"
    assert host.startswith("host: works on ")
    assert cuda.startswith("cuda: works on ") or cuda.startswith("cuda: does not work: ")
