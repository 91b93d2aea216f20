"""Changes of the text between versions: spellings of enums, and properties that were attributes."""

import pytest

from mlir_smem.bindings import ir
from mlir_smem.bindings.parsing import parse_module
from mlir_smem.dialect import new_context
from mlir_smem.interop.properties import move_to_attributes
from mlir_smem.interop.spelling import respell


@pytest.fixture(autouse=True)
def context():
    with new_context() as context:
        yield context


def test_a_spelling_that_is_read_is_kept(context):
    for text in ("#gpu<dim x>", "#nvvm.shared_space<cta>", "#gpu.address_space<workgroup>"):
        assert respell(text, ir, context) == text


def test_the_other_spelling_is_chosen_if_it_alone_is_read(context):
    text = "#gpu.dim<x> #gpu<address_space workgroup> #gpu.dim<y> #gpu.dim<x>"
    assert respell(text, ir, context) == (
        "#gpu<dim x> #gpu.address_space<workgroup> #gpu<dim y> #gpu<dim x>"
    )


@pytest.mark.parametrize("text", ["#gpu.nothing<x>", "#gpu<nothing x>", "#nowhere.dim<x>"])
def test_a_spelling_that_nobody_reads_is_kept(context, text):
    assert respell(text, ir, context) == text


def test_strings_are_kept(context):
    text = r'{a = "#gpu.dim<x> \" #gpu.dim<x>", b = #gpu.dim<x>}'
    assert respell(text, ir, context) == text[:-12] + "#gpu<dim x>}"


BODY = """({
  ^bb0:
    "x.y"() {a = ") }"} : () -> ()  // a comment )
    "gpu.return"() : () -> ()
  })"""


@pytest.mark.parametrize(
    "properties, left",
    [
        ('function_type = () -> (), kernel, sym_name = "f"', "function_type = () -> (), kernel"),
        ('sym_name = "f", function_type = () -> ()', "function_type = () -> ()"),
        ('a = 1, sym_name = "f", b = 2', "a = 1, b = 2"),
        ('sym_name = "f"', ""),
    ],
)
def test_the_name_of_a_kernel_moves(properties, left):
    text = f'"gpu.func"() <{{{properties}}}> {BODY} : () -> ()\n'
    assert move_to_attributes(text * 2) == (
        f'"gpu.func"() <{{{left}}}> {BODY} {{sym_name = "f"}} : () -> ()\n' * 2
    )


def test_the_name_joins_other_attributes():
    text = f'"gpu.func"() <{{sym_name = "f"}}> {BODY} {{smem.x = 1}} : () -> () loc(#loc)'
    assert move_to_attributes(text) == (
        f'"gpu.func"() <{{}}> {BODY} {{sym_name = "f", smem.x = 1}} : () -> () loc(#loc)'
    )


def test_other_ops_keep_their_properties():
    text = f'"func.func"() <{{sym_name = "f"}}> {BODY} : () -> ()'
    assert move_to_attributes(text) == text


def test_a_moved_name_is_read():
    text = """"builtin.module"() ({
      "gpu.module"() <{sym_name = "k"}> ({
        "gpu.func"() <{function_type = () -> (), kernel, sym_name = "f"}> ({
          "gpu.return"() : () -> ()
        }) : () -> ()
      }) : () -> ()
    }) : () -> ()"""
    assert "gpu.func @f() kernel" in str(parse_module(move_to_attributes(text)))
