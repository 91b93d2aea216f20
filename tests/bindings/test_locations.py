"""Frames of locations, read from each kind of location and from odd names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlir_smem.bindings import ir, locations
from mlir_smem.bindings.locations import SourceFrame, frames

A, B, C = SourceFrame("a.py", 1, 2), SourceFrame("b.py", 3, 4), SourceFrame("c.py", 5, 6)


@pytest.fixture(scope="module", autouse=True)
def context():
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        yield context


def location_of(text):
    return ir.Module.parse(f"module {{ module {{}} loc({text}) }}").body.operations[0].location


@pytest.mark.parametrize(
    "text, expected",
    [
        ("unknown", ()),
        ('"name"', ()),
        ('"a.py":1:2', (A,)),
        ('"a.py":1:2 to 9:70000', (A,)),
        ('"f"("a.py":1:2)', (A._replace(function="f"),)),
        ('callsite("a.py":1:2 at "b.py":3:4)', (A, B)),
        ('callsite("f"("a.py":1:2) at callsite("b.py":3:4 at "g"("c.py":5:6)))',
         (A._replace(function="f"), B, C._replace(function="g"))),
        ('callsite("name" at "b.py":3:4)', (B,)),
        ('fused["name", "a.py":1:2, "b.py":3:4]', (A,)),
        ('fused<"[<,>]">["a.py":1:2, "b.py":3:4]', (A,)),
        ('fused<affine_map<(d0, d1) -> (d1)>>["a.py":1:2, "b.py":3:4]', (A,)),
        ('fused[fused["x", "y"], callsite("a.py":1:2 at "b.py":3:4), "c.py":5:6]', (A, B)),
        ('callsite(fused["a.py":1:2, fused["b.py":3:4, "d.py":1:1]] at "c.py":5:6)', (A, C)),
    ],
)  # fmt: skip
def test_kinds_of_locations(text, expected):
    assert frames(location_of(text)) == expected


def test_bytes_that_are_not_utf8_are_replaced():
    assert frames(location_of(r'"\FF\22.py":1:2')) == (SourceFrame('\ufffd".py', 1, 2),)


@given(st.text(min_size=1), st.text(min_size=1), st.integers(0, 2**31 - 1))
def test_any_name_is_read_as_it_was_written(file, function, line):
    with ir.Context():
        location = ir.Location.name(function, ir.Location.file(file, line, 1))
        assert frames(location) == (SourceFrame(file, line, 1, function),)


def test_a_long_chain_of_calls():
    chain = [ir.Location.file("a.py", line, 1) for line in range(1, 2000)]
    inlined = frames(ir.Location.callsite(chain[0], chain[1:]))
    assert [frame.line for frame in inlined] == list(range(1, 2000))


def test_functions_that_create_ops_for_their_callers_are_left_out():
    builder = SourceFrame(locations.__file__, 7, 1)
    text = f'callsite("{locations.__file__}":7:1 at "a.py":1:2)'
    assert frames(location_of(text)) == (A,)
    assert frames(location_of(f'"{locations.__file__}":7:1')) == (builder,)
