"""Verifiers on ops with arbitrary types and attributes: they accept or reject, and never crash."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlir_smem.bindings import ir
from mlir_smem.dialect import new_context

FORCED = '#smem.swizzle<"128B", "row-major">'
TILES = [
    f"!smem.tile<{tensor}, {layout}>"
    for tensor in (
        "tensor<64x64xbf16>",
        "tensor<4x64x64xbf16>",
        "tensor<64x64xf32>",
        "tensor<64x64xi1>",
        "tensor<64xbf16>",
        "tensor<0x64xbf16>",
        "tensor<?x64xbf16>",
        "tensor<*xbf16>",
        "bf16",
    )
    for layout in (
        "#smem.auto",
        FORCED,
        '#smem.swizzle<"7", "sideways">',
        '#smem.layout<"(64,64):(64,1)">',
        '#smem.layout<"spiral">',
    )
]
FRAGMENTS = [
    f"!smem.fragment<{tensor}, {state}>"
    for tensor in ("tensor<64x64xf32>", "tensor<64x64xf16>", "tensor<65x64xf32>", "f32")
    for state in ("#smem.in_flight", "#smem.accumulator")
] + [
    f"!smem.fragment<{tensor}, {state}>"
    for tensor in ("tensor<64xf32>", "tensor<64x64xf32>", "tensor<60xf32>", "tensor<64xbf16>")
    for state in ("#smem.slice<1>", "#smem.slice<0>", "#smem.slice<2>")
]
MEMREFS = [
    "memref<64x64xbf16>",
    "memref<64x64xf32>",
    "memref<64x64xi1>",
    "memref<64x64x!llvm.ptr>",
    "memref<?x?xbf16>",
    "memref<64xbf16>",
    "memref<bf16>",
    "memref<64x64xbf16, strided<[?, 1], offset: ?>>",
    "memref<64x64xbf16, affine_map<(i, j) -> (j, i)>>",
    "memref<64x64xbf16, #gpu.address_space<workgroup>>",
    "memref<?x?x?xi8, #gpu.address_space<workgroup>>",
    "memref<8192xi8, 3>",
    "memref<?x?xbf16, strided<[?, 1]>>",
    "memref<2x?x?xbf16, strided<[?, 1, ?]>>",
    "memref<64x64xindex>",
    "memref<64x64xvector<4xf32>>",
    "memref<64x64xbf16, strided<[0, 0]>>",
    "memref<64x64xbf16, strided<[-64, 1]>>",
]
VALUES = ["f32", "bf16", "i1", "index", MEMREFS[0], TILES[0], FRAGMENTS[0]]

#: The type of a pipeline. For an op that takes one, a pipeline is created before it.
PIPELINE = "!smem.pipeline"

SEMAPHORES = [
    "memref<4xi32>",
    "memref<?xi32, strided<[?], offset: ?>>",
    "memref<4x4xi32>",
    "memref<4xi64>",
]
#: Operands and results of each op.
SIGNATURES = {
    "alloc": ([], [TILES]),
    "view": ([MEMREFS], [TILES]),
    "copy": ([MEMREFS, TILES], []),
    "copy_async": ([MEMREFS, TILES], []),
    "copy_commit": ([], []),
    "copy_wait": ([], []),
    "fence": ([], []),
    "fill": ([VALUES], [FRAGMENTS]),
    "load": ([[*TILES, *MEMREFS], ["index"]], [FRAGMENTS]),
    "mma": ([TILES, TILES, FRAGMENTS], [FRAGMENTS]),
    "stage": ([TILES, ["index"]], [TILES]),
    "store": ([FRAGMENTS, MEMREFS], []),
    "subtile": ([TILES, ["index"], ["index"]], [TILES]),
    "wait": ([FRAGMENTS], [FRAGMENTS]),
    "mma_desc": ([["i64"], ["i64"], FRAGMENTS], [FRAGMENTS]),
    "broadcast": ([FRAGMENTS], [FRAGMENTS]),
    "columns": ([FRAGMENTS], [FRAGMENTS]),
    "reduce": ([FRAGMENTS], [FRAGMENTS]),
    "create_pipeline": ([], [[PIPELINE]]),
    "producer_acquire": ([[PIPELINE], ["index"]], [["index"]]),
    "consumer_release": ([[PIPELINE], ["index"]], []),
    "tma_load": ([MEMREFS, TILES, [PIPELINE], *[["index"]] * 4], []),
    "tma_store": ([TILES, MEMREFS, *[["index"]] * 3], []),
    "tma_commit": ([], []),
    "tma_wait": ([], []),
    "warpgroup_barrier": ([], []),
    "order_wait": ([], []),
    "order_arrive": ([], []),
    "semaphore_arrive": ([SEMAPHORES, ["index"], ["index"]], [["i1"]]),
}
ATTRIBUTES = {
    "pending": ["0 : i32", "-1 : i32", "0 : index", '"x"'],
    "static_offsets": [
        "array<i64: 0, 0>",
        "array<i64: -9223372036854775808, 0>",
        "array<i64: 0>",
        "array<i32: 0, 0>",
        "[0, 0]",
    ],
    "multiple_of": ["array<i64: 8>", "array<i64: 0>", "array<i64>", "5"],
    "alignment": ["128 : i64", "0 : i64", "-128 : i64"],
    "a_element": ['"bf16"', '"zz"', "5"],
    "b_element": ['"bf16"', '"zz"', "5"],
    "a_major": ['"k"', '"q"', "5"],
    "b_major": ['"mn"', '"q"', "5"],
    "a_steps": ["array<i64: 0, 2>", "array<i64>", "[0, 2]"],
    "b_steps": ["array<i64: 0, 2>", "array<i64: 0>", "5"],
}

_CACHE = ['"evict_first"', '"evict"', "5"]

#: Attributes for ops that reject unknown attributes.
OWN_ATTRIBUTES = {
    "columns": {"first": ["0 : i64", "8 : i32", "-8 : i64", '"x"']},
    "copy": {"permutation": ["array<i64: 1, 0>", "array<i64: 1>", "5"], "relayout": ["unit", "5"]},
    "create_pipeline": {
        **{key: ["1 : i32", "0 : i32", '"x"'] for key in ("stages", "producers", "consumers")},
        "offset": ["0 : i64", "4 : i64", '"x"'],
    },
    "reduce": {
        "op": ['"add"', '"maximumf"', '"maxsi"', "5"],
        "axis": ["0 : i32", "1 : i32", "2 : i32", "1 : i64"],
        "warpgroups": ["1 : i32", "2 : i32", "0 : i32", "9 : i32", '"x"'],
    },
    "tma_load": {"multicast": ['"x"', '"z"', "5"], "cache": _CACHE},
    "tma_store": {"cache": _CACHE},
    "tma_wait": {"pending": ATTRIBUTES["pending"], "read": ["unit", "5"]},
}


@st.composite
def ops(draw):
    """A function with one op whose operands, results and attributes are drawn at random."""
    name = draw(st.sampled_from(list(SIGNATURES)))
    operands, results = SIGNATURES[name]
    # Trailing operands can be omitted.
    count = draw(st.integers(min(len(operands), 2), len(operands)))
    operands = [draw(st.sampled_from(types)) for types in operands[:count]]
    results = [draw(st.sampled_from(types)) for types in results]
    attributes = [
        f"{key} = {draw(st.sampled_from(values))}"
        for key, values in OWN_ATTRIBUTES.get(name, ATTRIBUTES).items()
        if draw(st.integers(0, 9))
    ]
    arguments = ", ".join(f"%a{i}: {t}" for i, t in enumerate(operands) if t != PIPELINE)
    names = ", ".join("%pipeline" if t == PIPELINE else f"%a{i}" for i, t in enumerate(operands))
    types = f"({', '.join(operands)}) -> ({', '.join(results)})"
    op = f'"smem.{name}"({names}) {{{", ".join(attributes)}}} : {types}'
    counts = ", ".join(f"{name} = 2 : i32" for name in ("stages", "producers", "consumers"))
    pipeline = f'%pipeline = "smem.create_pipeline"() {{{counts}}} : () -> {PIPELINE}'
    body = f"{pipeline}\n{'%r = ' * len(results)}{op}"
    return f"func.func private @f({arguments}) {{\n{body}\nreturn }}"


def is_accepted(text):
    """Whether text parses and verifies; an error must have a location."""
    with new_context():
        try:
            ir.Module.parse(text)
        except ir.MLIRError as error:
            assert '"-":' in str(error)
            return False
    return True


@given(ops())
def test_ops_are_accepted_or_rejected(text):
    is_accepted(text)


@pytest.mark.parametrize("alignment", ['"x"', "1.0 : f32", "array<i64: 128>"])
def test_an_alignment_that_is_not_a_number(alignment):
    memref = "memref<64x64xbf16, #gpu.address_space<workgroup>>"
    tile = f"!smem.tile<tensor<64x64xbf16>, {FORCED}>"
    assert not is_accepted(
        f"""func.func private @f(%m: {memref}) {{
          %t = "smem.view"(%m) {{alignment = {alignment}}} : ({memref}) -> {tile}
          return }}"""
    )


def test_contiguous_memory_of_dynamic_extents_can_be_viewed():
    memref = "memref<?x?x?xi8, #gpu.address_space<workgroup>>"
    tile = f"!smem.tile<tensor<64x64xbf16>, {FORCED}>"
    assert is_accepted(
        f"""func.func private @f(%m: {memref}) {{
          %t = "smem.view"(%m) : ({memref}) -> {tile}
          return }}"""
    )
