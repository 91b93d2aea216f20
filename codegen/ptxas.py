"""From PTX to a cubin, by NVIDIA's assembler ptxas."""

import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .errors import CompileError, no_temporary_files


@dataclass(frozen=True)
class Report:
    """What ptxas reports about a kernel.

    Attributes:
        registers: registers of a thread.
        spill_bytes: bytes of spill stores and loads.
        warnings: ptxas's warnings, for example C7510 where it serializes wgmma.
    """

    registers: int
    spill_bytes: int
    warnings: tuple[str, ...]


@cache
def find_ptxas() -> str:
    """Return the assembler: `MLIR_SMEM_PTXAS`, that of the nvidia-cuda-nvcc wheel, or that on the PATH.

    Raises:
        CompileError: if there is none.
    """
    named = os.environ.get("MLIR_SMEM_PTXAS")
    if named:
        if not shutil.which(named):
            raise CompileError(f"MLIR_SMEM_PTXAS names '{named}', which cannot be run")
        return named
    spec = importlib.util.find_spec("nvidia")
    for root in (spec.submodule_search_locations or []) if spec else []:
        for path in sorted(Path(root).glob("*/bin/ptxas"), reverse=True):
            if os.access(path, os.X_OK):
                return str(path)
    on_path = shutil.which("ptxas")
    if on_path:
        return on_path
    raise CompileError(
        "ptxas was not found; install nvidia-cuda-nvcc, or name it in MLIR_SMEM_PTXAS "
        "(--emit=ptx does not need it)"
    )


@cache
def ptxas_version() -> str:
    """Return the output of `ptxas --version` in one line.

    Raises:
        CompileError: if there is none, or it cannot be run.
    """
    lines = _run([find_ptxas(), "--version"]).stdout.split("\n")
    return " ".join(line for line in lines if line)


def assemble(ptx: str, arch: str, lines: bool = False) -> tuple[bytes, Report]:
    """Return the cubin and ptxas's report.

    Args:
        ptx: the PTX.
        arch: the architecture.
        lines: whether the cubin has the lines of the PTX's `.loc`.

    Raises:
        CompileError: with ptxas's output, if it refuses the PTX; or if there is no room for temporary
            files.
    """
    debug = ["-lineinfo"] if lines else []
    options = [f"-arch={arch}", "-O3", "-v", *debug]
    try:
        with tempfile.TemporaryDirectory() as folder:
            source, target = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
            source.write_text(ptx)
            run = _run([find_ptxas(), *options, str(source), "-o", str(target)])
            output = run.stderr + run.stdout
            if run.returncode or not target.exists():
                raise CompileError(f"ptxas refuses the PTX:\n{output.strip()}")
            return target.read_bytes(), _report(output)
    except OSError as error:
        raise no_temporary_files(error) from None


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise CompileError(
            f"{command[0]} cannot be run: {error.strerror}; MLIR_SMEM_PTXAS can name another"
        ) from None


def _report(output: str) -> Report:
    registers = [int(n) for n in re.findall(r"Used (\d+) registers", output)]
    spills = [int(n) for n in re.findall(r"(\d+) bytes spill", output)]
    warnings = [line.strip() for line in output.splitlines() if "warning" in line or "C75" in line]
    return Report(max(registers, default=0), sum(spills), tuple(warnings))
