"""Mutants that fewer than two sides notice, and why."""

_MMA = "passes/lower_mma/tcgen05/mma.py: "
_SCALED = "passes/lower_mma/tcgen05/scaled.py: "
_FIELDS = "layout/tcgen05/instruction_descriptor.py: "
_BASE = "ir/matrix_descriptors.py: _base: "

#: Why a mutant computes the same as the original for every input that can occur: by the reason, names
#: of mutants; what ends with … is how names begin.
EQUIVALENT: dict[str, tuple[str, ...]] = {
    "of a number that is too large, MLIR's i32 attribute keeps the low 32 bits": (
        _MMA + "checked_bits: bits - (1 << 32)…",
        _MMA + "checked_bits: bits >> 31 -> …",
        _MMA + "checked_bits: 1 -> …",
        _MMA + "checked_bits: 1 << 32 -> …",
        _MMA + "checked_bits: 31 -> …",
        _MMA + "checked_bits: 32 -> 33",
    ),
    "a sign is 1 or -1": (
        _MMA + "_instruction: 0 -> 1",
        _MMA + "_instruction: 0 -> 1 [1]",
        _MMA + "_instruction: qualifiers.sign('a') < 0 -> qualifiers.sign('a') <= 0",
        _MMA + "_instruction: qualifiers.sign('b') < 0 -> qualifiers.sign('b') <= 0",
    ),
    "a second chunk is never the first block's first, and a negative number is none": (
        _SCALED + "_descriptors: second < 0 -> second <= 0",
        _SCALED + "_descriptors: 0 -> 1 [2]",
        "layout/tcgen05/chunks.py: Chunks.second_steps: 1 -> 2",
    ),
    "the division by the block rounds down to the same": (_SCALED + "lower_scaled: 8 -> 9",),
    "a pair's N is that of one instruction, and so is its half": (
        "passes/materialize_descriptors/scaled.py: describe_scaled: n * ctas -> n // ctas",
    ),
    "a key of a cache, in any order": (
        "passes/lower_mma/tile_descriptors.py: TileDescriptors._constant: (function, number) -> (number, function)",
    ),
    "a sum is the same in every order; lit alone sees which": (
        "ir/matrix_descriptors.py: Descriptors.of: emit.binary('addi', total, value) -> …",
        "ir/matrix_descriptors.py: _outermost_first.depth: op.block.region != block.region -> …",
    ),
    "the phase of an aligned pattern is computed, and 0": (
        _BASE + "0 -> 1",
        _BASE
        + "swizzle is Swizzle.NONE or allocation_alignment(allocation) % swizzle.pattern_bytes == 0 -> "
        "swizzle is Swizzle.NONE and …",
    ),
    "addresses in shared memory are below 2**18 and multiples of 16": (
        "ir/matrix_descriptors.py: START_MASK: 4 -> 3",
        "ir/matrix_descriptors.py: START_MASK: 262143 -> 262142",
        "layout/descriptor.py: encode_address: 262143 -> 262142",
    ),
    "a shift by 0": (
        "layout/descriptor.py: Descriptor.encode: encode_address(self.start) << START[0] -> …",
    ),
    "a descriptor has no bits from 64 on": (
        "layout/descriptor.py: Descriptor.reserved: 1 -> 0 [1]",
    ),
    "with such a stride, a tile does not fit shared memory": (
        "layout/canonical.py: _fitted: size > MAX_STRIDE_BYTES -> …",
    ),
    "the stride of one element": ("layout/element_map.py: _modes: 0 -> 1",),
    "one element is inside its mode, wherever it begins": ("layout/modes.py: _static: 1 -> 0",),
    "of 8, 16 and 32 bits, the types that are read MN-major, the quotients by 7 and 8 are the same": (
        "layout/operand.py: addresses: 8 -> 7 [5]",
    ),
    "N is 16 or more, so that there is an SBO": ("layout/tcgen05/chunks.py: Chunks.sbo: 0 -> 1",),
    "SBO is 128": ("layout/tcgen05/scales.py: ScaleBlocks.descriptor: 0 -> 1 [2]",),
    "a set of bits or of types is the same in every order": (
        _FIELDS + "_PLAIN: mask_of(…",
        _FIELDS + "_SCALED: mask_of(…",
        "layout/wgmma/types.py: MN_MAJOR: (F16, BF16) -> (BF16, F16)",
        "layout/wgmma/types.py: ACCUMULATED: (a, b) -> (b, a)…",
    ),
    "two types are accumulated alike, whichever of them is A's": (
        "layout/wgmma/isa.py: Wgmma.accumulators: (a, b) -> (b, a)",
    ),
}

#: Why one side alone can notice a mutant.
SEEN_BY_ONE: dict[str, tuple[str, ...]] = {
    "passes emit no sparse tcgen05.mma and the emulator knows none; `smem-layout` decodes them": (
        _FIELDS + "_SELECTOR, _SATURATE, _D_TYPE: 0 -> 1",
        _FIELDS + "_SELECTOR, _SATURATE, _D_TYPE: 2 -> 1",
        _FIELDS + "_SELECTOR, _SATURATE, _D_TYPE: 2 -> 3",
    ),
    "the emulator decodes by code of its own, of which lit and the oracles have nothing": (
        "emulator/…",
    ),
    "only the words of a refusal, or of a remark, are others": (
        "passes/materialize_descriptors/operand_attributes.py: explain: len(found.terms) > 1 -> …",
        "layout/tile.py: TileLayout.__post_init__: 1 -> 0",
        "layout/wgmma/sparsity.py: compress: 0 -> 1",
    ),
    "a limit of a multiprocessor that no kernel of the tests reaches": (
        "layout/fragments.py: REGISTERS: 64 -> 63",
    ),
    "passes add where the first block begins themselves, and tiles of `smem-layout` begin with it": (
        "layout/operand.py: MmaTiles.descriptor: start + self.starts[0][0] -> …",
    ),
    "for others to call; passes call `Descriptor.of`": (
        "layout/wgmma/operand.py: descriptor_of: WgmmaDescriptor.of(canonical, start, base_offset) -> …",
    ),
    "for what hosts hand to kernels": ("layout/tcgen05/scales.py: unblocked: 3 -> 2",),
    "vectors of descriptors that a pass between ours has moved into a loop's arguments": (
        "passes/lower_mma/tile_descriptors.py: _elements: …",
    ),
}


def explanation(name: str) -> str:
    """Why few notice a mutant of that name; "" if nothing is known."""
    for said, found in (("equivalent: ", EQUIVALENT), ("", SEEN_BY_ONE)):
        for reason, names in found.items():
            if any(_is_meant(name, each) for each in names):
                return said + reason
    return ""


def _is_meant(name: str, key: str) -> bool:
    return name == key or (key.endswith("…") and name.startswith(key[:-1]))
