"""The chosen layout of an operand, as text, JSON data and HTML."""

from __future__ import annotations

from html import escape
from textwrap import indent
from typing import Any

from ...layout import FORMS, Element, Swizzle, TileLayout
from ...layout.choice import ExplanationLine
from ...layout.tensor_box import TensorBox
from ...layout.tensor_map import box_of_driver, map_type
from ...layout.transfer import CONTIGUITY
from ...layout.uses import LayoutEvaluation
from ..answer import data, html, text
from ..chosen_operand import ChosenOperand, contiguous_of, one_stage
from ..fields import Field
from ..load import Load
from .formats import descriptor_hex, offset_meaning
from .tables import html_table, text_table

_LOADED = {
    Load.TMA: "filled by TMA",
    Load.VECTORS: "filled by threads, 16 bytes each",
    Load.LDMATRIX: "loaded into registers",
}

#: The heads of the tables.
CANDIDATE_HEADS = ("", "candidate", "why")
FIELD_HEADS = ("field", "bits", "value", "encoded", "meaning")

CANDIDATES_HEAD = (
    "Candidates: picked is the cheapest that every use accepts; among equals, the widest swizzle"
)

STEPS_HEAD = "Steps: added to the descriptor for each instruction, in 16-byte units"


@text.register
def _(chosen: ChosenOperand) -> str:
    sections = [
        f"{title(chosen)}\n\n" + "\n".join(f"  {name:11}{fact}" for name, fact in facts(chosen)),
        _section(CANDIDATES_HEAD, text_table(CANDIDATE_HEADS, candidate_rows(chosen))),
    ]
    if chosen.fields:
        fields = text_table(FIELD_HEADS, field_rows(chosen))
        steps = text_table(step_heads(chosen), step_rows(chosen))
        sections += [_section(descriptor_head(chosen), fields), _section(STEPS_HEAD, steps)]
    return "\n\n".join(sections)


def title(chosen: ChosenOperand) -> str:
    """Return a title of one line."""
    rows, major = chosen.spec.shape[-2:], chosen.letter(chosen.global_major)
    order = CONTIGUITY[contiguous_of(chosen.role, chosen.global_major)]
    stages = f", {chosen.spec.shape[0]} stages" if len(chosen.spec.shape) == 3 else ""
    loads = ", ".join(_LOADED[load] for load in chosen.loads)
    tile = f"{rows[0]}x{rows[1]} {chosen.spec.element} ({' x '.join(chosen.extents)}){stages}"
    return f"{chosen.role.name}: {tile}, {major}-major ({order}) in global memory, {loads}"


def facts(chosen: ChosenOperand) -> list[tuple[str, str]]:
    """Return the facts about the layout, each with its name."""
    named_facts = [("layout", str(chosen.tile)), ("", canonical_text(chosen))]
    if len(chosen.spec.shape) == 3:
        named_facts.append(("stages", f"{chosen.layout}, {chosen.stage_bytes} bytes per stage"))
    named_facts += [
        ("size", f"{chosen.layout.size_bytes} bytes, aligned to {chosen.alignment}"),
        ("TMA", tma_text(chosen)),
        ("stores", f"of 16 bytes by {chosen.threads} threads: {chosen.stores.reason}"),
    ]
    if chosen.reads:
        named_facts.append(("ldmatrix", chosen.reads.reason))
    if chosen.spec.element.padding:
        named_facts.append(("padding", padding_text(chosen.spec.element)))
    return named_facts


def padding_text(element: Element) -> str:
    """Return how the elements of a padded type are stored in 16 bytes."""
    return (
        f"16 elements of {element.packed_bits} bits take 16 bytes, of which the last {element.padding} "
        "are padding; an element counts as a byte"
    )


def canonical_text(chosen: ChosenOperand) -> str:
    """Return a sentence about the canonical layout."""
    letter, swizzle = chosen.letter(chosen.major), chosen.tile.swizzle
    order = f"{letter}-major, swizzle {swizzle}"
    if chosen.canonical is None:
        return f"{order}; read from registers, so there is no descriptor"
    unit, form = chosen.spec.element.unit, chosen.canonical.form
    table = "the ISA" if (form.major, form.swizzle) in FORMS else "CuTe"
    return f"{order}: {table}'s {form.text}, T = {unit} elements"


def tma_text(chosen: ChosenOperand) -> str:
    """Return the TMA copies that fill one stage, whether or not TMA fills it."""
    if isinstance(chosen.box, str):
        return f"cannot fill it: {chosen.box}"
    inner, lines = box_of_driver(chosen.box, chosen.spec.element)
    count = len(chosen.box.places)
    copies = f"{count} copies" if count > 1 else "one copy"
    data_type = map_type(chosen.spec.element)
    suffix = f", {data_type}" if data_type else ""
    if chosen.spec.element.bits < 8:
        suffix = ", counted in bytes"
    return f"{copies} of the box {{{inner}, {lines}}}, {chosen.box.swizzle.tensor_map}{suffix}"


def candidate_rows(chosen: ChosenOperand) -> list[tuple[str, str, str]]:
    """Return (verdict, candidate, why) of each candidate, the picked one first.

    Candidates with the same reason are consecutive; only the first of them shows it.
    """
    order = ("picked", "possible", "refused")
    lines = sorted(chosen.choice.lines, key=lambda line: order.index(line.verdict))
    groups: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        groups.setdefault((line.verdict, line.why), []).append(line.candidate.name)
    return [
        (verdict, name, why) if name is names[0] else ("", name, "")
        for (verdict, why), names in groups.items()
        for name in names
    ]


def descriptor_head(chosen: ChosenOperand) -> str:
    """Return the descriptor of a tile as a function of its address."""
    return f"Descriptor: {descriptor_hex(chosen.descriptor().encode())} | (address & 0x3ffff) >> 4"


def field_rows(chosen: ChosenOperand) -> list[tuple[str, ...]]:
    """Return the descriptor's fields; the columns are `FIELD_HEADS`."""
    return [
        (field.name, f"{field.bit}-{field.last_bit}", value, str(field.encoded), meaning)
        for field in chosen.fields
        for value, meaning in [field_text(chosen, field)]
    ]


def field_text(chosen: ChosenOperand, field: Field) -> tuple[str, str]:
    """Return the value and the meaning of a descriptor's field in this layout."""
    d, canonical = chosen.descriptor(), chosen.canonical
    assert canonical is not None
    unswizzled = d.swizzle is Swizzle.NONE
    phase = "0 without swizzle" if unswizzled else "0: the tile starts at a swizzle pattern"

    def offset(encoded: int, used: int | None) -> tuple[str, str]:
        letter = chosen.role.extent_name.lower()
        stride = offset_meaning(canonical.form, field.name).replace("m/n", letter)
        return f"{encoded} B", "not used in this layout" if used is None else stride

    return {
        "start address": (f"{d.start} B", "start of the tile"),
        "LBO": offset(d.lbo, canonical.lbo),
        "SBO": offset(d.sbo, canonical.sbo),
        "version": ("1", "constant of tcgen05"),
        "base offset": ("0", phase),
        "LBO mode": ("relative", "LBO is a byte offset, not an address"),
        "swizzle": (str(d.swizzle), "the swizzling mode"),
    }[field.name]


def step_heads(chosen: ChosenOperand) -> tuple[str, ...]:
    """Return the heads of the table of steps."""
    letter = chosen.role.extent_name.lower()
    return (letter, "k", "step", "bytes", f"descriptor at {chosen.address:#x}")


def step_rows(chosen: ChosenOperand) -> list[tuple[str, ...]]:
    """Return the MMA tile of each instruction, and its step."""
    instruction_k = chosen.instruction_k
    return [
        (
            f"{mma_tile.mn}-{mma_tile.mn + mma_tile.extent - 1}",
            f"{mma_tile.k}-{mma_tile.k + instruction_k - 1}",
            f"+{mma_tile.step}",
            f"+{mma_tile.step * 16}",
            descriptor_hex(chosen.descriptor_of(mma_tile, chosen.address).encode())
            + ("" if mma_tile.second is None else f", second chunk at +{mma_tile.second}"),
        )
        for mma_tile in chosen.each_mma_tile
    ]


def _section(head: str, body: str) -> str:
    return f"  {head}\n\n" + indent(body, "    ")


@data.register
def _(chosen: ChosenOperand) -> dict[str, Any]:
    """Sizes are in bytes, steps in 16-byte units."""
    spec = chosen.spec
    return {
        "role": chosen.role.value,
        "shape": list(spec.shape[-2:]),
        "stages": spec.shape[0] if len(spec.shape) == 3 else None,
        "element": str(spec.element),
        "global_major": chosen.letter(chosen.global_major).lower(),
        "loads": [load.value for load in chosen.loads],
        "major": chosen.letter(chosen.major).lower(),
        "layout": str(chosen.tile),
        "staged_layout": str(chosen.layout),
        "swizzle": str(chosen.tile.swizzle),
        "bytes": chosen.layout.size_bytes,
        "stage_bytes": chosen.stage_bytes,
        "alignment": chosen.alignment,
        "candidates": [_candidate(line, chosen) for line in chosen.choice.lines],
        "descriptor": _descriptor(chosen),
        "tma": _box(chosen.box, chosen.tile),
        "banks": {
            "stores": _evaluation(chosen.stores),
            "ldmatrix": chosen.reads and _evaluation(chosen.reads),
        },
    }


def _candidate(line: ExplanationLine, chosen: ChosenOperand) -> dict[str, Any]:
    layout = line.candidate.layout
    mma_tiles = chosen.op.mma_tiles(one_stage(layout), chosen.role)
    return {
        "evaluation": line.verdict,
        "name": line.candidate.name,
        "layout": str(layout),
        "why": line.why,
        "uses": [
            {"use": use, **_evaluation(evaluation)}
            for use, evaluation in line.candidate.evaluations
        ],
        "operand": mma_tiles
        and {
            "form": mma_tiles.canonical.form.text,
            "lbo": mma_tiles.canonical.lbo,
            "sbo": mma_tiles.canonical.sbo,
            "constant": descriptor_hex(mma_tiles.descriptor(0).encode()),
            "pieces": list(mma_tiles.pieces),
            "steps": [list(row) for row in mma_tiles.steps],
        },
    }


def _evaluation(evaluation: LayoutEvaluation) -> dict[str, Any]:
    return {
        "accepted": evaluation.accepted,
        "reason": evaluation.reason,
        "conflicts": evaluation.conflicts,
        "transposed": evaluation.transposed,
    }


def _descriptor(chosen: ChosenOperand) -> dict[str, Any] | None:
    if chosen.canonical is None:
        return None
    example = chosen.descriptor(chosen.address).encode()
    return {
        "form": chosen.canonical.form.text,
        "constant": descriptor_hex(chosen.descriptor().encode()),
        "fields": [_field(chosen, field) for field in chosen.fields],
        "example": {"address": chosen.address, "descriptor": descriptor_hex(example)},
        "mma_tiles": [
            {
                chosen.role.extent_name.lower(): mma_tile.mn,
                "k": mma_tile.k,
                "extent": mma_tile.extent,
                "step": mma_tile.step,
                **({} if mma_tile.second is None else {"second": mma_tile.second}),
                "example": descriptor_hex(chosen.descriptor_of(mma_tile, chosen.address).encode()),
            }
            for mma_tile in chosen.each_mma_tile
        ],
    }


def _field(chosen: ChosenOperand, field: Field) -> dict[str, Any]:
    value, meaning = field_text(chosen, field)
    return {
        "name": field.name,
        "bits": [field.bit, field.last_bit],
        "value": value,
        "encoded": field.encoded,
        "meaning": meaning,
    }


def _box(box: TensorBox | str, tile: TileLayout) -> dict[str, Any]:
    if isinstance(box, str):
        return {"box": None, "problem": box}
    return {
        "box": list(box_of_driver(box, tile.element)),
        "swizzle": box.swizzle.tensor_map,
        **({"data_type": data_type} if (data_type := map_type(tile.element)) else {}),
        "copies": [
            {"row": row, "column": column, "offset": tile.element.bytes(offset)}
            for (row, column), offset in zip(box.places, box.offsets, strict=True)
        ],
    }


@html.register
def _(chosen: ChosenOperand) -> str:
    # A command that prints text starts faster without the pictures.
    from ..pictures import Picture, drawing, svg

    sections = [
        f"<h4>{escape(title(chosen))}</h4>",
        html_table(("", ""), facts(chosen)),
        svg(drawing(Picture(chosen.tile))),
        f"<h5>{CANDIDATES_HEAD}</h5>",
        html_table(CANDIDATE_HEADS, candidate_rows(chosen)),
    ]
    if chosen.fields:
        sections += [
            f"<h5>{escape(descriptor_head(chosen))}</h5>",
            html_table(FIELD_HEADS, field_rows(chosen)),
            f"<h5>{escape(STEPS_HEAD)}</h5>",
            html_table(step_heads(chosen), step_rows(chosen)),
        ]
    return "".join(sections)
