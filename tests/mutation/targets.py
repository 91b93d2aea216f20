"""The files that are mutated, and the mutants that are drawn."""

from __future__ import annotations

import random
from pathlib import Path

from mutation.mutations import ROOT, Mutant, mutants_of

#: Files of `layout/` whose arithmetic concerns only text.
TEXTUAL = ("notation.py", "path.py", "text_error.py", "proposals.py", "__init__.py")

#: Files that emit descriptors, or compute their fields.
EMITTED = (
    "ir/emit.py",
    "ir/matrix_descriptors.py",
    "passes/materialize_descriptors.py",
    "passes/lower_mma/target.py",
    "passes/lower_mma/tcgen05.py",
)

#: Files of the emulator that read descriptors.
DECODED = (
    "emulator/wgmma/descriptors.py",
    "emulator/tcgen05/descriptors.py",
    "emulator/tensor_core/operands.py",
)

#: Places whose mutants are all evaluated (fields, strides, XOR): beginnings of their names, by file.
COMPLETE: dict[str, tuple[str, ...]] = {
    "layout/descriptor.py": (
        "START",
        "field_of",
        "mask_of",
        "encode_address",
        "Descriptor.encode",
        "Descriptor.of",
        "base_offset",
    ),
    "layout/wgmma/descriptor.py": ("WgmmaDescriptor",),
    "layout/tcgen05/descriptor.py": (
        "LBO_MODE",
        "VERSION",
        "Tcgen05Descriptor.mode",
        "Tcgen05Descriptor.fixed",
        "Tcgen05Descriptor.encode",
    ),
    "layout/tcgen05/instruction_descriptor.py": ("_", "InstructionDescriptor.encode"),
    "layout/tcgen05/kinds.py": ("_FLOAT_8_CODES", "SCALE_TYPES", "_MX", "KINDS"),
    "layout/elements.py": ("UNIT_BYTES", "WINDOW_BYTES"),
    "layout/swizzle.py": (
        "PHASE_BIT",
        *(
            f"Swizzle.{name}"
            for name in (
                *("unit_bytes", "width", "lines", "pattern_bytes", "atom_bytes"),
                *("wgmma_field", "tcgen05_field", "apply"),
            )
        ),
    ),
    "layout/canonical.py": (
        *("Form.step", "Form.layout", "FORMS", "DENSE_FORMS", "MAX_STRIDE_BYTES"),
        *("_match_form", "_value"),
    ),
    "layout/operand.py": (
        "addresses",
        "MmaTiles.descriptor",
        "MmaTiles.steps",
    ),
    "layout/wgmma/operand.py": ("SPARSE_B",),
    "layout/tcgen05/chunks.py": ("Chunks",),
    "layout/tcgen05/scales.py": ("ScaleBlocks.operand", "ScaleBlocks.descriptor", "scale_step"),
    "ir/emit.py": ("term_value",),
    "ir/matrix_descriptors.py": ("START_MASK", "Descriptors", "first_byte", "_base"),
    "passes/lower_mma/tcgen05.py": ("_instruction", "_checked_bits", "_descriptors"),
}

#: The share of each file's other mutants that is drawn.
SHARE = 0.02


def files() -> list[str]:
    """Return the files that are mutated.

    Raises:
        FileNotFoundError: if a file that this module names does not exist.
    """
    paths = sorted(str(f.relative_to(ROOT)) for f in (ROOT / "layout").rglob("*.py"))
    computed = [f for f in paths if Path(f).name not in TEXTUAL]
    named = {*COMPLETE, *EMITTED, *DECODED}
    missing = sorted(f for f in named if not (ROOT / f).exists())
    if missing:
        raise FileNotFoundError(f"{Path(__file__).name} names files that do not exist: {missing}")
    return [*computed, *EMITTED, *DECODED]


def is_complete(mutant: Mutant) -> bool:
    """Return whether a mutant belongs to a place of `COMPLETE`."""
    return mutant.place.startswith(COMPLETE.get(mutant.file, ("?",)))


def draw_mutants(share: float = SHARE) -> list[Mutant]:
    """Return all mutants of `COMPLETE`, and a share of the others of each file, at least 3."""
    chosen = []
    for file in files():
        every = mutants_of(file)
        others = [m for m in every if not is_complete(m)]
        count = min(len(others), max(3, round(share * len(others))))
        some = set(random.Random(file).sample(others, count))
        chosen += [m for m in every if m in some or is_complete(m)]
    return chosen
