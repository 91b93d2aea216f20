"""The files that `docs/adding.md` lists for each addition are those that name it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "adding.md").read_text()
CODE = ("dialect", "ir", "passes", "codegen", "emulator", "runtime", "kernels", "tools")
LISTS = re.findall(r"<!-- files of (\w+) -->\n((?:- `[^\n]*\n)+)", PAGE)

#: The most files for each addition, by design; columns are also loaded from tensor memory.
MOST = {"ConvertOp": 3, "TmaStoreOp": 4, "ColumnsOp": 3 + 2, "PlaceAccumulators": 3}


@pytest.mark.parametrize("name, listed", LISTS, ids=[name for name, _ in LISTS])
def test_files_that_name_an_addition_are_listed(name, listed):
    files = re.findall(r"- `([^`]+)`", listed)
    naming = {
        str(path.relative_to(ROOT))
        for folder in CODE
        for path in (ROOT / folder).rglob("*.py")
        if re.search(rf"\b{name}\b", path.read_text())
    }
    assert naming == set(files)
    assert len(files) <= MOST[name]


def test_every_addition_is_on_the_page():
    assert {name for name, _ in LISTS} == set(MOST)


def test_paths_on_the_page_exist():
    paths = re.findall(r"`((?:\w+/)+(?:\w+\.py)?)`", PAGE)
    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []
