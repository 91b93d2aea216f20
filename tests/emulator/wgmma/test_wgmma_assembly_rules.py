"""wgmma in inline assembly: violations, and text that is not valid PTX."""

import re

import numpy as np
import pytest
from emulated import faults, run
from wgmma_assembly import FENCE, WgmmaKernel, inline, needs_ptxas, structure

from mlir_smem.codegen import CompileError
from mlir_smem.emulator import EmulationError, ViolationKind

IN_REGISTERS = WgmmaKernel("bf16", "bf16", "f32", in_registers=True)
SPARSE = WgmmaKernel("bf16", "bf16", "f32", sparse=True)
INTRINSIC = "nvvm.wgmma.fence.aligned"


def only(violations):
    assert len(violations) == 1, violations
    return violations[0]


# wgmma.fence for A's registers.


def test_registers_pass_through_the_fence():
    assert IN_REGISTERS.faults() == []


def test_fence_without_the_registers_of_a():
    # The accumulator is fenced; A's registers pass through empty assembly.
    edit = ((f'"{FENCE}"', '""'), ("%l0 = ", f"{INTRINSIC}\n%l0 = "))
    violations = IN_REGISTERS.faults(edit=edit)
    assert {fault.kind for fault in violations} == {ViolationKind.REGISTERS_UNFENCED}
    assert "m64n8k16" in violations[0].line
    assert violations[0].message == (
        "gives the tensor core registers of A that other instructions may still be writing: "
        "wgmma.fence is missing before it"
    )


def test_no_fence_at_all():
    violations = IN_REGISTERS.faults(edit=((f'"{FENCE}"', '""'),))
    assert {fault.kind for fault in violations} == {ViolationKind.REGISTERS_UNFENCED}
    assert "gives the tensor core registers that other" in violations[0].message


def test_register_of_a_that_is_written_after_the_fence():
    edit = (
        ("%a1_2 = llvm.extract", "%one = arith.constant 1 : i32\n%old = llvm.extract"),
        ("%a1_3 = ", "%a1_2 = arith.addi %old, %one : i32\n%a1_3 = "),
    )
    fault = only(IN_REGISTERS.faults(edit=edit))
    assert fault.kind is ViolationKind.REGISTERS_UNFENCED
    assert "registers of A" in fault.message and fault.line.startswith("%d2 = ")


def test_register_of_a_that_is_written_and_fenced_again():
    again = inline(FENCE, "i32", 1, [("0", "%new")]).replace(structure("i32", 1), "i32")
    edit = (
        ("%a1_2 = llvm.extract", "%one = arith.constant 1 : i32\n%old = llvm.extract"),
        (
            "%a1_3 = ",
            f"%new = arith.addi %old, %one : i32\n%a1_2 = {again}\n%a1_3 = ",
        ),
    )
    assert IN_REGISTERS.faults(edit=edit) == []


def test_fenced_registers_may_be_put_into_another_struct():
    struct = structure("i32", 4)
    edit = (
        (
            "%a1_3 = ",
            f"%u0 = llvm.mlir.poison : {struct}\n%u1 = llvm.insertvalue %old, %u0[2] : {struct}\n"
            f"%a1_2 = llvm.extractvalue %u1[2] : {struct}\n%a1_3 = ",
        ),
        ("%a1_2 = llvm.extractvalue %fenced", "%old = llvm.extractvalue %fenced"),
    )
    assert IN_REGISTERS.faults(edit=edit[::-1]) == []


def test_fence_without_registers_fences_the_accumulator():
    fence = f'llvm.inline_asm has_side_effects "{FENCE}", "" : () -> ()'
    kernel = WgmmaKernel("bf16", "bf16", "f32")
    assert kernel.faults(edit=((INTRINSIC, fence),)) == []
    assert only(kernel.faults(edit=((INTRINSIC, ""),))).kind is ViolationKind.REGISTERS_UNFENCED


def test_accumulator_in_flight_as_a():
    # The D of the first mma is A of the second, in types that allow it.
    kernel = WgmmaKernel("s8", "s8", "s32", in_registers=True)
    edit = tuple(
        (f"%a1_{r} = llvm.extractvalue %fenced[{4 + r}]", f"%x{r} = llvm.extractvalue %fenced[0]")
        for r in range(4)
    )
    struct = structure("i32", 4)
    lines = "\n".join(f"%a1_{r} = llvm.extractvalue %d1[{r}] : {struct}" for r in range(4))
    edit += (("%b1 = ", f"{lines}\n%b1 = "),)
    fault = kernel.faults(edit=edit)[0]
    assert fault.kind is ViolationKind.ACCUMULATOR_IN_FLIGHT and fault.line.startswith("%d2 = ")


def test_fence_by_half_a_warp():
    body = f"""
    %bound = arith.constant 16 : index
    %go = arith.cmpi ult, %tid, %bound : index
    scf.if %go {{
      llvm.inline_asm has_side_effects "{FENCE}", "" : () -> ()
    }}"""
    assert only(faults(body)).kind is ViolationKind.DIVERGENT


def test_values_pass_through_a_fence_unchanged():
    out = np.zeros((32, 2), np.int32)
    operands = [("1", "%u"), ("0", "%t32")]
    body = f"""
    %u = arith.addi %t32, %t32 : i32
    %s = {inline(FENCE, "i32", 2, operands)}
    %x = llvm.extractvalue %s[0] : {structure("i32", 2)}
    %y = llvm.extractvalue %s[1] : {structure("i32", 2)}
    memref.store %x, %A[%tid, %c0] : memref<32x2xi32>
    memref.store %y, %A[%tid, %c1] : memref<32x2xi32>"""
    run(body, out)
    assert (out == np.arange(32)[:, None] * [1, 2]).all()


# Divergent operands and undefined values.


def test_scale_d_that_differs_between_threads():
    kernel = WgmmaKernel("bf16", "bf16", "f32", scale_d=(1, "$"))
    scale_d = np.ones(128, np.int32)
    scale_d[77] = 0
    fault = only(kernel.faults(scale_d=scale_d))
    assert fault.kind is ViolationKind.DIVERGENT and fault.line.startswith("%d2 = ")
    assert fault.message == "has a scale-d that the threads of a warpgroup disagree on"


def test_all_nonzero_values_of_scale_d_are_equal():
    kernel = WgmmaKernel("bf16", "bf16", "f32", scale_d=(1, "$"))
    assert kernel.faults(scale_d=np.arange(1, 129)) == []


@pytest.mark.parametrize("scale_d", [(1, 1), ("$", 1)])
def test_accumulator_that_is_poison(scale_d):
    violations = WgmmaKernel("bf16", "bf16", "f32", scale_d=scale_d, start="poison").faults()
    assert violations[0].kind is ViolationKind.POISON and violations[0].line.startswith("%d1 = ")


@pytest.mark.parametrize("which", ["A", "B"])
def test_descriptors_of_operands_outside_shared_memory(which):
    name = f"%{which.lower()}0 = "
    edit = ((name, f"{name}arith.constant 16383 : i64\n%unused = "),)
    fault = only(SPARSE.faults(edit=edit))
    assert (
        fault.kind is ViolationKind.OUT_OF_BOUNDS and f"reads {which} from 0x3fff0" in fault.message
    )


# Metadata.

LEGAL = {"f16": (4, 8, 9, 12, 13, 14), "e5m2": (4, 8, 9, 12, 13, 14), "tf32": (4, 14)}


@pytest.mark.parametrize("name", LEGAL)
@pytest.mark.parametrize("nibble", range(16))
def test_legal_and_illegal_metadata(name, nibble):
    kernel = WgmmaKernel(name, name, "f32", sparse=True)
    words = np.full_like(kernel.stored_a[1], 0x4444_4444)
    # Lane 5 of warp 1 holds the third group of row 17, or of row 25 for 8-bit types.
    words[0, 37] = 0x4444_4044 | nibble << 8
    violations = kernel.faults(metadata=words)
    if nibble in LEGAL[name]:
        assert violations == []
        return
    fault = only(violations)
    assert fault.kind is ViolationKind.METADATA and fault.line.startswith("%d1 = ")
    row, first, last = {"f16": (17, 24, 27), "e5m2": (25, 8, 11), "tf32": (17, 12, 13)}[name]
    expected = ", ".join(f"{legal:#06b}" for legal in LEGAL[name])
    assert fault.message == (
        f"has undefined metadata: {nibble:#06b} for elements {first} to {last} of row {row}, "
        f"expected one of {expected}"
    )


def test_metadata_that_is_poison():
    poison = (("%meta0 = memref.load", "%unused = memref.load"),)
    line = "%meta0 = llvm.mlir.poison : i32\n%d0 = "
    violations = SPARSE.faults(edit=(*poison, ("%d0 = ", line)))
    assert violations[0].kind is ViolationKind.POISON


# Text that is not valid PTX.


each_illegal_text = pytest.mark.parametrize(
    "kernel, old, new, message",
    [
        (IN_REGISTERS, "k16", "k32", "m64n8k32 is not a shape of this wgmma; expected m64n<N>k16"),
        (SPARSE, "k32", "k16", "m64n8k16 is not a shape of this wgmma; expected m64n<N>k32"),
        (SPARSE, "m64n8", "m64n12", "m64n12k32 is not a shape of this wgmma"),
        (SPARSE, "m64n8", "m64n264", "m64n264k32 is not a shape of this wgmma"),
        (SPARSE, "m64n8", "m128n8", "m128n8k32 is not a shape of this wgmma"),
        (
            WgmmaKernel("s8", "s8", "s32"),
            "n8k32",
            "n40k32",
            "m64n40k32 is not a shape of this wgmma",
        ),
        (SPARSE, ".f32.bf16.bf16", ".f16.bf16.bf16", "bf16 cannot be multiplied by bf16 into f16"),
        (SPARSE, ".f32.bf16.bf16", ".f32.bf16.f16", "bf16 cannot be multiplied by f16 into f32"),
        (SPARSE, ".f32.bf16.bf16", ".f32.bf17.bf17", "bf17 cannot be multiplied by bf17 into f32"),
        (SPARSE, "k32.f32", "k32.satfinite.f32", ".satfinite is for 8-bit integers, not for bf16"),
        (SPARSE, ".bf16 {", ".bf16.and.popc {", ".and.popc is for b1 alone, which needs it"),
        (
            WgmmaKernel("b1", "b1", "s32"),
            ".and.popc",
            "",
            ".and.popc is for b1 alone, which needs it",
        ),
        (
            WgmmaKernel("b1", "b1", "s32"),
            "mma_async.sync",
            "mma_async.sp.sync",
            "a sparse wgmma does not take b1",
        ),
        (SPARSE, ", 0, p,", ", 2, p,", "2 where a selector is expected"),
        (WgmmaKernel("s8", "s8", "s32", sparse=True), ", 0, p;", ", 1, p;", "1 where a selector"),
        (SPARSE, ", $10, 0, p", ", p", "p where metadata is expected"),
        (
            SPARSE,
            "mma_async.sp",
            "mma_async",
            "m64n8k32 is not a shape of this wgmma; expected m64n<N>k16",
        ),
        (IN_REGISTERS, "p, 1, 1, 0", "p, 1, 2, 0", "2 where scale-b is expected"),
        (IN_REGISTERS, "p, 1, 1, 0", "p, 1, 1", "nothing where trans-b is expected"),
        (IN_REGISTERS, "p, 1, 1, 0", "p, 1, 1, 0, 0", "0 after its last operand"),
        (WgmmaKernel("s8", "s8", "s32"), "$9, p;", "$9, p, 1, 1;", "1 after its last operand"),
        (IN_REGISTERS, "{$0, $1, $2, $3}", "{$0, $1, $2}", "3 registers of D and 4 operands of A"),
        (IN_REGISTERS, "{$8, $9, $10, $11}", "{$8, $9}", "4 registers of D and 2 operands of A"),
        (IN_REGISTERS, "{$8, $9, $10, $11}", "1", "1 where A is expected"),
    ],
)


@each_illegal_text
def test_instructions_that_ptx_does_not_have(kernel, old, new, message):
    with pytest.raises(EmulationError) as error:
        kernel.run(edit=((old, new),))
    pattern = (
        rf"\d+:\d+: 'llvm.inline_asm' holds a wgmma that PTX does not have: {re.escape(message)}"
    )
    assert re.match(pattern, str(error.value))


@needs_ptxas
@each_illegal_text
def test_ptxas_rejects_them_too(kernel, old, new, message):
    with pytest.raises(CompileError, match="ptxas"):
        kernel.assemble(edit=((old, new),))


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("$12, p", "$13, p", "has the operands $0: f, $1: f, $2: f, $3: f, $8: r, "),
        ("$12, p", "$7, p", "but its wgmma takes $0: f, $1: f, $2: f, $3: f, $7: l, $8: r, "),
        ("{$0, $1, $2, $3}", "{$1, $0, $2, $3}", "has the operands "),
        ("r,r,r,r,l", "l,r,r,r,l", "has the operands "),
        ("p, 1, 0", "p, $0, 0", "has the operands "),
        (".reg .pred p;", ".reg .pred q;", "holds assembly that the emulator does not know"),
        ("k16.f32", "k16.rn.f32", "holds assembly that the emulator does not know"),
        (", p,", ", !p,", "holds assembly that the emulator does not know"),
        (FENCE, "wgmma.fence.aligned;", "holds assembly that the emulator does not know"),
    ],
)
def test_operands_that_do_not_fit_the_text(old, new, message):
    with pytest.raises(EmulationError, match=re.escape(message)):
        IN_REGISTERS.run(edit=((old, new),))


def test_operand_of_another_type():
    old = "(f32, f32, f32, f32, i32, i32, i32, i32, i64)"
    edit = (
        ("%b0 = arith.constant ", "%b0 = arith.constant 0 : i32\n%unused = arith.constant "),
        ("%b1 = arith.constant ", "%b1 = arith.constant 0 : i32\n%unused1 = arith.constant "),
        (old, old.replace("i64", "i32")),
    )
    with pytest.raises(EmulationError, match="of type i32 for the constraint 'l'; expected i64"):
        IN_REGISTERS.run(edit=edit)


@pytest.mark.parametrize(
    "line, message",
    [
        (
            f'%r = llvm.inline_asm "{FENCE}", "=r,0,r" %t32, %t32 : (i32, i32) -> i32',
            "takes 1 operands that are not tied to outputs; its assembly takes none",
        ),
        (
            f'%r = llvm.inline_asm "{FENCE}", "=r,=f,0,1" %t32, %f : (i32, f32) '
            "-> !llvm.struct<(i32, f32)>",
            "gives registers of several types, which the emulator does not know",
        ),
        (
            f'%r = llvm.inline_asm "{FENCE}", "=r,0" %t32 : (i32) -> !llvm.struct<(i32, i32)>',
            "has 1 outputs, but a result of 2 registers",
        ),
    ],
)
def test_forms_of_fences_that_are_not_known(line, message):
    with pytest.raises(EmulationError, match=re.escape(message)):
        run(f"%f = arith.constant 1.0 : f32\n{line}")
