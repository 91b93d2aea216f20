"""Builders: the module that they build equals the parsed text."""

import pytest
from programs import FLYING, READABLE, fragment, tile

from mlir_smem.bindings import arith, ir
from mlir_smem.dialect import attributes, new_context, ops

CAST = "builtin.unrealized_conversion_cast"


@pytest.fixture(autouse=True)
def context():
    with new_context() as context:
        yield context


def built_text(build):
    """The text of the module that `build` builds."""
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        build()
    assert module.operation.verify()
    return str(module)


def parsed_text(text):
    return str(ir.Module.parse(text))


def bf16():
    return ir.BF16Type.get()


def memref(text):
    """An op whose result is a memref of the type `text`."""
    return ir.Operation.create(CAST, results=[ir.Type.parse(text)])


@pytest.mark.parametrize("shape", [(64, 32), (4, 64, 32)])
def test_alloc(shape):
    assert built_text(lambda: ops.alloc(shape, bf16())) == parsed_text(
        f'%0 = "smem.alloc"() : () -> {tile(*shape)}'
    )


@pytest.mark.parametrize(
    "attribute, text",
    [
        (attributes.auto, "#smem.auto"),
        (lambda: attributes.swizzle("64B"), '#smem.swizzle<"64B", "row-major">'),
        (
            lambda: attributes.swizzle("none", "column-major"),
            '#smem.swizzle<"none", "column-major">',
        ),
        (lambda: attributes.layout("(64,32):(32,1)"), '#smem.layout<"(64,32):(32,1)">'),
    ],
)
def test_alloc_with_a_layout(attribute, text):
    assert built_text(lambda: ops.alloc((64, 32), bf16(), attribute())) == parsed_text(
        f'%0 = "smem.alloc"() : () -> {tile(64, 32, layout=text)}'
    )


def test_a_tile_layout_becomes_an_attribute():
    from mlir_smem.layout import Swizzle, element, tile_of_atoms

    layout = tile_of_atoms(element("bf16"), (64, 64), 1, Swizzle.B128)
    assert str(attributes.layout(layout)) == '#smem.layout<"Swizzle<3,4,3> o (64,64):(64,1)">'


@pytest.mark.parametrize("stage", [1, "value"])
def test_stage(stage):
    def build():
        tiles = ops.alloc((4, 8, 8), bf16())
        index = ir.IndexType.get()
        ops.stage(tiles, stage if isinstance(stage, int) else arith.constant(index, 1))

    assert built_text(build) == parsed_text(
        f"""
        %0 = "smem.alloc"() : () -> {tile(4, 8, 8)}
        %1 = arith.constant 1 : index
        %2 = "smem.stage"(%0, %1) : ({tile(4, 8, 8)}, index) -> {tile(8, 8)}"""
    )


def test_subtile_at_static_offsets():
    assert built_text(
        lambda: ops.subtile(ops.alloc((64, 64), bf16()), (8, 16), (8, 8))
    ) == parsed_text(
        f"""
        %0 = "smem.alloc"() : () -> {tile(64, 64)}
        %1 = "smem.subtile"(%0) {{static_offsets = array<i64: 8, 16>}}
            : ({tile(64, 64)}) -> {tile(8, 8)}"""
    )


def test_subtile_at_run_time_offsets():
    def build():
        whole = ops.alloc((64, 64), bf16())
        row = arith.constant(ir.IndexType.get(), 8)
        ops.subtile(whole, (row, 16), (8, 8), multiple_of=[8])

    assert built_text(build) == parsed_text(
        f"""
        %0 = "smem.alloc"() : () -> {tile(64, 64)}
        %1 = arith.constant 8 : index
        %2 = "smem.subtile"(%0, %1)
            {{multiple_of = array<i64: 8>, static_offsets = array<i64: -9223372036854775808, 16>}}
            : ({tile(64, 64)}, index) -> {tile(8, 8)}"""
    )


SHARED = "memref<64x64xbf16, #gpu.address_space<workgroup>>"
FORCED = '#smem.swizzle<"128B", "row-major">'


@pytest.mark.parametrize("alignment, text", [(None, ""), (256, "{alignment = 256 : i64}")], ids=str)
def test_view(alignment, text):
    def build():
        memory = memref(SHARED).result
        ops.view(memory, (64, 64), bf16(), attributes.swizzle("128B"), alignment)

    assert built_text(build) == parsed_text(
        f"""
        %0 = {CAST} to {SHARED}
        %1 = "smem.view"(%0) {text} : ({SHARED}) -> {tile(64, 64, layout=FORCED)}"""
    )


@pytest.mark.parametrize("name", ["copy", "copy_async"])
def test_copies(name):
    source = "memref<64x64xbf16>"

    def build():
        memory = memref(source).result
        getattr(ops, name)(memory, ops.alloc((64, 64), bf16()))

    assert built_text(build) == parsed_text(
        f"""
        %0 = {CAST} to {source}
        %1 = "smem.alloc"() : () -> {tile(64, 64)}
        "smem.{name}"(%0, %1) : ({source}, {tile(64, 64)}) -> ()"""
    )


@pytest.mark.parametrize(
    "options, text",
    [
        ({"permutation": (1, 0)}, "{permutation = array<i64: 1, 0>}"),
        ({"relayout": True}, "{relayout}"),
        ({"permutation": [0, 1], "relayout": True}, "{permutation = array<i64: 0, 1>, relayout}"),
        ({"relayout": False}, ""),
    ],
)
def test_copies_with_permutation_and_relayout(options, text):
    source = "memref<64x64xbf16>"

    def build():
        memory = memref(source).result
        ops.copy(memory, ops.alloc((64, 64), bf16()), **options)

    assert built_text(build) == parsed_text(
        f"""
        %0 = {CAST} to {source}
        %1 = "smem.alloc"() : () -> {tile(64, 64)}
        "smem.copy"(%0, %1) {text} : ({source}, {tile(64, 64)}) -> ()"""
    )


def test_an_asynchronous_copy_with_a_permutation():
    source = "memref<32x64xbf16>"

    def build():
        memory = memref(source).result
        ops.copy_async(memory, ops.alloc((64, 32), bf16()), (1, 0))

    assert built_text(build) == parsed_text(
        f"""
        %0 = {CAST} to {source}
        %1 = "smem.alloc"() : () -> {tile(64, 32)}
        "smem.copy_async"(%0, %1) {{permutation = array<i64: 1, 0>}}
          : ({source}, {tile(64, 32)}) -> ()"""
    )


def test_copy_groups_and_fence():
    def build():
        ops.copy_commit()
        ops.copy_wait()
        ops.copy_wait(2)
        ops.fence()

    assert built_text(build) == parsed_text(
        """
        "smem.copy_commit"() : () -> ()
        "smem.copy_wait"() {pending = 0 : i32} : () -> ()
        "smem.copy_wait"() {pending = 2 : i32} : () -> ()
        "smem.fence"() : () -> ()"""
    )


def test_mma_and_wait():
    def build():
        a, b = ops.alloc((64, 16), bf16()), ops.alloc((16, 8), bf16())
        first = ops.wait(ops.mma(a, b), pending=1, in_flight=True)
        ops.wait(ops.mma(a, b, first))

    ab = f"({tile(64, 16)}, {tile(16, 8)}"
    assert built_text(build) == parsed_text(
        f"""
        %a = "smem.alloc"() : () -> {tile(64, 16)}
        %b = "smem.alloc"() : () -> {tile(16, 8)}
        %0 = "smem.mma"(%a, %b) : {ab}) -> {fragment(64, 8)}
        %1 = "smem.wait"(%0) {{pending = 1 : i32}} : ({fragment(64, 8)}) -> {fragment(64, 8)}
        %2 = "smem.mma"(%a, %b, %1) : {ab}, {fragment(64, 8)}) -> {fragment(64, 8)}
        %3 = "smem.wait"(%2) {{pending = 0 : i32}} : ({fragment(64, 8)}) -> {fragment(64, 8, READABLE)}"""
    )


@pytest.mark.parametrize("in_flight, state", [(False, READABLE), (True, FLYING)])
@pytest.mark.parametrize("number", [0, 0.0])
def test_fill_with_a_number(number, in_flight, state):
    assert built_text(lambda: ops.fill(number, (64, 8), in_flight)) == parsed_text(
        f"""
        %0 = arith.constant 0.0 : f32
        %1 = "smem.fill"(%0) : (f32) -> {fragment(64, 8, state)}"""
    )


def test_fill_with_a_value_and_store():
    def build():
        value = arith.constant(ir.F32Type.get(), 1.5)
        filled = ops.fill(value, (64, 8))
        ops.store(filled, memref("memref<64x8xf16>").result)

    assert built_text(build) == parsed_text(
        f"""
        %0 = arith.constant 1.5 : f32
        %1 = "smem.fill"(%0) : (f32) -> {fragment(64, 8, READABLE)}
        %2 = {CAST} to memref<64x8xf16>
        "smem.store"(%1, %2) : ({fragment(64, 8, READABLE)}, memref<64x8xf16>) -> ()"""
    )


def test_operands_may_be_ops():
    # Builders of the bindings return an op with one result instead of the value.
    def build():
        ops.store(ops.fill(0, (64, 8)), memref("memref<64x8xf32>"))

    assert '"smem.store"' in built_text(build)


def test_ops_get_the_current_location():
    module = ir.Module.create()
    with ir.InsertionPoint(module.body), ir.Location.file("host.py", 7, 3):
        alloc = ops.alloc((8, 8), bf16())
    assert str(alloc.owner.location) == 'loc("host.py":7:3)'


@pytest.mark.parametrize(
    "element, options, accumulator, attributes_text",
    [
        ("f16", {}, "f32", ""),
        ("f16", {"element": "f16"}, "f16", ""),
        ("f8E5M2", {"negate_a": True, "negate_b": False}, "f32", " {negate_a}"),
        ("i8", {"satfinite": True}, "i32", " {satfinite}"),
        ("f32", {"truncate": True}, "f32", " {truncate}"),
    ],
)
def test_mma_of_other_types(element, options, accumulator, attributes_text):
    type_ = tile(64, 64, element=element)
    result = f"!smem.fragment<tensor<64x64x{accumulator}>, #smem.in_flight>"

    def build():
        a = ops.alloc((64, 64), ir.Type.parse(element))
        modifiers = {k: ir.Type.parse(v) if k == "element" else v for k, v in options.items()}
        ops.mma(a, a, **modifiers)

    assert built_text(build) == parsed_text(f"""
        %a = "smem.alloc"() : () -> {type_}
        %d = "smem.mma"(%a, %a){attributes_text} : ({type_}, {type_}) -> {result}
    """)


def test_mma_of_a_cta_pair():
    def build():
        a, b = ops.alloc((128, 16), bf16()), ops.alloc((16, 8), bf16())
        ops.mma(a, b, ops.mma(a, b, pair=True), pair=True)

    ab = f"({tile(128, 16)}, {tile(16, 8)}"
    assert built_text(build) == parsed_text(
        f"""
        %a = "smem.alloc"() : () -> {tile(128, 16)}
        %b = "smem.alloc"() : () -> {tile(16, 8)}
        %0 = "smem.mma"(%a, %b) {{pair}} : {ab}) -> {fragment(128, 16)}
        %1 = "smem.mma"(%a, %b, %0) {{pair}} : {ab}, {fragment(128, 16)}) -> {fragment(128, 16)}"""
    )


@pytest.mark.parametrize(
    "modifiers, n, attributes_text",
    [({}, 96, ""), ({"negate_b": True, "pair": True}, 192, " {negate_b, pair}")],
)
def test_mma_scaled(modifiers, n, attributes_text):
    types = {
        "a": tile(128, 64, element="f4E2M1FN"),
        "b": tile(64, 96, element="f4E2M1FN"),
        "sa": tile(128, 4, element="f8E4M3FN"),
        "sb": tile(-(-n // 128) * 128, 4, element="f8E4M3FN"),
    }

    def build():
        tiles = [ir.Operation.create("smem.alloc", [ir.Type.parse(t)]) for t in types.values()]
        operands = [alloc.result for alloc in tiles]
        once = ops.mma_scaled(*operands, **modifiers)
        ops.mma_scaled(*operands, ops.wait(once), **modifiers)

    allocs = "".join(f'%{name} = "smem.alloc"() : () -> {t}\n' for name, t in types.items())
    in_flight, ready = fragment(128, n), fragment(128, n, READABLE)
    operand_types = ", ".join(types.values())
    assert built_text(build) == parsed_text(
        f"""{allocs}
        %0 = "smem.mma_scaled"(%a, %b, %sa, %sb){attributes_text} : ({operand_types}) -> {in_flight}
        %1 = "smem.wait"(%0) {{pending = 0 : i32}} : ({in_flight}) -> {ready}
        %2 = "smem.mma_scaled"(%a, %b, %sa, %sb, %1){attributes_text}
          : ({operand_types}, {ready}) -> {in_flight}"""
    )


def test_tensor_memory_of_a_cta_pair():
    assert built_text(lambda: ops.tensor_memory(64, 2, pair=True)) == parsed_text(
        '%0 = "smem.tensor_memory"() {columns = 64 : i32, depth = 4 : i32, first = 0 : i32, pair, '
        "warpgroups = 2 : i32} : () -> !smem.pipeline"
    )


def test_the_accumulator_determines_the_result_type():
    def build():
        a = ops.alloc((64, 64), ir.F16Type.get())
        half = ops.fill(1, (64, 64), element=ir.F16Type.get())
        assert str(half.type) == "!smem.fragment<tensor<64x64xf16>, #smem.accumulator>"
        assert "64x64xf16" in str(ops.mma(a, a, half).type)
        integers = ops.fill(-3, (64, 64), element=ir.IntegerType.get_signless(32))
        assert "64x64xi32" in str(integers.type)

    built_text(build)
