"""Machine code as text: functions, branches, and the main loop.

Reads what `nvdisasm -c`, `cuobjdump -sass` and `ncu --page source --csv` print.
"""

import csv
import re
import shutil
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from pathlib import Path

_FUNCTION = re.compile(r"^(?:\.text\.([\w$.]+):|\s*Function : (\S+))")
_LABEL = re.compile(r"^(\.L\w+):")
_INSTRUCTION = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+([^;]*[^;\s])\s*;")
_PARTS = re.compile(r"(?:(@!?\w+)\s+)?([A-Z][\w.]*)\s*(.*)")
_TARGET = re.compile(r"(?:`\((\.L\w+)\)|(0x[0-9a-f]+))$")
_MATRIX = re.compile(r"[HQIBD]G?MMA\b")


@dataclass(frozen=True)
class Instruction:
    """One instruction.

    Attributes:
        address: in bytes.
        opcode: with its modifiers, `HGMMA.64x256x16.F32.BF16`.
        predicate: `@P0`, `@!UP1`, or nothing.
        operands: the text behind the opcode.
        target: the address that a branch names.
    """

    address: int
    opcode: str
    predicate: str = ""
    operands: str = ""
    target: int | None = None

    @property
    def name(self) -> str:
        """The opcode without its modifiers."""
        return self.opcode.split(".")[0]

    @property
    def multiplies(self) -> bool:
        """Whether it is a matrix instruction."""
        return bool(_MATRIX.match(self.opcode))

    @property
    def falls_through(self) -> bool:
        """Whether the next instruction may follow it."""
        if self.name == "BRA":
            # `BRA P0, target` has its condition among the operands.
            return bool(self.predicate) or not _TARGET.fullmatch(self.operands)
        return bool(self.predicate) or self.name not in ("EXIT", "RET", "BRX", "JMX", "BSYNC")


def parse(text: str) -> dict[str, list[Instruction]]:
    """The functions of a disassembly; ValueError if it has no instruction."""
    lines: dict[str, list[tuple[int, str]]] = {}
    labels: dict[str, dict[str, int]] = {}
    function, waiting = "", []
    for line in text.splitlines():
        if begin := _FUNCTION.match(line):
            function = begin[1] or begin[2]
        elif label := _LABEL.match(line):
            waiting.append(label[1])
        elif instruction := _INSTRUCTION.match(line):
            address = int(instruction[1], 16)
            lines.setdefault(function, []).append((address, instruction[2]))
            labels.setdefault(function, {}).update(dict.fromkeys(waiting, address))
            waiting = []
    if not lines:
        raise ValueError(f"no SASS instruction in these {len(text.splitlines())} lines")
    return {
        name: [
            _instruction(address, instruction_text, labels[name])
            for address, instruction_text in code
        ]
        for name, code in lines.items()
    }


def parse_ncu(text: str) -> dict[str, list[Instruction]]:
    """The kernels of `ncu --page source --csv`, as `parse` gives functions.

    A kernel's table begins with a heading that has the columns Address and Source; a line
    `Kernel Name,...` before it names the kernel. Addresses are of the memory that held the kernel; they
    become distances from its first instruction, and so do targets of branches if they are not already.
    """
    code_by_name: dict[str, list[Instruction]] = {}
    name, columns = "", None
    for row in csv.reader(text.splitlines()):
        if row[:1] == ["Kernel Name"]:
            name = row[1]
        elif "Source" in row and "Address" in row:
            columns = (row.index("Address"), row.index("Source"))
            name = (
                name
                if name and name not in code_by_name
                else f"{name or 'kernel'} {len(code_by_name)}"
            )
            code_by_name[name] = []
        elif columns and len(row) > max(columns):
            address, source = (row[column] for column in columns)
            code_by_name[name].append(_instruction(int(address, 16), source.strip(" ;"), {}))
    if not code_by_name:
        raise ValueError("no table with the columns Address and Source")
    return {name: _from_zero(code) for name, code in code_by_name.items()}


def _from_zero(code: list[Instruction]) -> list[Instruction]:
    base = code[0].address if code else 0

    def shift(address: int) -> int:
        return address - base if address >= base else address

    return [
        replace(i, address=shift(i.address), target=None if i.target is None else shift(i.target))
        for i in code
    ]


def _instruction(address: int, text: str, labels: dict[str, int]) -> Instruction:
    parts = _PARTS.match(text)
    if not parts:
        raise ValueError(f"no instruction at {address:#x}: {text!r}")
    predicate, opcode, operands = parts[1] or "", parts[2], parts[3]
    target = None
    if opcode.split(".")[0] in ("BRA", "BSSY") and (target_match := _TARGET.search(operands)):
        target = labels[target_match[1]] if target_match[1] else int(target_match[2], 16)
    return Instruction(address, opcode, predicate, operands, target)


@dataclass(frozen=True)
class Loop:
    """A loop's own instructions, without those of the loops in it.

    Attributes:
        head: the address where it begins.
        always: instructions of every iteration that continues.
        branches: instructions of only some iterations.
    """

    head: int
    always: tuple[Instruction, ...]
    branches: tuple[Instruction, ...]

    @property
    def matrix(self) -> list[Instruction]:
        """Its matrix instructions."""
        return [i for i in (*self.always, *self.branches) if i.multiplies]


def main_loop(function: list[Instruction]) -> Loop:
    """The loop with the most matrix instructions of its own; ValueError if none has any."""
    all_loops = loops(function)
    best = max(all_loops, key=lambda loop: len(loop.matrix), default=None)
    if best is None or not best.matrix:
        raise ValueError(
            f"none of {len(all_loops)} loops in {len(function)} instructions multiplies matrices"
        )
    return best


def loops(function: list[Instruction]) -> list[Loop]:
    """The natural loops: blocks that reach a back edge without passing its target.

    Code that the compiler moved after the end of the function, such as waits, belongs to its loop.
    """
    blocks, successors = _blocks(function)
    predecessors: list[set[int]] = [set() for _ in blocks]
    for block, following in enumerate(successors):
        for successor in following:
            predecessors[successor].add(block)
    dominators = _dominators(predecessors)
    backward: dict[int, list[int]] = {}
    for block, heads in enumerate(successors):
        for head in heads:
            if dominators[block] >> head & 1:
                backward.setdefault(head, []).append(block)
    bodies = {head: _reaching(ends, head, predecessors) for head, ends in backward.items()}
    all_loops = []
    for head, body in bodies.items():
        nested = [other for h, other in bodies.items() if h != head and h in body]
        body_blocks = sorted(body.difference(*nested))
        always_passed = reduce(int.__and__, (dominators[end] for end in backward[head]))
        always, branches = (
            tuple(
                i
                for block in body_blocks
                if always_passed >> block & 1 == is_always
                for i in blocks[block]
            )
            for is_always in (1, 0)
        )
        all_loops.append(Loop(blocks[head][0].address, always, branches))
    return all_loops


def _blocks(function: list[Instruction]) -> tuple[list[list[Instruction]], list[set[int]]]:
    """The basic blocks, and the numbers of the successors of each."""
    heads = {function[0].address} | {i.target for i in function}
    for instruction, following in pairwise(function):
        if instruction.name == "BRA" or not instruction.falls_through:
            heads.add(following.address)
    blocks: list[list[Instruction]] = []
    for instruction in function:
        if instruction.address in heads:
            blocks.append([])
        blocks[-1].append(instruction)
    numbers = {block[0].address: number for number, block in enumerate(blocks)}
    # BSYNC branches to the reconvergence point of the BSSY before it.
    meeting: dict[int, int] = {}
    last: dict[str, int] = {}
    for instruction in function:
        barrier = instruction.operands.split(",")[0]
        if instruction.name == "BSSY" and instruction.target is not None:
            last[barrier] = instruction.target
        elif instruction.name == "BSYNC" and barrier in last:
            meeting[instruction.address] = last[barrier]
    successors = []
    for number, block in enumerate(blocks):
        end = block[-1]
        targets = {end.target if end.name == "BRA" else meeting.get(end.address)}
        following = {numbers[target] for target in targets if target in numbers}
        if end.falls_through and number + 1 < len(blocks):
            following.add(number + 1)
        successors.append(following)
    return blocks, successors


def _dominators(predecessors: list[set[int]]) -> list[int]:
    """For each block the set of its dominators, as bits; unreachable blocks have every one."""
    everything = (1 << len(predecessors)) - 1
    dominators = [1] + [everything] * (len(predecessors) - 1)
    changed = True
    while changed:
        changed = False
        for block in range(1, len(predecessors)):
            dominators_before = (dominators[p] for p in predecessors[block])
            new_dominators = reduce(int.__and__, dominators_before, everything) | 1 << block
            changed |= new_dominators != dominators[block]
            dominators[block] = new_dominators
    return dominators


def _reaching(ends: list[int], head: int, predecessors: list[set[int]]) -> set[int]:
    """The blocks from which one of `ends` is reached without passing `head`."""
    body, waiting = {head}, list(ends)
    while waiting:
        block = waiting.pop()
        if block not in body:
            body.add(block)
            waiting += predecessors[block]
    return body


def read(file: Path) -> dict[str, list[Instruction]]:
    """The functions of a cubin, a disassembly, or the CSV of ncu's source page."""
    if file.suffix == ".cubin":
        run = subprocess.run(
            [_nvdisasm(), "-c", str(file)], capture_output=True, text=True, check=True
        )
        return parse(run.stdout)
    return (parse_ncu if file.suffix == ".csv" else parse)(file.read_text())


def code_of(cubin: bytes) -> list[Instruction]:
    """The instructions of the only function of a cubin."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "kernel.cubin")
        file.write_bytes(cubin)
        (code,) = read(file).values()
    return code


def _nvdisasm() -> str:
    """The path of nvdisasm: of the system, or of the package nvidia-cuda-nvdisasm."""
    folders: Iterable[Path] = Path(sysconfig.get_path("purelib"), "nvidia").glob("*/bin")
    path = shutil.which("nvdisasm") or next(
        (str(folder / "nvdisasm") for folder in folders if (folder / "nvdisasm").exists()), None
    )
    if path is None:
        raise FileNotFoundError("nvdisasm is needed: install nvidia-cuda-nvdisasm")
    return path
