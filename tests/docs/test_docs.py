"""Generated documentation is up to date, and its links have targets."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]

#: Pages whose commands are run.
SESSIONS = [
    ROOT / "docs" / "index.md",
    ROOT / "docs" / "tutorial.md",
    ROOT / "docs" / "language.md",
    ROOT / "docs" / "debugging.md",
    ROOT / "docs" / "foreign-kernels.md",
    *sorted(ROOT.glob("docs/howto/*.md")),
]


# tests/emulator/test_faults.py compares docs/faults.md, since it seeds the same faults.
@pytest.mark.parametrize(
    "page",
    ["reference", "api/language", "conformance", "layouts", "math_functions", "mutants", "package"],
)
def test_generated_pages_are_up_to_date(page):
    script = ROOT / "docs" / f"{page}.py"
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert run.stdout == (ROOT / "docs" / f"{page}.md").read_text(), "run `make docs`"


def test_a_record_fills_in_the_page_of_math_functions(tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import math_functions

    case = {"function": "math.erf", "element": "f32", "chip": 1.234, "apart": 2.0}
    record = tmp_path / "math.json"
    record.write_text(json.dumps({"rows": 1 << 18, "cases": [case]}))
    monkeypatch.setattr(math_functions, "_RECORD", record)
    math_functions.main()
    page = capsys.readouterr().out
    assert "262,144 rows" in page
    assert "| `math.erf` | 2 | 1.234 | 2 |" in page


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_to_files_of_the_repository_exist(page):
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\(([^)#:]+)\)", text)
    missing = [t for t in targets if not (page.parent / t).exists()]
    assert missing == []


def anchors(page):
    """Return the anchors that Sphinx makes of a page's headings (`myst_heading_anchors`)."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#{1,3} (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_to_headings_have_targets(page):
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\(([^)#:]*\.md)?#([^)]+)\)", text)
    missing = [(f, a) for f, a in targets if a not in anchors(page.parent / f if f else page)]
    assert missing == []


def test_every_page_is_in_a_table_of_contents():
    folder, listed = ROOT / "docs", {ROOT / "docs" / name for name in ("index.md", "package.md")}
    for page in folder.glob("**/*.md"):
        for tree in re.findall(
            r"^```\{toctree\}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL
        ):
            names = [line for line in tree.splitlines() if line and line[0] != ":"]
            listed |= {page.parent / f"{name}.md" for name in names}
    assert {*folder.glob("**/*.md")} - listed == set()


@pytest.mark.parametrize("page", SESSIONS, ids=lambda p: p.stem)
def test_commands_print_what_the_page_shows(page, tmp_path):
    renewed = tmp_path / page.name
    renewed.write_text(page.read_text())
    subprocess.run([sys.executable, ROOT / "docs" / "sessions.py", renewed], check=True)
    assert renewed.read_text() == page.read_text(), "run `make docs`"


def test_notebooks_are_stored_without_outputs():
    for notebook in ROOT.glob("docs/*.ipynb"):
        cells = json.loads(notebook.read_text())["cells"]
        with_output = [
            cell["id"] for cell in cells if cell.get("outputs") or cell.get("execution_count")
        ]
        assert with_output == [], f"clear the outputs of {notebook.name}"


def test_files_in_the_commands_of_records_exist():
    for record in (ROOT / "benchmarks" / "results").glob("*.json"):
        command = json.loads(record.read_text())["command"].split()
        files = [word for word in command if word.endswith(".py")]
        if "-m" in command:
            module = command[command.index("-m") + 1].replace(".", "/")
            files.append(f"{module}/__main__.py" if (ROOT / module).is_dir() else f"{module}.py")
        assert files, record
        assert all((ROOT / file).exists() for file in files), record


# The changelog names files as they were.
@pytest.mark.parametrize(
    "page", [p for p in PAGES if p.name != "CHANGELOG.md"], ids=lambda p: p.name
)
def test_files_named_in_code_exist(page):
    """Paths such as `layout/banks.py`, in backticks outside of code blocks."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    folders = {path.name for path in ROOT.iterdir() if path.is_dir()}
    named = re.findall(r"`([\w.]+)/([\w./-]*\.(?:py|mlir|md|json|test))`", text)
    missing = [f"{a}/{b}" for a, b in named if a in folders and not (ROOT / a / b).exists()]
    assert missing == []
