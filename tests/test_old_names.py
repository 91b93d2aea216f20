"""Old names of the dialect, which only docs/decisions/0006-names.md and the changelog may contain."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "docs" / "decisions" / "0006-names.md"

#: Files that may contain old names.
ALLOWED = {"docs/decisions/0006-names.md", "CHANGELOG.md", "tests/test_old_names.py"}


def old_names():
    """Return the old names of ops, types, attributes and passes, without sigils."""
    rows = re.findall(r"^\| (`.*?) \| (.*?) \|", TABLE.read_text(), re.MULTILINE)
    renamed = [old for old, new in rows if new != "unchanged"]
    return sorted(re.findall(r"`[!#]?(smem[.-][\w-]+)`", " ".join(renamed)))


def test_table_lists_old_names():
    assert {"smem.ring", "smem.roles", "smem.wgmma", "smem-lower-roles"} <= set(old_names())


def test_old_names_are_gone():
    pattern = "|".join(re.escape(name) for name in old_names())
    command = ["git", "-C", str(ROOT), "grep", "-nIE", rf"({pattern})($|[^A-Za-z0-9_-])"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode in (0, 1), found.stderr
    lines = found.stdout.splitlines()
    assert [line for line in lines if line.split(":")[0] not in ALLOWED] == []
