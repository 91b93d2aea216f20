"""The picture of D in tensor memory: each band is drawn where `place` has its elements."""

from xml.etree import ElementTree

import pytest

from mlir_smem.advisor.pictures import AccumulatorPicture
from mlir_smem.layout.tcgen05 import MmaShape
from mlir_smem.layout.tcgen05.accumulator import AccumulatorLayout

SHAPES = [
    MmaShape(m, n, ctas)
    for m, ctas in ((64, 1), (128, 1), (128, 2), (256, 2))
    for n in (16, 48, 256)
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_bands_have_the_elements_that_are_drawn(shape):
    accumulator = AccumulatorLayout(shape)
    picture = AccumulatorPicture(accumulator)
    elements = set()
    for band in picture.data()["bands"]:
        (lane, _), (row, last_row), (column, last) = band["lanes"], band["m"], band["n"]
        for r in range(row, last_row + 1):
            for c in range(column, last + 1):
                place = (band["cta"], lane + r - row, c - column)
                assert accumulator.place(r, c) == place
                elements.add((r, c))
    assert len(elements) == shape.m * shape.n
    root = ElementTree.fromstring(picture._repr_svg_())
    drawn = [
        tuple(int(rect.get(f"data-{name}")) for name in ("panel", "lane", "row", "column"))
        for rect in root.iter("{http://www.w3.org/2000/svg}rect")
        if "data-row" in rect.attrib
    ]
    assert sorted(drawn) == sorted((b.cta, b.lane, b.row, b.column) for b in picture.bands)
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert f"D of {shape}: layout {accumulator.letter}" in texts
    assert texts.count("warp 3") == shape.ctas
