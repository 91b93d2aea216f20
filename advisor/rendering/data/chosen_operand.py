"""The chosen layout of an operand, for JSON."""

from __future__ import annotations

from typing import Any

from ....layout import TileLayout
from ....layout.choice import ExplanationLine
from ....layout.tensor_box import TensorBox
from ....layout.tensor_map import box_of_driver, map_type
from ....layout.uses import LayoutEvaluation
from ...answer import data
from ...chosen_operand import ChosenOperand, one_stage
from ...fields import Field
from ...mma_op import canonical_of, first_descriptor
from ..formats import descriptor_hex
from ..text.chosen_operand import field_text


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
    canonical = mma_tiles and canonical_of(mma_tiles)
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
        and canonical
        and {
            "form": canonical.form.text,
            "lbo": canonical.lbo,
            "sbo": canonical.sbo,
            "constant": descriptor_hex(first_descriptor(mma_tiles).encode()),
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
