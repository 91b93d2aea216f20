"""Contractions with extents of 0: empty results, or what sums begin with."""

import ml_dtypes
import numpy as np
import pytest
from contractions import MM

from mlir_smem.bindings import passmanager
from mlir_smem.bindings.parsing import parse_module
from mlir_smem.dialect import new_context
from mlir_smem.frontend import Executable, lower_linalg
from mlir_smem.passes import add_passes

E4M3, BF16 = ml_dtypes.float8_e4m3fn, ml_dtypes.bfloat16
#: A configuration that the emulator runs faster than one for many tokens.
SMALL = "{tile = [64, 64, 64], stages = 2, consumers = 1, store_columns = 64}"
EMPTY = [(0, 96, 64), (16, 0, 64), (16, 96, 0), (0, 0, 0)]


def executable(text, **options):
    with new_context():
        module = parse_module(text)
        lower_linalg(module)
        return Executable(module, on="cpu", **options)


def ones(dtype, *shape):
    return np.ones(shape, dtype)


def test_a_kernel_of_memory_with_rows_and_columns_of_any_number():
    a, b, c = (
        "memref<?x?xf8E4M3FN, strided<[128, 1]>>",
        "memref<96x?xf8E4M3FN, strided<[64, 1]>>",
        "memref<?x96xf32>",
    )
    maps = ", ".join(
        f"affine_map<{expression}>" for expression in (MM[0], "(m, n, k)->(n, k)", MM[2])
    )
    program = executable(f"""func.func @main(%a: {a}, %b: {b}, %c: {c}) {{
      linalg.generic {{indexing_maps = [{maps}],
        iterator_types = ["parallel", "parallel", "reduction"]}} ins(%a, %b : {a}, {b}) outs(%c : {c}) {{
      ^bb0(%p: f8E4M3FN, %q: f8E4M3FN, %o: f32):
        %x = arith.extf %p : f8E4M3FN to f32
        %y = arith.extf %q : f8E4M3FN to f32
        %z = arith.mulf %x, %y : f32
        %t = arith.addf %o, %z : f32
        linalg.yield %t : f32 }}
      return
    }}""")
    for rows, k in ((16, 32), (40, 0), (0, 32)):
        out = np.full((rows, 96), 3, np.float32)
        program(ones(E4M3, rows, 128)[:, :k], ones(E4M3, 96, 64)[:, :k], out)
        assert (out == 3 + k).all()


def test_a_kernel_with_an_epilogue_and_no_rows_to_sum_over():
    """A gradient of weights: K is the number of tokens, and TMA reads rows of M and of N."""
    a, b, c = "tensor<?x24xbf16>", "tensor<?x40xbf16>", "tensor<24x40xf32>"
    maps = ", ".join(
        f"affine_map<{expression}>"
        for expression in ("(m, n, k)->(k, m)", "(m, n, k)->(k, n)", MM[2])
    )
    program = executable(f"""func.func @main(%a: {a}, %b: {b}, %more: {c}) -> {c} {{
      %zero = arith.constant 0.0 : f32
      %empty = tensor.empty() : {c}
      %zeros = linalg.fill ins(%zero : f32) outs(%empty : {c}) -> {c}
      %sums = linalg.generic {{indexing_maps = [{maps}],
        iterator_types = ["parallel", "parallel", "reduction"]}}
        ins(%a, %b : {a}, {b}) outs(%zeros : {c})
        attrs = {{smem.config = {SMALL}}} {{
      ^bb0(%p: bf16, %q: bf16, %o: f32):
        %x = arith.extf %p : bf16 to f32
        %y = arith.extf %q : bf16 to f32
        %z = arith.mulf %x, %y : f32
        %t = arith.addf %o, %z : f32
        linalg.yield %t : f32 }} -> {c}
      %result = linalg.negf ins(%sums : {c}) outs(%empty : {c}) -> {c}
      %all = linalg.add ins(%result, %more : {c}, {c}) outs(%empty : {c}) -> {c}
      return %all : {c}
    }}""")
    more = np.arange(24 * 40, dtype=np.float32).reshape(24, 40)
    for k in (3, 0):
        out = program(ones(BF16, k, 24), ones(BF16, k, 40), more)
        assert np.array_equal(out, more - k)


def test_two_versions_with_dynamic_extents():
    a, b, c = "tensor<?x?xbf16>", "tensor<?x?xbf16>", "tensor<?x?xf32>"
    program = executable(
        f"""func.func @main(%a: {a}, %b: {b}, %c: {c}) -> {c} {{
      %d = linalg.matmul ins(%a, %b : {a}, {b}) outs(%c : {c}) -> {c}
      return %d : {c}
    }}""",
        mixed=True,
    )
    for m, n, k in EMPTY:
        out = program(ones(BF16, m, k), ones(BF16, k, n), np.full((m, n), 3, np.float32))
        assert out.shape == (m, n) and (out == 3 + k).all()


@pytest.mark.parametrize("extents", EMPTY, ids=str)
def test_known_extents_have_no_product(extents):
    m, n, k = extents
    a, b, c = f"memref<{m}x{k}xbf16>", f"memref<{k}x{n}xbf16>", f"memref<{m}x{n}xf32>"
    with new_context():
        module = parse_module(f"""func.func @main(%a: {a}, %b: {b}, %c: {c}) {{
          linalg.matmul ins(%a, %b : {a}, {b}) outs(%c : {c})
          return
        }}""")
        manager = passmanager.PassManager.parse("builtin.module(linalg-generalize-named-ops)")
        add_passes(manager, "linalg-to-smem")
        manager.run(module.operation)
        assert "gpu.launch" not in str(module)
        program = Executable(module, on="cpu", mixed=True)
    out = np.full((m, n), 3, np.float32)
    program(ones(BF16, m, k), ones(BF16, k, n), out)
    assert (out == 3).all()


def test_copies_of_nothing():
    """Columns of 8-bit elements are made K-major by a copy, of as many elements as there are."""
    a, b, c = "memref<?x16xi8>", "memref<16x32xi8>", "memref<?x32xi32>"
    program = executable(f"""!from = memref<?x4xf32, strided<[8, 2]>>
    func.func @main(%a: {a}, %b: {b}, %c: {c}, %from: !from, %to: memref<?x4xf32>) {{
      linalg.matmul ins(%a, %b : {a}, {b}) outs(%c : {c})
      memref.copy %from, %to : !from to memref<?x4xf32>
      return
    }}""")
    for rows in (0, 5):
        out, to = np.zeros((rows, 32), np.int32), np.zeros((rows, 4), np.float32)
        source = np.arange(rows * 8, dtype=np.float32).reshape(rows, 8)[:, ::2]
        program(ones(np.int8, rows, 16), ones(np.int8, 16, 32), out, source, to)
        assert (out == 16).all() and np.array_equal(to, source)
