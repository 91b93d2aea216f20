"""Textual pipelines are split into leaves; passes of this project and of upstream may be mixed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlir_smem.dialect import new_context
from mlir_smem.passes import OptionError, parse_pipeline
from mlir_smem.passes.driver.textual import PipelineEntry, module_entries


def leaf(name, options="", *anchors):
    return PipelineEntry(anchors, name, options)


@pytest.mark.parametrize(
    "text, leaves",
    [
        ("cse", [leaf("cse")]),
        ("builtin.module(cse)", [leaf("cse")]),
        ("builtin.module()", []),
        ("builtin.module( )", []),
        ("cse,canonicalize", [leaf("cse"), leaf("canonicalize")]),
        ("  builtin.module ( cse ,\n canonicalize ) ", [leaf("cse"), leaf("canonicalize")]),
        ("smem-to-nvvm{explain=true}", [leaf("smem-to-nvvm", "explain=true")]),
        ("a{x=1 y=2},b", [leaf("a", "x=1 y=2"), leaf("b")]),
        ("a{ x=1 }", [leaf("a", "x=1")]),
        ("a{}", [leaf("a")]),
        ("a{x=1,2 y={3,4}}", [leaf("a", "x=1,2 y={3,4}")]),
        ("a{x=[1,(2,3)] y=<4,5>}", [leaf("a", "x=[1,(2,3)] y=<4,5>")]),
        ("gpu.module(cse)", [leaf("cse", "", "gpu.module")]),
        (
            "gpu.module(gpu.func(a{x=1},b),c)",
            [
                leaf("a", "x=1", "gpu.module", "gpu.func"),
                leaf("b", "", "gpu.module", "gpu.func"),
                leaf("c", "", "gpu.module"),
            ],
        ),
        ("builtin.module(a,gpu.module(b),c)", [leaf("a"), leaf("b", "", "gpu.module"), leaf("c")]),
        ("builtin.module(builtin.module(a))", [leaf("a", "", "builtin.module")]),
        ("builtin.module(a),builtin.module(b)", [leaf("a"), leaf("b")]),
        ("any(cse)", [leaf("cse", "", "any")]),
    ],
)
def test_text_has_these_leaves(text, leaves):
    assert module_entries(text) == leaves


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "a pass has no name at ''"),
        ("a,,b", "a pass has no name at 'a,,b'"),
        ("a,", "a pass has no name at 'a,'"),
        ("{x=1}", "a pass has no name at '{x=1}'"),
        ("(a)", "a pass has no name at '(a)'"),
        ("builtin.module(a", "'(' is not closed"),
        ("a{x=1", "'{' is not closed"),
        ("a)", "')' closes nothing"),
        ("a}", "'}' closes nothing"),
        ("a(b}", "'}' closes nothing"),
        ("a{b)}", "')' closes nothing"),
        ("a(b){x=1}", "unexpected text after 'a(...)'"),
        ("a{x=1}b", "unexpected text after 'a{...}'"),
        ("builtin.module(a),b", "builtin.module(...) must hold the whole pipeline"),
        ("a,builtin.module(b)", "builtin.module(...) must hold the whole pipeline"),
    ],
)
def test_malformed_text_is_refused(text, message):
    with pytest.raises(OptionError) as error:
        module_entries(text)
    assert str(error.value) == f"pipeline '{text}': {message}"


@pytest.mark.parametrize(
    "text",
    [
        "a(b)(c)",
        "a{x=1}{y=2}",
        "a b",
    ],
)
def test_text_after_a_pass_is_refused(text):
    with pytest.raises(OptionError):
        module_entries(text)


@given(st.text("ab,(){}[]<>= \n.x"))
def test_any_text_is_parsed_or_refused(text):
    try:
        module_entries(text)
    except OptionError as error:
        assert text.strip() in str(error)


NAMES = st.sampled_from(["cse", "canonicalize", "smem-to-nvvm"])
OPTIONS = st.sampled_from(["", "x=1", "x=1 y={2,3}"])
ANCHORS = st.lists(st.sampled_from(["gpu.module", "gpu.func", "func.func"]), max_size=3).map(tuple)


@given(st.lists(st.builds(PipelineEntry, ANCHORS, NAMES, OPTIONS), min_size=1))
def test_leaves_and_text_round_trip(leaves):
    assert module_entries(",".join(entry.upstream for entry in leaves)) == leaves


# Pipelines on a pass manager.


def printed_pipeline(text):
    with new_context():
        return str(parse_pipeline(text))


def test_upstream_passes_keep_their_anchors_and_options():
    text = "gpu.module(gpu.func(canonicalize{max-iterations=3},cse))"
    printed = printed_pipeline(text)
    assert "gpu.module(gpu.func(" in printed
    assert "max-iterations=3" in printed


def test_passes_of_smem_and_upstream_keep_their_order():
    printed = printed_pipeline("cse,smem-allocate,canonicalize,smem-lower-copies")
    names = ("cse", "smem-allocate", "canonicalize", "smem-lower-copies")
    positions = [printed.index(name) for name in names]
    assert positions == sorted(positions)


@pytest.mark.parametrize(
    "text, message",
    [
        (
            "builtin.module(smem-nothing)",
            "no pass is named 'smem-nothing'; --list-passes shows those of smem, mlir-opt --help "
            "those of upstream",
        ),
        (
            "gpu.module(smem-to-nvvm),cse",
            "smem-to-nvvm runs on builtin.module, not on gpu.module; put it directly into "
            "builtin.module(...)",
        ),
        (
            "smem-allocate{speed=1}",
            "smem-allocate has no option 'speed'; its options: max-bytes, reserved-bytes",
        ),
        (
            "smem-allocate{max-bytes=x}",
            "smem-allocate: option max-bytes takes a number from 0, not 'x'",
        ),
    ],
)
def test_passes_that_are_refused(text, message):
    with pytest.raises(OptionError) as error:
        printed_pipeline(text)
    assert str(error.value) == message


@pytest.mark.parametrize("text", ["canonicalize{speed=1}", "nowhere.op(nothing{x=1})"])
def test_an_error_of_upstream_names_the_pass(text):
    with pytest.raises(OptionError) as error:
        printed_pipeline(text)
    assert text.split("{")[0].split("(")[-1] in str(error.value)
