"""How answers are said: by what is registered for them, and otherwise by their fields."""

import importlib
import json
import subprocess
import sys
from dataclasses import dataclass

import pytest

from mlir_smem import advisor
from mlir_smem.advisor import Answer, Nearest, Suspicion, choose_operands, forms
from mlir_smem.advisor.answer import data, html, text
from mlir_smem.advisor.pictures.pictured import Pictured, drawing
from mlir_smem.layout import element, parse_layout

TILE = parse_layout("(8,8):(8,1)", element("bf16"))


@dataclass(frozen=True)
class Counted(Answer):
    """An answer for which nothing is registered."""

    what: object
    places: tuple[int, ...]
    share: float | None = None


def test_an_answer_says_its_fields():
    answer = Counted(TILE, (1, 2))
    said = "Swizzle<0,4,3> o (8,8):(8,1)"
    assert answer.data() == {"what": said, "places": [1, 2], "share": None}
    assert str(answer) == f"what: {said}\nplaces: [1, 2]\nshare: None"
    assert answer._repr_html_() == (
        "<pre>what: Swizzle&lt;0,4,3&gt; o (8,8):(8,1)\nplaces: [1, 2]\nshare: None</pre>"
    )
    assert repr(answer).startswith("Counted(what=TileLayout(")


def test_an_answer_in_an_answer():
    assert Counted(Suspicion("a", "b"), ()).data()["what"] == {"name": "a", "text": "b"}


def test_what_is_registered_is_said_instead():
    @dataclass(frozen=True)
    class Other(Counted):
        """A case of it."""

    text.register(Other, lambda answer: f"{len(answer.places)} places")
    assert str(Other(TILE, (1, 2))) == "2 places"
    assert Other(TILE, (1, 2))._repr_html_() == "<pre>2 places</pre>"
    assert str(Counted(TILE, (1, 2))) != "2 places"


@pytest.mark.parametrize("say", [data, text, html], ids=lambda say: say.__name__)
def test_answers_that_hold_others_are_said_like_these(say):
    chosen = choose_operands("64x64xbf16", "64x64xbf16")
    method = {data: Answer.data, text: Answer.__str__, html: Answer._repr_html_}[say]
    for answer in (chosen, chosen.a, chosen.mma):
        assert method(answer) == say(answer)
    for part in (chosen.a, chosen.mma):
        assert json.dumps(say(part))[1:-1] in json.dumps(say(chosen))


def test_every_way_of_saying_loads_what_it_needs():
    code = (
        "from mlir_smem.advisor import *\n"
        "chosen = choose_operands('128x64xbf16', '64x128xbf16')\n"
        "print(chosen.a.data()['bytes'], chosen.mma._repr_html_()[:16])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "16384 <pre>D = A * B:"


def test_another_package_can_say_answers(tmp_path, monkeypatch):
    (tmp_path / "spoken" / "text").mkdir(parents=True)
    for room in ("text", "html", "data"):
        (tmp_path / "spoken" / room).mkdir(exist_ok=True)
    (tmp_path / "counting.py").write_text(
        "from dataclasses import dataclass\n"
        "from mlir_smem.advisor import Answer\n"
        "@dataclass(frozen=True)\n"
        "class Counted(Answer):\n"
        "    count: int\n"
    )
    (tmp_path / "spoken" / "text" / "counting.py").write_text(
        "from counting import Counted\n"
        "from mlir_smem.advisor.answer import text\n"
        "text.register(Counted, lambda answer: f'{answer.count} of them')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(advisor.answer, "_packages", [*advisor.answer._packages])
    advisor.answer.register_renderings("spoken")
    counted = importlib.import_module("counting").Counted(3)
    assert (str(counted), counted.data()) == ("3 of them", {"count": 3})


def test_a_row_is_said_by_its_data():
    row = forms()[0]
    assert str(row).splitlines()[:2] == ["major: mn", "swizzle: none"]


def test_a_layout_that_is_near():
    nearest = Nearest(TILE, "a name", 3, 64)
    assert str(nearest) == f"{TILE} (a name): 3 of 64 elements have another offset"
    assert nearest.data() == {"layout": str(TILE), "name": "a name", "different": 3, "total": 64}


def test_a_picture_without_a_drawing():
    class Blank(Pictured):
        """A picture that nobody draws."""

    with pytest.raises(NotImplementedError, match="a Blank has no drawing"):
        drawing(Blank())
