"""Mutants that fewer than two sides notice, and the reason of each."""

_MMA = "passes/lower_mma/tcgen05.py: "
_FIELDS = "layout/tcgen05/instruction_descriptor.py: "
_BASE = "ir/matrix_descriptors.py: _base: "

#: Why a mutant computes the same as the original for every possible input: names of mutants by reason.
#: A name that ends with … is the beginning of names.
EQUIVALENT: dict[str, tuple[str, ...]] = {
    "MLIR's i32 attribute keeps the low 32 bits of a number that is too large": (
        _MMA + "_checked_bits: bits - (1 << 32)…",
        _MMA + "_checked_bits: bits >> 31 -> …",
        _MMA + "_checked_bits: 1 -> …",
        _MMA + "_checked_bits: 1 << 32 -> …",
        _MMA + "_checked_bits: 31 -> …",
        _MMA + "_checked_bits: 32 -> 33",
    ),
    "a sign is 1 or -1": (
        _MMA + "_instruction: 0 -> 1",
        _MMA + "_instruction: 0 -> 1 [1]",
        _MMA + "_instruction: qualifiers.sign('a') < 0 -> qualifiers.sign('a') <= 0",
        _MMA + "_instruction: qualifiers.sign('b') < 0 -> qualifiers.sign('b') <= 0",
    ),
    "a second chunk is never the first of the first MMA tile, and a negative number stands for none": (
        _MMA + "_descriptors: second < 0 -> second <= 0",
        _MMA + "_descriptors: 0 -> 1 [2]",
        "layout/tcgen05/chunks.py: Chunks.second_steps: 1 -> 2",
    ),
    "the division by the scale block rounds down to the same number": (
        _MMA + "lower_scaled: 8 -> 9",
    ),
    "the N of a CTA pair is legal for one instruction, and so is its half": (
        "passes/materialize_descriptors.py: _describe_scaled: n * ctas -> n // ctas",
    ),
    "the order within a cache's key has no effect": (
        "passes/lower_mma/target.py: TileDescriptors._constant: (function, number) -> …",
    ),
    "a sum does not depend on the order of its terms; only lit sees the order": (
        "ir/matrix_descriptors.py: Descriptors.of: emit.binary('addi', total, value) -> …",
        "ir/matrix_descriptors.py: _outermost_first.depth: op.block.region != block.region -> …",
    ),
    "the phase of an aligned pattern is computed, and is 0": (
        _BASE + "0 -> 1",
        _BASE
        + "swizzle is Swizzle.NONE or allocation_alignment(allocation) % swizzle.pattern_bytes == 0 -> "
        "swizzle is Swizzle.NONE and …",
    ),
    "addresses in shared memory are below 2**18, and multiples of 16": (
        "ir/matrix_descriptors.py: START_MASK: 4 -> 3",
        "ir/matrix_descriptors.py: START_MASK: 262143 -> 262142",
        "layout/descriptor.py: encode_address: 262143 -> 262142",
    ),
    "a shift by 0": (
        "layout/descriptor.py: Descriptor.encode: encode_address(self.start) << START[0] -> …",
    ),
    "a descriptor has 64 bits": ("layout/descriptor.py: Descriptor.reserved: 1 -> 0 [1]",),
    "a tile with such a stride does not fit into shared memory": (
        "layout/canonical.py: _match_form: size > MAX_STRIDE_BYTES -> …",
    ),
    "the stride of a mode of one element has no effect": ("layout/element_map.py: _modes: 0 -> 1",),
    "one element is inside its mode wherever it begins": (
        "layout/modes.py: _static_slice: 1 -> 0",
    ),
    "for 8, 16 and 32 bits, the types that can be MN-major, the quotients by 7 and 8 are equal": (
        "layout/operand.py: addresses: 8 -> 7 [5]",
    ),
    "N is at least 16, so that there is an SBO": ("layout/tcgen05/chunks.py: Chunks.sbo: 0 -> 1",),
    "SBO is 128": ("layout/tcgen05/scales.py: ScaleBlocks.descriptor: 0 -> 1 [2]",),
    "a set of bits or of types has no order": (
        _FIELDS + "_PLAIN: mask_of(…",
        _FIELDS + "_SCALED: mask_of(…",
        "layout/wgmma/types.py: MN_MAJOR: (F16, BF16) -> (BF16, F16)",
        "layout/wgmma/types.py: ACCUMULATED: (a, b) -> (b, a)…",
    ),
    "the accumulator types of A and B are those of B and A": (
        "layout/wgmma/isa.py: Wgmma.accumulators: (a, b) -> (b, a)",
    ),
    "it ends a search earlier, or begins one again that finds the same": (
        "passes/order/hazards.py: hazard_between: progress in (first_progress(origin.step)…",
        "passes/insert_sync/__init__.py: insert: not insertion.check_whole() -> …",
    ),
    "segments and states of another number are followed to the same end": (
        "passes/order/graph.py: Segments._new_parts: any((isinstance(step, Access)…",
        "passes/check_async/pipelines/walker.py: _PartitionWalker._for: len(heads) > _PATHS -> …",
    ),
    "barriers of warpgroups and of the CTA do not stand together": (
        "passes/order/needs.py: SYNC_ORDER: 5 -> 6",
    ),
    "one of 16 sizes of single runs": ("passes/order/prove.py: _SIZES: 192 -> 193",),
    "whether an op is one of two does not depend on their order": (
        "passes/insert_sync/inserted.py: COMMITS: …",
    ),
    "it counts questions for a benchmark": (
        "passes/insert_sync/prover.py: WholeFunctionProver.__init__: 0 -> 1",
    ),
    "a program tells one group apart in any case": (
        "passes/check_async/analysis.py: Analyzer.furthest: 1 -> 0",
    ),
    "kernels without pipelines are asked about as a whole when pairs have found all in order": (
        "passes/check_async/analysis.py: Analyzer.is_in_order: …",
    ),
    "which bytes of a memref an op accesses is not known: spans are compared": (
        "passes/order/memory.py: Allocations._viewed_memory: 1 -> 2 [3]",
    ),
    "the sign of a comparison counts": ("passes/insert_sync/insertion.py: _latest_first: 1 -> 2",),
}

#: Why only one side can notice a mutant.
SEEN_BY_ONE: dict[str, tuple[str, ...]] = {
    "passes emit no sparse tcgen05.mma and the emulator does not run one; `smem-layout` decodes them": (
        _FIELDS + "_SELECTOR, _SATURATE, _D_TYPE: 0 -> 1",
        _FIELDS + "_SELECTOR, _SATURATE, _D_TYPE: 2 -> 1",
        _FIELDS + "_SELECTOR, _SATURATE, _D_TYPE: 2 -> 3",
    ),
    "the emulator has its own decoder, which lit and the oracles do not use": ("emulator/…",),
    "only the text of an error or of a remark changes": (
        "passes/materialize_descriptors.py: explain: len(mma_tiles.terms) > 1 -> …",
        "layout/tile.py: TileLayout.__post_init__: 1 -> 0",
        "layout/wgmma/sparsity.py: compress: 0 -> 1",
    ),
    "no kernel of the tests reaches this limit of a multiprocessor": (
        "layout/fragments.py: REGISTERS: 64 -> 63",
    ),
    "passes add the start of the first MMA tile themselves; tiles of `smem-layout` begin with it": (
        "layout/operand.py: MmaTiles.descriptor: start + self.starts[0][0] -> …",
    ),
    "for callers outside the passes, which call `Descriptor.of`": (
        "layout/wgmma/operand.py: descriptor_of: WgmmaDescriptor.of(canonical, start, base_offset) -> …",
    ),
    "the lit tests of `smem-allocate` fail for it as commands, not in this process": (
        "passes/allocate.py: _barrier_hints: not (one.is_before(other) or other.is_before(one)) -> …",
        "passes/allocate.py: _LiveRange.is_before: …",
    ),
    "for hosts that prepare scale factors": ("layout/tcgen05/scales.py: unblocked: 3 -> 2",),
    "for vectors of descriptors that an upstream pass has moved into a loop's arguments": (
        "passes/lower_mma/target.py: _elements: …",
    ),
}


def explanation(name: str) -> str:
    """Return why few sides notice the mutant of that name; "" if no reason is known."""
    for prefix, reasons in (("equivalent: ", EQUIVALENT), ("", SEEN_BY_ONE)):
        for reason, keys in reasons.items():
            if any(_matches(name, key) for key in keys):
                return prefix + reason
    return ""


def _matches(name: str, key: str) -> bool:
    return name == key or (key.endswith("…") and name.startswith(key[:-1]))
