"""`--version` of every command: what each line says, and what is said of what is missing."""

import os
import re
import subprocess
import sys

import pytest
from bindings_at_hand import NVPTX

import mlir_smem
from mlir_smem.tools import entry
from mlir_smem.tools import version as version_module

COMMANDS = ("smem_opt", "smem_compile", "smem_run", "smem_layout")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_prints_the_versions(command, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", [command, "--version"])
    monkeypatch.setattr(entry, "_start_llvm", lambda: None)
    with pytest.raises(SystemExit) as end:
        getattr(entry, command)()
    assert end.value.code == 0
    package, mlir, nvptx, ptxas = capsys.readouterr().out.splitlines()
    assert package == f"mlir-smem {mlir_smem.__version__}"
    assert re.fullmatch(r"  MLIR   \d+\.\d+\.\d+\w*, bindings \S+ \S+", mlir)
    assert re.fullmatch(rf"  NVPTX  {re.escape(NVPTX)}(, LLVM \d+\.\d+\.\d+)?", nvptx)
    assert re.fullmatch(r"  ptxas  (none: .*|[\d.]+, /.*)", ptxas)


@pytest.mark.parametrize("command", ["smem-opt", "smem-layout"])
def test_the_versions_are_printed_without_bindings(command):
    code = f"from mlir_smem.tools.entry import {command.replace('-', '_')} as f; f()"
    ran = subprocess.run(
        [sys.executable, "-c", code, "--version"],
        env=os.environ | {"MLIR_SMEM_BINDINGS": "no_such_package"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    line = ran.stdout.splitlines()[1]
    assert line.startswith("  MLIR   none: MLIR_SMEM_BINDINGS names the package 'no_such_package'")


def test_missing_tools_are_told(monkeypatch):
    def missing():
        raise ImportError("no bindings")

    monkeypatch.setattr(version_module, "_bindings", missing)
    monkeypatch.setenv("MLIR_SMEM_PTXAS", "/no/ptxas")
    version_module.import_module("mlir_smem.codegen.ptxas").find_ptxas.cache_clear()
    version_module.import_module("mlir_smem.codegen.ptxas").ptxas_version.cache_clear()
    lines = version_module.versions().splitlines()
    assert lines[1] == "  MLIR   none: no bindings"
    assert lines[3] == "  ptxas  none: MLIR_SMEM_PTXAS names '/no/ptxas', which cannot be run"


def test_bindings_that_no_distribution_holds():
    assert version_module._distribution("tests_of_mine._mlir") == "tests_of_mine._mlir"
