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
