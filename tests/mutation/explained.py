"""Mutants that fewer than two sides notice, and why."""

_MMA = "passes/lower_mma/tcgen05/mma.py: checked_bits: "
_LOW_BITS = "equivalent: of a number that is too large, MLIR's i32 attribute keeps the low 32 bits"
_WIDEST = "passes cut the widest instruction first, which has each stride that a narrower one has"
_SPARSE = "layout/tcgen05/instruction_descriptor.py: _SELECTOR, _SATURATE, _D_TYPE: "
_NO_SPARSE = (
    "passes emit no sparse tcgen05.mma and the emulator knows none; `smem-layout` decodes them"
)

#: By their names; what ends with … is how names begin. What is equivalent computes the same as the
#: original for every input that can occur.
EXPLAINED: dict[str, str] = {
    _MMA + "bits - (1 << 32) if bits >> 31 else bits -> …": _LOW_BITS,
    _MMA + "bits >> 31 -> …": _LOW_BITS,
    _MMA + "1 -> …": _LOW_BITS,
    _MMA + "31 -> …": _LOW_BITS,
    _MMA + "32 -> 33": _LOW_BITS,
    "layout/tcgen05/instruction_descriptor.py: _B_SCALE, _SCALE_TYPE, _A_SCALE, _LONG_K: 1 -> 2 [1]": "a "
    "descriptor has no bit 32, so that only the picture of its fields is another",
    _SPARSE + "0 -> 1": _NO_SPARSE,
    _SPARSE + "2 -> 1": _NO_SPARSE,
    _SPARSE + "2 -> 3": _NO_SPARSE,
    "layout/tile_copy.py: TileCopyUse.judge: (part, self.other) if self.reads…": "a copy costs the same "
    "either way: for tiles of each swizzle and major, only the wording of refusals is another",
    "layout/operand.py: _joined: b.lbo if a.lbo is None else a.lbo -> a.lbo": _WIDEST,
    "layout/operand.py: _joined: b.sbo if a.sbo is None else a.sbo -> a.sbo": _WIDEST,
    "layout/wgmma/operand.py: _pieces: extent % rows -> extent // rows": "no pass gives the rows of one "
    "instruction, which `smem-layout` can",
    "ir/matrix_descriptors.py: Descriptors.of: emit.binary('addi', total, value) -> …": "equivalent: a "
    "sum is the same either way",
    "layout/modes.py: Term.at: …": "tests alone compute terms so; kernels do as `ir/emit.py` has it",
    "passes/lower_mma/tcgen05/scaled.py: _descriptors: second < 0 -> second <= 0": "equivalent: a second "
    "chunk is never the first block's first",
    "passes/lower_mma/tcgen05/scaled.py: _descriptors: 0 -> 1 [2]": "equivalent: a second chunk is never "
    "the first block's first, and -1 is none",
}


def explanation(name: str) -> str:
    """Why few notice a mutant of that name; "" if nothing is known."""

    def is_meant(key: str) -> bool:
        return name == key or (key.endswith("…") and name.startswith(key[:-1]))

    return next((why for key, why in EXPLAINED.items() if is_meant(key)), "")
