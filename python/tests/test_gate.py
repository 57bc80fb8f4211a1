"""Tests that cuda_opt accepts an array only if it has the required properties, and that each step checks that these
properties have not changed since cuda_opt stored the address of the array."""
import numpy as np
import pytest

import cuda_opt
from cuda_opt._gate import Memory, admit
from cuda_opt._handle import integer, stream_number

GIVEN = Memory(4096, "float64", (3, 4), (32, 8), 96, False, "cpu")


@pytest.mark.parametrize(
    "change, kind, text",
    [
        ({"dtype": "float32"}, TypeError, "x has elements of float32, but float64 is needed"),
        ({"dtype": "complex128"}, TypeError, "x has elements of complex128"),
        ({"shape": (4, 3)}, ValueError, r"x has the shape \(4, 3\), not \(3, 4\)"),
        ({"shape": (12,)}, ValueError, r"x has the shape \(12,\)"),
        ({"strides": (8, 24)}, ValueError, r"x is not contiguous: its strides are \(8, 24\) bytes"),
        ({"strides": (32, -8)}, ValueError, "x is not contiguous"),
        ({"strides": (0, 8)}, ValueError, "x is not contiguous"),
        ({"size": 95}, ValueError, "x has 95 bytes of memory, but 96 bytes are needed"),
        ({"size": 48}, ValueError, "x has 48 bytes of memory"),
        ({"size": None, "address": 0}, ValueError, "x has no memory, but 96 bytes are needed"),
        ({"address": 4100}, ValueError, "x is not aligned"),
        ({"read_only": True}, ValueError, "x is read-only"),
        ({"device": "cuda:1"}, ValueError, "x is on the device cuda:1, but x0 on cpu"),
    ],
)
def test_an_array_without_a_required_property_is_rejected(change, kind, text):
    assert admit(GIVEN, "x", "float64", (3, 4), device="cpu", written=True) == 4096
    with pytest.raises(kind, match=text):
        admit(GIVEN._replace(**change), "x", "float64", (3, 4), device="cpu", written=True)


def test_unknown_and_irrelevant_properties_of_an_array_are_accepted():
    """These arrays are accepted: an array whose library does not report its strides, size or device; an array with
    unusual strides along axes of length 0 or 1; and an array that is a part of a larger allocation."""
    assert admit(GIVEN._replace(strides=None, size=None, device=None), "x", "float64", (3, 4), device="cpu") == 4096
    assert admit(Memory(8, "float64", (1, 3), (-7, 8), 1000), "x", "float64", (1, 3)) == 8
    assert admit(Memory(0, "float32", (0, 3), (9, 9)), "x", "float32", (0, 3)) == 0
    assert admit(Memory(16, "int64", (), ()), "x", "int64", ()) == 16


@pytest.mark.parametrize("elements", [0, 10, 5000])
@pytest.mark.parametrize("what", ["x0", "the gradient", "the value of the function", "the lower bound", "the diagonal"])
def test_a_resized_numpy_array_is_detected_at_the_next_step(what, elements):
    """If a NumPy array is resized between two steps, the next step raises an exception. This also holds if x is a view
    of the array. The argument refcheck=False disables NumPy's own check for references."""
    x, lower = np.ones(50), np.zeros(50)
    solver = cuda_opt.Solver(x[:], bounds=cuda_opt.Bounds(lower, None), diagonal=True)
    next(solver)
    arrays = {"x0": x, "the gradient": solver._g, "the value of the function": solver._f, "the lower bound": lower,
              "the diagonal": solver.diagonal}
    arrays[what].resize(elements, refcheck=False)
    for use in (lambda: next(solver), solver.reset, lambda: solver.load(b"")):
        with pytest.raises(ValueError, match=f"{what} has {8 * elements} bytes of memory, but the solver was given"):
            use()
    solver.close()


def test_a_resized_array_of_a_batch_is_detected():
    lower = np.zeros(3)

    def fun(x):
        lower.resize(1, refcheck=False)
        return (x**4).sum(1), 4 * x**3

    with pytest.raises(ValueError, match="the lower bound has 8 bytes of memory, but the solver was given 24 bytes"):
        cuda_opt.minimize_batch(fun, np.ones((5, 3)), bounds=cuda_opt.Bounds(lower, np.ones(3)))


@pytest.mark.parametrize("value", [2**31, -(2**31), 2**32, 2**40, 2**64, 2**100, 1.5, np.nan, np.inf, "1", None, 1j])
def test_values_that_are_not_integers_of_32_bits_are_rejected(value):
    with pytest.raises(ValueError, match="n is .*: it has to be an integer of at most 32 bits"):
        integer(value, "n", 32)


def test_integers_of_any_type_are_accepted_within_their_range():
    for value in (0, 7, np.int32(7), 7.0, np.float64(7), True, -(2**31) + 1, 2**31 - 1):
        assert integer(value, "n", 32) == value
    assert integer(2**63 - 1, "n") == 2**63 - 1
    with pytest.raises(ValueError, match="n is 9223372036854775808: it has to be an integer of at most 64 bits"):
        integer(2**63, "n")
    with pytest.raises(ValueError, match="n is 0: it has to be an integer of at most 64 bits, and at least 1"):
        integer(0, "n", 64, 1)


def test_a_stream_has_to_be_an_address_of_64_bits():
    class Stream:
        cuda_stream = 2**64 + 8

    assert stream_number(2**64 - 1) == 2**64 - 1
    for stream in (2**64, -1, Stream()):
        with pytest.raises(ValueError, match="stream is .*: it has to be an address, from 0 to"):
            stream_number(stream)


@pytest.mark.parametrize(
    "numbers, text",
    [
        ((2**32, 2**32 + 1, 0, 10), "rank is 4294967296: it has to be an integer of at most 32 bits"),
        ((0, 2**32 + 1, 0, 10), "ranks is 4294967297"),
        ((0, 1, 2**64, 10), "first of the part is 18446744073709551616: it has to be an integer of at most 64 bits"),
        ((0, 1, 0, 2**64 + 10), "n of the part is 18446744073709551626"),
        ((0.5, 1, 0, 10), "rank is 0.5"),
        ((0, 1, 0, "10"), "n of the part is '10'"),
    ],
)
def test_numbers_of_a_part_that_overflow_are_rejected(numbers, text):
    with pytest.raises(ValueError, match=text):
        cuda_opt.Solver(np.zeros(10), part=cuda_opt.Part(*numbers, lambda send, receive: None))


@pytest.mark.parametrize("numbers", [(0, 0, 10), (0, 2**32, 10), (0, 2, 2**64), (2**64, 2, 10), (0, 2, 1.5)])
def test_numbers_of_an_even_part_that_overflow_are_rejected(numbers):
    with pytest.raises(ValueError, match="it has to be an integer of at most"):
        cuda_opt.Part.even(*numbers, None)
