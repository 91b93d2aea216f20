"""The picture of the rooms in docs/design.md: the folders, in the order of the import contract."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_picture_shows_the_rooms_in_the_order_of_their_imports():
    page = (ROOT / "docs" / "design.md").read_text()
    (picture,) = re.findall(r"^```text\n(tools/.*?)^```$", page, re.MULTILINE | re.DOTALL)
    shown = [re.findall(r"(\w+)/", re.split(r"\s{2,}", line)[0]) for line in picture.splitlines()]
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"][
        "contracts"
    ]
    layers = [re.findall(r"\w+", layer) for layer in contracts[0]["layers"]]
    assert shown == layers
    folders = {path.name for path in (ROOT / "mlir_smem").iterdir() if path.is_symlink()}
    assert {room for layer in layers for room in layer} == folders - {"examples"}
