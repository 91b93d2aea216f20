"""Builders of pipelines, TMA copies and partitions: the module that they build equals the parsed text."""

import pytest
from programs import READABLE, fragment, tile

from mlir_smem.bindings import arith, ir
from mlir_smem.dialect import new_context, ops

PIPELINE = "!smem.pipeline"
MATRIX = "memref<?x?xbf16, strided<[?, 1]>>"
CAST = "builtin.unrealized_conversion_cast"


@pytest.fixture(autouse=True)
def context():
    with new_context() as context:
        yield context


def built_text(build, *types):
    """The text of the module that `build` builds from values of these types."""
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        casts = [ir.Operation.create(CAST, results=[ir.Type.parse(t)]) for t in types]
        build(*(value.result for value in casts))
    assert module.operation.verify()
    return str(module)


def parsed_text(body, **values):
    """The text of a module with named values of these types, then `body`."""
    definitions = [f"%{name} = {CAST} to {type_}" for name, type_ in values.items()]
    return str(ir.Module.parse("\n".join([*definitions, body])))


def pipeline_text(stages=4, producers=1, consumers=1):
    attributes = f"stages = {stages} : i32, producers = {producers} : i32, consumers = {consumers}"
    return f'%r = "smem.create_pipeline"() {{{attributes} : i32}} : () -> {PIPELINE}'


def test_a_pipeline_has_one_producer_and_one_consumer_by_default():
    assert built_text(lambda: ops.create_pipeline(4) and None) == parsed_text(pipeline_text())


def test_producer_and_consumer_ops():
    def build(step):
        pipeline = ops.create_pipeline(3, producers=128, consumers=2)
        assert ops.producer_acquire(pipeline, step).type == ir.IndexType.get()
        ops.producer_commit(pipeline, step)
        assert ops.consumer_wait(pipeline, step).type == ir.IndexType.get()
        ops.consumer_release(pipeline, step)

    assert built_text(build, "index") == parsed_text(
        f"""
        {pipeline_text(3, 128, 2)}
        %0 = "smem.producer_acquire"(%r, %step) : ({PIPELINE}, index) -> index
        "smem.producer_commit"(%r, %step) : ({PIPELINE}, index) -> ()
        %1 = "smem.consumer_wait"(%r, %step) : ({PIPELINE}, index) -> index
        "smem.consumer_release"(%r, %step) : ({PIPELINE}, index) -> ()""",
        step="index",
    )


def test_the_pipeline_index_can_be_a_number():
    assert built_text(lambda: ops.producer_commit(ops.create_pipeline(4), 2)) == parsed_text(
        f"""
        {pipeline_text()}
        %0 = arith.constant 2 : index
        "smem.producer_commit"(%r, %0) : ({PIPELINE}, index) -> ()""",
    )


@pytest.mark.parametrize(
    "options, text",
    [
        ({}, ""),
        ({"multicast": "x"}, '{multicast = "x"}'),
        ({"multicast": None, "cache": "evict_last"}, '{cache = "evict_last"}'),
        (
            {"multicast": "y", "cache": "evict_first"},
            '{cache = "evict_first", multicast = "y"}',
        ),
    ],
)
def test_tma_load(options, text):
    def build(matrix, step):
        pipeline = ops.create_pipeline(4)
        destination = ops.alloc((64, 64), ir.BF16Type.get())
        ops.tma_load(matrix, destination, pipeline, step, (step, step), **options)

    assert built_text(build, MATRIX, "index") == parsed_text(
        f"""
        {pipeline_text()}
        %t = "smem.alloc"() : () -> {tile(64, 64)}
        "smem.tma_load"(%m, %t, %r, %step, %step, %step) {text}
          : ({MATRIX}, {tile(64, 64)}, {PIPELINE}, index, index, index) -> ()""",
        m=MATRIX,
        step="index",
    )


def test_coordinates_can_be_numbers():
    def build(matrix):
        ops.tma_store(ops.alloc((64, 64), ir.BF16Type.get()), matrix, (0, 64), cache="evict_normal")

    assert built_text(build, MATRIX) == parsed_text(
        f"""
        %t = "smem.alloc"() : () -> {tile(64, 64)}
        %0 = arith.constant 0 : index
        %1 = arith.constant 64 : index
        "smem.tma_store"(%t, %m, %0, %1) {{cache = "evict_normal"}}
          : ({tile(64, 64)}, {MATRIX}, index, index) -> ()""",
        m=MATRIX,
    )


def test_store_groups():
    def build():
        ops.tma_commit()
        ops.tma_wait()
        ops.tma_wait(2, read=True)

    assert built_text(build) == parsed_text(
        """
        "smem.tma_commit"() : () -> ()
        "smem.tma_wait"() {pending = 0 : i32} : () -> ()
        "smem.tma_wait"() {pending = 2 : i32, read} : () -> ()""",
    )


def test_the_attribute_read_has_no_value():
    with pytest.raises(
        ir.MLIRError, match="has read = false; expected a unit attribute, without a"
    ):
        parsed_text('"smem.tma_wait"() {pending = 0 : i32, read = false} : () -> ()')


def test_partitions():
    def consume(warpgroup):
        arith.addi(warpgroup, warpgroup)
        ops.warpgroup_barrier()

    def build():
        ops.warp_specialize((1, 40, lambda _: ops.elect(ops.tma_commit)), (2, None, consume))
        ops.elect(ops.fence, scope="cta")
        ops.elect(ops.fence, warp=2)

    # The builder always adds the argument for the warpgroup's index.
    assert built_text(build) == parsed_text(
        """
        "smem.warp_specialize"() ({
          "smem.partition"() ({
          ^bb0(%w: index):
            "smem.elect"() ({
              "smem.tma_commit"() : () -> ()
            }) {scope = "warpgroup"} : () -> ()
          }) {registers = 40 : i32, warpgroups = 1 : i32} : () -> ()
          "smem.partition"() ({
          ^bb0(%w: index):
            %0 = arith.addi %w, %w : index
            "smem.warpgroup_barrier"() : () -> ()
          }) {warpgroups = 2 : i32} : () -> ()
        }) : () -> ()
        "smem.elect"() ({
          "smem.fence"() : () -> ()
        }) {scope = "cta"} : () -> ()
        "smem.elect"() ({
          "smem.fence"() : () -> ()
        }) {scope = "warpgroup", warp = 2 : i32} : () -> ()""",
    )


def test_columns():
    source, taken = fragment(64, 64, READABLE), fragment(64, 16, READABLE)

    def build(value):
        assert str(ops.columns(value, 8, 16).type) == taken

    assert built_text(build, source) == parsed_text(
        f'%0 = "smem.columns"(%c) {{first = 8 : i64}} : ({source}) -> {taken}', c=source
    )
