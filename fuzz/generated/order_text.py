"""The text of random kernels in program order: a function of the kernel language, and of NumPy."""

from random import Random

#: Fragments, numbers of blocks of A, B and D, and the most iterations of a loop.
FRAGMENTS = ("x", "y", "z")
BLOCKS = 4

#: What begins every kernel: all stages are filled, so that what is read was written.
_COPIES = ("sl.copy", "sl.copy_async")


def draw(random: Random) -> str:
    """Draw a kernel: comments that give its warpgroups and stages, and the body."""
    warpgroups, stages = random.choice((1, 1, 2, 2, 3)), random.choice((1, 2, 3, 4))
    copies = random.choice((_COPIES[:1], _COPIES[1:], _COPIES))
    lines = [f"# warpgroups = {warpgroups}", f"# stages = {stages}"]
    for stage in range(stages):
        for tile in "ab":
            lines.append(_copy(random, copies, tile, str(stage), []))
    lines += _block(random, copies, random.randint(2, 5), [])
    return "\n".join([*lines, *(f"sl.store({x}, D[out({i}), :])" for i, x in enumerate(FRAGMENTS))])


def _block(random: Random, copies: tuple[str, ...], count: int, loops: list[str]) -> list[str]:
    return [line for _ in range(count) for line in _statement(random, copies, loops)]


def _statement(random: Random, copies: tuple[str, ...], loops: list[str]) -> list[str]:
    kind = random.randrange(16 if len(loops) < 2 else 12)
    x, y = random.choice(FRAGMENTS), random.choice(FRAGMENTS)
    a, b = (f"{tile}[{_stage(random, loops)}]" for tile in "ab")
    if kind < 3:
        return [_copy(random, copies, random.choice("ab"), _stage(random, loops), loops)]
    if kind < 6:
        return [f"{x} = sl.mma({a}[own, :], {b}, {x})"]
    if kind == 6:
        return [f"{x} = sl.mma({a}[own, :], {b})"]
    if kind == 7:
        return [f"{x} = sl.mma(small({y}).to(sl.f16), {b}{random.choice(('', f', {x}'))})"]
    if kind == 8:
        return [f"sl.store(small({x}), {a}[own, :])"]
    if kind == 9:
        return [f"{x} = sl.load({a}[own, :]).to(sl.f32)"]
    if kind == 10:
        return [
            random.choice(
                (
                    f"{x} = small({x}) + {y}",
                    f"{x} = small({y}) + 1.0",
                    f"sl.store({x}, D[out(3), :])",
                )
            )
        ]
    if kind == 11:
        one, other = random.sample(range(4), 2)
        return [
            f"if {one} % stages != {other} % stages:",
            f"    sl.copy(a[{one} % stages], a[{other} % stages])",
        ]
    if kind == 12:
        lines = [_copy(random, copies, tile, _stage(random, loops), loops) for tile in "ab"]
        return [f"with sl.when({_condition(random, loops)}):", *(f"    {line}" for line in lines)]
    name = "ij"[len(loops)]
    stop = random.choice(("2", "3", "5", "T", "T", "T + 1"))
    body = _block(random, copies, random.randint(1, 5), [*loops, name])
    return [f"for {name} in sl.range({stop}):", *(f"    {line}" for line in body)]


def _copy(random: Random, copies: tuple[str, ...], tile: str, stage: str, loops: list[str]) -> str:
    source = f"{tile.upper()}[{tile}_block({_index(random, loops)}), :]"
    return f"{random.choice(copies)}({source}, {tile}[{stage}])"


def _stage(random: Random, loops: list[str]) -> str:
    """Return the number of a stage."""
    return f"({_index(random, loops)}) % stages"


def _index(random: Random, loops: list[str]) -> str:
    number = random.randrange(4)
    return f"{random.choice(loops)} + {number}" if loops and random.random() < 0.8 else str(number)


def _condition(random: Random, loops: list[str]) -> str:
    one = random.choice((*loops, "T", "sl.block_id(0)"))
    return f"{one} + {random.randrange(3)} {random.choice(('<', '==', '!='))} {random.choice(('T', '2'))}"
