"""Renderings of answers: registered ones, and the default by fields."""

import importlib
import json
import subprocess
import sys
from dataclasses import dataclass

import pytest

from mlir_smem import advisor
from mlir_smem.advisor import Answer, Nearest, Suspicion, choose_operands, forms
from mlir_smem.advisor.answer import data, html, text
from mlir_smem.advisor.pictures.picture_base import PictureBase, drawing
from mlir_smem.layout import element, parse_layout

TILE = parse_layout("(8,8):(8,1)", element("bf16"))


@dataclass(frozen=True)
class Counted(Answer):
    """An answer without a registered rendering."""

    fact: object
    places: tuple[int, ...]
    share: float | None = None


def test_the_default_rendering_has_the_fields():
    answer = Counted(TILE, (1, 2))
    layout = "Swizzle<0,4,3> o (8,8):(8,1)"
    assert answer.data() == {"fact": layout, "places": [1, 2], "share": None}
    assert str(answer) == f"fact: {layout}\nplaces: [1, 2]\nshare: None"
    assert answer._repr_html_() == (
        "<pre>fact: Swizzle&lt;0,4,3&gt; o (8,8):(8,1)\nplaces: [1, 2]\nshare: None</pre>"
    )
    assert repr(answer).startswith("Counted(fact=TileLayout(")


def test_an_answer_in_an_answer():
    assert Counted(Suspicion("a", "b"), ()).data()["fact"] == {"name": "a", "text": "b"}


def test_a_registered_rendering_replaces_the_default():
    @dataclass(frozen=True)
    class Other(Counted):
        """A subclass with a rendering."""

    text.register(Other, lambda answer: f"{len(answer.places)} places")
    assert str(Other(TILE, (1, 2))) == "2 places"
    assert Other(TILE, (1, 2))._repr_html_() == "<pre>2 places</pre>"
    assert str(Counted(TILE, (1, 2))) != "2 places"


@pytest.mark.parametrize("rendering", [data, text, html], ids=lambda rendering: rendering.__name__)
def test_nested_answers_have_their_own_renderings(rendering):
    chosen = choose_operands("64x64xbf16", "64x64xbf16")
    method = {data: Answer.data, text: Answer.__str__, html: Answer._repr_html_}[rendering]
    for answer in (chosen, chosen.a, chosen.mma):
        assert method(answer) == rendering(answer)
    for part in (chosen.a, chosen.mma):
        assert json.dumps(rendering(part))[1:-1] in json.dumps(rendering(chosen))


def test_renderings_are_imported_on_demand():
    code = (
        "from mlir_smem.advisor import *\n"
        "chosen = choose_operands('128x64xbf16', '64x128xbf16')\n"
        "print(chosen.a.data()['bytes'], chosen.mma._repr_html_()[:16])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "16384 <pre>D = A * B:"


def test_another_package_can_register_renderings(tmp_path, monkeypatch):
    (tmp_path / "renderings").mkdir()
    (tmp_path / "counting.py").write_text(
        "from dataclasses import dataclass\n"
        "from mlir_smem.advisor import Answer\n"
        "@dataclass(frozen=True)\n"
        "class Counted(Answer):\n"
        "    count: int\n"
    )
    (tmp_path / "renderings" / "counting.py").write_text(
        "from counting import Counted\n"
        "from mlir_smem.advisor.answer import text\n"
        "text.register(Counted, lambda answer: f'{answer.count} of them')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(advisor.answer, "_packages", [*advisor.answer._packages])
    advisor.answer.register_renderings("renderings")
    counted = importlib.import_module("counting").Counted(3)
    assert (str(counted), counted.data()) == ("3 of them", {"count": 3})


def test_a_row_prints_its_data():
    row = forms()[0]
    assert str(row).splitlines()[:2] == ["major: mn", "swizzle: none"]


def test_the_nearest_layout():
    nearest = Nearest(TILE, "a name", 3, 64)
    assert str(nearest) == f"{TILE} (a name): 3 of 64 elements have another offset"
    assert nearest.data() == {"layout": str(TILE), "name": "a name", "different": 3, "total": 64}


def test_a_picture_without_a_drawing():
    class Blank(PictureBase):
        """A picture without a registered drawing."""

    with pytest.raises(NotImplementedError, match="a Blank has no drawing"):
        drawing(Blank())
