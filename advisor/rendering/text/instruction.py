"""A decoded instruction descriptor of tcgen05, as text."""

from __future__ import annotations

from ...answer import text
from ...fields import Field
from ...instruction import DecodedInstruction
from ..formats import bit_range, instruction_hex, warnings
from ..tables import columns

#: The columns of a table of fields.
HEADS = ("field", "bits", "encoded", "meaning")

#: Printed names of a descriptor's attributes.
_NAMES = {
    "selector": "sparsity selector",
    "a": "A",
    "b": "B",
    "d": "D",
    "negate_a": "negate A",
    "negate_b": "negate B",
    "a_mn_major": "A's major",
    "b_mn_major": "B's major",
    "m": "M",
    "n": "N",
    "scale": "scale type",
    "a_scale": "A's scale ID",
    "b_scale": "B's scale ID",
    "k_bytes": "K",
}


@text.register
def _(decoded: DecodedInstruction) -> str:
    lines = [head(decoded), "", columns(HEADS, field_rows(decoded)), ""]
    return "\n".join([*lines, *(warnings(decoded.suspicions) or ["nothing is suspicious"])])


def head(decoded: DecodedInstruction) -> str:
    """Return the instruction in one line."""
    d = decoded.descriptor
    return (
        f"{instruction_hex(decoded.bits)}, kind::{d.kind}: {d.m} x {d.n} {d.d} from {d.a} and {d.b}"
    )


def field_rows(decoded: DecodedInstruction) -> list[tuple[str, ...]]:
    """Return the fields; the columns are `HEADS`."""
    return [
        (
            _NAMES.get(field.name, field.name),
            bit_range(field),
            str(field.encoded),
            _meaning(decoded, field),
        )
        for field in decoded.fields
    ]


def _meaning(decoded: DecodedInstruction, field: Field) -> str:
    name, value = field.name, getattr(decoded.descriptor, field.name)
    if name in ("a_mn_major", "b_mn_major"):
        return f"{'M' if name[0] == 'a' else 'N'}-major" if value else "K-major"
    if name in ("a_scale", "b_scale"):
        return f"scale factors from byte {value} of the word"
    if name == "k_bytes":
        return f"{value} bytes, {value * 8 // decoded.descriptor.a.bits} elements"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
