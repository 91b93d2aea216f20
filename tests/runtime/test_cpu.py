"""Arrays on the emulator, of any element type and strides: which bytes a kernel reads and writes."""

import numpy as np
import pytest
from programs import kernel, module

import mlir_smem
from mlir_smem.bindings import parsing
from mlir_smem.runtime import LaunchError, run_on_cpu
from mlir_smem.runtime.arguments import DTYPES

LAYOUT = "strided<[?, ?, ?]>"


def compile_doubling(*shape, layout=LAYOUT):
    """Return a kernel that doubles its elements, one of rank 3 for each thread."""
    type_ = f"memref<{'x'.join(map(str, shape))}xf32, {layout}>"
    _, m, n = shape
    body = f"""
      %t = gpu.thread_id x
      %n = arith.constant {n} : index
      %mn = arith.constant {m * n} : index
      %i = arith.divui %t, %mn : index
      %r = arith.remui %t, %mn : index
      %j = arith.divui %r, %n : index
      %k = arith.remui %r, %n : index
      %v = memref.load %X[%i, %j, %k] : {type_}
      %w = arith.addf %v, %v : f32
      memref.store %w, %Y[%i, %j, %k] : {type_}"""
    arguments = f'%X: {type_} {{smem.name = "X"}}, %Y: {type_} {{smem.name = "Y"}}'
    return mlir_smem.compile(module(kernel(body, arguments=arguments)), emit="nvvm")


def batched_k_major():
    return np.arange(128, dtype=np.float32).reshape(4, 8, 4).transpose(0, 2, 1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.arange(128, dtype=np.float32).reshape(4, 4, 8),
        lambda: np.arange(128, dtype=np.float32).reshape((4, 4, 8), order="F"),
        batched_k_major,
        # Slices of larger arrays; every second matrix; one matrix for all (stride 0).
        lambda: np.arange(480, dtype=np.float32).reshape(4, 6, 20)[:, 1:5, 4:12],
        lambda: np.arange(256, dtype=np.float32).reshape(8, 4, 8)[::2],
        lambda: np.broadcast_to(np.arange(32, dtype=np.float32).reshape(4, 8), (4, 4, 8)),
        # Strides that a memref cannot have.
        lambda: np.arange(128, dtype=np.float32).reshape(4, 4, 8)[::-1, :, ::-1],
        lambda: np.zeros((4, 4, 8), [("value", "f4"), ("more", "u1")])["value"] + np.float32(3),
        lambda: np.ones((4, 4, 8), [("value", "f4"), ("more", "u1")])["value"],
    ],
)
def test_an_array_is_read_with_its_strides(make):
    x = make()
    before = x.copy()
    outputs = run_on_cpu(compile_doubling(4, 4, 8), None, {"X": x}, ["Y"], [1])
    assert np.array_equal(outputs["Y"], 2 * x)
    assert np.array_equal(x, before)


def test_batches_of_matrices_that_are_k_major():
    compiled = compile_doubling(4, 4, 8, layout="strided<[32, 1, 4]>")
    x = batched_k_major()
    assert [stride // 4 for stride in x.strides] == [32, 1, 4]
    y = run_on_cpu(compiled, None, {"X": x}, ["Y"], [1])["Y"]
    assert np.array_equal(y, 2 * x)
    assert y.strides == x.strides


def test_a_given_output_is_written_with_its_strides():
    x = np.arange(480, dtype=np.float32).reshape(4, 6, 20)[:, 1:5, 4:12]
    base = x.base.copy()
    outputs = run_on_cpu(compile_doubling(4, 4, 8), None, {"X": x, "Y": x}, ["X", "Y"], [1])
    assert np.array_equal(outputs["Y"], 2 * x)
    assert outputs["Y"].strides == x.strides
    # Neither the memory around it nor the given array is written.
    assert np.array_equal(x.base, base)


def test_a_dimension_of_one_element_keeps_its_stride():
    # One column of a wider matrix: its rows start at multiples of 16 bytes, though each has one element.
    type_ = "memref<128x?xf32, strided<[?, 1]>>"
    body = f"""
      %t = gpu.thread_id x
      %o = arith.constant 0 : index
      %v = vector.load %X[%t, %o] {{alignment = 16 : i64}} : {type_}, vector<1xf32>
      vector.store %v, %Y[%t] : memref<128xf32>, vector<1xf32>"""
    arguments = f'%X: {type_} {{smem.name = "X"}}, %Y: memref<128xf32> {{smem.name = "Y"}}'
    compiled = mlir_smem.compile(module(kernel(body, arguments=arguments)), emit="nvvm")
    x = np.arange(128 * 8, dtype=np.float32).reshape(128, 8)[:, :1]
    y = run_on_cpu(compiled, None, {"X": x}, ["Y"], [1])["Y"]
    assert np.array_equal(y, x[:, 0])


def one_by_one(element, op=None):
    """Return a kernel whose threads each copy an element, or the result of an op on it and itself."""
    type_ = f"memref<128x{element}>"
    body = f"""
      %t = gpu.thread_id x
      %v = memref.load %X[%t] : {type_}
      {f"%w = {op} %v, %v : {element}" if op else ""}
      memref.store {"%w" if op else "%v"}, %Y[%t] : {type_}"""
    arguments = f'%X: {type_} {{smem.name = "X"}}, %Y: {type_} {{smem.name = "Y"}}'
    return module(kernel(body, arguments=arguments))


@pytest.mark.parametrize("element", DTYPES)
def test_every_element_type(element):
    text = one_by_one(element)
    assert mlir_smem.compile(text).cubin
    lowered = mlir_smem.compile(text, emit="nvvm")
    x = np.arange(128).astype(DTYPES[element])
    y = run_on_cpu(lowered, None, {"X": x}, ["Y"], (1,))["Y"]
    assert (y.dtype, y.tobytes()) == (x.dtype, x.tobytes())


@pytest.mark.parametrize(
    "element, op, given",
    [
        ("f64", "arith.mulf", np.linspace(1, 2, 128)),
        ("f64", "arith.addf", np.linspace(1e300, 9e307, 128)),
        ("i64", "arith.addi", np.arange(128) << 40),
        ("i64", "arith.muli", np.arange(-64, 64) * 3_000_000_019),
        ("i16", "arith.addi", np.arange(128, dtype=np.int16) * np.int16(200)),
    ],
)
def test_numbers_of_other_widths(element, op, given):
    lowered = mlir_smem.compile(one_by_one(element, op), emit="nvvm")
    y = run_on_cpu(lowered, None, {"X": given}, ["Y"], (1,))["Y"]
    with np.errstate(over="ignore"):
        assert (y == (given * given if "mul" in op else given + given)).all()


@pytest.mark.parametrize(
    "element, dtype", [("f32", "f8"), ("bf16", "f8"), ("f64", "f4"), ("i32", "i8"), ("i64", "i4")]
)
def test_elements_of_another_width_are_refused(element, dtype):
    lowered = mlir_smem.compile(one_by_one(element), emit="nvvm")
    with pytest.raises(LaunchError) as error:
        run_on_cpu(lowered, None, {"X": np.ones(128, dtype)}, ["Y"], (1,))
    assert str(error.value) == f"X has elements of {np.dtype(dtype)}; expected {element}"


def test_a_compiled_module_is_not_searched_for_what_the_parser_dies_of(monkeypatch):
    compiled = compile_doubling(4, 4, 8)
    monkeypatch.delattr(parsing, "_find_problem")
    x = np.ones((4, 4, 8), np.float32)
    assert (run_on_cpu(compiled, None, {"X": x}, ["Y"], [1])["Y"] == 2).all()
