"""Texts of modules: their synchronisation added, taken out, weakened and moved."""

import re
from random import Random

from ..generated.edits import moves, omissions

#: The edits of a program; "whole" leaves it as it is.
EDITS = ("whole", "without", "weakened", "moved", "thinned")

#: Ops that together order any op before the next one.
_EVERYTHING = (
    '"smem.copy_commit"() : () -> ()',
    '"smem.copy_wait"() {pending = 0 : i32} : () -> ()',
    '"smem.fence"() : () -> ()',
    "gpu.barrier",
)

_ACTS = re.compile(r'^ *(?:%\w+ = )?"smem\.(?:copy|copy_async|mma|store|load)"\(')
_MMA = re.compile(r'^( *)%(\w+) = ("smem\.mma"\(.*\) -> )(\S.*)#smem\.accumulator>$')

#: What is dropped from a thinned program.
_SYNC = re.compile(
    r'^ *(?:"smem\.(?:copy_commit|copy_wait|fence|warpgroup_barrier)"\(.*|gpu\.barrier)$'
)

_PENDING = re.compile(r"(pending = )(\d+)( : i32)")
_COUNT = re.compile(r"((?:producers|consumers) = )(\d+)( : i32)")
_TURN = re.compile(r'^ *"smem\.order_(?:wait|arrive)"\(')
_WAITS = re.compile(
    r'^( *)%(\w+) = "smem\.(consumer_wait|producer_acquire)"\((%\w+), (%\w+)\)(.*)$'
)
_PIPELINE = re.compile(r'^ *(%\w+) = "smem\.create_pipeline"\(\).*stages = (\d+)', re.MULTILINE)


def add_synchronization(text: str) -> str:
    """Return a module in program order with every op that orders accesses after each access."""
    lines = []
    for line in text.splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        match = _MMA.match(line)
        if match:
            _, name, op, type_ = match.groups()
            flying = f"{type_}#smem.in_flight>"
            lines.append(f"{indent}%running{name} = {op}{flying}")
            wait = f'%{name} = "smem.wait"(%running{name}) {{pending = 0 : i32}}'
            lines.append(f"{indent}{wait} : ({flying}) -> {type_}#smem.accumulator>")
        else:
            lines.append(line)
        if _ACTS.match(line):
            lines += [indent + op for op in _EVERYTHING]
    return "\n".join(lines) + "\n"


def apply_edit(text: str, edit: str, random: Random) -> str | None:
    """Return a module with an edit at a random place; None if no place can have it.

    Args:
        text: the module.
        edit: one of `EDITS`.
        random: draws the place.
    """
    if edit == "whole":
        return text
    if edit == "thinned":
        share = random.choice((0.03, 0.1, 0.3))
        lines = text.splitlines(keepends=True)
        remaining = [
            line for line in lines if not (_SYNC.match(line.rstrip()) and random.random() < share)
        ]
        return "".join(remaining) if len(remaining) < len(lines) else None
    texts = {"without": _omit, "weakened": _weaken, "moved": _move}[edit](text)
    return random.choice(texts) if texts else None


def _omit(text: str) -> list[str]:
    """The modules without one synchronisation, or without one turn."""
    lines = text.splitlines(keepends=True)
    turns = [i for i, line in enumerate(lines) if _TURN.match(line)]
    return [*omissions(text).values(), *(_replace_line(lines, i, []) for i in turns)]


def _weaken(text: str) -> list[str]:
    """The modules in which a wait leaves one more pending, a count is another one, a barrier is one of a
    warpgroup, or the parity of a wait is flipped."""
    lines = text.splitlines(keepends=True)
    stages = dict(_PIPELINE.findall(text))
    modules = []
    for i, line in enumerate(lines):
        if match := _PENDING.search(line):
            modules.append(
                _replace_line(lines, i, [_replace_number(line, match, int(match[2]) + 1)])
            )
        for match in _COUNT.finditer(line):
            others = {int(match[2]) + 1, max(1, int(match[2]) - 1)} - {int(match[2])}
            modules += [
                _replace_line(lines, i, [_replace_number(line, match, count)])
                for count in sorted(others)
            ]
        if line.strip() == "gpu.barrier":
            weaker = line.replace("gpu.barrier", '"smem.warpgroup_barrier"() : () -> ()')
            modules.append(_replace_line(lines, i, [weaker]))
        if match := _WAITS.match(line.rstrip("\n")):
            modules.append(_replace_line(lines, i, _of_other_parity(match, stages)))
    return modules


def _of_other_parity(match: re.Match[str], stages: dict[str, str]) -> list[str]:
    """Return a wait for the index that has the same stage and the other parity."""
    indent, name, op, pipeline, index, rest = match.groups()
    count, other = f"%stages_of_{name}", f"%parity_of_{name}"
    return [
        f"{indent}{count} = arith.constant {stages.get(pipeline, 1)} : index\n",
        f"{indent}{other} = arith.addi {index}, {count} : index\n",
        f'{indent}%{name} = "smem.{op}"({pipeline}, {other}){rest}\n',
    ]


def _move(text: str) -> list[str]:
    """The modules in which a synchronisation is moved after the next op, or a line up."""
    lines = text.splitlines(keepends=True)
    later = list(moves(text).values())
    for i, line in enumerate(lines):
        before = lines[i - 1].rstrip() if i else "{"
        movable = _SYNC.match(line.rstrip()) or _TURN.match(line)
        if movable and not before.endswith(("{", ":")) and not before.lstrip().startswith("}"):
            later.append("".join([*lines[: i - 1], line, lines[i - 1], *lines[i + 1 :]]))
    return later


def _replace_number(line: str, match: re.Match[str], number: int) -> str:
    return f"{line[: match.start()]}{match[1]}{number}{match[3]}{line[match.end() :]}"


def _replace_line(lines: list[str], i: int, others: list[str]) -> str:
    return "".join([*lines[:i], *others, *lines[i + 1 :]])
