"""A chosen operand as plain data, for JSON."""

from __future__ import annotations

from typing import Any

from ..layout import Element, Role, TileLayout
from ..layout.choice import Line, Verdict
from ..layout.tensor_box import TensorBox
from .chosen_operand import ChosenOperand, one_stage
from .multiplier import Multiplier, canonical_of, first_descriptor


def operand_data(chosen: ChosenOperand) -> dict[str, Any]:
    """What a choice says of one operand; sizes in bytes, steps in 16-byte units."""
    spec = chosen.spec
    return {
        "role": chosen.role.value,
        "shape": list(spec.shape[-2:]),
        "stages": spec.shape[0] if len(spec.shape) == 3 else None,
        "element": str(spec.element),
        "lies": chosen.letter(chosen.lies).lower(),
        "loads": [load.value for load in chosen.loads],
        "major": chosen.letter(chosen.major).lower(),
        "layout": str(chosen.tile),
        "staged_layout": str(chosen.layout),
        "swizzle": str(chosen.tile.swizzle),
        "bytes": chosen.layout.size_bytes,
        "stage_bytes": chosen.stage_bytes,
        "alignment": chosen.alignment,
        "candidates": [_candidate(line, chosen.role, chosen.by) for line in chosen.choice.lines],
        "descriptor": _descriptor(chosen),
        "tma": _box(chosen.box, chosen.tile),
        "banks": {
            "stores": _verdict(chosen.stores),
            "ldmatrix": chosen.reads and _verdict(chosen.reads),
        },
    }


def hexadecimal(bits: int) -> str:
    """64 bits as they are written in code."""
    return f"{bits:#018x}"


def _candidate(line: Line, role: Role, by: Multiplier) -> dict[str, Any]:
    layout = line.candidate.layout
    blocks = by.blocks(one_stage(layout), role)
    canonical = blocks and canonical_of(blocks)
    return {
        "verdict": line.verdict,
        "name": line.candidate.name,
        "layout": str(layout),
        "why": line.why,
        "uses": [{"use": who, **_verdict(said)} for who, said in line.candidate.verdicts],
        "operand": blocks
        and canonical
        and {
            "form": canonical.form.text,
            "lbo": canonical.lbo,
            "sbo": canonical.sbo,
            "constant": hexadecimal(first_descriptor(blocks).encode()),
            "pieces": list(blocks.pieces),
            "steps": [list(row) for row in blocks.steps],
        },
    }


def _verdict(said: Verdict) -> dict[str, Any]:
    return {
        "accepted": said.accepted,
        "reason": said.reason,
        "conflicts": said.conflicts,
        "turned": said.turned,
    }


def _descriptor(chosen: ChosenOperand) -> dict[str, Any] | None:
    if chosen.canonical is None:
        return None
    there = chosen.descriptor(chosen.address).encode()
    return {
        "form": chosen.canonical.form.text,
        "constant": hexadecimal(chosen.descriptor().encode()),
        "fields": [field.data() for field in chosen.fields],
        "example": {"address": chosen.address, "descriptor": hexadecimal(there)},
        "blocks": [
            {
                chosen.role.extent_name.lower(): block.mn,
                "k": block.k,
                "extent": block.extent,
                "step": block.step,
                **({} if block.second is None else {"second": block.second}),
                "example": hexadecimal(chosen.descriptor_of(block, chosen.address).encode()),
            }
            for block in chosen.each_block
        ],
    }


def _box(box: TensorBox | str, tile: TileLayout) -> dict[str, Any]:
    if isinstance(box, str):
        return {"box": None, "problem": box}
    return {
        "box": list(box_of_driver(box, tile.element)),
        "swizzle": box.swizzle.tensor_map,
        **({"data_type": kind} if (kind := map_type(tile.element)) else {}),
        "copies": [
            {"row": row, "column": column, "offset": tile.element.bytes(offset)}
            for (row, column), offset in zip(box.places, box.offsets, strict=True)
        ],
    }


def map_type(element: Element) -> str | None:
    """The `CUtensorMapDataType` of a padded type, which TMA pads; None for other types."""
    if not element.padding:
        return None
    return f"CU_TENSOR_MAP_DATA_TYPE_16U{element.packed_bits}_ALIGN16B"


def box_of_driver(box: TensorBox, element: Element) -> tuple[int, int]:
    """A box as the driver takes it, the contiguous dimension first: elements, or bytes of b1 and e2m1, of
    which several share one."""
    packed = max(1, 8 // element.bits)
    return box.shape[box.contiguous] // packed, box.shape[1 - box.contiguous]
