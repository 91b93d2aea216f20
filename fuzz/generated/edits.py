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
    found: dict[str, str] = {}
    seen: Counter[str] = Counter()
    for at, line in enumerate(lines):
        lacking = _lacking(line.rstrip("\n"), stages)
        if lacking:
            name, instead = lacking
            seen[name] += 1
            found[f"{name} {seen[name]}"] = "".join([*lines[:at], f"{instead}\n", *lines[at + 1 :]])
    return found


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


def doubled(text: str) -> dict[str, str]:
    """The kernels in which one op is duplicated, by its name and number."""
    return {
        f"{name} twice": "".join([*lines[: at + 1], lines[at], *lines[at + 1 :]])
        for name, at, lines in _doable(text)
    }


def moved(text: str) -> dict[str, str]:
    """The kernels in which one op is moved after the next of its block, by its name and number."""
    found = {}
    for name, at, lines in _doable(text):
        later = next(
            (i for i in range(at + 1, len(lines)) if _ends(lines[i]) or _acts(lines[i])), at
        )
        if later > at and not _ends(lines[later]):
            order = [*lines[:at], *lines[at + 1 : later + 1], lines[at], *lines[later + 1 :]]
            found[f"{name} later"] = "".join(order)
    return found


def _doable(text: str) -> Iterator[tuple[str, int, list[str]]]:
    """The ops that can be duplicated or moved: a name, the line, and all lines."""
    lines = text.splitlines(keepends=True)
    seen: Counter[str] = Counter()
    for at, line in enumerate(lines):
        if match := _DOABLE.match(line.rstrip("\n")):
            name = match[1] or match[2]
            seen[name] += 1
            yield f"{name} {seen[name]}", at, lines


def _ends(line: str) -> bool:
    return line.strip().startswith("}") or line.rstrip().endswith("{")


def _acts(line: str) -> bool:
    return '"smem.' in line or "gpu.barrier" in line
