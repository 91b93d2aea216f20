"""How commands are run in tests: in this process."""

import io
import json

import pytest

from mlir_smem.tools.smem_layout import smem_layout


@pytest.fixture
def called(capsys, monkeypatch):
    """Runs a command, given text on standard input; (exit code, standard output, standard error)."""

    def call(command, *arguments, text=""):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        try:
            code = command(arguments)
        except SystemExit as stop:
            code = stop.code
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return code, captured.out, captured.err

    return call


@pytest.fixture
def said(capsys):
    """Runs a command that succeeds; what it prints."""

    def run(*arguments):
        assert smem_layout(arguments) == 0
        out, err = capsys.readouterr()
        assert err == ""
        return out

    return run


@pytest.fixture
def told(said):
    """The same with `--json`."""
    return lambda *arguments: json.loads(said(*arguments, "--json"))


@pytest.fixture
def refused(capsys):
    """Runs a command that fails; its message."""

    def run(*arguments):
        try:
            code = smem_layout(arguments)
        except SystemExit as left:  # what argparse refuses
            code = left.code
        out, err = capsys.readouterr()
        assert (code, out) == (1, "")
        head = f"smem-layout {arguments[0]}: error: "
        assert err.startswith(head)
        return err.removeprefix(head).rstrip("\n")

    return run
