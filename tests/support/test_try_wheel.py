"""What `try_wheel.py` refuses: missing data, dead links, and modules and outputs from elsewhere."""

import os
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
import try_wheel

EXAMPLES = sorted((try_wheel.ROOT / "examples").glob("*.*"))
WHOLE = ["mlir_smem/py.typed", *(f"mlir_smem/examples/{path.name}" for path in EXAMPLES)]


def wheel(tmp_path, names, page="A page."):
    path = tmp_path / "mlir_smem-1-py3-none-any.whl"
    with ZipFile(path, "w") as archive:
        archive.writestr("mlir_smem-1.dist-info/METADATA", f"Name: mlir-smem\n\n{page}")
        for name in names:
            archive.writestr(name, "")
    return path


@pytest.fixture(autouse=True)
def tracked_files(monkeypatch):
    names = "\n".join(f"examples/{path.name}" for path in EXAMPLES)
    monkeypatch.setattr(try_wheel, "output", lambda *_, **__: names)


def test_a_whole_wheel_is_accepted(tmp_path):
    try_wheel.check_contents(wheel(tmp_path, WHOLE))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(try_wheel.Failed, match=r"lacks mlir_smem/examples/mma\.mlir$"):
        names = [name for name in WHOLE if not name.endswith("/mma.mlir")]
        try_wheel.check_contents(wheel(tmp_path, names))


def test_a_link_to_a_file_is_named(tmp_path):
    with pytest.raises(try_wheel.Failed, match=r"links to files: \]\(docs/x\.md\)"):
        try_wheel.check_contents(wheel(tmp_path, WHOLE, "[a](docs/x.md) [b](https://example.com)"))


def test_a_module_of_the_tree_is_named(tmp_path, monkeypatch):
    file = try_wheel.ROOT / "layout" / "tile.py"
    monkeypatch.setattr(try_wheel, "output", lambda *_, **__: f"{tmp_path}/venv/a.py\n{file}\n")
    with pytest.raises(try_wheel.Failed, match=rf"elsewhere: {file}"):
        try_wheel.check_imports({}, tmp_path)


def test_a_page_that_shows_another_output_is_named(tmp_path, monkeypatch):
    monkeypatch.undo()
    page = "```console\n$ echo new\nold\n```\n"
    (tmp_path / "tree" / "docs").mkdir(parents=True)
    (tmp_path / "tree" / "docs" / "page.md").write_text(page)
    script = (try_wheel.ROOT / "docs" / "sessions.py").read_text()
    (tmp_path / "tree" / "docs" / "sessions.py").write_text(script)
    monkeypatch.setattr(try_wheel, "ROOT", tmp_path / "tree")
    monkeypatch.setattr(try_wheel, "SESSIONS", ("docs/page.md",))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with pytest.raises(try_wheel.Failed, match=r"docs/page\.md: 'old' is 'new'"):
        try_wheel.check_sessions({**os.environ, "PATH": path}, tmp_path)


def test_a_command_that_fails_is_shown_with_its_output(monkeypatch):
    monkeypatch.undo()
    with pytest.raises(try_wheel.Failed, match=r"echo no >&2; exit 3:\nno"):
        try_wheel.run(["bash", "-c", "echo no >&2; exit 3"])
