"""Slices on the emulator: loads, stores, fills, maps, broadcasts, registers."""

import ml_dtypes
import numpy as np
import pytest

import mlir_smem
from mlir_smem.runtime import run_on_cpu

TYPES = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i32": np.int32}

#: (element in memory, of the slice, element stored).
ELEMENTS = [
    ("f32", "f32", "f32"),
    ("f16", "f32", "f16"),
    ("bf16", "f32", "bf16"),
    ("f16", "f16", "f32"),
    ("i32", "i32", "i32"),
]


def kernel(body: str, arguments: str, types: str = "", warpgroups: int = 1) -> str:
    return f"""
    {types}
    gpu.module @kernels {{
      gpu.func @f({arguments}) kernel attributes {{
          known_block_size = array<i32: {128 * warpgroups}, 1, 1>}} {{
        {body}
        gpu.return
      }}
    }}"""


def run(text: str, inputs: dict, outputs: list[str], arch: str = "sm_90a") -> dict:
    compiled = mlir_smem.compile(text, arch=arch, emit="nvvm")
    return run_on_cpu(compiled, "f", inputs, outputs, (1,))


def random(element: str, shape: tuple[int, ...]) -> np.ndarray:
    drawn = np.random.default_rng(0).integers(-8, 8, shape)
    return drawn.astype(TYPES[element])


@pytest.mark.parametrize("arch", ["sm_90a", "sm_100a"])
@pytest.mark.parametrize("dim, extent", [(1, 64), (1, 256), (0, 8), (0, 48)])
@pytest.mark.parametrize("source_type, slice_type, target_type", ELEMENTS)
@pytest.mark.parametrize("stride", [1, 3, None])
def test_loads_and_stores(source_type, slice_type, target_type, dim, extent, stride, arch):
    slice_ = f"!smem.fragment<tensor<{extent}x{slice_type}>, #smem.slice<{dim}>>"
    step = stride or 2
    layout = f"strided<[{'?' if stride is None else stride}], offset: ?>"
    source, target = (f"memref<{extent}x{e}, {layout}>" for e in (source_type, target_type))
    whole = extent * step + 1
    text = kernel(
        f"""
        %zero = gpu.block_id x
        %c1 = arith.constant 1 : index
        %n = arith.constant {step} : index
        %step = arith.addi %n, %zero : index
        %x = memref.reinterpret_cast %X to offset: [%c1], sizes: [{extent}],
            strides: [{"%step" if stride is None else stride}] : memref<{whole}x{source_type}> to {source}
        %y = memref.reinterpret_cast %Y to offset: [%c1], sizes: [{extent}],
            strides: [{"%step" if stride is None else stride}] : memref<{whole}x{target_type}> to {target}
        %s = "smem.load"(%x) : ({source}) -> {slice_}
        "smem.store"(%s, %y) : ({slice_}, {target}) -> ()""",
        f'%X: memref<{whole}x{source_type}> {{smem.name = "X"}}, '
        f'%Y: memref<{whole}x{target_type}> {{smem.name = "Y"}}',
    )
    x = random(source_type, (whole,))
    y = run(text, {"X": x}, ["Y"], arch)["Y"]
    expected = np.asarray(x, np.float64)[1::step][:extent]
    assert np.array_equal(np.asarray(y, np.float64)[1::step][:extent], expected)


def test_each_element_is_stored_once():
    """One thread stores an element; the emulator reports a race otherwise."""
    text = kernel(
        """
        %v = arith.constant 2.5 : f32
        %s = "smem.fill"(%v) : (f32) -> !rows
        "smem.store"(%s, %Y) : (!rows, memref<128xf32>) -> ()""",
        '%Y: memref<128xf32> {smem.name = "Y"}',
        "!rows = !smem.fragment<tensor<128xf32>, #smem.slice<1>>",
    )
    nvvm = mlir_smem.compile(text, emit="nvvm").nvvm
    assert nvvm.count("llvm.store") == 4
    assert (run(text, {}, ["Y"])["Y"] == 2.5).all()


@pytest.mark.parametrize("arch", ["sm_90a", "sm_100a"])
@pytest.mark.parametrize("dim, m, n", [(1, 64, 24), (0, 64, 24), (1, 128, 16), (0, 192, 8)])
def test_a_map_of_slices_has_their_position(dim, m, n, arch):
    extent = (n, m)[dim]
    text = kernel(
        """
        %s = "smem.load"(%X) : (!vector) -> !slice
        %t = "smem.map"(%s, %s) ({
        ^bb0(%x: i32, %y: i32, %at: index):
          %i = arith.index_cast %at : index to i32
          %sum = arith.addi %x, %i : i32
          gpu.yield %sum : i32
        }) : (!slice, !slice) -> !slice
        "smem.store"(%t, %X) : (!slice, !vector) -> ()""",
        '%X: !vector {smem.name = "X"}',
        f"!vector = memref<{extent}xi32>\n"
        f"!slice = !smem.fragment<tensor<{extent}xi32>, #smem.slice<{dim}>>",
    )
    x = random("i32", (extent,))
    assert np.array_equal(run(text, {"X": x}, ["X"], arch)["X"], x + np.arange(extent))


@pytest.mark.parametrize("arch", ["sm_90a", "sm_100a"])
@pytest.mark.parametrize("element", ["f32", "f16", "i32"])
@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("m, n", [(64, 8), (64, 48), (128, 16), (256, 24)])
def test_a_broadcast_repeats_a_slice(element, dim, m, n, arch):
    extent = (n, m)[dim]
    text = kernel(
        """
        %s = "smem.load"(%X) : (!vector) -> !slice
        %c = "smem.broadcast"(%s) : (!slice) -> !accumulator
        "smem.store"(%c, %Y) : (!accumulator, !matrix) -> ()""",
        '%X: !vector {smem.name = "X"}, %Y: !matrix {smem.name = "Y"}',
        f"!vector = memref<{extent}x{element}>\n!matrix = memref<{m}x{n}x{element}>\n"
        f"!slice = !smem.fragment<tensor<{extent}x{element}>, #smem.slice<{dim}>>\n"
        f"!accumulator = !smem.fragment<tensor<{m}x{n}x{element}>, #smem.accumulator>",
    )
    x = random(element, (extent,))
    expected = np.broadcast_to(np.expand_dims(x, dim), (m, n))
    assert np.array_equal(run(text, {"X": x}, ["Y"], arch)["Y"], expected)


@pytest.mark.parametrize("arch", ["sm_90a", "sm_100a"])
@pytest.mark.parametrize("element", ["f32", "f16", "i32"])
@pytest.mark.parametrize("dim, extent", [(1, 64), (1, 256), (0, 8), (0, 40)])
def test_registers_are_in_the_order_of_the_layout(element, dim, extent, arch):
    count = extent // (32 if dim else 4)
    text = kernel(
        f"""
        %s = "smem.load"(%X) : (!vector) -> !slice
        %v = "smem.to_registers"(%s) : (!slice) -> vector<{count}x{element}>
        %thread = gpu.thread_id x
        %zero = arith.constant 0 : index
        vector.store %v, %Y[%thread, %zero] : memref<128x{count}x{element}>, vector<{count}x{element}>
        %t = "smem.from_registers"(%v) : (vector<{count}x{element}>) -> !slice
        "smem.store"(%t, %Z) : (!slice, !vector) -> ()""",
        f'%X: !vector {{smem.name = "X"}}, %Y: memref<128x{count}x{element}> {{smem.name = "Y"}}, '
        '%Z: !vector {smem.name = "Z"}',
        f"!vector = memref<{extent}x{element}>\n"
        f"!slice = !smem.fragment<tensor<{extent}x{element}>, #smem.slice<{dim}>>",
    )
    x = np.arange(extent).astype(TYPES[element])
    outputs = run(text, {"X": x}, ["Y", "Z"], arch)
    coordinates = mlir_smem.layout.slice_coordinates(extent, dim, mlir_smem.layout.Arch.parse(arch))
    assert np.array_equal(outputs["Y"], x[coordinates])
    assert np.array_equal(outputs["Z"], x)


def test_slices_pass_through_control_flow():
    """`scf.for` and `scf.if` carry slices; their types are converted with the others."""
    text = kernel(
        """
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c3 = arith.constant 3 : index
        %s = "smem.load"(%X) : (memref<64xf32>) -> !rows
        %t = scf.for %i = %c0 to %c3 step %c1 iter_args(%old = %s) -> (!rows) {
          %first = arith.cmpi eq, %i, %c0 : index
          %new = scf.if %first -> (!rows) {
            %doubled = "smem.map"(%old) ({
            ^bb0(%x: f32):
              %y = arith.addf %x, %x : f32
              gpu.yield %y : f32
            }) : (!rows) -> !rows
            scf.yield %doubled : !rows
          } else {
            scf.yield %old : !rows
          }
          scf.yield %new : !rows
        }
        "smem.store"(%t, %X) : (!rows, memref<64xf32>) -> ()""",
        '%X: memref<64xf32> {smem.name = "X"}',
        "!rows = !smem.fragment<tensor<64xf32>, #smem.slice<1>>",
    )
    x = random("f32", (64,))
    assert np.array_equal(run(text, {"X": x}, ["X"])["X"], 2 * x)
