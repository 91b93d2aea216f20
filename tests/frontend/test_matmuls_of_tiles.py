"""Products in kernels that a transform script tiles, on the emulator against NumPy."""

import ml_dtypes
import numpy as np
import pytest

import mlir_smem
from mlir_smem.bindings import passmanager
from mlir_smem.bindings.parsing import parse_module
from mlir_smem.dialect import new_context
from mlir_smem.passes import add_passes
from mlir_smem.runtime import run_on_cpu

M, N, K = 128, 64, 96


def kernel(a_loops, b_loops, fill, asks, result):
    """A kernel of one block that multiplies all of A and B, tiled along N and K."""
    extents = {"m": M, "n": N, "k": K}
    types = [
        f"memref<{extents[x]}x{extents[y]}x{element}>"
        for (x, y), element in ((a_loops, "bf16"), (b_loops, "bf16"), ("mn", result))
    ]
    maps = ", ".join(f"affine_map<(m, n, k) -> ({x}, {y})>" for x, y in (a_loops, b_loops, "mn"))
    a, b, c = types
    zero = f"linalg.fill ins(%zero : {result}) outs(%c : {c})" if fill else ""
    return f"""module attributes {{transform.with_named_sequence}} {{
  gpu.module @kernels {{
    gpu.func @product(%a: {a} {{smem.name = "A"}}, %b: {b} {{smem.name = "B"}},
        %c: {c} {{smem.name = "C"}}) kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
      %zero = arith.constant 0.0 : {result}
      {zero}
      linalg.matmul indexing_maps = [{maps}] ins(%a, %b : {a}, {b}) outs(%c : {c})
      gpu.return
    }}
  }}
  transform.named_sequence @__transform_main(%root: !transform.any_op {{transform.readonly}}) {{
    %m = transform.structured.match ops{{["linalg.matmul"]}} in %root
        : (!transform.any_op) -> !transform.any_op
    %t, %l:2 = transform.structured.tile_using_for %m tile_sizes [0, 32, 32]
        : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    {f'transform.annotate %l#1 "{asks}" : !transform.any_op' if asks else ""}
    transform.yield
  }}
}}"""


def compile_kernel(text):
    """Run the script and the passes that make tiles; return the compiled kernel, and the tiled module."""
    with new_context():
        module = parse_module(text)
        manager = passmanager.PassManager.parse(
            "builtin.module(transform-interpreter,canonicalize,fold-memref-alias-ops,lower-affine,"
            "canonicalize)"
        )
        add_passes(manager, "linalg-to-smem-tiles")
        manager.run(module.operation)
        kernels = module.body.operations[0]
        tiled = str(kernels)
    return mlir_smem.compile(tiled, emit="nvvm", insert_sync=True, pipeline="marked"), tiled


@pytest.mark.parametrize(
    "a_loops, b_loops, fill, asks, result",
    [
        ("mk", "kn", False, "", "f32"),
        ("mk", "kn", True, "smem.specialize", "f32"),
        ("km", "nk", False, "smem.specialize", "f32"),
        ("mk", "nk", True, "", "bf16"),
    ],
)
def test_a_tiled_product(a_loops, b_loops, fill, asks, result):
    compiled, tiled = compile_kernel(kernel(a_loops, b_loops, fill, asks, result))
    assert "linalg" not in tiled
    assert "iter_args" in tiled
    random = np.random.default_rng(0)
    a, b = (random.integers(-2, 3, x).astype(ml_dtypes.bfloat16) for x in ((M, K), (K, N)))
    c = random.integers(-4, 5, (M, N)).astype(np.float32 if result == "f32" else a.dtype)
    expected = a.astype(np.float32) @ b.astype(np.float32) + (0 if fill else c.astype(np.float32))
    arrays = {"A": a if a_loops == "mk" else a.T.copy(), "B": b if b_loops == "kn" else b.T.copy()}
    computed = run_on_cpu(compiled, "product", arrays | {"C": c}, ["C"], grid=(1, 1, 1))["C"]
    np.testing.assert_array_equal(computed, expected.astype(c.dtype))
