"""What PTX and cubins tell of the lines of the source."""

import re
import shutil
import subprocess
from pathlib import Path

from mlir_smem.codegen.ptxas import find_ptxas

#: Lines of PTX that only debug information has: directives and labels that nothing jumps to.
_DEBUG = re.compile(r"\s*\.(loc|file|section)\b|\$L__(tmp|func_begin|func_end)\d+:$|\s*$")


def without_lines(ptx):
    """Return PTX without debug information and blank lines."""
    return [line for line in ptx.splitlines() if not _DEBUG.match(line)]


def files(ptx):
    """Return the file names of PTX by their numbers."""
    return {int(n): name for n, name in re.findall(r'^\s*\.file\s+(\d+)\s+"(.*)"$', ptx, re.M)}


def lines_of(ptx, instruction):
    """Return the (file, line) of each instruction that a pattern matches, as a set."""
    names, at, found = files(ptx), None, set()
    for line in ptx.splitlines():
        if location := re.match(r"\s*\.loc\s+(\d+)\s+(\d+)", line):
            at = names[int(location[1])], int(location[2])
        elif re.search(instruction, line):
            found.add(at)
    return found


def find_nvdisasm():
    """Return NVIDIA's disassembler: next to ptxas, or on the PATH; None if there is none."""
    near = Path(find_ptxas()).with_name("nvdisasm")
    return str(near) if near.exists() else shutil.which("nvdisasm")


def disassembled(cubin, folder, *options):
    """Return the output of nvdisasm."""
    path = folder / "kernel.cubin"
    path.write_bytes(cubin)
    command = [find_nvdisasm(), *options, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def machine_lines(cubin, folder, instruction):
    """Return the (file, line) of each instruction of a cubin that a pattern matches, as a set."""
    at, found = None, set()
    for line in disassembled(cubin, folder, "--print-line-info", "--print-code").splitlines():
        if location := re.match(r'\s*//## File "(.*?)", line (\d+)', line):
            at = location[1], int(location[2])
        elif re.search(instruction, line):
            found.add(at)
    return found
