"""Block-scaled `tcgen05.mma`, against sums in float64.

Scale factors are placed one by one, by the formula of PTX ISA 9.7.16.10.7 and CuTe's layouts.
"""

from dataclasses import replace

import numpy as np
import pytest
from scaled_mmas import FACTORS, M, ScaledMma, factor_bytes
from tcgen05_kernels import AFTER, BEFORE, BYTES, WAIT_STORE, matrix_of, store, tmem_address
from tcgen05_operands import bytes_of

from mlir_smem.layout import element
from mlir_smem.layout.tcgen05 import scale_blocks, scale_layout

FLOATS = ["e4m3", "e5m2", "e2m3_p32", "e3m2_p32", "e2m1_p64"]


def check(case):
    faults, registers = case.run()
    assert faults == []
    assert (registers == case.expected).all()


@pytest.mark.parametrize("b", FLOATS)
@pytest.mark.parametrize("a", FLOATS)
def test_floats_of_8_bits_and_fewer(a, b):
    check(ScaledMma("mxf8f6f4", a, b, k_blocks=2))


@pytest.mark.parametrize("n", [8, 24, 128, 136, 256])
def test_scale_factors_of_each_k_block_and_n(n):
    # Five K blocks use each byte of a word, and one byte of the next.
    check(ScaledMma("mxf8f6f4", "e4m3", "e4m3", n, k_blocks=5 if n < 128 else 2))


@pytest.mark.parametrize("n", [16, 144])
@pytest.mark.parametrize(
    "kind, block, scale",
    [
        ("mxf4", 32, "ue8m0"),
        ("mxf4nvf4", 32, "ue8m0"),
        ("mxf4nvf4", 16, "ue8m0"),
        ("mxf4nvf4", 16, "ue4m3"),
    ],
)
def test_floats_of_4_bits(kind, block, scale, n):
    check(ScaledMma(kind, "e2m1", "e2m1", n, block, scale, k_blocks=3))


@pytest.mark.parametrize("majors", [("mn", "k"), ("k", "mn"), ("mn", "mn")], ids="-".join)
def test_majorness_of_8_bit_types(majors):
    check(ScaledMma("mxf8f6f4", "e4m3", "e5m2", 32, majors=majors))


@pytest.mark.parametrize("kind, name", [("mxf8f6f4", "e4m3"), ("mxf4", "e2m1")])
def test_a_in_tensor_memory(kind, name):
    case = ScaledMma(kind, name, name, k_blocks=1)
    kernel, image = case.kernel(), case.operands.image
    # Each thread stores a row of 32 bytes, 8 columns, behind the columns that the mma uses.
    words, column = bytes_of(case.values[0], name).view(np.int32), 32
    image[-words.nbytes :] = words.reshape(-1).view(np.uint8)
    lines = [
        "%rows = arith.constant 15360 : index",
        "%row = arith.muli %tid, %c8 : index",
        "%from = arith.addi %row, %rows : index",
        f"%rowbytes = vector.load %A[%from] : memref<{BYTES // 4}xi32>, vector<8xi32>",
        store("a", "rowbytes", 0, column, "32x32b", 8),
        *(WAIT_STORE, BEFORE, "gpu.barrier", AFTER),
        tmem_address("ta", 0, column),
    ]
    kernel = kernel.without("scf.if %leader {", "\n".join([*lines, "scf.if %leader {"]), which=1)
    kernel = kernel.without("%d, %m0a,", "%d, %ta,").without("6>, i64,", "6>, !llvm.ptr<6>,")
    faults, registers = replace(kernel, columns=64).run(image)
    assert faults == []
    assert (matrix_of(registers.view(np.float32), M, 16) == case.expected).all()


@pytest.mark.parametrize("negate", [(True, False), (False, True), (True, True)])
def test_a_or_b_negated(negate):
    check(ScaledMma("mxf4", "e2m1", "e2m1", negate=negate))


@pytest.mark.parametrize("always", [False, True])
@pytest.mark.parametrize("first", [0, 192])
@pytest.mark.parametrize(
    "kind, block, scale",
    [("mxf4", 32, "ue8m0"), ("mxf4nvf4", 16, "ue4m3")],
)
def test_k_of_48_bytes(kind, block, scale, first, always):
    # Of eight instructions along three buffers of 128 bytes, the third and the sixth cross buffers.
    check(ScaledMma(kind, "e2m1", "e2m1", 16, block, scale, k_blocks=4, long=(first, always)))


@pytest.mark.parametrize("rows", [128, 256])
def test_scale_layout_places_factors_where_the_mma_reads_them(rows):
    factors = np.random.default_rng(0).integers(0, 255, (rows, 8), np.uint8)
    tile = scale_layout(element("ue8m0"), rows, 8)
    blocks = scale_blocks(tile)
    image = np.zeros(rows * 8, np.uint8)
    image[tile.offsets()] = factors
    for i, raw in enumerate(factor_bytes(factors)):
        word, block = divmod(i, rows // 128)
        assert blocks.column(block, word) == 4 * i
        start = blocks.descriptor(block, word).start
        assert (image[start : start + 512] == raw).all()


# Scale factors that are NaN, very small or very large.


def test_scale_factor_that_is_nan():
    for scale in FACTORS:
        case = ScaledMma("mxf4nvf4", "e2m1", "e2m1", 16, 16, scale)
        # NaN has the same code in both types, except for the sign bit, which ue4m3 does not have.
        case.factors[0][3, 1] = np.nan
        assert np.isnan(case.factors[0][3, 1])
        faults, registers = case.run()
        assert faults == []
        assert np.isnan(registers[3]).all()
        rest = np.arange(M) != 3
        assert (registers[rest] == case.expected[rest]).all()


@pytest.mark.parametrize("exponent", [-60, 58])
def test_powers_of_two_scale_exactly(exponent):
    dtype = FACTORS["ue8m0"][0]
    factors = [np.full((rows, 4), 2.0**exponent).astype(dtype) for rows in (M, 16)]
    check(ScaledMma("mxf4", "e2m1", "e2m1", factors=factors))
