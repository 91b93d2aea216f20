"""Forms that upstream's `nvvm.wgmma.*` cannot express, or emits wrongly: why `passes/lower_mma` emits
assembly.

Each test passes while upstream has this limit. A failure states what can be dropped here.
"""

import inspect

import pytest

import mlir_smem
from mlir_smem.bindings import ir, nvvm
from mlir_smem.codegen import CompileError
from mlir_smem.codegen.ptxas import assemble, find_ptxas

LOWERING = "passes/lower_mma/wgmma.py"
MULTIPLY = f"multiply of {LOWERING}, and the condition for it"


@pytest.fixture
def ptxas():
    try:
        return find_ptxas()
    except CompileError as error:
        pytest.skip(str(error))


def kernel(
    types=("bf16", "bf16", "f32"),
    k=16,
    registers=("f32",) * 4,
    operands="%d, %a, %a",
    signature="!d, i64, i64",
    scale_d="#nvvm.wgmma_scale_out<one>",
    fence='"nvvm.wgmma.fence.aligned"() : () -> ()',
    wait='"nvvm.wgmma.wait.group.sync.aligned"() {group = 0 : i64} : () -> ()',
):
    """Return a kernel with one wgmma of N = 8 by upstream's ops, in generic form."""
    a, b, d = (f"#nvvm.wgmma_type<{type_}>" for type_ in types)
    return f"""
!d = !llvm.struct<({", ".join(registers)})>
gpu.module @kernels {{
  gpu.func @product(%a: i64, %word: i32, %condition: i1)
      kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
    %d = llvm.mlir.poison : !d
    {fence}
    %0 = "nvvm.wgmma.mma_async"({operands}) {{
      shape = #nvvm.shape<m = 64, n = 8, k = {k}>, typeA = {a}, typeB = {b}, typeD = {d},
      scaleD = {scale_d},
      scaleA = #nvvm.wgmma_scale_in<one>, scaleB = #nvvm.wgmma_scale_in<one>,
      layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>}} : ({signature}) -> !d
    "nvvm.wgmma.commit.group.sync.aligned"() : () -> ()
    {wait}
    gpu.return
  }}
}}
"""


def check_refused(text, reason, fixed):
    """Check that upstream refuses a module for a reason.

    Args:
        text: the module.
        reason: a part of upstream's message.
        fixed: what to do once upstream accepts the module.
    """
    with ir.Context():
        try:
            ir.Module.parse(text)
        except ir.MLIRError as error:
            assert reason in str(error)
            return
    pytest.fail(f"upstream takes it now: {fixed}")


def ptx_of(text):
    ptx = mlir_smem.compile(text, emit="ptx").ptx
    assert ptx is not None
    return ptx


def ptxas_refuses(text, reason, fixed):
    """Check that upstream accepts a module, and that ptxas refuses its PTX."""
    try:
        assemble(ptx_of(text), "sm_90a")
    except CompileError as error:
        assert reason in str(error)
        return
    pytest.fail(f"ptxas takes upstream's PTX now: {fixed}")


def test_the_base_kernel_is_assembled(ptxas):
    assemble(ptx_of(kernel()), "sm_90a")
    halves = kernel(("f16", "f16", "f16"), registers=("i32",) * 2)
    assemble(ptx_of(halves), "sm_90a")


def test_upstream_has_no_new_operands_or_attributes():
    # New forms will need new operands, attributes or ops.
    wgmma_ops = {name for name in dir(nvvm) if name.startswith("wgmma")}
    assert wgmma_ops == {
        "wgmma_commit_group_sync_aligned",
        "wgmma_fence_aligned",
        "wgmma_mma_async",
        "wgmma_wait_group_sync_aligned",
    }, f"upstream's wgmma ops are others now: look whether they replace a part of {LOWERING}"
    named = set(inspect.signature(nvvm.wgmma_mma_async).parameters) - {"loc", "ip"}
    assert named == {
        *("results_", "inouts", "descriptor_a", "descriptor_b", "shape", "satfinite"),
        *("type_a", "type_b", "type_d", "scale_a", "scale_b", "scale_d", "layout_a", "layout_b"),
    }, f"nvvm.wgmma.mma_async takes other things now: look whether they replace {MULTIPLY}"


@pytest.mark.parametrize(
    "operands, signature, reason",
    [
        (
            "%d, %word, %word, %word, %word, %a",
            "!d, i32, i32, i32, i32, i64",
            "expected 3 operands, but found 6",
        ),
        ("%d, %d, %a", "!d, !d, i64", "operand #1 must be 64-bit signless integer"),
    ],
    ids=["words", "struct"],
)
def test_a_cannot_be_in_registers(operands, signature, reason):
    check_refused(
        kernel(operands=operands, signature=signature),
        reason,
        f"A in registers needs no assembly; drop `in_registers` of {MULTIPLY}",
    )


@pytest.mark.parametrize(
    "change, reason",
    [
        (
            {"operands": "%d, %a, %a, %condition", "signature": "!d, i64, i64, i1"},
            "expected 3 operands, but found 4",
        ),
        ({"scale_d": "true"}, "attribute 'scaleD' failed to satisfy constraint"),
    ],
    ids=["operand", "attribute"],
)
def test_scale_d_cannot_be_a_value(change, reason):
    check_refused(
        kernel(**change),
        reason,
        f"scale-d at run time needs no assembly; drop what `adds` is there for in {MULTIPLY}",
    )


@pytest.mark.parametrize(
    "change, reason",
    [
        (
            {"operands": "%d, %a, %a, %word", "signature": "!d, i64, i64, i32"},
            "expected 3 operands, but found 4",
        ),
        ({}, "shape 'k' must be 16 for input type bf16"),
    ],
    ids=["metadata", "K"],
)
def test_a_cannot_be_sparse(change, reason):
    check_refused(
        kernel(k=32, **change),
        reason,
        f"sparse products need no assembly; drop `metadata` of {MULTIPLY}",
    )


BITS = kernel(("b1", "b1", "s32"), k=256, registers=("i32",) * 4)


def test_b1_lacks_its_operation(ptxas):
    fixed = f"b1 needs no assembly; drop `B1` of {MULTIPLY}"
    assert "wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1 {" in ptx_of(BITS), fixed
    ptxas_refuses(BITS, "Boolean operation is required", fixed)


def test_b1_lacks_nothing_else(ptxas):
    assemble(ptx_of(BITS).replace(".b1.b1", ".b1.b1.and.popc"), "sm_90a")


def test_bf16_is_added_in_f16(ptxas):
    ptxas_refuses(
        kernel(("bf16", "bf16", "f16"), registers=("i32",) * 2),
        "instruction types",
        "the f16 accumulators of bf16 that smem.mma refuses (layout/mixes.py) are worth another look",
    )


# Registers of the fence and the wait.


@pytest.mark.parametrize(
    "change, name, dropped",
    [
        (
            {"wait": '"nvvm.wgmma.wait.group.sync.aligned"(%0) {group = 0 : i64} : (!d) -> ()'},
            "wait.group.sync.aligned",
            f"lower_wait of {LOWERING} can be upstream's op alone",
        ),
        (
            {"fence": '"nvvm.wgmma.fence.aligned"(%word) : (i32) -> ()'},
            "fence.aligned",
            f"_fence_registers of {LOWERING} can be upstream's op alone",
        ),
    ],
    ids=["wait", "fence"],
)
def test_registers_do_not_pass_through(change, name, dropped):
    check_refused(
        kernel(**change),
        f"'nvvm.wgmma.{name}' op requires zero operands",
        f"it ties registers to the instruction; {dropped}",
    )


def test_the_wait_and_the_fence_have_no_registers_in_llvm():
    llvm_ir = mlir_smem.compile(kernel(), emit="llvm").llvm
    assert llvm_ir is not None
    for call in ("wait_group.sync.aligned(i64 0)", "fence.sync.aligned()"):
        assert f"call void @llvm.nvvm.wgmma.{call}" in llvm_ir, (
            f"upstream emits another {call.split('.')[0]}: look whether it ties registers, and whether "
            f"lower_wait or _fence_registers ({LOWERING}) can go"
        )
