"""What a host asks of tiles and fragments in Python, and upstream's understanding of the answers."""

import re

import numpy as np
import pytest

import mlir_smem
from mlir_smem.bindings import ir, passmanager
from mlir_smem.bindings.diagnostics import Invalid
from mlir_smem.dialect import new_context, ops
from mlir_smem.layout import affine_map, tensor_map, text_error

LAYOUTS = [
    '#smem.swizzle<"128B", "row-major">',
    '#smem.swizzle<"64B", "column-major">',
    '#smem.layout<"Swizzle<3,4,3> o (16,128):(136,1)">',
]


@pytest.fixture(autouse=True)
def context():
    with new_context() as context, ir.Location.unknown():
        yield context


def tile(layout, shape="16x128xbf16"):
    return ir.Type.parse(f"!smem.tile<tensor<{shape}>, {layout}>")


def test_layout_of_a_type_and_of_a_value():
    type_ = tile(LAYOUTS[0])
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        value = ops.alloc((16, 128), ir.BF16Type.get(), ir.Attribute.parse(LAYOUTS[0]))
    assert mlir_smem.layout_of(value) == mlir_smem.layout_of(type_)
    assert mlir_smem.layout_of(type_).shape == (16, 128)
    assert mlir_smem.layout_of(tile("#smem.auto")) is None


@pytest.mark.parametrize("argument", [None, "tile", ir.F32Type])
def test_other_arguments(argument):
    shown = f"a {type(argument).__name__}"
    with pytest.raises(TypeError, match=f"^layout_of takes a tile .*, not {shown}$"):
        mlir_smem.layout_of(argument)
    with pytest.raises(TypeError, match=f"^coordinates_of takes a fragment .*, not {shown}$"):
        mlir_smem.coordinates_of(argument)


def test_other_types():
    fragment = ir.Type.parse("!smem.fragment<tensor<64x8xf32>, #smem.accumulator>")
    with pytest.raises(TypeError, match=r"takes a tile .* not !smem.fragment<tensor<64x8xf32>"):
        mlir_smem.layout_of(fragment)
    metadata = ir.Type.parse("!smem.fragment<tensor<64x64xbf16>, #smem.metadata>")
    with pytest.raises(Invalid, match=r"expected an accumulator or an A fragment, not !smem.frag"):
        mlir_smem.coordinates_of(metadata)
    with pytest.raises(text_error.TextError, match="sm_80"):
        mlir_smem.coordinates_of(fragment, "sm_80")


@pytest.mark.parametrize("state", ["accumulator", "in_flight"])
def test_coordinates_of_an_accumulator(state):
    fragment = ir.Type.parse(f"!smem.fragment<tensor<128x16xf32>, #smem.{state}>")
    on_wgmma = mlir_smem.coordinates_of(fragment)
    assert on_wgmma.shape == (128, 16, 2)
    assert on_wgmma[127, 15].tolist() == [127, 15]
    # Thread 0 holds rows 0 and 8 of the first block; the second is 64 or 16 rows further.
    assert on_wgmma[0, [0, 2, 8], 0].tolist() == [0, 8, 64]
    assert mlir_smem.coordinates_of(fragment, "sm_100a")[0, [0, 2, 8], 0].tolist() == [0, 8, 16]


def test_coordinates_of_a():
    fragment = ir.Type.parse("!smem.fragment<tensor<64x32xbf16>, #smem.a_fragment>")
    coordinates = mlir_smem.coordinates_of(fragment)
    assert coordinates.shape == (128, 16, 2)
    assert coordinates[1, :9].tolist() == [
        [0, 2], [0, 3], [8, 2], [8, 3], [0, 10], [0, 11], [8, 10], [8, 11], [0, 18],
    ]  # fmt: skip


def sample_indices():
    """Indices of elements of a tile of 16x128."""
    random = np.random.default_rng(0)
    return [
        (0, 0),
        (15, 127),
        *(tuple(map(int, i)) for i in random.integers(0, (16, 128), (40, 2))),
    ]


def after(pipeline, text):
    module = ir.Module.parse(text)
    passmanager.PassManager.parse(f"builtin.module({pipeline})").run(module.operation)
    return str(module)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_upstream_applies_the_affine_map(layout):
    tile_layout = mlir_smem.layout_of(tile(layout))
    lines = [
        f"%c{i}x{j} = affine.apply {affine_map(tile_layout)}(%d{i}, %d{j})\n"
        f"func.call @use(%c{i}x{j}) : (index) -> ()"
        for i, j in sample_indices()
    ]
    numbers = sorted({n for index in sample_indices() for n in index})
    constants = [f"%d{n} = arith.constant {n} : index" for n in numbers]
    body = "\n".join([*constants, *lines, "return"])
    text = f"func.func private @use(index)\nfunc.func @f() {{\n{body}\n}}"
    folded = after("canonicalize", text)
    values = dict(re.findall(r"(%\w+) = arith.constant (\d+) : index", folded))
    used = [int(values[name]) for name in re.findall(r"call @use\((%\w+)\)", folded)]
    assert used == [tile_layout.offsets()[i] // 2 for i in sample_indices()]


@pytest.mark.parametrize("width", ["none", "32B", "64B"])
@pytest.mark.parametrize("order", ["row-major", "column-major"])
def test_upstream_normalizes_memrefs_with_the_affine_map(width, order):
    layout = mlir_smem.layout_of(tile(f'#smem.swizzle<"{width}", "{order}">'))
    memref = f"memref<16x128xbf16, {affine_map(layout)}>"
    stores = "\n".join(f"affine.store %x, %m[{i}, {j}] : {memref}" for i, j in sample_indices())
    text = f"func.func @f(%x: bf16) {{ %m = memref.alloc() : {memref}\n {stores}\n return }}"
    normalized = after("normalize-memrefs", text)
    stored = re.findall(r"affine\.store %arg0, %\w+\[(\d+)\] : memref<(\d+)xbf16>", normalized)
    assert {int(size) * 2 for _, size in stored} == {layout.size_bytes}
    assert [int(address) for address, _ in stored] == [
        layout.offsets()[i] // 2 for i in sample_indices()
    ]


@pytest.mark.parametrize("element", ["bf16", "f16", "tf32", "f8E4M3FN", "i8", "ui8", "i1"])
@pytest.mark.parametrize("width", ["128B", "64B", "32B", "none"])
def test_upstream_has_the_type_of_the_tensor_map(element, width):
    shape = f"64x{1024 if element == 'i1' else 128}x{element}"
    layout = mlir_smem.layout_of(tile(f'#smem.swizzle<"{width}", "row-major">', shape))
    type_ = ir.Type.parse(tensor_map(layout).nvgpu_type())
    assert str(type_).startswith("!nvgpu.tensormap.descriptor<tensor = memref<64x")
