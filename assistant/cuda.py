"""A choice of operands' layouts as CUDA C++ to paste."""

from __future__ import annotations

from ..layout import Mode
from ..layout.swizzle import PHASE_BIT
from .chosen import ChosenOperands
from .chosen_data import hexadecimal
from .chosen_operand import ChosenOperand
from .chosen_text import canonical_text, tma_text

_FUNCTION = "__host__ __device__ static constexpr"


def cuda_source(chosen: ChosenOperands, command: str) -> str:
    """A struct for each operand, `TileA` and `TileB`, that says where its elements lie and what its
    descriptors are. It needs no header, and C++14.

    Args:
        chosen: the operands.
        command: the command that prints the same, for the comment at the top.
    """
    head = ["Tiles in shared memory that wgmma (sm_90a) reads. Printed by", f"  {command}"]
    if chosen.product:
        head += ["", *str(chosen.product).splitlines()]
    return "\n\n".join([_comment(head), *map(_struct, chosen.each)]) + "\n"


def _struct(chosen: ChosenOperand) -> str:
    row, column = (letter.lower() for letter in chosen.extents)
    index, given = f"({row}, {column})", f"(unsigned {row}, unsigned {column})"
    lines = [
        *_facts(chosen).splitlines(),
        f"struct Tile{chosen.role.name} {{",
        *_constants(chosen),
        "",
        f"  // Bytes from the start of {_what(chosen)} to element {index}{_bits(chosen)}.",
        f"  {_FUNCTION} unsigned offset{given} {{",
        f"    return {_swizzled(chosen, f'linear{index}')};",
        "  }",
    ]
    if chosen.blocks:
        lines += [
            "",
            f"  // The descriptor of {_what(chosen)} at that shared memory address",
            "  // (__cvta_generic_to_shared).",
            f"  {_FUNCTION} unsigned long long descriptor(unsigned address) {{",
            f"    return {hexadecimal(chosen.descriptor().encode())}ull | ((address & 0x3ffff) >> 4);",
            "  }",
            "",
            f"  // Added to it for the instruction whose operand begins at element {index}:",
            *(f"  //   {said}" for said in _steps(chosen)),
            f"  {_FUNCTION} unsigned long long step{given} {{",
            f"    return linear{index} >> 4;",
            "  }",
        ]
    lines += [
        "",
        "  // As `offset`, before the swizzle.",
        f"  {_FUNCTION} unsigned linear{given} {{",
        f"    return {_linear(chosen, row, column)};",
        "  }",
        "};",
    ]
    return "\n".join(lines)


def _facts(chosen: ChosenOperand) -> str:
    shape = "x".join(map(str, chosen.spec.shape[-2:]))
    return _comment(
        [
            f"{chosen.role.name}: {shape} {chosen.spec.element} ({' x '.join(chosen.extents)})",
            f"  {chosen.tile}",
            f"  {canonical_text(chosen)}",
            f"  TMA: {tma_text(chosen)}",
        ]
    )


def _constants(chosen: ChosenOperand) -> list[str]:
    """What a host must know, and in which steps a kernel goes through the tile."""
    many = len(chosen.spec.shape) == 3
    values = [
        ("kBytes", chosen.layout.size_bytes, "of all stages" if many else ""),
        ("kAlignment", chosen.alignment, "of the start, in bytes; the swizzle counts on it"),
    ]
    if many:
        values += [
            ("kStages", chosen.spec.shape[0], ""),
            ("kStageBytes", chosen.stage_bytes, "from one stage to the next"),
        ]
    if chosen.blocks:
        values.append(("kInstructionK", chosen.spec.element.instruction_k, "elements"))
    return [
        f"  static constexpr unsigned {name} = {value};" + (f"  // {said}" if said else "")
        for name, value, said in values
    ]


def _steps(chosen: ChosenOperand) -> list[str]:
    """The steps, one line for each block along m/n."""
    letter = chosen.role.extent_name.lower()
    rows: dict[int, list[str]] = {}
    for block in chosen.each_block:
        rows.setdefault(block.mn, []).append(f"+{block.step}")
    k = chosen.spec.element.instruction_k
    return [
        f"{letter} = {mn}, k = 0, {k}, ...: {', '.join(steps)}"
        if len(steps) > 1
        else f"{letter} = {mn}, k = 0: {steps[0]}"
        for mn, steps in rows.items()
    ]


def _what(chosen: ChosenOperand) -> str:
    return "a stage" if len(chosen.spec.shape) == 3 else "the tile"


def _bits(chosen: ChosenOperand) -> str:
    return ", which is bit k % 8 there" if chosen.spec.element.bits < 8 else ""


def _swizzled(chosen: ChosenOperand, linear: str) -> str:
    """The XOR of `Swizzle.apply`, for a tile whose start is aligned to its pattern."""
    mask = (1 << chosen.tile.swizzle.value) - 1
    return f"{linear} ^ ((({linear} >> {PHASE_BIT}) & {mask}) << 4)" if mask else linear


def _linear(chosen: ChosenOperand, row: str, column: str) -> str:
    """The offset in bytes before the swizzle."""
    modes, bits = chosen.tile.coalesced().modes, chosen.spec.element.bits
    terms = [*_terms(row, modes[0]), *_terms(column, modes[1])]
    total = " + ".join(terms) or "0"
    if bits == 8:
        return total
    return f"({total}) / {8 // bits}" if bits < 8 else f"({total}) * {bits // 8}"


def _terms(name: str, modes: tuple[Mode, ...]) -> list[str]:
    """What a coordinate adds to the offset, in elements."""
    terms = []
    inner = 1
    for mode in modes:
        index = name if inner == 1 else f"{name} / {inner}"
        inner *= mode.extent
        if mode is not modes[-1]:
            index += f" % {mode.extent}"
        if mode.stride:
            terms.append(index if mode.stride == 1 else f"{index} * {mode.stride}")
    return terms


def _comment(lines: list[str]) -> str:
    return "\n".join(f"// {line}".rstrip() for line in lines)
