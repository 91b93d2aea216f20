"""A subcommand of `smem-layout`: a module of its answer, and a module of its arguments."""

import importlib
import json

import pytest

from mlir_smem.tools import smem_layout
from mlir_smem.tools.smem_layout import commands

ANSWER = '''
"""The size of rows."""

from dataclasses import dataclass

from mlir_smem.advisor import Answer


@dataclass(frozen=True)
class Counted(Answer):
    """Rows of 128 bytes."""

    rows: int
    bytes: int


def count(rows):
    """Return the answer."""
    return Counted(rows, rows * 128)
'''

COMMAND = '''
"""Counts the bytes of rows."""

from mlir_smem.tools.smem_layout.printing import print_answer

SUMMARY = "how many bytes rows take"


def add_arguments(parser):
    """Add the rows."""
    parser.add_argument("rows", type=int)


def run(options):
    """Print the answer."""
    from row_bytes import count

    return print_answer(count(options.rows), options.json)
'''


@pytest.fixture
def with_another(tmp_path, monkeypatch):
    """`smem-layout` with the two modules of another subcommand, `count`."""
    (tmp_path / "commands").mkdir()
    (tmp_path / "commands" / "count.py").write_text(COMMAND)
    (tmp_path / "row_bytes.py").write_text(ANSWER)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(commands, "__path__", [*commands.__path__, str(tmp_path / "commands")])
    yield importlib.reload(smem_layout).smem_layout
    monkeypatch.undo()
    importlib.reload(smem_layout)


def test_two_modules_are_a_command(with_another, capsys):
    assert with_another(["count", "8"]) == 0
    assert capsys.readouterr().out == "rows: 8\nbytes: 1024\n"
    assert with_another(["count", "8", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"rows": 8, "bytes": 1024}
    with pytest.raises(SystemExit):
        with_another(["--help"])
    assert "count     how many bytes rows take" in capsys.readouterr().out


@pytest.mark.parametrize("name", smem_layout.COMMANDS)
def test_every_command_has_its_parts(name):
    command = smem_layout.COMMANDS[name]
    assert command.__doc__ and command.SUMMARY and command.add_arguments and command.run
