"""Edits of a kernel: one synchronisation op removed, or one op duplicated or moved."""

import re
from collections import Counter
from collections.abc import Iterator

#: Ops that are removed whole.
_DROPPED = (
    "fence|copy_commit|copy_wait|producer_commit|consumer_release|tma_commit|tma_wait|"
    "warpgroup_barrier"
)
_LINE = re.compile(rf'^ *(?:"smem\.({_DROPPED})"\(.*|(gpu\.barrier))$')

#: Waits that return the index of a stage, which is computed instead.
_STAGE = re.compile(r'^ *(%\w+) = "smem\.(producer_acquire|consumer_wait)"\((%\w+), (%\w+)\) : .*$')
_PIPELINE = re.compile(r'^ *(%\w+) = "smem\.create_pipeline"\(\).*stages = (\d+)', re.MULTILINE)

#: Waits that leave some mma pending; the edit leaves one more.
_WAIT = re.compile(
    r'^( *%\w+ = "smem\.wait"\(.*\{pending = )(\d+)( : i32\}\s*: .* -> !(?:flying|running))$'
)


def omissions(text: str) -> dict[str, str]:
    """The kernels without one synchronisation op, by the name of the op."""
    lines = text.splitlines(keepends=True)
    stages = dict(_PIPELINE.findall(text))
    kernels: dict[str, str] = {}
    seen: Counter[str] = Counter()
    for index, line in enumerate(lines):
        omission = _lacking(line.rstrip("\n"), stages)
        if omission:
            name, instead = omission
            seen[name] += 1
            kernels[f"{name} {seen[name]}"] = "".join(
                [*lines[:index], f"{instead}\n", *lines[index + 1 :]]
            )
    return kernels


def _lacking(line: str, stages: dict[str, str]) -> tuple[str, str] | None:
    """The synchronisation of a line, and the line without it; None if there is none."""
    if match := _LINE.match(line):
        return match[1] or match[2], ""
    if match := _STAGE.match(line):
        slot, name, pipeline, step = match.groups()
        count = f"%count_of_{slot[1:]}"
        constant = f"{count} = arith.constant {stages[pipeline]} : index"
        return name, f"{constant}\n{slot} = arith.remui {step}, {count} : index"
    if match := _WAIT.match(line):
        return "wait", f"{match[1]}{int(match[2]) + 1}{match[3]}"
    return None


#: Ops without results that can be duplicated or moved.
_DOABLE = re.compile(r'^ *(?:"smem\.(\w+)"\(.*\) -> \(\)|(gpu\.barrier))$')


def duplications(text: str) -> dict[str, str]:
    """The kernels in which one op is duplicated, by its name and number."""
    return {
        f"{name} twice": "".join([*lines[: index + 1], lines[index], *lines[index + 1 :]])
        for name, index, lines in _doable(text)
    }


def moves(text: str) -> dict[str, str]:
    """The kernels in which one op is moved after the next of its block, by its name and number."""
    kernels = {}
    for name, index, lines in _doable(text):
        later = next(
            (i for i in range(index + 1, len(lines)) if _ends(lines[i]) or _acts(lines[i])), index
        )
        if later > index and not _ends(lines[later]):
            order = [
                *lines[:index],
                *lines[index + 1 : later + 1],
                lines[index],
                *lines[later + 1 :],
            ]
            kernels[f"{name} later"] = "".join(order)
    return kernels


def _doable(text: str) -> Iterator[tuple[str, int, list[str]]]:
    """The ops that can be duplicated or moved: a name, the line, and all lines."""
    lines = text.splitlines(keepends=True)
    seen: Counter[str] = Counter()
    for index, line in enumerate(lines):
        if match := _DOABLE.match(line.rstrip("\n")):
            name = match[1] or match[2]
            seen[name] += 1
            yield f"{name} {seen[name]}", index, lines


def _ends(line: str) -> bool:
    return line.strip().startswith("}") or line.rstrip().endswith("{")


def _acts(line: str) -> bool:
    return '"smem.' in line or "gpu.barrier" in line
