"""Text that the parser of the bindings misreads, in the form that it reads."""

import pytest

from mlir_smem.bindings import mlir
from mlir_smem.bindings.parsing import parse_module
from mlir_smem.dialect import new_context

BARRIERS = {
    "nvvm.barrier": (0, 0),
    "nvvm.barrier id = %i": (1, 0),
    "nvvm.barrier id = %i number_of_threads = %n": (1, 1),
}
FOLLOWERS = {
    "an op in quotes": '\n "smem.fence"() : () -> ()',
    "an op in quotes in the line": ' "smem.fence"() : () -> ()',
    "a location": ' loc("here":1:2)',
    "an alias of a location": " loc(#later)",
    "a comment": " // all threads",
    "a value": "\n %more = arith.constant 1 : i32",
    "an op": "\n gpu.barrier",
}


@pytest.mark.parametrize("after", FOLLOWERS.values(), ids=FOLLOWERS)
@pytest.mark.parametrize("barrier", BARRIERS)
def test_a_barrier_and_what_follows_it(barrier, after):
    text = f"""func.func @f(%i: i32, %n: i32) {{
      {barrier}{after}
      return
    }}
    #later = loc("there":3:4)"""
    with new_context():
        module = parse_module(text)
        op = module.body.operations[0].regions[0].blocks[0].operations[0]
        assert op.operation.name == "nvvm.barrier"
        operand_names = [operand.get_name().removeprefix("%") for operand in op.operands]
        assert operand_names == [
            n for n, has in zip(("arg0", "arg1"), BARRIERS[barrier], strict=True) if has
        ]


def test_lines_stay_where_they_are():
    text = "func.func @f() {\n  nvvm.barrier\n  nvvm.barrier\n\n  return\n}"
    assert mlir.readable(text).count("\n") == text.count("\n")


def test_other_barriers_are_left_as_they_are():
    text = "nvvm.barrier.arrive\nnvvm.barrier0\nnvvm.barrier #r %p -> i32\nnvvm.barrier {a = 1}\n"
    assert mlir.readable(text) == text
