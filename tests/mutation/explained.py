"""Mutants that fewer than two sides notice, and why."""

_MMA = "passes/lower_mma/tcgen05/mma.py: checked_bits: "
_LOW_BITS = "equivalent: of a number that is too large, MLIR's i32 attribute keeps the low 32 bits"
_WIDEST = "passes cut the widest instruction first, which has each stride that a narrower one has"
_SPARSE = "layout/tcgen05/instruction_descriptor.py: _SELECTOR, _SATURATE, _D_TYPE: "
_NO_SPARSE = (
    "passes emit no sparse tcgen05.mma and the emulator knows none; `smem-layout` decodes them"
)
_ORDER = "equivalent: a set of bits or of types is the same in every order"
_INSTRUCTION = "layout/tcgen05/instruction_descriptor.py: "
_INSTRUCTION_OF_MMA = "passes/lower_mma/tcgen05/mma.py: _instruction: "
_SIGN = "equivalent: a sign is 1 or -1"
_SHARED_ADDRESSES = "equivalent: addresses in shared memory are below 2**18"
_UNASKED = "whoever asks in `passes/` or `advisor/` says where the tile begins; tests alone do not"
_BASE = "ir/matrix_descriptors.py: _base: swizzle is Swizzle.NONE or root_alignment(root) % "
_DEPTH = "ir/matrix_descriptors.py: _outermost_first.depth: "

#: By their names; what ends with … is how names begin. What is equivalent computes the same as the
#: original for every input that can occur.
EXPLAINED: dict[str, str] = {
    _MMA + "bits - (1 << 32) if bits >> 31 else bits -> …": _LOW_BITS,
    _MMA + "bits >> 31 -> …": _LOW_BITS,
    _MMA + "1 -> …": _LOW_BITS,
    _MMA + "31 -> …": _LOW_BITS,
    _MMA + "32 -> 33": _LOW_BITS,
    "layout/tcgen05/instruction_descriptor.py: _B_SCALE, _SCALE_TYPE, _A_SCALE, _LONG_K: 1 -> 2 [1]": "a "
    ""
    "descriptor has no bit 32, so that only the picture of its fields is another",
    _SPARSE + "0 -> 1": _NO_SPARSE,
    _SPARSE + "2 -> 1": _NO_SPARSE,
    _SPARSE + "2 -> 3": _NO_SPARSE,
    "layout/tile_copy.py: TileCopyUse.judge: (part, self.other) if self.reads…": "a copy costs the "
    "same "
    "either way: for tiles of each swizzle and major, only the wording of refusals is another",
    "layout/operand.py: _joined: b.lbo if a.lbo is None else a.lbo -> a.lbo": _WIDEST,
    "layout/operand.py: _joined: b.sbo if a.sbo is None else a.sbo -> a.sbo": _WIDEST,
    "layout/wgmma/operand.py: _pieces: extent % rows -> extent // rows": "no pass gives the rows of "
    "one "
    "instruction, which `smem-layout` can",
    "ir/matrix_descriptors.py: Descriptors.of: emit.binary('addi', total, value) -> …": "equivalent: a "
    "sum is the same either way",
    "layout/modes.py: Term.at: …": "tests alone compute terms so; kernels do as `ir/emit.py` has it",
    "passes/lower_mma/tcgen05/scaled.py: _descriptors: second < 0 -> second <= 0": "equivalent: a "
    "second "
    "chunk is never the first block's first",
    "passes/lower_mma/tcgen05/scaled.py: _descriptors: 0 -> 1 [2]": "equivalent: a second chunk is "
    "never "
    "the first block's first, and -1 is none",
    _INSTRUCTION + "_PLAIN: mask_of(…": _ORDER,
    _INSTRUCTION + "_SCALED: mask_of(…": _ORDER,
    "layout/wgmma/types.py: MN_MAJOR: (F16, BF16) -> (BF16, F16)": _ORDER,
    "layout/wgmma/types.py: ACCUMULATED: (a, b) -> (b, a)…": _ORDER,
    "layout/descriptor.py: Descriptor.encode: encode_address(self.start) << START[0] -> …": "equivalent: "
    "a shift by 0",
    "layout/descriptor.py: Descriptor.reserved: 1 -> 0 [1]": "equivalent: a descriptor has no bits "
    "from 64 on",
    "layout/operand.py: addresses: 8 -> 7 [5]": "equivalent: of 8, 16 and 32 bits, the types that are "
    "read MN-major, "
    "the quotients by 7 and 8 are the same",
    "layout/canonical.py: _fitted: size > MAX_STRIDE_BYTES -> …": "equivalent: with such a stride, a "
    "tile does not fit shared "
    "memory",
    "layout/tcgen05/chunks.py: Chunks.sbo: 0 -> 1": "equivalent: N is 16 or more, so that there is an "
    "SBO",
    "layout/tcgen05/chunks.py: Chunks.descriptor: 0 -> 1": _UNASKED,
    "layout/tcgen05/chunks.py: Chunks.block_descriptor: 0 -> 1": _UNASKED,
    "layout/tcgen05/scales.py: ScaleBlocks.descriptor: 0 -> 1 [2]": "equivalent: SBO is 128",
    "layout/tile.py: TileLayout.__post_init__: 1 -> 0": "an extent of 0 is refused either way: the "
    "modes cover more",
    "ir/matrix_descriptors.py: START_MASK: 4 -> 3": _SHARED_ADDRESSES,
    _DEPTH
    + "op.block.region != block.region -> …": "equivalent: a sum is the same in every order; lit "
    "alone sees which",
    _INSTRUCTION_OF_MMA + "0 -> 1": _SIGN,
    _INSTRUCTION_OF_MMA + "0 -> 1 [1]": _SIGN,
    _MMA + "bits - (1 << 32) -> …": _LOW_BITS,
    "passes/lower_mma/tcgen05/scaled.py: lower_scaled: 8 -> 9": "equivalent: the division by the block "
    "rounds down to "
    "the same",
    _BASE
    + "swizzle.pattern_bytes == 0 -> swizzle is Swizzle.NONE and …": "equivalent: the phase of "
    "an aligned pattern is computed, and 0",
}


def explanation(name: str) -> str:
    """Why few notice a mutant of that name; "" if nothing is known."""

    def is_meant(key: str) -> bool:
        return name == key or (key.endswith("…") and name.startswith(key[:-1]))

    return next((why for key, why in EXPLAINED.items() if is_meant(key)), "")
