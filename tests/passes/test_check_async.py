"""`smem-check-async` on the example: it is right, and each thing that it says is needed."""

import re
from pathlib import Path

import pytest
from programs import ARGUMENTS, PRODUCT, kernel, module

from mlir_smem.dialect import new_context
from mlir_smem.dialect.bindings import ir
from mlir_smem.dialect.diagnostics import remark_handler
from mlir_smem.passes import OpError
from mlir_smem.passes.check_async import CheckAsync

EXAMPLE = (Path(__file__).parents[2] / "examples" / "matmul.mlir").read_text()


def said_of(text):
    """What is said: the error, else the remarks."""
    remarks = []
    with new_context():
        parsed = ir.Module.parse(text)
        try:
            with remark_handler(lambda _, message: remarks.append(message)):
                CheckAsync().run(parsed)
        except OpError as error:
            return [error.message]
    return remarks


def changed(*changes, text=EXAMPLE):
    """The text with each (old, new) changed, which must be there."""
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


FENCE = '"smem.fence"() : () -> ()'
COMMIT = '"smem.copy_commit"() : () -> ()'
COPY_WAIT = '"smem.copy_wait"() {pending = 1 : i32} : () -> ()'
STAGES = "%c4 = arith.constant 4"
IN_LOOP = f"""      }}
      {COMMIT}

"""

RIGHT = {
    "as it is": [],
    "a fence after the barrier": [(FENCE, ""), ("gpu.barrier", f"gpu.barrier\n{FENCE}")],
    "three stages, if every mma is waited for": [
        (STAGES, "%c4 = arith.constant 3"),
        ("(%d) {pending = 1", "(%d) {pending = 0"),
    ],
    "copies that all are waited for": [(COPY_WAIT, COPY_WAIT.replace("1", "0", 1))],
}

WRONG = {
    "no fence": ([(FENCE, "")], "put smem.fence between them"),
    "no barrier": ([("gpu.barrier", "")], "put gpu.barrier between them"),
    "no wait for copies": ([(COPY_WAIT, "")], "put smem.copy_wait with pending = 1 or less"),
    "a wait for too few copies": (
        [(COPY_WAIT, COPY_WAIT.replace("1", "2", 1))],
        "put smem.copy_wait with pending = 1 or less, smem.fence and gpu.barrier between them",
    ),
    "a fence before the copies are over": (
        [(FENCE, ""), (COPY_WAIT, f"{FENCE}\n{COPY_WAIT}")],
        "put smem.fence between them",
    ),
    "no group": ([(COMMIT, "")], "put smem.copy_commit, smem.copy_wait with pending = 0"),
    "a group only where there are copies": (
        [(IN_LOOP, f"{COMMIT}\n}}\n")],
        "in iteration 3 (from 0) of the loop",
    ),
    "three stages": (
        [(STAGES, "%c4 = arith.constant 3")],
        "is over, in iteration 1 (from 0) of the loop",
    ),
    "two stages": ([(STAGES, "%c4 = arith.constant 2")], "put smem.wait with pending = 0"),
    "a wait for too few mma": (
        [("(%d) {pending = 1", "(%d) {pending = 2")],
        "in iteration 2 (from 0) of the loop",
    ),
    "the stage that is being read": (
        [("%ahead = arith.remui %next", "%ahead = arith.remui %i")],
        "overwrites stage 0",
    ),
}


@pytest.mark.parametrize("changes", RIGHT.values(), ids=RIGHT)
def test_the_example_is_proven(changes):
    assert said_of(changed(*changes)) == []


@pytest.mark.parametrize("changes, message", WRONG.values(), ids=WRONG)
def test_the_example_is_wrong_with(changes, message):
    (said,) = said_of(changed(*changes))
    assert message in said
    assert "cannot prove" not in said


def test_the_example_is_wrong_without_the_wait():
    text = re.sub(r"%running = .*", "", EXAMPLE).replace("yield %running", "yield %d")
    (said,) = said_of(text)
    assert "overwrites stage 0" in said
    assert "in iteration 2 (from 0) of the loop" in said


def test_sizes_that_a_kernel_is_never_called_with_are_not_tried():
    # Wrong only for a single step, which multiples of 128 do not have.
    once = """%k = memref.dim %A, %one : memref<64x?xbf16>
    %once = arith.cmpi eq, %k, %one : index
    scf.if %once { "smem.fence"() : () -> () } else { "smem.fence"() : () -> ()
      gpu.barrier }"""
    body = PRODUCT.replace("gpu.barrier", f"%one = arith.constant 1 : index\n{once}")
    body = body.replace('"smem.fence"() : () -> ()\n    %one', "%one", 1)
    body = body.replace("%k = memref.dim %A", "%k = memref.dim %X")
    arguments = f"{ARGUMENTS}, %X: memref<64x?xbf16>"
    assert "put gpu.barrier" in said_of(module(kernel(body, arguments=arguments)))[0]
    promised = ", smem.multiples = {K = 128}"
    (said,) = said_of(module(kernel(body, arguments=arguments, attributes=promised)))[:1]
    assert "there may be a path without gpu.barrier" in said


def test_functions_without_tiles_are_left_alone():
    assert said_of("func.func private @f()\nfunc.func @g() { return }") == []


def test_many_loop_heads_are_taken_together():
    # Nothing is known of a stage that moves by 1/7 of a count that never comes round.
    body = """
    %one = arith.constant 1 : index
    %seven = arith.constant 4093 : index
    %two = arith.constant 2 : index
    scf.for %i = %one to %n step %one {
      %part = arith.divui %i, %seven : index
      %slot = arith.remui %part, %two : index
      %t = "smem.stage"(%s, %slot) : (TILES, index) -> TILE
      "smem.copy"(%A, %t) : (memref<64x64xbf16>, TILE) -> ()
      "smem.fence"() : () -> ()
      gpu.barrier
      %d = "smem.mma"(%t, %t) : (TILE, TILE) -> FLYING
      %w = "smem.wait"(%d) {pending = 0 : i32} : (FLYING) -> FLYING
      gpu.barrier
    }"""
    for name, type_ in {
        "TILES": "!smem.tile<tensor<2x64x64xbf16>, #smem.auto>",
        "TILE": "!smem.tile<tensor<64x64xbf16>, #smem.auto>",
        "FLYING": "!smem.fragment<tensor<64x64xf32>, #smem.in_flight>",
    }.items():
        body = body.replace(name, type_)
    allocated = '%s = "smem.alloc"() : () -> !smem.tile<tensor<2x64x64xbf16>, #smem.auto>'
    text = kernel(allocated + body, arguments="%A: memref<64x64xbf16>, %n: index")
    assert said_of(module(text)) == []
