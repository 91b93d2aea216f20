"""What adding costs, as `docs/adding.md` lists it, is what the tree says."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "adding.md").read_text()
CODE = ("dialect", "ir", "passes", "codegen", "emulator", "runtime", "kernels", "tools")
LISTS = re.findall(r"<!-- files of (\w+) -->\n((?:- `[^\n]*\n)+)", PAGE)

#: The files that each may cost (the design); columns are loaded from tensor memory besides.
MOST = {"ConvertOp": 3, "TmaStoreOp": 4, "ColumnsOp": 3 + 2, "PlaceAccumulators": 3}


@pytest.mark.parametrize("name, listed", LISTS, ids=[name for name, _ in LISTS])
def test_the_files_that_name_it_are_listed(name, listed):
    files = re.findall(r"- `([^`]+)`", listed)
    found = {
        str(path.relative_to(ROOT))
        for folder in CODE
        for path in (ROOT / folder).rglob("*.py")
        if re.search(rf"\b{name}\b", path.read_text())
    }
    assert found == set(files)
    assert len(files) <= MOST[name]


def test_all_are_on_the_page():
    assert {name for name, _ in LISTS} == set(MOST)


def test_what_the_page_names_is_there():
    names = re.findall(r"`((?:\w+/)+(?:\w+\.py)?)`", PAGE)
    assert len(names) > 20
    assert [name for name in names if not (ROOT / name).exists()] == []
