"""Contractions of arrays that TMA does not access: copies of operands, and of results."""

import re

import ml_dtypes
import numpy as np
import pytest
from contractions import BODY, MM, generic, tensors

from mlir_smem.bindings.parsing import parse_module
from mlir_smem.dialect import new_context
from mlir_smem.frontend import Executable
from mlir_smem.frontend.linalg.lowering import lower_linalg

BATCH = "(m, n, k, l)->(m, k, l)", "(m, n, k, l)->(l, k, n)", "(m, n, k, l)->(m, n, l)"
TWO_ROWS = "(m, n, k, l)->(m, k, l)", "(m, n, k, l)->(k, n)", "(m, n, k, l)->(m, n, l)"

#: Maps, loops, and the extents of the operands and the result.
CASES = {
    "rows of 26 bytes": (MM, "ppr", ((8, 13), (13, 8), (8, 8))),
    "a result of 5 columns": (MM, "ppr", ((8, 16), (16, 5), (8, 5))),
    "no row is aligned": (MM, "ppr", ((7, 13), (13, 5), (7, 5))),
    "contiguous along a batch": (BATCH, "pprp", ((8, 16, 3), (3, 16, 24), (8, 24, 3))),
    "two dimensions of rows": (TWO_ROWS, "pprp", ((8, 16, 3), (16, 24), (8, 24, 3))),
}


def run(text, *arrays):
    with new_context():
        module = parse_module(text)
        lower_linalg(module)
        program = Executable(module, on="cpu", mixed=True)
    assert any("gemm" in name for name in program.kernels)
    return program(*arrays)


def whole(random, shape, dtype):
    return random.integers(-2, 3, shape).astype(dtype)


def letters(maps):
    """The loops of each array."""
    return ["".join(re.findall(r"\w", map_.split("->")[1])) for map_ in maps]


@pytest.mark.parametrize("dynamic", ["", "ml"])
@pytest.mark.parametrize("name", CASES)
def test_what_is_copied(name, dynamic):
    maps, loops, shapes = CASES[name]
    random = np.random.default_rng(0)
    a, b = (whole(random, shape, ml_dtypes.bfloat16) for shape in shapes[:2])
    c = whole(random, shapes[2], np.float32)
    extents = [
        tuple("?" if loop in dynamic else extent for loop, extent in zip(array, shape, strict=True))
        for array, shape in zip(letters(maps), shapes, strict=True)
    ]
    types = tensors(*extents)
    subscripts = "{},{}->{}".format(*letters(maps))
    expected = c + np.einsum(subscripts, a.astype(np.float32), b.astype(np.float32))
    assert np.array_equal(run(generic(maps, BODY, types, loops), a, b, c), expected)


def test_memrefs_with_offsets_and_gaps():
    """They are read and written where they are; what is between their elements stays."""
    layouts = "strided<[40, 1], offset: 8>", "strided<[64, 2]>", "strided<[26, 2], offset: 3>"
    shapes, random = ((8, 16), (16, 13), (8, 13)), np.random.default_rng(0)
    elements = "bf16", "bf16", "f32"
    types = [
        f"memref<{'x'.join(map(str, shape))}x{element}, {layout}>"
        for shape, element, layout in zip(shapes, elements, layouts, strict=True)
    ]
    memory = [
        whole(random, size, dtype)
        for size, dtype in (
            (400, ml_dtypes.bfloat16),
            (1100, ml_dtypes.bfloat16),
            (300, np.float32),
        )
    ]
    steps = (8, 40, 1), (0, 64, 2), (3, 26, 2)
    a, b, c = (
        np.lib.stride_tricks.as_strided(
            array[first:], shape, [step * array.itemsize for step in (row, column)]
        )
        for array, shape, (first, row, column) in zip(memory, shapes, steps, strict=True)
    )
    expected = c + a.astype(np.float32) @ b.astype(np.float32)
    between = memory[2].copy()
    run(generic(MM, BODY, types), a, b, c)
    assert np.array_equal(c, expected)
    is_element = np.zeros(300, bool)
    is_element[(3 + 26 * np.arange(8)[:, None] + 2 * np.arange(13)).ravel()] = True
    assert np.array_equal(memory[2][~is_element], between[~is_element])


#: Products of a part of each matrix of `x`, whose number of rows is not known; or of what a branch has.
PARTS = """
func.func @main(%x: tensor<2x4x?x16xbf16>, %w: tensor<2x2x16x8xbf16>) -> tensor<2x2x?x8xf32> {
  %two = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %two : tensor<2x4x?x16xbf16>
  %first = tensor.extract_slice %x[0, 0, 0, 0] [2, 2, %rows, 16] [1, 1, 1, 1]
    : tensor<2x4x?x16xbf16> to tensor<2x2x?x16xbf16>
  SECOND
  %empty = tensor.empty(%rows) : tensor<2x2x?x8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x2x?x8xf32>) -> tensor<2x2x?x8xf32>
  %y = linalg.generic {
    indexing_maps = [affine_map<(b, h, m, n, k) -> (b, h, m, k)>,
                     affine_map<(b, h, m, n, k) -> (b, h, k, n)>,
                     affine_map<(b, h, m, n, k) -> (b, h, m, n)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]
  } ins(%part, %w : tensor<2x2x?x16xbf16>, tensor<2x2x16x8xbf16>) outs(%zeros : tensor<2x2x?x8xf32>) {
  ^bb0(%i: bf16, %j: bf16, %t: f32):
    %a = arith.extf %i : bf16 to f32
    %b = arith.extf %j : bf16 to f32
    %ab = arith.mulf %a, %b : f32
    %s = arith.addf %t, %ab : f32
    linalg.yield %s : f32
  } -> tensor<2x2x?x8xf32>
  return %y : tensor<2x2x?x8xf32>
}"""

SECOND = """%last = tensor.extract_slice %x[0, 2, 0, 0] [2, 2, %rows, 16] [1, 1, 1, 1]
    : tensor<2x4x?x16xbf16> to tensor<2x2x?x16xbf16>
  %many = arith.cmpi ugt, %rows, %two : index
  %part = scf.if %many -> tensor<2x2x?x16xbf16> {
    scf.yield %first : tensor<2x2x?x16xbf16>
  } else {
    scf.yield %last : tensor<2x2x?x16xbf16>
  }"""


@pytest.mark.parametrize("second", ["", SECOND])
def test_a_part_with_gaps_of_dynamic_extents(second):
    # Its dynamic strides were taken for those of a contiguous array.
    random = np.random.default_rng(0)
    w = whole(random, (2, 2, 16, 8), ml_dtypes.bfloat16)
    text = PARTS.replace("SECOND", second).replace("%part,", "%part," if second else "%first,")
    with new_context():
        module = parse_module(text)
        lower_linalg(module)
        program = Executable(module, on="cpu")
    assert any("gemm" in name for name in program.kernels)
    for rows in (2, 24):
        x = whole(random, (2, 4, rows, 16), ml_dtypes.bfloat16)
        part = (x[:, 2:] if second and rows == 2 else x[:, :2]).astype(np.float32)
        assert np.array_equal(program(x, w), part @ w.astype(np.float32))
