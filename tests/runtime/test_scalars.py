"""Numbers as arguments of kernels: what each type takes, its bytes, and what is refused."""

import ctypes
import math

import ml_dtypes
import numpy as np
import pytest
from programs import kernel, module

import mlir_smem
from mlir_smem.runtime import LaunchError, launch_on_cpu, run_on_cpu
from mlir_smem.runtime.parameters import ParameterFrame, slots
from mlir_smem.runtime.plans import LaunchPlan
from mlir_smem.runtime.scalars import SCALARS, check_scalar


def argument(type_):
    return {"name": "n", "kind": "scalar", "type": type_}


TAKEN = {
    "i1": [True, np.bool_(False)],
    "i8": [-128, 127, np.int8(3), True],
    "ui8": [0, 255],
    "i16": [-(2**15), 2**15 - 1],
    "i32": [-(2**31), 2**31 - 1, np.int64(7), np.uint8(7)],
    "ui32": [2**32 - 1],
    "i64": [-(2**63), 2**63 - 1],
    "index": [0, 2**40],
    "f16": [1, -0.5, 65504.0, np.float32(0.25), math.inf],
    "bf16": [1, -0.5, 3.0e38, ml_dtypes.bfloat16(0.25), -math.inf],
    "f32": [1, 0.1, 3.0e38, np.float64(0.25), np.int32(4), math.nan],
    "f64": [1, 0.1, 1e300, np.float16(0.25)],
}

REFUSED = {
    "i1": [0, 1, "yes", 1.0],
    "i8": [128, -129, 1.0, None],
    "ui8": [-1, 256],
    "i16": [2**15],
    "i32": [2**31, 1.5, "7", np.float32(1)],
    "ui32": [-1],
    "i64": [2**63],
    "index": [1.0],
    "f16": [65536.0, 1e300],
    "bf16": [3.4e38, 1e300],
    "f32": [1e300, "1", 1j, np.zeros(1)],
    "f64": ["1", None, 10**400],
}


@pytest.mark.parametrize("type_, value", [(t, v) for t, vs in TAKEN.items() for v in vs], ids=repr)
def test_a_number_that_is_taken(type_, value):
    check_scalar(argument(type_), value)


@pytest.mark.parametrize(
    "type_, value", [(t, v) for t, vs in REFUSED.items() for v in vs], ids=repr
)
def test_a_number_that_is_refused(type_, value):
    with pytest.raises(LaunchError) as error:
        check_scalar(argument(type_), value)
    assert str(error.value) == f"n is {value!r}, which is not of type {type_}"


def test_a_type_that_no_host_can_pass():
    with pytest.raises(LaunchError) as error:
        check_scalar(argument("vector<4xf32>"), 1)
    assert str(error.value) == "n is of type vector<4xf32>, which cannot be passed"


#: NumPy's type of each scalar type's bytes.
BYTES = {
    "i1": "?",
    "index": "<i8",
    "f16": "<f2",
    "f32": "<f4",
    "f64": "<f8",
    "bf16": ml_dtypes.bfloat16,
    **{f"{sign}{bits}": f"<i{bits // 8}" for sign in ("i", "si") for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": f"<u{bits // 8}" for bits in (8, 16, 32, 64)},
}


def test_the_bytes_of_numbers(gpu):
    types = list(SCALARS)
    values = [TAKEN.get(t, [1])[0] for t in types]
    manifest = {
        "arguments": [{"name": t, "kind": "scalar", "type": t} for t in types],
        "tensor_maps": [],
    }
    frame = LaunchPlan(manifest, {}, [], None).frame([], values)
    pointers = (ctypes.c_void_p * len(types)).from_address(frame.address)
    for type_, value, pointer in zip(types, values, pointers, strict=True):
        dtype = np.dtype(BYTES[type_])
        assert pointer % dtype.itemsize == 0
        (stored,) = np.frombuffer(ctypes.string_at(pointer, dtype.itemsize), dtype)
        assert stored == np.array(value).astype(dtype)


def test_slots_without_arguments():
    assert slots([], {}).offsets == ()
    assert ParameterFrame(slots([], {}), [], []).address


AXPY = module(
    kernel(
        """
      %t = gpu.thread_id x
      %x = memref.load %X[%t] : memref<128xf32>
      %h = arith.extf %b : f16 to f32
      %k = arith.sitofp %n : i32 to f32
      %p = arith.mulf %x, %a : f32
      %q = arith.addf %p, %h : f32
      %s = arith.addf %q, %k : f32
      %r = arith.select %c, %s, %x : f32
      memref.store %r, %Y[%t] : memref<128xf32>""",
        arguments='%X: memref<128xf32> {smem.name = "X"}, %a: f32 {smem.name = "a"}, '
        '%n: i32 {smem.name = "n"}, %b: f16 {smem.name = "b"}, %c: i1 {smem.name = "c"}, '
        '%Y: memref<128xf32> {smem.name = "Y"}',
    )
)


@pytest.fixture(scope="module")
def axpy():
    return mlir_smem.compile(AXPY, emit="nvvm")


def test_numbers_on_the_emulator(axpy):
    x, y = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
    launch_on_cpu(axpy, None, [x, 2.0, -3, 0.5, True, y], grid=(1,))
    assert np.array_equal(y, 2 * x - 2.5)
    launch_on_cpu(axpy, None, [x, np.float32(2), np.int64(-3), 0.5, False, y], grid=(1,))
    assert np.array_equal(y, x)


def test_numbers_by_name(axpy):
    arguments = {
        "X": np.ones(128, np.float32),
        "a": 2.0,
        "n": np.array(1, np.int32),
        "b": 0,
        "c": True,
    }
    assert np.array_equal(
        run_on_cpu(axpy, None, arguments, ["Y"], (1,))["Y"], np.full(128, 3, "f4")
    )


@pytest.mark.parametrize(
    "change, message",
    [
        ({1: "2"}, "a is '2', which is not of type f32"),
        ({2: 2**31}, "n is 2147483648, which is not of type i32"),
        ({0: [1.0]}, "X is list; the emulator takes NumPy arrays"),
        ({0: np.ones(64, np.float32)}, "X is [64]; expected [128]"),
        ({0: np.ones(128)}, "X has elements of float64; expected f32"),
    ],
)
def test_arguments_that_the_emulator_refuses_change_nothing(axpy, change, message):
    y = np.zeros(128, np.float32)
    arguments = [np.ones(128, np.float32), 2.0, 1, 0, True, y]
    for position, value in change.items():
        arguments[position] = value
    with pytest.raises(LaunchError) as error:
        launch_on_cpu(axpy, None, arguments, grid=(1,))
    assert str(error.value) == message
    assert not y.any()


def test_the_number_of_arguments_on_the_emulator(axpy):
    with pytest.raises(LaunchError) as error:
        launch_on_cpu(axpy, None, [1.0], grid=(1,))
    assert str(error.value) == "product takes 6 arguments (X, a, n, b, c, Y), not 1"
