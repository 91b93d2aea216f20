"""What PTX and cubins tell of the lines of the source."""

import re
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

import mlir_smem
from mlir_smem.codegen import CompileError
from mlir_smem.codegen.ptxas import find_ptxas

#: Lines of PTX that only debug information has: directives and labels that nothing jumps to.
_DEBUG = re.compile(r"\s*\.(loc|file|section)\b|\$L__(tmp|func_begin|func_end)\d+:$|\s*$")


def without_lines(ptx):
    """Return PTX without debug information and blank lines."""
    code, *_names = ptx.partition("\t.section\t.debug_str")
    return [line for line in code.splitlines() if not _DEBUG.match(line)]


def files(ptx):
    """Return the file names of PTX by their numbers."""
    return {int(n): name for n, name in re.findall(r'^\s*\.file\s+(\d+)\s+"(.*)"$', ptx, re.M)}


def lines_of(ptx, instruction):
    """Return the (file, line) of each instruction that a pattern matches, as a set."""
    names, position, positions = files(ptx), None, set()
    for line in ptx.splitlines():
        if location := re.match(r"\s*\.loc\s+(\d+)\s+(\d+)", line):
            position = names[int(location[1])], int(location[2])
        elif re.search(instruction, line):
            positions.add(position)
    return positions


def calls_of(ptx, instruction):
    """Return the calls of the instruction that a pattern matches: (function, file, line) of each inlined
    position, the innermost first, then (file, line) of the position that is not inlined."""
    names, text = (
        files(ptx),
        dict(re.findall(r"^(\$L__info_string\d+):\n((?:\s*\.b8 .*\n)+)", ptx, re.M)),
    )
    before = next(lines for lines in _directives_before(ptx) if re.search(instruction, lines[-1]))
    calls, position = [], None
    for line in reversed(before[:-1]):
        file, number, column, function, *caller = re.match(
            r"\s*\.loc\s+(\d+) (\d+) (\d+)(?:, function_name (\S+), inlined_at (.*))?$", line
        ).groups()
        assert position in (None, f"{file} {number} {column}")
        if function is None:
            return [*calls, (names[int(file)], int(number))]
        name = bytes(map(int, re.findall(r"(?<!b)\b\d+", text[function]))).decode()
        name = name.removesuffix("\0")
        calls.append((name, names[int(file)], int(number)))
        position = caller[0]
    if position is not None:  # LLVM 23 does not repeat the outermost position
        file, number, _ = position.split()
        calls.append((names[int(file)], int(number)))
    return calls


def _directives_before(ptx):
    """Yield each instruction with the directives of its position before it."""
    directives, complete = [], True
    for line in ptx.splitlines():
        if line.lstrip().startswith(".loc"):
            directives = [line] if complete else [*directives, line]
            complete = False
        elif line.strip() and not line.lstrip().startswith("//"):
            complete = True
            yield [*directives, line]


def find_nvdisasm():
    """Return NVIDIA's disassembler: next to ptxas, or on the PATH; None if there is none."""
    with suppress(CompileError):  # there is no ptxas
        near = Path(find_ptxas()).with_name("nvdisasm")
        if near.exists():
            return str(near)
    return shutil.which("nvdisasm")


def disassemble(cubin, folder, *options):
    """Return the output of nvdisasm."""
    path = folder / "kernel.cubin"
    path.write_bytes(cubin)
    command = [find_nvdisasm(), *options, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def machine_lines(cubin, folder, instruction):
    """Return the (file, line) of each instruction of a cubin that a pattern matches, as a set."""
    position, positions = None, set()
    for line in disassemble(cubin, folder, "--print-line-info", "--print-code").splitlines():
        if location := re.match(r'\s*//## File "(.*?)", line (\d+)', line):
            position = location[1], int(location[2])
        elif re.search(instruction, line):
            positions.add(position)
    return positions


needs_nvdisasm = pytest.mark.skipif(
    find_nvdisasm() is None, reason="nvdisasm is not installed (nvidia-cuda-nvdisasm)"
)


def with_lines(module, arch="sm_90a", emit="ptx", **options):
    """Compile a module with lines."""
    return mlir_smem.compile(module, arch, emit, debug_info="lines", **options)


def numbers(text, pattern):
    """The lines of a text that a pattern matches."""
    return {n for n, line in enumerate(text.splitlines(), 1) if re.search(pattern, line)}
