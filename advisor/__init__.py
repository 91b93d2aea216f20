"""Answers about layouts and descriptors, for people who write kernels in any language.

Each answer is a frozen dataclass of facts. It renders as text (`str`), as plain data for JSON (`data()`)
and in a notebook (`_repr_html_`, `_repr_svg_`); the renderings are registered in `rendering`. MLIR is not
needed. A module is imported when one of its names is first used, so that a command starts fast.
"""

from typing import TYPE_CHECKING, Any

from .answer import Answer, register_renderings
from .strided import strided

if TYPE_CHECKING:
    from .chosen import ChosenOperands, choose_operands
    from .chosen_operand import ChosenOperand
    from .chunked import EncodedChunks, encode_chunks
    from .decoded import Decoded, decode
    from .diagnosed import Diagnosed, diagnose
    from .encoded import Encoded, Operand, encode, encode_operand, operand_of
    from .instruction import DecodedInstruction, decode_instruction
    from .kind_rows import KindRow, KindTable, ScaleRow, ScaleTable, kinds, scales
    from .load import Load
    from .matched import Matched, Nearest, match_map, match_tile
    from .pictures import Picture
    from .rendering.cuda import cuda_source
    from .scale_copy import DecodedCopy, decode_copy, diagnose_scales
    from .scale_tile import EncodedScales, ScaleTile, match_scales
    from .spec import TileSpec
    from .suspicions import Suspicion
    from .table import FormRow, FormTable, TypeRow, TypeTable, forms, types

__all__ = [
    "Answer",
    "ChosenOperand",
    "ChosenOperands",
    "Decoded",
    "DecodedCopy",
    "DecodedInstruction",
    "Diagnosed",
    "Encoded",
    "EncodedChunks",
    "EncodedScales",
    "FormRow",
    "FormTable",
    "KindRow",
    "KindTable",
    "Load",
    "Matched",
    "Nearest",
    "Operand",
    "Picture",
    "ScaleRow",
    "ScaleTable",
    "ScaleTile",
    "Suspicion",
    "TileSpec",
    "TypeRow",
    "TypeTable",
    "choose_operands",
    "cuda_source",
    "decode",
    "decode_copy",
    "decode_instruction",
    "diagnose",
    "diagnose_scales",
    "encode",
    "encode_chunks",
    "encode_operand",
    "forms",
    "kinds",
    "match_map",
    "match_scales",
    "match_tile",
    "operand_of",
    "scales",
    "strided",
    "types",
]

register_renderings(f"{__name__}.rendering")

#: The public names of each module. (`strided` is both a module and a function; it is imported above.)
_NAMES = {
    "chosen": (
        "ChosenOperands",
        "choose_operands",
    ),
    "chosen_operand": ("ChosenOperand",),
    "chunked": (
        "EncodedChunks",
        "encode_chunks",
    ),
    "decoded": (
        "Decoded",
        "decode",
    ),
    "diagnosed": (
        "Diagnosed",
        "diagnose",
    ),
    "encoded": (
        "Encoded",
        "Operand",
        "encode",
        "encode_operand",
        "operand_of",
    ),
    "instruction": (
        "DecodedInstruction",
        "decode_instruction",
    ),
    "kind_rows": (
        "KindRow",
        "KindTable",
        "ScaleRow",
        "ScaleTable",
        "kinds",
        "scales",
    ),
    "load": ("Load",),
    "matched": (
        "Matched",
        "Nearest",
        "match_map",
        "match_tile",
    ),
    "pictures": ("Picture",),
    "rendering.cuda": ("cuda_source",),
    "scale_copy": (
        "DecodedCopy",
        "decode_copy",
        "diagnose_scales",
    ),
    "scale_tile": (
        "EncodedScales",
        "ScaleTile",
        "match_scales",
    ),
    "spec": ("TileSpec",),
    "suspicions": ("Suspicion",),
    "table": (
        "FormRow",
        "FormTable",
        "TypeRow",
        "TypeTable",
        "forms",
        "types",
    ),
}


def __getattr__(name: str) -> Any:
    source = next((module for module, names in _NAMES.items() if name in names), None)
    if source is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{source}", __name__), name)


def __dir__() -> list[str]:
    return __all__
