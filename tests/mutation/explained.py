"""Mutants that fewer than two sides notice, and why."""

_MMA = "passes/lower_mma/tcgen05/mma.py: checked_bits: "
_LOW_BITS = "equivalent: of a number that is too large, MLIR's i32 attribute keeps the low 32 bits"
_WIDEST = "passes cut the widest instruction first, which has each stride that a narrower one has"

#: By the beginning of their names. What is equivalent computes the same as the original for every input
#: that can occur.
EXPLAINED: dict[str, str] = {
    _MMA + "bits - (1 << 32) if bits >> 31 else bits -> ": _LOW_BITS,
    _MMA + "bits >> 31 ->": _LOW_BITS,
    _MMA + "1 -> ": _LOW_BITS,
    _MMA + "31 -> ": _LOW_BITS,
    _MMA + "32 -> 33": _LOW_BITS,
    "layout/tcgen05/instruction_descriptor.py: _B_SCALE, _SCALE_TYPE, _A_SCALE, _LONG_K: 1 -> 2 [1]": "a "
    "descriptor has no bit 32, so that only the picture of its fields is another",
    "layout/tile_copy.py: TileCopyUse.judge: (part, self.other) if self.reads": "a copy costs the same "
    "either way: for tiles of each swizzle and major, only the wording of refusals is another",
    "layout/operand.py: _joined: b.lbo if a.lbo is None else a.lbo -> a.lbo": _WIDEST,
    "layout/operand.py: _joined: b.sbo if a.sbo is None else a.sbo -> a.sbo": _WIDEST,
    "layout/modes.py: Term.at: ": "tests alone compute terms so; kernels do as `ir/emit.py` has it",
    "passes/lower_mma/tcgen05/scaled.py: _descriptors: second < 0 -> second <= 0": "equivalent: a second "
    "chunk is never the first block's first",
    "passes/lower_mma/tcgen05/scaled.py: _descriptors: 0 -> 1 [2]": "equivalent: a second chunk is never "
    "the first block's first, and -1 is none",
}


def explanation(name: str) -> str:
    """Why few notice a mutant of that name; "" if nothing is known."""
    return next((why for beginning, why in EXPLAINED.items() if name.startswith(beginning)), "")
