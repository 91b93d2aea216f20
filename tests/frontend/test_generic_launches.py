"""Ops of linalg that are no products, as kernels: against upstream's loops, compiled by LLVM."""

import ml_dtypes
import numpy as np
import pytest
from linalg_programs import compile_for_host, compile_program

from mlir_smem.bindings.diagnostics import remark_handler
from mlir_smem.bindings.parsing import parse_module
from mlir_smem.dialect import new_context
from mlir_smem.emulator import Violations
from mlir_smem.frontend import Executable
from mlir_smem.frontend.linalg.lowering import bufferize, lower_linalg

P, R = '"parallel"', '"reduction"'


def generic(maps, loops, operands, body, results=1):
    """An op of operands `(name, type)`, of which the last `results` are written."""
    split = len(operands) - results
    ins, outs = (
        f"{', '.join(name for name, _ in part)} : {', '.join(type_ for _, type_ in part)}"
        for part in (operands[:split], operands[split:])
    )
    elements = [
        type_.split("<")[-1].split(",")[0].strip(">").split("x")[-1] for _, type_ in operands
    ]
    arguments = ", ".join(f"%{i}: {element}" for i, element in enumerate(elements))
    maps = ", ".join(f"affine_map<{map_}>" for map_ in maps)
    inputs = f"ins({ins}) " if split else ""
    return (
        f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{', '.join(loops)}]}} "
        f"{inputs}outs({outs}) {{ ^bb0({arguments}): {body} }}"
    )


SAME, COLUMN = "(i, j) -> (i, j)", "(i, j) -> (j)"
X, Y, V = ("%x", "memref<?x5xf32>"), ("%y", "memref<?x5xf32>"), ("%v", "memref<5xbf16>")
GATHER = """%c5 = arith.constant 5 : index
  %row = linalg.index 0 : index
  %column = linalg.index 1 : index
  %next = arith.addi %column, %row : index
  %wrapped = arith.remui %next, %c5 : index
  %is_even = arith.cmpi ult, %wrapped, %row : index
  %r = scf.if %is_even -> f32 {
    %a = memref.load %x[%row, %wrapped] : memref<?x5xf32>
    scf.yield %a : f32
  } else {
    scf.yield %0 : f32
  }
  linalg.yield %r : f32"""
ARGMAX = """%i = linalg.index 1 : index
  %place = arith.index_cast %i : index to i32
  %more = arith.cmpf ogt, %0, %1 : f32
  %most = arith.maximumf %0, %1 : f32
  %p = arith.select %more, %place, %2 : i32
  linalg.yield %most, %p : f32, i32"""

OPS = {
    "a broadcast, and conversions": generic(
        (SAME, COLUMN, SAME),
        [P, P],
        [X, V, Y],
        "%w = arith.extf %1 : bf16 to f32 %h = math.tanh %0 : f32 %r = arith.mulf %h, %w : f32 "
        "linalg.yield %r : f32",
    ),
    "indices, a branch, and loads": generic((SAME, SAME), [P, P], [X, Y], GATHER),
    "a number": generic(
        ("(i, j) -> ()", SAME), [P, P], [("%s", "f32"), Y], "linalg.yield %0 : f32"
    ),
    "what is there": generic(
        (SAME, SAME), [P, P], [X, Y], "%r = arith.subf %1, %0 : f32 linalg.yield %r : f32"
    ),
    "sums of rows": generic(
        (SAME, "(i, j) -> (i)"),
        [P, R],
        [X, ("%n", "memref<?xf32>")],
        "%q = arith.mulf %0, %0 : f32 %r = arith.addf %1, %q : f32 linalg.yield %r : f32",
    ),
    "sums of columns in bf16": generic(
        (SAME, COLUMN),
        [R, P],
        [X, V],
        "%b = arith.truncf %0 : f32 to bf16 %r = arith.addf %1, %b : bf16 linalg.yield %r : bf16",
    ),
    "a maximum of all": generic(
        (SAME, "(i, j) -> ()"),
        [R, R],
        [X, ("%m", "memref<f32>")],
        "%r = arith.maximumf %1, %0 : f32 linalg.yield %r : f32",
    ),
    "two results": generic(
        (SAME, "(i, j) -> (i)", "(i, j) -> (i)"),
        [P, R],
        [X, ("%n", "memref<?xf32>"), ("%k", "memref<?xi32>")],
        ARGMAX,
        results=2,
    ),
    "a product": generic(
        ("(i, j, k) -> (i, k)", "(i, j, k) -> (j, k)", "(i, j, k) -> (i, j)"),
        [P, P, R],
        [X, X, ("%xx", "memref<?x?xf32>")],
        "%q = arith.mulf %0, %1 : f32 %r = arith.addf %2, %q : f32 linalg.yield %r : f32",
    ),
    "a window": generic(
        ("(i, j, k) -> (i, j * 2 + k)", "(i, j, k) -> (k)", "(i, j, k) -> (i, j)"),
        [P, P, R],
        [X, ("%w3", "memref<3xf32>"), ("%pool", "memref<?x2xf32>")],
        "%r = arith.maxnumf %2, %0 : f32 linalg.yield %r : f32",
    ),
    "transposed": "linalg.transpose ins(%x : memref<?x5xf32>) outs(%t : memref<5x?xf32>) "
    "permutation = [1, 0]",
}
PARAMETERS = {
    "x": "memref<?x5xf32>",
    "y": "memref<?x5xf32>",
    "v": "memref<5xbf16>",
    "n": "memref<?xf32>",
    "k": "memref<?xi32>",
    "m": "memref<f32>",
    "xx": "memref<?x?xf32>",
    "w3": "memref<3xf32>",
    "pool": "memref<?x2xf32>",
    "t": "memref<5x?xf32>",
}


def program(op):
    arguments = ", ".join(f"%{name}: {type_}" for name, type_ in PARAMETERS.items())
    return f"func.func @f({arguments}) {{ %s = arith.constant 1.5 : f32 {op} return }}"


@pytest.mark.parametrize("name", OPS)
def test_an_op(name):
    text = program(OPS[name])
    kernels, _, _ = compile_program(text, bufferize, 3)
    host, _, _ = compile_for_host(text, 3)
    assert len(kernels.kernels) == 1 and not host.kernels
    for rows in (0, 3, 70):
        arrays = [array(type_, rows) for type_ in PARAMETERS.values()]
        copies = [array.copy() for array in arrays]
        kernels(*arrays)
        host(*copies)
        for pair in zip(arrays, copies, strict=True):
            one, other = (x.astype(np.float32) for x in pair)
            np.testing.assert_allclose(one, other, rtol=2**-7 if name.endswith("bf16") else 1e-6)


def array(type_, rows):
    *extents, element = type_[7:-1].split("x")
    shape = [rows if extent == "?" else int(extent) for extent in extents]
    dtype = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "i32": np.int32}[element]
    return np.asarray(np.random.default_rng(rows).standard_normal(shape) * 4).astype(dtype)


def test_parts_of_memory():
    """Memrefs with strides and offsets; what is around them stays."""
    text = """!part = memref<4x2xf32, strided<[6, 2], offset: 7>>
    func.func @f(%x: !part, %y: !part) {
      linalg.exp ins(%x : !part) outs(%y : !part)
      return
    }"""
    x, y = np.arange(40, dtype=np.float32) / 8, np.zeros(40, np.float32)
    parts = [np.lib.stride_tricks.as_strided(a[7:], (4, 2), (24, 8)) for a in (x, y)]
    Executable(text, on="cpu")(*parts)
    expected = np.zeros(40, np.float32)
    places = 7 + 6 * np.arange(4)[:, None] + 2 * np.arange(2)
    expected[places] = np.exp(x[places])
    np.testing.assert_allclose(y, expected, rtol=1e-6)


def test_an_index_out_of_range_is_no_access():
    """An assertion of torch-mlir, before a load."""
    text = """func.func @f(%x: memref<4xf32>, %i: memref<2xi64>, %y: memref<2xf32>) {
      %c4 = arith.constant 4 : index
      linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                      iterator_types = ["parallel"]}
        ins(%i : memref<2xi64>) outs(%y : memref<2xf32>) {
      ^bb0(%n: i64, %o: f32):
        %at = arith.index_cast %n : i64 to index
        %inside = arith.cmpi ult, %at, %c4 : index
        cf.assert %inside, "index must be smaller than dim size"
        %element = memref.load %x[%at] : memref<4xf32>
        linalg.yield %element : f32
      }
      return
    }"""
    take, x, y = Executable(text, on="cpu"), np.arange(4, dtype=np.float32), np.zeros(2, np.float32)
    take(x, np.array([3, 1]), y)
    assert y.tolist() == [3, 1]
    with pytest.raises(Violations, match="index must be smaller than dim size"):
        take(x, np.array([3, 4]), y)


def test_loops_of_affine_run_on_the_cpu():
    text = """func.func @f(%x: memref<8xf32>) {
      affine.for %i = 1 to 8 {
        %before = affine.load %x[%i - 1] : memref<8xf32>
        affine.store %before, %x[%i] : memref<8xf32>
      }
      return
    }"""
    remarks = []
    with remark_handler(lambda _, message: remarks.append(message)):
        program = Executable(text, on="cpu", mixed=True)
    assert remarks == ["'scf.for' runs on the CPU, on copies of memref<8xf32>"]
    x = np.arange(8, dtype=np.float32)
    program(x)
    assert not x.any()


SOFTMAX = "linalg.softmax dimension({dim}) ins(%{x} : {t}) outs(%{e} : {t}) -> {t}"


def test_softmaxes_and_packed_layouts_are_decomposed():
    t, packed = "tensor<6x8xf32>", "tensor<2x2x3x4xf32>"
    text = f"""func.func @f(%x: {t}) -> ({t}, {packed}, {t}) {{
      %e = tensor.empty() : {t}
      %y = {SOFTMAX.format(dim=1, x="x", e="e", t=t)}
      %f = tensor.empty() : {packed}
      %p = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [3, 4] into %f : {t} -> {packed}
      %u = linalg.unpack %p inner_dims_pos = [0, 1] inner_tiles = [3, 4] into %e : {packed} -> {t}
      return %y, %p, %u : {t}, {packed}, {t}
    }}"""
    program, (x,), _ = compile_program(text, lower_linalg, 3)
    y, packed_x, unpacked = program(x)
    weights = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, weights / weights.sum(1, keepdims=True), rtol=1e-5)
    assert np.array_equal(packed_x, x.reshape(2, 3, 2, 4).swapaxes(1, 2))
    assert np.array_equal(unpacked, x)


def test_a_softmax_of_linalg_is_one_of_attention():
    t, s = "tensor<64x64xbf16>", "tensor<64x64xf32>"
    text = f"""func.func @f(%q: {t}, %k: {t}, %v: {t}) -> {t} {{
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : {s}
      %z = linalg.fill ins(%zero : f32) outs(%e : {s}) -> {s}
      %x = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
          affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%q, %k : {t}, {t}) outs(%z : {s}) -> {s}
      %p = {SOFTMAX.format(dim=1, x="x", e="e", t=s)}
      %f = tensor.empty() : {t}
      %w = linalg.generic {{indexing_maps = [affine_map<{SAME}>, affine_map<{SAME}>],
          iterator_types = [{P}, {P}]}} ins(%p : {s}) outs(%f : {t}) {{
      ^bb0(%0: f32, %1: bf16):
        %r = arith.truncf %0 : f32 to bf16
        linalg.yield %r : bf16
      }} -> {t}
      %y = linalg.matmul ins(%w, %v : {t}, {t}) outs(%z : {s}) -> {s}
      %o = linalg.generic {{indexing_maps = [affine_map<{SAME}>, affine_map<{SAME}>],
          iterator_types = [{P}, {P}]}} ins(%y : {s}) outs(%f : {t}) {{
      ^bb0(%0: f32, %1: bf16):
        %r = arith.truncf %0 : f32 to bf16
        linalg.yield %r : bf16
      }} -> {t}
      return %o : {t}
    }}"""
    with new_context():
        module = parse_module(text)
        lower_linalg(module)
        assert "f_attention_0" in str(module) and "gemm" not in str(module)


def test_equal_kernels_are_one():
    launch = """gpu.launch blocks(%i{0}, %j{0}, %k{0}) in (%a{0} = %n, %b{0} = %c1, %g{0} = %c1)
        threads(%t{0}, %u{0}, %v{0}) in (%d{0} = %c1, %e{0} = %c1, %f{0} = %c1) {{
      %p{0} = memref.load %x[%i{0}] : memref<4xf32>
      %q{0} = arith.{1} %p{0}, %p{0} : f32
      memref.store %q{0}, %x[%i{0}] : memref<4xf32>
      gpu.terminator
    }}"""
    ops = ("addf", "mulf", "addf", "addf")
    launches = "\n".join(launch.format(number, op) for number, op in enumerate(ops))
    program = Executable(
        f"""func.func @main(%x: memref<4xf32>) {{
          %c1 = arith.constant 1 : index
          %n = arith.constant 4 : index
          {launches}
          return
        }}""",
        on="cpu",
    )
    x = np.array([1, 2, 3, -1], np.float32)
    expected = (x + x) ** 2 * 4
    program(x)
    assert np.array_equal(x, expected) and len(program.kernels) == 2
