"""PTX writes no register of a group of wgmma between `wgmma.fence` and the commit of the group.

The fence must be between other instructions' writes of a register and the wgmma that uses it (PTX ISA
9.7.15.7.1). LLVM must not move a write after the fence: neither a copy nor a rematerialized constant.
"""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from mma_cases import MIXES, Case, forms

from mlir_smem.bindings import ir, passmanager
from mlir_smem.codegen.back_end import to_llvm
from mlir_smem.codegen.llvm_dialect import device_module, lower_to_llvm_dialect
from mlir_smem.codegen.targets import target
from mlir_smem.dialect import new_context
from mlir_smem.passes import add_passes

EXAMPLES = Path(__file__).parents[2] / "examples"

#: Every form, with an accumulator that starts with zeros, with a number, and under a condition.
CASES = [
    Case(*mix, n=8, start=start, keep=keep, **form)
    for mix in MIXES
    for form in forms(mix)
    for start, keep in ((0, None), (3, None), (3, True))
]

#: A readable accumulator of two mma, one that a map computes in a loop, and one in a loop of a single
#: iteration, which upstream removes.
TWICE = """
    %started = "smem.fill"(%start) : (f32) -> !ready
    %d0 = "smem.mma"(%a, %b, %started) : (!a, !b, !ready) -> !flying
    %d1 = "smem.mma"(%a, %b, %started) : (!a, !b, !ready) -> !flying
    %r0 = "smem.wait"(%d0) {pending = 0 : i32} : (!flying) -> !ready
    %r1 = "smem.wait"(%d1) {pending = 0 : i32} : (!flying) -> !ready
    %ready = "smem.map"(%r0, %r1, %started) ({
    ^bb0(%x: f32, %y: f32, %z: f32):
      %s = arith.addf %x, %y : f32
      %t = arith.addf %s, %z : f32
      gpu.yield %t : f32
    }) : (!ready, !ready, !ready) -> !ready
"""
COMPUTED = """
    %started = "smem.fill"(%start) : (f32) -> !ready
    %ready = scf.for %i = %c0 to %n step %c1 iter_args(%before = %started) -> (!ready) {
      %scaled = "smem.map"(%before) ({
      ^bb0(%x: f32):
        %y = arith.mulf %x, %start : f32
        gpu.yield %y : f32
      }) : (!ready) -> !ready
      %d = "smem.mma"(%a, %b, %scaled) : (!a, !b, !ready) -> !flying
      %after = "smem.wait"(%d) {pending = 0 : i32} : (!flying) -> !ready
      scf.yield %after : !ready
    }
"""
ONCE = """
    %started = "smem.fill"(%start) : (f32) -> !flying
    %last = scf.for %i = %c0 to %c1 step %c1 iter_args(%before = %started) -> (!flying) {
      %d = "smem.mma"(%a, %b, %before) : (!a, !b, !flying) -> !flying
      scf.yield %d : !flying
    }
    %ready = "smem.wait"(%last) {pending = 0 : i32} : (!flying) -> !ready
"""
CONSTANTS = """
    %start = arith.constant 3.0 : f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = memref.dim %A, %c0 : !A
"""


def ptx_of(text, *between):
    """Return the PTX of a module, with some of upstream's passes after smem-to-nvvm."""
    with new_context():
        module = ir.Module.parse(text)
        pm = passmanager.PassManager("builtin.module")
        add_passes(pm, "smem-to-nvvm")
        for name in between:
            pm.add(name)
        pm.run(module.operation)
        lower_to_llvm_dialect(module)
        return to_llvm(device_module(module), target("sm_90a"))[1]


def writes_between(ptx):
    """Return the instructions between a fence and its commit that write a register of a wgmma there."""
    groups = re.findall(r"wgmma\.fence\.sync\.aligned;(.*?)wgmma\.commit_group", ptx, re.S)
    assert groups
    violations = []
    for group in groups:
        braced = re.findall(r"wgmma\.mma_async\S* \{([^}]*)\}(?:, \{([^}]*)\})?", group)
        registers = {
            register for lists in braced for names in lists for register in names.split(", ")
        }
        writes = re.findall(r"^\s*([a-z]\S*)\s+\{?(%\w+)", group, re.M)
        violations += [w for w in writes if w[1] in registers and not w[0].startswith("wgmma")]
    return violations


@pytest.mark.parametrize("between", [(), ("canonicalize", "cse")], ids=["as it is", "canonical"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_form_has_a_write_between(case, between):
    assert writes_between(ptx_of(case.text, *between)) == []


@pytest.mark.parametrize("between", [(), ("canonicalize", "cse")], ids=["as it is", "canonical"])
@pytest.mark.parametrize("registers", [False, True], ids=["A in memory", "A in registers"])
@pytest.mark.parametrize("body", [TWICE, COMPUTED, ONCE], ids=["twice", "computed", "once"])
def test_no_accumulator_is_written_between(body, registers, between):
    text = replace(Case("bf16", "bf16", "f32", n=8), registers=registers).text
    begin, end = text.index("%flying ="), text.index('"smem.store"')
    if registers:
        body = body.replace("(%a,", "(%ra,").replace("(!a,", "(!ra,")
    text = f"{text[:begin]}{CONSTANTS}{body}{text[end:]}"
    assert writes_between(ptx_of(text, *between)) == []


def test_attention_has_no_write_between():
    assert writes_between(ptx_of((EXAMPLES / "attention.mlir").read_text())) == []


def test_a_write_between_is_found():
    ptx = "wgmma.fence.sync.aligned;\n\tmov.b32 \t%f1, 0f00000000;\nwgmma.mma_async.x {%f1, %f2}, %rd1;\n"
    assert writes_between(f"{ptx}wgmma.commit_group.sync.aligned;") == [("mov.b32", "%f1")]
