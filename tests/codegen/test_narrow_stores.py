"""Stores of the low bits of a float, which ptxas 13.0 compiles to conversions to integers."""

import re

import pytest
from float_parts import PARTS, expected_parts, kernel, operands

import mlir_smem
from mlir_smem.codegen.narrow_stores import explicit_narrow_stores
from mlir_smem.runtime import run_on_cpu


@pytest.mark.parametrize(
    "written, store, replacement",
    [
        (
            "add.rn.f64 \t%rd8, %rd7, %rd7",
            "st.global.b32 \t[%rd9], %rd8",
            "{ .reg .b64 bits0; mov.b64 bits0, %rd8; st.global.b32 [%rd9], bits0; }",
        ),
        (
            "selp.f64 \t%rd8, %rd7, %rd6, %p1",
            "st.shared.b16 \t[%r9+2], %rd8",
            "{ .reg .b64 bits0; mov.b64 bits0, %rd8; st.shared.b16 [%r9+2], bits0; }",
        ),
        (
            "@%p1 ex2.approx.ftz.f32 \t%r8, %r7",
            "st.param.b16 \t[func_retval0], %r8",
            "{ .reg .b32 bits0; mov.b32 bits0, %r8; st.param.b16 [func_retval0], bits0; }",
        ),
        (
            "fma.rn.bf16 \t%rs8, %rs7, %rs7, %rs7",
            "st.global.b8 \t[%rd9], %rs8",
            "{ .reg .b16 bits0; mov.b16 bits0, %rs8; st.global.b8 [%rd9], bits0; }",
        ),
        (
            "add.rn.f32 \t%r8, %r7, %r7",
            "st.global.v4.b16 \t[%rd9], {%rs1, %r8, %r2, %r8}",
            "{ .reg .b32 bits0; mov.b32 bits0, %r8; st.global.v4.b16 [%rd9], "
            "{%rs1, bits0, %r2, bits0}; }",
        ),
        pytest.param(
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 \t{%r1, %r2,%r8}, %rd1, %rd2, p",
            "st.global.v2.b8 \t[%rd9], {%r8, %r1}",
            "{ .reg .b32 bits0; mov.b32 bits0, %r8; .reg .b32 bits1; mov.b32 bits1, %r1; "
            "st.global.v2.b8 [%rd9], {bits0, bits1}; }",
            id="wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 \t{%r1, %r2,%r8}, %rd1, %rd2, p"
            "-st.global.v2.b8 \t[%rd9], {%r8, %r1}-made5",
        ),
    ],
)
def test_low_bits_of_floats(written, store, replacement):
    assert explicit_narrow_stores(f"\t{written};\n\t{store};\n\tret;\n") == (
        f"\t{written};\n\t{replacement}\n\tret;\n"
    )


@pytest.mark.parametrize(
    "written, store",
    [
        # A whole register.
        ("add.rn.f64 \t%rd8, %rd7, %rd7", "st.global.b64 \t[%rd9], %rd8"),
        ("add.rn.f32 \t%r8, %r7, %r7", "st.global.b32 \t[%rd9], %r8"),
        ("add.rn.f16 \t%rs8, %rs7, %rs7", "st.global.b16 \t[%rd9], %rs8"),
        # Bits that no floating-point instruction wrote.
        ("add.s64 \t%rd8, %rd7, %rd7", "st.global.b32 \t[%rd9], %rd8"),
        ("shr.u64 \t%rd8, %rd7, 32", "st.global.b32 \t[%rd9], %rd8"),
        ("cvt.u16.u32 \t%rs8, %r7", "st.global.b8 \t[%rd9], %rs8"),
        # An address.
        ("add.rn.f64 \t%rd8, %rd7, %rd7", "st.global.b32 \t[%rd8], %r1"),
    ],
)
def test_other_stores_are_not_changed(written, store):
    text = f"\t{written};\n\t{store};\n\tret;\n"
    assert explicit_narrow_stores(text) == text


@pytest.mark.parametrize("element, part", PARTS)
def test_kernels_that_store_low_bits_of_floats(element, part):
    text = kernel(element, part)
    ptx = mlir_smem.compile(text).ptx
    written = re.search(rf"add\.rn\.{element} \t(%\w+),", ptx)[1]
    assert re.search(rf"mov\.b\d\d bits0, {written}; st\.global\.b{part[1:]} ", ptx)
    assert not re.search(rf"st\.\S+\s+\[[^\]]*\], {written};", ptx)
    output = run_on_cpu(
        mlir_smem.compile(text, emit="nvvm"), "k", {"X": operands(element)}, ["Y"], (1,)
    )["Y"]
    assert (output == expected_parts(element, part)).all()
