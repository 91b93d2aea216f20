"""`smem.reduce` on the emulator, against NumPy."""

import numpy as np
import pytest
from each import for_each
from reductions import EVERY, TALL, Reduction

import mlir_smem
from mlir_smem.runtime import run_on_cpu


def run(case: Reduction, inputs: dict[str, np.ndarray], arch: str = "sm_90a") -> np.ndarray:
    compiled = mlir_smem.compile(case.text, arch=arch, emit="nvvm")
    return run_on_cpu(compiled, "reduce", inputs, ["O"], (1,))["O"]


@pytest.mark.parametrize("case", EVERY, ids=str)
def test_a_reduction(case):
    inputs = case.inputs()
    case.check(run(case, inputs), inputs)


@for_each("case", TALL)
def test_a_reduction_of_the_rows_of_tcgen05(case):
    inputs = case.inputs()
    case.check(run(case, inputs, "sm_100a"), inputs)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("op", ["maximumf", "maxnumf", "minimumf", "minnumf", "add"])
@pytest.mark.parametrize("element", ["f32", "f16"])
def test_nan_and_infinities(element, op, axis):
    case = Reduction(element, op, axis, 16)
    inputs = case.inputs()
    a = inputs["A"][0]
    a[3, :], a[:, 3] = -np.inf, -np.inf
    a[5, 5] = a[6, 2] = np.nan
    a[9, 9] = np.inf
    a[20, :], a[:, 10] = np.nan, np.nan
    if op == "add":
        a[3, 9] = 0
    with np.errstate(invalid="ignore"):
        outputs = run(case, inputs)
        wanted = {
            "maximumf": np.maximum,
            "maxnumf": np.fmax,
            "minimumf": np.minimum,
            "minnumf": np.fmin,
            "add": np.add,
        }[op].reduce(a.astype(np.float64), axis=axis)
    for got in outputs[:, 0]:
        assert np.array_equal(np.isnan(got), np.isnan(wanted))
        settled = np.isinf(wanted) | (op != "add")
        assert np.array_equal(got[settled], wanted[settled].astype(got.dtype), equal_nan=True)


@pytest.mark.parametrize("m", [64, 128, 192, 256])
@pytest.mark.parametrize("arch", ["sm_90a", "sm_100a"])
def test_a_reduction_of_a_product(m, arch):
    """The accumulator comes from tensor memory on sm_100a."""
    text = f"""
    !a = !smem.tile<tensor<{m}x32xf16>, #smem.auto>
    !b = !smem.tile<tensor<32x48xf16>, #smem.auto>
    !in_flight = !smem.fragment<tensor<{m}x48xf32>, #smem.in_flight>
    !accumulator = !smem.fragment<tensor<{m}x48xf32>, #smem.accumulator>
    !rows = !smem.fragment<tensor<{m}xf32>, #smem.slice<1>>
    !columns = !smem.fragment<tensor<48xf32>, #smem.slice<0>>
    gpu.module @kernels {{
      gpu.func @reduce(%A: memref<{m}x32xf16> {{smem.name = "A"}},
                       %B: memref<32x48xf16> {{smem.name = "B"}},
                       %R: memref<{m}xf32> {{smem.name = "R"}},
                       %C: memref<48xf32> {{smem.name = "C"}},
                       %D: memref<{m}x48xf32> {{smem.name = "D"}})
          kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
        %a = "smem.alloc"() : () -> !a
        %b = "smem.alloc"() : () -> !b
        "smem.copy"(%A, %a) : (memref<{m}x32xf16>, !a) -> ()
        "smem.copy"(%B, %b) : (memref<32x48xf16>, !b) -> ()
        "smem.fence"() : () -> ()
        gpu.barrier
        %0 = "smem.mma"(%a, %b) : (!a, !b) -> !in_flight
        %d = "smem.wait"(%0) {{pending = 0 : i32}} : (!in_flight) -> !accumulator
        %r = "smem.reduce"(%d) {{op = "add", axis = 1 : i32}} : (!accumulator) -> !rows
        %c = "smem.reduce"(%d) {{op = "maximumf", axis = 0 : i32}} : (!accumulator) -> !columns
        %most = "smem.broadcast"(%c) : (!columns) -> !accumulator
        %e = "smem.map"(%d, %most) ({{
        ^bb0(%x: f32, %y: f32):
          %z = arith.subf %x, %y : f32
          gpu.yield %z : f32
        }}) : (!accumulator, !accumulator) -> !accumulator
        "smem.store"(%r, %R) : (!rows, memref<{m}xf32>) -> ()
        "smem.store"(%c, %C) : (!columns, memref<48xf32>) -> ()
        "smem.store"(%e, %D) : (!accumulator, memref<{m}x48xf32>) -> ()
        gpu.return
      }}
    }}"""
    random = np.random.default_rng(m)
    a, b = (random.integers(-4, 5, shape).astype(np.float16) for shape in ((m, 32), (32, 48)))
    compiled = mlir_smem.compile(text, arch=arch, emit="nvvm")
    outputs = run_on_cpu(compiled, "reduce", {"A": a, "B": b}, ["R", "C", "D"], (1,))
    product = a.astype(np.float32) @ b.astype(np.float32)
    assert np.array_equal(outputs["R"], product.sum(axis=1))
    assert np.array_equal(outputs["C"], product.max(axis=0))
    assert np.array_equal(outputs["D"], product - product.max(axis=0))
