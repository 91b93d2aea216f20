"""A choice of operands' layouts as CUDA C++ to paste."""

from __future__ import annotations

from dataclasses import replace

from ...layout import Mode
from ...layout.descriptor import LBO, mask_of
from ...layout.swizzle import PHASE_BIT
from ...layout.tcgen05 import LBO_MODE, Chunks
from ..answer import text
from ..chosen import ChosenOperands
from ..chosen_operand import ChosenOperand
from .formats import descriptor_hex
from .text.chosen_operand import canonical_text, padding_text, tma_text

_FUNCTION = "__host__ __device__ static constexpr"


def cuda_source(chosen: ChosenOperands, command: str) -> str:
    """A struct for each operand, `TileA` and `TileB`, that says where its elements lie and what its
    descriptors are. It needs no header, and C++14.

    Args:
        chosen: the operands.
        command: the command that prints the same, for the comment at the top.
    """
    by = f"{chosen.by.name} ({chosen.by.arch}a)"
    head = [f"Tiles in shared memory that {by} reads. Printed by", f"  {command}"]
    if chosen.mma:
        head += ["", *text(chosen.mma).splitlines()]
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
    if isinstance(chosen.mma_tiles, Chunks):
        lines += _chunked_descriptor(chosen, given, index)
    elif chosen.mma_tiles:
        lines += [
            "",
            f"  // The descriptor of {_what(chosen)} at that shared memory address",
            "  // (__cvta_generic_to_shared).",
            f"  {_FUNCTION} unsigned long long descriptor(unsigned address) {{",
            f"    return {descriptor_hex(chosen.descriptor().encode())}ull | ((address & 0x3ffff) >> 4);",
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


def _chunked_descriptor(chosen: ChosenOperand, given: str, index: str) -> list[str]:
    """The function that gives an instruction's descriptor, which may hold a second chunk's address."""
    atom = chosen.tile.swizzle.atom_elements(chosen.spec.element)
    constant = chosen.descriptor()
    chunked = replace(constant, lbo=0).encode() | mask_of(LBO_MODE)
    following = index.replace("k", f"k / {atom} * {atom} + {atom}")
    return [
        "",
        f"  // The descriptor of the instruction whose operand begins at element {index} of",
        f"  // {_what(chosen)} at that shared memory address (__cvta_generic_to_shared). Where rows go",
        "  // on in the next atom, LBO is the address of their second chunk.",
        f"  {_FUNCTION} unsigned long long descriptor(unsigned address, {given[1:]} {{",
        f"    return (k % {atom} + kInstructionK > {atom}",
        f"                ? {descriptor_hex(chunked)}ull |",
        f"                      encoded(address + linear{following}) << {LBO[0]}",
        f"                : {descriptor_hex(constant.encode())}ull) |",
        f"           encoded(address + linear{index});",
        "  }",
        "",
        "  // An address in a descriptor's field.",
        f"  {_FUNCTION} unsigned long long encoded(unsigned address) {{",
        "    return (address & 0x3ffff) >> 4;",
        "  }",
    ]


def _facts(chosen: ChosenOperand) -> str:
    shape, element = "x".join(map(str, chosen.spec.shape[-2:])), chosen.spec.element
    return _comment(
        [
            f"{chosen.role.name}: {shape} {element} ({' x '.join(chosen.extents)})",
            f"  {chosen.tile}",
            f"  {canonical_text(chosen)}",
            f"  TMA: {tma_text(chosen)}",
            *([f"  {padding_text(element)}"] if element.padding else []),
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
    if chosen.mma_tiles:
        values.append(("kInstructionK", chosen.instruction_k, "elements"))
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
    k = chosen.instruction_k
    return [
        f"{letter} = {mn}, k = 0, {k}, ...: {', '.join(steps)}"
        if len(steps) > 1
        else f"{letter} = {mn}, k = 0: {steps[0]}"
        for mn, steps in rows.items()
    ]


def _what(chosen: ChosenOperand) -> str:
    return "a stage" if len(chosen.spec.shape) == 3 else "the tile"


def _bits(chosen: ChosenOperand) -> str:
    element = chosen.spec.element
    if element.padding:
        bits = element.packed_bits
        return (
            f".\n  // Of k = 0 to 15, 16 to 31, ... all lie where the first does, {bits} bits each"
        )
    if element.bits < 8:
        return f", which is {'bit k % 8' if element.bits == 1 else 'nibble k % 2'} there"
    return ""


def _swizzled(chosen: ChosenOperand, linear: str) -> str:
    """The XOR of `Swizzle.apply`, for a tile whose start is aligned to its pattern."""
    swizzle = chosen.tile.swizzle
    mask, shift = swizzle.width // swizzle.unit_bytes - 1, swizzle.unit_bytes.bit_length() - 1
    return f"{linear} ^ ((({linear} >> {PHASE_BIT}) & {mask}) << {shift})" if mask else linear


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
