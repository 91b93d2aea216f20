"""One operand whose layout is chosen, as people read it."""

from __future__ import annotations

from textwrap import indent

from ....layout import FORMS, Element, Swizzle
from ....layout.transfer import CONTIGUITY
from ...answer import text
from ...chosen_operand import ChosenOperand, contiguous_of
from ...fields import Field
from ...load import Load
from ...tensor_map import box_of_driver, map_type
from ..formats import descriptor_hex
from ..tables import columns
from .offsets import meaning

_LOADED = {
    Load.TMA: "filled by TMA",
    Load.VECTORS: "filled by threads, 16 bytes each",
    Load.LDMATRIX: "loaded into registers",
}

#: The heads of the tables.
CANDIDATE_HEADS = ("", "candidate", "why")
FIELD_HEADS = ("field", "bits", "value", "encoded", "meaning")

CANDIDATES_HEAD = (
    "Candidates: of those that every use accepts, the cheapest; then the widest swizzle"
)

STEPS_HEAD = "Steps: added to the descriptor, in 16-byte units, for each instruction"


@text.register
def _(chosen: ChosenOperand) -> str:
    sections = [
        f"{title(chosen)}\n\n" + "\n".join(f"  {name:11}{said}" for name, said in facts(chosen)),
        _section(CANDIDATES_HEAD, columns(CANDIDATE_HEADS, candidate_rows(chosen))),
    ]
    if chosen.fields:
        fields = columns(FIELD_HEADS, field_rows(chosen))
        blocks = columns(block_heads(chosen), block_rows(chosen))
        sections += [_section(descriptor_head(chosen), fields), _section(STEPS_HEAD, blocks)]
    return "\n\n".join(sections)


def title(chosen: ChosenOperand) -> str:
    """The operand in one line."""
    rows, lies = chosen.spec.shape[-2:], chosen.letter(chosen.lies)
    order = CONTIGUITY[contiguous_of(chosen.role, chosen.lies)]
    stages = f", {chosen.spec.shape[0]} stages" if len(chosen.spec.shape) == 3 else ""
    loads = ", ".join(_LOADED[load] for load in chosen.loads)
    what = f"{rows[0]}x{rows[1]} {chosen.spec.element} ({' x '.join(chosen.extents)}){stages}"
    return f"{chosen.role.name}: {what}, {lies}-major ({order}) in global memory, {loads}"


def facts(chosen: ChosenOperand) -> list[tuple[str, str]]:
    """What there is to know about the layout, by name."""
    found = [("layout", str(chosen.tile)), ("", canonical_text(chosen))]
    if len(chosen.spec.shape) == 3:
        found.append(("stages", f"{chosen.layout}, a stage each {chosen.stage_bytes} bytes"))
    found += [
        ("size", f"{chosen.layout.size_bytes} bytes, at a multiple of {chosen.alignment}"),
        ("TMA", tma_text(chosen)),
        ("stores", f"of 16 bytes by {chosen.threads} threads: {chosen.stores.reason}"),
    ]
    if chosen.reads:
        found.append(("ldmatrix", chosen.reads.reason))
    if chosen.spec.element.padding:
        found.append(("padding", padding_text(chosen.spec.element)))
    return found


def padding_text(element: Element) -> str:
    """How the elements of a padded type lie in their 16 bytes."""
    return (
        f"16 elements of {element.packed_bits} bits take 16 bytes, of which the last {element.padding} "
        "hold nothing; an element is counted as a byte"
    )


def canonical_text(chosen: ChosenOperand) -> str:
    """The canonical layout in words."""
    letter, swizzle = chosen.letter(chosen.major), chosen.tile.swizzle
    said = f"{letter}-major, swizzle {swizzle}"
    if chosen.canonical is None:
        return f"{said}; read from registers, so there is no descriptor"
    unit, form = chosen.spec.element.unit, chosen.canonical.form
    table = "the ISA" if (form.major, form.swizzle) in FORMS else "CuTe"
    return f"{said}: {table}'s {form.text}, T = {unit} elements"


def tma_text(chosen: ChosenOperand) -> str:
    """The copies by which TMA would fill one stage, whether or not it is filled so."""
    if isinstance(chosen.box, str):
        return f"cannot fill it: {chosen.box}"
    inner, lines = box_of_driver(chosen.box, chosen.spec.element)
    count = len(chosen.box.places)
    copies = f"{count} copies" if count > 1 else "one copy"
    kind = map_type(chosen.spec.element)
    of = f", {kind}" if kind else ""
    if chosen.spec.element.bits < 8:
        of = ", counted in bytes"
    return f"{copies} of the box {{{inner}, {lines}}}, {chosen.box.swizzle.tensor_map}{of}"


def candidate_rows(chosen: ChosenOperand) -> list[tuple[str, str, str]]:
    """(evaluation, candidate, why) of each layout that was considered, the picked one first.

    Those of which the same is said are together, and only the first of them says it.
    """
    order = ("picked", "possible", "refused")
    lines = sorted(chosen.choice.lines, key=lambda line: order.index(line.evaluation))
    alike: dict[tuple[str, str], list[str]] = {}
    for line in lines:
        alike.setdefault((line.evaluation, line.why), []).append(line.candidate.name)
    return [
        (evaluation, name, why) if name is names[0] else ("", name, "")
        for (evaluation, why), names in alike.items()
        for name in names
    ]


def descriptor_head(chosen: ChosenOperand) -> str:
    """The descriptor of a tile at any address."""
    return f"Descriptor: {descriptor_hex(chosen.descriptor().encode())} | (address & 0x3ffff) >> 4"


def field_rows(chosen: ChosenOperand) -> list[tuple[str, ...]]:
    """The descriptor's fields, as `FIELD_HEADS` names them."""
    return [
        (field.name, f"{field.bit}-{field.last_bit}", value, str(field.encoded), what)
        for field in chosen.fields
        for value, what in [field_text(chosen, field)]
    ]


def field_text(chosen: ChosenOperand, field: Field) -> tuple[str, str]:
    """A field of the descriptor: its value, in bytes where it is a number of bytes, and what it stands
    for in this layout."""
    d, canonical = chosen.descriptor(), chosen.canonical
    assert canonical is not None
    plain = d.swizzle is Swizzle.NONE
    phase = "none without swizzle" if plain else "0: the tile begins with the swizzle's pattern"

    def offset(value: int, used: int | None) -> tuple[str, str]:
        letter = chosen.role.extent_name.lower()
        said = meaning(canonical.form, field.name).replace("m/n", letter)
        return f"{value} B", "no effect in this layout" if used is None else said

    return {
        "start address": (f"{d.start} B", "where the tile begins"),
        "LBO": offset(d.lbo, canonical.lbo),
        "SBO": offset(d.sbo, canonical.sbo),
        "version": ("1", "of descriptors: that of tcgen05"),
        "base offset": ("0", phase),
        "LBO mode": ("relative", "LBO is a distance, and no address"),
        "swizzle": (str(d.swizzle), "the swizzling mode"),
    }[field.name]


def block_heads(chosen: ChosenOperand) -> tuple[str, ...]:
    """The heads of the table of steps."""
    letter = chosen.role.extent_name.lower()
    return (letter, "k", "step", "bytes", f"descriptor at {chosen.address:#x}")


def block_rows(chosen: ChosenOperand) -> list[tuple[str, ...]]:
    """What each instruction reads, and its step."""
    k = chosen.instruction_k
    return [
        (
            f"{block.mn}-{block.mn + block.extent - 1}",
            f"{block.k}-{block.k + k - 1}",
            f"+{block.step}",
            f"+{block.step * 16}",
            descriptor_hex(chosen.descriptor_of(block, chosen.address).encode())
            + ("" if block.second is None else f", second chunk at +{block.second}"),
        )
        for block in chosen.each_block
    ]


def _section(head: str, body: str) -> str:
    return f"  {head}\n\n" + indent(body, "    ")
