"""Answers about anything: any 64 bits, any layout, any map; never an error that is not meant."""

import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies import elements, layouts, tiles

from mlir_smem.assistant import decode, diagnose, match_map, match_tile
from mlir_smem.layout import LayoutError, Major, Role

bits = st.integers(0, (1 << 64) - 1)
roles = st.sampled_from(Role)
majors = st.none() | st.sampled_from(Major)
addresses = st.none() | st.integers(0, 1 << 18)


def said(answer):
    """Says an answer in every form."""
    assert str(answer)
    assert json.dumps(answer.data())
    assert answer._repr_html_()


@given(bits, st.none() | elements, majors, st.sampled_from([8, 24, 64, 256]), addresses)
def test_any_descriptor(descriptor, kind, major, rows, tile):
    said(decode(descriptor, kind, major, rows, tile))


@given(layouts() | tiles(), roles, bits, majors, addresses)
def test_any_layout(layout, role, descriptor, major, tile):
    written = match_tile(layout, role)
    said(written)
    try:
        answer = diagnose(written, descriptor, major=major, tile=tile)
    except LayoutError:
        return
    said(answer)


@given(st.data(), elements, roles)
def test_any_map(data, kind, role):
    rows, columns = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 12))
    places = data.draw(
        st.lists(st.integers(0, 300), min_size=rows * columns, max_size=rows * columns)
    )
    try:
        answer = match_map(np.array(places).reshape(rows, columns), kind, role)
    except LayoutError:
        return
    said(answer)
