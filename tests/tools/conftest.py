"""Fixtures that run commands in this process."""

import io
import json
import tempfile
from pathlib import Path

import plugin
import pytest

from mlir_smem.tools.smem_layout import smem_layout


@pytest.fixture
def run_command(capsys, monkeypatch):
    """Run a command with a standard input; return (exit code, standard output, standard error)."""

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
def output_of(capsys):
    """Run `smem-layout` successfully; return its output."""

    def run(*arguments):
        assert smem_layout(arguments) == 0
        out, err = capsys.readouterr()
        assert err == ""
        return out

    return run


@pytest.fixture
def json_of(output_of):
    """Run `smem-layout` with `--json`; return the parsed output."""
    return lambda *arguments: json.loads(output_of(*arguments, "--json"))


@pytest.fixture
def error_of(capsys):
    """Run `smem-layout` with an error; return the message."""

    def run(*arguments):
        try:
            code = smem_layout(arguments)
        except SystemExit as stop:  # raised by argparse
            code = stop.code
        out, err = capsys.readouterr()
        assert (code, out) == (1, "")
        head = f"smem-layout {arguments[0]}: error: "
        assert err.startswith(head)
        return err.removeprefix(head).rstrip("\n")

    return run


@pytest.fixture
def host():
    """mlir-opt with the plugin; it must leave neither temporary files nor a server."""
    with tempfile.TemporaryDirectory(prefix="t-") as folder:
        yield plugin.host(Path(folder))
        assert plugin.servers(Path(folder)) == []
        assert list(Path(folder).iterdir()) == []
