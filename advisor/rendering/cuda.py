"""The chosen layouts of operands as CUDA C++."""

from __future__ import annotations

from dataclasses import replace

from ...layout import Mode
from ...layout.descriptor import LBO, mask_of
from ...layout.swizzle import PHASE_BIT
from ...layout.tcgen05 import LBO_MODE, Chunks
from ..answer import text
from ..chosen import ChosenOperands
from ..chosen_operand import ChosenOperand
from .chosen_operand import canonical_text, padding_text, tma_text
from .formats import descriptor_hex

_FUNCTION = "__host__ __device__ static constexpr"


def cuda_source(chosen: ChosenOperands, command: str) -> str:
    """Return a struct for each operand, `TileA` and `TileB`, with the offsets of its elements and its
    descriptors. The code needs C++14 and no header.

    Args:
        chosen: the operands.
        command: the command that prints this source, for the comment at the top.

    Example:
        >>> chosen = choose_operands("128x64xbf16")
        >>> source = cuda_source(chosen, "smem-layout choose --a 128x64xbf16 --emit cuda")
        >>> source.count("struct TileA")
        1
    """
    reader = f"{chosen.op.name} ({chosen.op.arch}a)"
    head = [f"Tiles in shared memory that {reader} reads. Printed by", f"  {command}"]
    if chosen.mma:
        head += ["", *text(chosen.mma).splitlines()]
    return "\n\n".join([_comment(head), *map(_struct, chosen.each)]) + "\n"


def _struct(chosen: ChosenOperand) -> str:
    row, column = (letter.lower() for letter in chosen.extents)
    index, parameters = f"({row}, {column})", f"(unsigned {row}, unsigned {column})"
    lines = [
        *_facts(chosen).splitlines(),
        f"struct Tile{chosen.role.name} {{",
        *_constants(chosen),
        "",
        f"  // Bytes from the start of {_tile_name(chosen)} to element {index}{_bits_text(chosen)}.",
        f"  {_FUNCTION} unsigned offset{parameters} {{",
        f"    return {_swizzled_offset(chosen, f'linear{index}')};",
        "  }",
    ]
    if isinstance(chosen.mma_tiles, Chunks):
        lines += _chunked_descriptor(chosen, parameters, index)
    elif chosen.mma_tiles:
        lines += [
            "",
            f"  // The descriptor of {_tile_name(chosen)} at a shared memory address",
            "  // (__cvta_generic_to_shared).",
            f"  {_FUNCTION} unsigned long long descriptor(unsigned address) {{",
            f"    return {descriptor_hex(chosen.descriptor().encode())}ull | ((address & 0x3ffff) >> 4);",
            "  }",
            "",
            f"  // Added to it for the instruction whose MMA tile starts at element {index}:",
            *(f"  //   {line}" for line in _steps(chosen)),
            f"  {_FUNCTION} unsigned long long step{parameters} {{",
            f"    return linear{index} >> 4;",
            "  }",
        ]
    lines += [
        "",
        "  // `offset` before the swizzle.",
        f"  {_FUNCTION} unsigned linear{parameters} {{",
        f"    return {_linear_offset(chosen, row, column)};",
        "  }",
        "};",
    ]
    return "\n".join(lines)


def _chunked_descriptor(chosen: ChosenOperand, parameters: str, index: str) -> list[str]:
    """Return the function for an instruction's descriptor, with the address of a second chunk."""
    atom = chosen.tile.swizzle.atom_elements(chosen.spec.element)
    constant = chosen.descriptor()
    chunked = replace(constant, lbo=0).encode() | mask_of(LBO_MODE)
    following = index.replace("k", f"k / {atom} * {atom} + {atom}")
    return [
        "",
        f"  // The descriptor of the instruction whose MMA tile starts at element {index} of",
        f"  // {_tile_name(chosen)} at a shared memory address (__cvta_generic_to_shared). Where rows "
        "continue",
        "  // in the next atom, LBO is the address of their second chunk.",
        f"  {_FUNCTION} unsigned long long descriptor(unsigned address, {parameters[1:]} {{",
        f"    return (k % {atom} + kInstructionK > {atom}",
        f"                ? {descriptor_hex(chunked)}ull |",
        f"                      encoded(address + linear{following}) << {LBO[0]}",
        f"                : {descriptor_hex(constant.encode())}ull) |",
        f"           encoded(address + linear{index});",
        "  }",
        "",
        "  // An address as encoded in a descriptor.",
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
    """Return the sizes and alignment that a host needs, and the strides that a kernel needs."""
    staged = len(chosen.spec.shape) == 3
    values = [
        ("kBytes", chosen.layout.size_bytes, "of all stages" if staged else ""),
        ("kAlignment", chosen.alignment, "of the start, in bytes; the swizzle needs it"),
    ]
    if staged:
        values += [
            ("kStages", chosen.spec.shape[0], ""),
            ("kStageBytes", chosen.stage_bytes, "from one stage to the next"),
        ]
    if chosen.mma_tiles:
        values.append(("kInstructionK", chosen.instruction_k, "elements"))
    return [
        f"  static constexpr unsigned {name} = {value};" + (f"  // {comment}" if comment else "")
        for name, value, comment in values
    ]


def _steps(chosen: ChosenOperand) -> list[str]:
    """Return the steps, one line for each MMA tile along m/n."""
    letter = chosen.role.extent_name.lower()
    rows: dict[int, list[str]] = {}
    for mma_tile in chosen.each_mma_tile:
        rows.setdefault(mma_tile.mn, []).append(f"+{mma_tile.step}")
    k = chosen.instruction_k
    return [
        f"{letter} = {mn}, k = 0, {k}, ...: {', '.join(steps)}"
        if len(steps) > 1
        else f"{letter} = {mn}, k = 0: {steps[0]}"
        for mn, steps in rows.items()
    ]


def _tile_name(chosen: ChosenOperand) -> str:
    return "a stage" if len(chosen.spec.shape) == 3 else "the tile"


def _bits_text(chosen: ChosenOperand) -> str:
    element = chosen.spec.element
    if element.padding:
        bits = element.packed_bits
        packed = "k = 0 to 15, 16 to 31, ... are packed at the offset of the first"
        return f".\n  // {packed}, {bits} bits each"
    if element.bits < 8:
        return f", which is {'bit k % 8' if element.bits == 1 else 'nibble k % 2'} of the byte"
    return ""


def _swizzled_offset(chosen: ChosenOperand, linear: str) -> str:
    """Return the XOR of `Swizzle.apply`, for a tile that is aligned to the swizzle pattern."""
    swizzle = chosen.tile.swizzle
    mask, shift = swizzle.width // swizzle.unit_bytes - 1, swizzle.unit_bytes.bit_length() - 1
    return f"{linear} ^ ((({linear} >> {PHASE_BIT}) & {mask}) << {shift})" if mask else linear


def _linear_offset(chosen: ChosenOperand, row: str, column: str) -> str:
    """Return the offset in bytes before the swizzle, as an expression."""
    modes, bits = chosen.tile.coalesced().modes, chosen.spec.element.bits
    terms = [*_terms(row, modes[0]), *_terms(column, modes[1])]
    total = " + ".join(terms) or "0"
    if bits == 8:
        return total
    return f"({total}) / {8 // bits}" if bits < 8 else f"({total}) * {bits // 8}"


def _terms(name: str, modes: tuple[Mode, ...]) -> list[str]:
    """Return the terms of a coordinate in the offset, in elements."""
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
