"""Operands that are subtiles: inside a swizzle atom, across atoms, at a base offset."""

import pytest
from gpu_reference import assert_product, operand
from one_mma import SWIZZLES, kernel, product

import mlir_smem
from mlir_smem.runtime import run_on_gpu

DYNAMIC = -(1 << 63)


def check(text, a, b, part_a, part_b, record_property):
    compiled = mlir_smem.compile(text, reserved_bytes=RESERVED if "dynamic_shared" in text else 0)
    d = run_on_gpu(compiled, "product", {"A": a, "B": b}, ["D"], grid=(1,))["D"]
    record_property("part_of_bound", round(assert_product(d, a[part_a], b[part_b]), 4))


def subtile_kernel(swizzle, row, column, run_time, k=64):
    """Multiply a 64 x k subtile of a 160 x 256 K-major tile by a k x 64 tile, bf16.

    A `run_time` offset is a sum with the block id in a dimension of extent 1: it is 0, but no compiler
    knows it. The divisor of the offset is promised.
    """
    a, b = "memref<160x256xbf16>", f"memref<{k}x64xbf16>"
    ta = f'!smem.tile<tensor<160x256xbf16>, #smem.swizzle<"{swizzle}", "row-major">>'
    tb = f"!smem.tile<tensor<{k}x64xbf16>, #smem.auto>"
    subtile = f"!smem.tile<tensor<64x{k}xbf16>, #smem.auto>"
    offsets, starts = "", f"{row}, {column}"
    if run_time:
        starts = f"{DYNAMIC}, {DYNAMIC}"
        offsets = ", %row, %column"
    body = f"""
    %zero = gpu.block_id y
    %r = arith.constant {row} : index
    %c = arith.constant {column} : index
    %row = arith.addi %zero, %r : index
    %column = arith.addi %zero, %c : index
    %ta = "smem.alloc"() : () -> {ta}
    %tb = "smem.alloc"() : () -> {tb}
    "smem.copy"(%A, %ta) : ({a}, {ta}) -> ()
    "smem.copy"(%B, %tb) : ({b}, {tb}) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
    %subtile = "smem.subtile"(%ta{offsets}) {{static_offsets = array<i64: {starts}>
      {", multiple_of = array<i64: 1, 16>" if run_time else ""}}}
      : ({ta}{", index, index" if run_time else ""}) -> {subtile}
"""
    return kernel(a, b, 64, 64, body + product("%subtile", subtile, "%tb", tb, 64, 64))


@pytest.mark.parametrize("run_time", [False, True], ids=["static", "run-time"])
@pytest.mark.parametrize("column", [0, 16, 48, 64, 112, 192])
@pytest.mark.parametrize("row", [0, 3, 8, 37, 64, 95])
@pytest.mark.parametrize("swizzle", SWIZZLES)
def test_a_part_that_begins_inside_a_pattern(swizzle, row, column, run_time, record_property):
    k = 16
    a = operand(160, 256, "bf16", True, seed=3)
    b = operand(k, 64, "bf16", True, seed=4)
    text = subtile_kernel(swizzle, row, column, run_time, k)
    subtile = (slice(row, row + 64), slice(column, column + k))
    check(text, a, b, subtile, slice(None), record_property)


@pytest.mark.parametrize("run_time", [False, True], ids=["static", "run-time"])
@pytest.mark.parametrize("k", [32, 64, 96])
@pytest.mark.parametrize("column", [16, 32, 48, 80, 144])
@pytest.mark.parametrize("row", [0, 37])
@pytest.mark.parametrize("swizzle", SWIZZLES)
def test_a_part_that_cuts_atoms(swizzle, row, column, k, run_time, record_property):
    a = operand(160, 256, "bf16", True, seed=13)
    b = operand(k, 64, "bf16", True, seed=14)
    text = subtile_kernel(swizzle, row, column, run_time, k)
    subtile = (slice(row, row + 64), slice(column, column + k))
    check(text, a, b, subtile, slice(None), record_property)


def two_copies_kernel(swizzle, order, split, run_time):
    """Multiply 64 x 64 matrices. A is the middle of a 64 x 256 or 256 x 64 tile, and two copies fill
    it: one up to `split` along the contiguous dimension, one from there."""
    rows = order == "row-major"
    strided = "" if rows else ", strided<[1, 64]>"
    a, b = f"memref<64x64xbf16{strided}>", "memref<64x64xbf16>"
    whole = "64x256" if rows else "256x64"
    ta = f'!smem.tile<tensor<{whole}xbf16>, #smem.swizzle<"{swizzle}", "{order}">>'
    tb = "!smem.tile<tensor<64x64xbf16>, #smem.auto>"
    middle = 48 if rows else 64

    def subtile(name, start, size, dynamic):
        offset = DYNAMIC if dynamic else middle + start
        offsets = f"0, {offset}" if rows else f"{offset}, 0"
        shape = f"64x{size}" if rows else f"{size}x64"
        type_ = f"!smem.tile<tensor<{shape}xbf16>, #smem.auto>"
        promise = ", multiple_of = array<i64: 8>" if dynamic else ""
        return type_, (
            f'%{name} = "smem.subtile"(%ta{", %at" if dynamic else ""}) '
            f"{{static_offsets = array<i64: {offsets}>{promise}}} "
            f": ({ta}{', index' if dynamic else ''}) -> {type_}"
        )

    def source(name, start, size):
        shape, offset = (f"64, {size}", f"0, {start}") if rows else (f"{size}, 64", f"{start}, 0")
        strides = "[64, 1]" if rows else "[1, 64]"
        extents = shape.replace(", ", "x")
        type_ = f"memref<{extents}xbf16, strided<{strides}, offset: {start}>>"
        return type_, f"%{name} = memref.subview %A[{offset}] [{shape}] [1, 1] : {a} to {type_}"

    (t0, p0), (t1, p1) = (
        subtile("p0", 0, split, False),
        subtile("p1", split, 64 - split, run_time),
    )
    (s0, g0), (s1, g1) = source("g0", 0, split), source("g1", split, 64 - split)
    whole, operand_op = subtile("subtile", 0, 64, False)
    body = f"""
    %zero = gpu.block_id y
    %start = arith.constant {middle + split} : index
    %at = arith.addi %zero, %start : index
    %ta = "smem.alloc"() : () -> {ta}
    %tb = "smem.alloc"() : () -> {tb}
    {g0}
    {g1}
    {p0}
    {p1}
    "smem.copy"(%g0, %p0) : ({s0}, {t0}) -> ()
    "smem.copy"(%g1, %p1) : ({s1}, {t1}) -> ()
    "smem.copy"(%B, %tb) : ({b}, {tb}) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
    {operand_op}
"""
    return kernel(a, b, 64, 64, body + product("%subtile", whole, "%tb", tb, 64, 64))


@pytest.mark.parametrize("run_time", [False, True], ids=["static", "run-time"])
@pytest.mark.parametrize("split", [8, 24, 40])
@pytest.mark.parametrize("order", ["row-major", "column-major"])
@pytest.mark.parametrize("swizzle", SWIZZLES)
def test_copies_to_subtiles_that_cut_atoms(swizzle, order, split, run_time, record_property):
    a = operand(64, 64, "bf16", order == "row-major", seed=15)
    b = operand(64, 64, "bf16", True, seed=16)
    text = two_copies_kernel(swizzle, order, split, run_time)
    check(text, a, b, slice(None), slice(None), record_property)


def m_major_kernel(swizzle, row, column):
    """Multiply by a 64 x 32 subtile of a 256 x 96 M-major tile, bf16."""
    a, b = "memref<256x96xbf16, strided<[1, 256]>>", "memref<32x64xbf16>"
    ta = f'!smem.tile<tensor<256x96xbf16>, #smem.swizzle<"{swizzle}", "column-major">>'
    tb = "!smem.tile<tensor<32x64xbf16>, #smem.auto>"
    subtile = "!smem.tile<tensor<64x32xbf16>, #smem.auto>"
    body = f"""
    %ta = "smem.alloc"() : () -> {ta}
    %tb = "smem.alloc"() : () -> {tb}
    "smem.copy"(%A, %ta) : ({a}, {ta}) -> ()
    "smem.copy"(%B, %tb) : ({b}, {tb}) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
    %subtile = "smem.subtile"(%ta) {{static_offsets = array<i64: {row}, {column}>}} : ({ta}) -> {subtile}
"""
    return kernel(a, b, 64, 64, body + product("%subtile", subtile, "%tb", tb, 64, 64))


@pytest.mark.parametrize("column", [0, 8, 24, 64])
@pytest.mark.parametrize("row", [0, 64, 192])
@pytest.mark.parametrize("swizzle", SWIZZLES)
def test_a_part_of_an_m_major_tile(swizzle, row, column, record_property):
    a = operand(256, 96, "bf16", False, seed=5)
    b = operand(32, 64, "bf16", True, seed=6)
    subtile = (slice(row, row + 64), slice(column, column + 32))
    check(m_major_kernel(swizzle, row, column), a, b, subtile, slice(None), record_property)


RESERVED = 96 * 1024


def view_kernel(swizzle, order, line, alignment):
    """Multiply 128 x 128 matrices; A is a view at line `line` (of 128 bytes) of a swizzle atom."""
    strided = "" if order == "row-major" else ", strided<[1, 128]>"
    a, b = f"memref<128x128xbf16{strided}>", "memref<128x64xbf16>"
    ta = f'!smem.tile<tensor<128x128xbf16>, #smem.swizzle<"{swizzle}", "{order}">>'
    tb = "!smem.tile<tensor<128x64xbf16>, #smem.auto>"
    subtile = "!smem.tile<tensor<64x128xbf16>, #smem.auto>"
    body = f"""
    %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %start = arith.constant {4096 + 128 * line} : index
    %memory = memref.view %bytes[%start][] : memref<?xi8, #gpu.address_space<workgroup>>
        to memref<16384xbf16, #gpu.address_space<workgroup>>
    %ta = "smem.view"(%memory) {{alignment = {alignment}}}
        : (memref<16384xbf16, #gpu.address_space<workgroup>>) -> {ta}
    %tb = "smem.alloc"() : () -> {tb}
    "smem.copy"(%A, %ta) : ({a}, {ta}) -> ()
    "smem.copy"(%B, %tb) : ({b}, {tb}) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
    %subtile = "smem.subtile"(%ta) {{static_offsets = array<i64: 64, 0>}} : ({ta}) -> {subtile}
"""
    return kernel(a, b, 64, 64, body + product("%subtile", subtile, "%tb", tb, 64, 64))


@pytest.mark.parametrize("line", range(8))
@pytest.mark.parametrize("order", ["row-major", "column-major"])
@pytest.mark.parametrize("swizzle", SWIZZLES[1:])
def test_a_tile_whose_pattern_begins_at_any_line(swizzle, order, line, record_property):
    # The base offset is computed at run time: (address / 128) mod 8 for the 128-byte swizzle.
    a = operand(128, 128, "bf16", order == "row-major", seed=7)
    b = operand(128, 64, "bf16", True, seed=8)
    text = view_kernel(swizzle, order, line, 128)
    check(text, a, b, slice(64, 128), slice(None), record_property)


@pytest.mark.parametrize("m, n, k", [(192, 256, 256), (128, 320, 192), (64, 512, 64)])
def test_an_operand_of_several_atoms_in_both_directions(m, n, k, record_property):
    a = operand(m, k, "bf16", True, seed=9)
    b = operand(k, n, "bf16", True, seed=10)
    types = (f"memref<{m}x{k}xbf16>", f"memref<{k}x{n}xbf16>")
    tiles = [f"!smem.tile<tensor<{s}xbf16>, #smem.auto>" for s in (f"{m}x{k}", f"{k}x{n}")]
    body = f"""
    %ta = "smem.alloc"() : () -> {tiles[0]}
    %tb = "smem.alloc"() : () -> {tiles[1]}
    "smem.copy"(%A, %ta) : ({types[0]}, {tiles[0]}) -> ()
    "smem.copy"(%B, %tb) : ({types[1]}, {tiles[1]}) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
"""
    text = kernel(*types, m, n, body + product("%ta", tiles[0], "%tb", tiles[1], m, n))
    check(text, a, b, slice(None), slice(None), record_property)


def test_a_tile_beside_the_kernels_own_workgroup_buffer(record_property):
    # Dynamic shared memory then starts after 272 bytes of static memory; swizzle atoms must stay aligned.
    a, b = "memref<64x64xbf16>", "memref<64x64xbf16>"
    tile = "!smem.tile<tensor<64x64xbf16>, #smem.auto>"
    body = f"""
    %zero = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    memref.store %one, %own[%zero] : memref<68xf32, #gpu.address_space<workgroup>>
    %ta = "smem.alloc"() : () -> {tile}
    %tb = "smem.alloc"() : () -> {tile}
    "smem.copy"(%A, %ta) : ({a}, {tile}) -> ()
    "smem.copy"(%B, %tb) : ({b}, {tile}) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
    %read = memref.load %own[%zero] : memref<68xf32, #gpu.address_space<workgroup>>
    memref.store %read, %D[%zero, %zero] : memref<64x64xf32>
    gpu.barrier
"""
    buffer = "workgroup(%own : memref<68xf32, #gpu.address_space<workgroup>>)\n      kernel"
    text = kernel(a, b, 64, 64, body + product("%ta", tile, "%tb", tile, 64, 64))
    text = text.replace("kernel attributes", buffer + " attributes")
    check(
        text,
        operand(64, 64, "bf16", True, seed=11),
        operand(64, 64, "bf16", True, seed=12),
        slice(None),
        slice(None),
        record_property,
    )
