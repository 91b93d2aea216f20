"""Operands of epilogues that are numbers, or vectors of rows and of columns that meet first."""

import ml_dtypes
import numpy as np
import pytest

from mlir_smem.bindings.parsing import parse_module
from mlir_smem.dialect import new_context
from mlir_smem.frontend import Executable
from mlir_smem.frontend.linalg.lowering import lower_linalg

M, N, K = 64, 24, 16

#: The map of an operand, by its type.
MAPS = {
    "tensor<f32>": "()",
    "tensor<1xf32>": "(0)",
    "tensor<1x1xf32>": "(0, 0)",
    f"tensor<{M}xf32>": "(m)",
    f"tensor<{N}xf32>": "(n)",
    f"tensor<{M}xi32>": "(m)",
    f"tensor<{N}xi32>": "(n)",
}


def program(types, body):
    """A product, and an epilogue on its element %p and on elements %0, %1, ... of further operands."""
    arguments = "".join(f", %x{i}: {type_}" for i, type_ in enumerate(types))
    names = "".join(f", %x{i}" for i in range(len(types)))
    maps = "".join(f", affine_map<(m, n) -> {MAPS[type_]}>" for type_ in types)
    elements = "".join(f", %{i}: {type_[-4:-1]}" for i, type_ in enumerate(types))
    result = f"tensor<{M}x{N}xf32>"
    return f"""
func.func @main(%a: tensor<{M}x{K}xbf16>, %b: tensor<{K}x{N}xbf16>{arguments}) -> {result} {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : {result}
  %begin = linalg.fill ins(%zero : f32) outs(%empty : {result}) -> {result}
  %product = linalg.matmul ins(%a, %b : tensor<{M}x{K}xbf16>, tensor<{K}x{N}xbf16>)
    outs(%begin : {result}) -> {result}
  %c = linalg.generic {{indexing_maps = [affine_map<(m, n) -> (m, n)>{maps},
    affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}}
    ins(%product{names} : {", ".join([result, *types])}) outs(%empty : {result}) {{
  ^bb0(%p: f32{elements}, %o: f32):
{body}
    linalg.yield %y : f32
  }} -> {result}
  return %c : {result}
}}"""


SCALED = """    %t = arith.addf %0, %0 : f32
    %y = arith.mulf %p, %t : f32"""
OUTER = """    %t = arith.mulf %0, %1 : f32
    %u = arith.addf %t, %1 : f32
    %y = arith.mulf %u, %p : f32"""
COMPARED = """    %t = arith.cmpf ogt, %0, %1 : f32
    %y = arith.select %t, %p, %zero : f32"""
SEGMENTS = """    %t = arith.cmpi eq, %0, %1 : i32
    %y = arith.select %t, %p, %zero : f32"""
ROWS, COLUMNS = f"tensor<{M}xf32>", f"tensor<{N}xf32>"


def array(type_, random):
    shape = [int(extent) for extent in type_[7:-1].split("x")[:-1]]
    if type_.endswith("i32>"):
        # Also bits of a signaling NaN, since integers pass through registers as floats.
        return random.choice(np.array([0x7FA00001, 0x7FE00001, 3], np.int32), shape)
    return np.asarray(random.integers(-2, 3, shape), np.float32)


@pytest.mark.parametrize(
    "types, body, expected",
    [
        (["tensor<f32>"], SCALED, lambda p, s: p * (2 * s)),
        (["tensor<1xf32>"], SCALED, lambda p, s: p * (2 * s)),
        (["tensor<1x1xf32>"], SCALED, lambda p, s: p * (2 * s)),
        ([ROWS, COLUMNS], OUTER, lambda p, r, c: p * (r[:, None] * c + c)),
        ([COLUMNS, ROWS], OUTER, lambda p, c, r: p * (r[:, None] * c + r[:, None])),
        (["tensor<f32>", ROWS], OUTER, lambda p, s, r: p * (s * r + r)[:, None]),
        ([ROWS, COLUMNS], COMPARED, lambda p, r, c: np.where(r[:, None] > c, p, 0)),
        ([COLUMNS, "tensor<f32>"], COMPARED, lambda p, c, s: np.where(c > s, p, 0)),
        (
            [f"tensor<{M}xi32>", f"tensor<{N}xi32>"],
            SEGMENTS,
            lambda p, r, c: np.where(r[:, None] == c, p, 0),
        ),
    ],
    ids=[
        *("a number", "a vector of one", "a matrix of one", "row times column"),
        *("column times row", "a number and rows", "rows over columns", "columns over a number"),
        "segments",
    ],
)
def test_an_operand_meets_others_before_the_product(types, body, expected):
    random = np.random.default_rng(0)
    a, b = (random.integers(-2, 3, s).astype(ml_dtypes.bfloat16) for s in ((M, K), (K, N)))
    operands = [array(type_, random) for type_ in types]
    with new_context():
        module = parse_module(program(types, body))
        lower_linalg(module)
        compiled = Executable(module, on="cpu")
    assert len(compiled.kernels) == 1
    product = a.astype(np.float32) @ b.astype(np.float32)
    np.testing.assert_array_equal(compiled(a, b, *operands), expected(product, *operands))
