"""The page of a package index (docs/package.py): where the README's links lead."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = """# Title

![a picture](docs/a.svg)

```sh
echo [kept](docs/kept.md)
```

[a guide](docs/guide.md#part), [`docs/b.md`](docs/b.md), [elsewhere](https://example.com/x), [here](#part)
"""


@pytest.fixture
def page(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import package

    return package.page


def test_without_a_url_a_link_becomes_a_path(page):
    text = page(README, None)
    assert "a picture" not in text
    assert "a guide (`docs/guide.md`), `docs/b.md`, [elsewhere](https://example.com/x)," in text
    assert "[here](#part)" in text
    assert "echo [kept](docs/kept.md)" in text
    assert "Paths on this page are those of the repository's files." in text


def test_with_a_url_links_lead_to_the_repository(page):
    text = page(README, "https://example.com/smem/")
    assert "[a guide](https://example.com/smem/blob/HEAD/docs/guide.md#part)" in text
    assert "![a picture](https://example.com/smem/raw/HEAD/docs/a.svg)" in text
    assert "echo [kept](docs/kept.md)" in text
    assert "Paths on this page" not in text


def test_the_page_of_the_package_has_no_link_to_a_file():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    text = (ROOT / project["readme"]).read_text()
    assert re.findall(r"\]\((?!https?:|#)", text) == []
    assert "python3 -m pip install mlir-smem " in text
