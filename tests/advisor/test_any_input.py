"""Answers for any 64 bits, any layout and any map; no unexpected errors."""

import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from strategies import layouts, tiles

from mlir_smem.advisor import decode, diagnose, match_map, match_tile
from mlir_smem.layout import ELEMENTS, Arch, LayoutError, Major, Role
from mlir_smem.layout.elements import NARROW

elements = st.sampled_from(list((ELEMENTS | NARROW).values()))
archs = st.sampled_from(list(Arch))
#: Any 64 bits, and 64 bits without reserved bits and with the version of tcgen05.
bits = st.integers(0, (1 << 64) - 1).flatmap(
    lambda value: st.sampled_from([value, value & ~0x1FE1C000C000C000 | 1 << 46])
)
roles = st.sampled_from(Role)
majors = st.none() | st.sampled_from(Major)
addresses = st.none() | st.integers(0, 1 << 18)


def render(answer):
    """Render an answer in every form."""
    assert str(answer)
    assert json.dumps(answer.data())
    assert answer._repr_html_()


@given(
    bits,
    st.none() | elements,
    majors,
    st.none() | st.sampled_from([8, 24, 64, 256]),
    addresses,
    archs,
    st.none() | st.sampled_from([32, 48]),
)
def test_any_descriptor(descriptor, element, major, rows, tile, arch, k_bytes):
    render(decode(descriptor, element, major, rows, tile, arch, k_bytes))


@given(layouts() | tiles(), roles, bits, majors, addresses, archs)
def test_any_layout(layout, role, descriptor, major, tile, arch):
    written = match_tile(layout, role, arch=arch)
    render(written)
    try:
        answer = diagnose(written, descriptor, major=major, tile=tile)
    except LayoutError:
        return
    render(answer)


@given(st.data(), elements, roles, archs)
def test_any_map(data, element, role, arch):
    rows, columns = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 12))
    places = data.draw(
        st.lists(st.integers(0, 300), min_size=rows * columns, max_size=rows * columns)
    )
    try:
        answer = match_map(np.array(places).reshape(rows, columns), element, role, arch=arch)
    except LayoutError:
        return
    render(answer)
