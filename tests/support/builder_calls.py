"""Arguments of a correct call of each builder, by the names of its parameters."""

from mlir_smem.bindings import arith, ir
from mlir_smem.dialect import attributes, ops, types

CAST = "builtin.unrealized_conversion_cast"


def value(type_):
    """A value of a type (an MLIR type or its text), made by an unrealized cast."""
    mlir_type = ir.Type.parse(type_) if isinstance(type_, str) else type_
    return ir.Operation.create(CAST, results=[mlir_type]).result


def builders():
    """The builders by name: what `ops` exports in lower case."""
    return {name: getattr(ops, name) for name in ops.__all__ if name[0].islower()}


def calls():
    """The arguments of each builder, built at the insertion point; those of `warp_specialize` have no
    names."""
    bf16, f32 = ir.BF16Type.get(), ir.F32Type.get()
    a, b = ops.alloc((64, 32), bf16), ops.alloc((32, 64), bf16)
    sparse_a = ops.alloc((64, 16), bf16)
    stages = ops.alloc((4, 64, 64), bf16)
    tile = ops.alloc((64, 64), bf16)
    step = arith.constant(ir.IndexType.get(), 1)
    matrix, pipeline = value("memref<64x64xbf16>"), ops.create_pipeline(4)
    in_flight, done = ops.fill(0, (64, 64), in_flight=True), ops.fill(0, (64, 64))
    fp4, factors = (ir.Type.parse(name) for name in ("f4E2M1FN", "f8E4M3FN"))
    at_step = {"pipeline": pipeline, "index": step}
    return {
        "alloc": {"shape": (64, 64), "element": bf16, "layout": attributes.swizzle("128B")},
        "broadcast": {"value": ops.reduce(done, "add", 1), "extent": 8},
        "columns": {"value": done, "first": 8, "count": 16},
        "consumer_release": at_step,
        "consumer_wait": at_step,
        "convert": {"value": done, "element": bf16},
        "copy": {"source": matrix, "tile": tile, "permutation": [1, 0], "relayout": True},
        "copy_async": {"source": matrix, "tile": tile, "permutation": [0, 1]},
        "copy_commit": {},
        "copy_wait": {"pending": 1},
        "create_pipeline": {"stages": 4, "producers": 1, "consumers": 2},
        "elect": {"build": ops.tma_commit, "scope": "cta", "warp": 1},
        "fence": {},
        "fill": {
            "value": 0.5,
            "shape": (64, 8),
            "in_flight": True,
            "element": f32,
            "slice_dim": None,
        },
        "from_registers": {"vector": value("vector<32xf32>"), "result": done.type},
        "load": {"source": tile, "result": done.type},
        "map": {
            "inputs": [done],
            "function": lambda x, row, column: arith.addf(x, x),
            "with_position": True,
        },
        "mma": {
            "a": a,
            "b": b,
            "accumulator": done,
            "element": f32,
            "negate_a": True,
            "negate_b": False,
            "satfinite": False,
            "truncate": False,
            "pair": False,
        },
        "mma_scaled": {
            "a": ops.alloc((128, 64), fp4),
            "b": ops.alloc((64, 96), fp4),
            "a_scales": ops.alloc((128, 4), factors),
            "b_scales": ops.alloc((128, 4), factors),
            "accumulator": ops.fill(0, (128, 96)),
            "negate_a": True,
            "negate_b": False,
            "pair": False,
        },
        "mma_sp": {
            "a": sparse_a,
            "b": b,
            "metadata": value(types.metadata((64, 32), bf16)),
            "accumulator": done,
            "element": f32,
            "negate_a": True,
            "negate_b": False,
            "satfinite": False,
            "truncate": False,
        },
        "offset": {"tile": tile, "row": step, "column": 8, "vector": (1, 8)},
        "producer_acquire": at_step,
        "order_arrive": {},
        "order_wait": {},
        "producer_commit": at_step,
        "reduce": {"value": done, "op": "maximumf", "axis": 0, "warpgroups": 2},
        "scale_d": {"accumulator": done, "keep": value("i1")},
        "semaphore_arrive": {"semaphores": value("memref<4xi32>"), "index": step, "count": 7},
        "stage": {"tile": stages, "at": step},
        "store": {"value": done, "target": tile},
        "subtile": {"tile": tile, "offsets": (step, 8), "sizes": (8, 8), "multiple_of": [8]},
        "tensor_memory": {"columns": 64, "warpgroups": 1, "first": 0, "depth": 4, "pair": True},
        "tma_commit": {},
        "transpose": {"tile": tile},
        "tma_load": {
            "source": matrix,
            "tile": tile,
            "pipeline": pipeline,
            "index": step,
            "coordinates": (step, 8),
            "multicast": "x",
            "cache": "evict_first",
        },
        "tma_store": {
            "tile": tile,
            "target": matrix,
            "coordinates": [0, 8],
            "cache": "evict_last",
        },
        "tma_wait": {"pending": 1, "read": True},
        "to_registers": {"fragment": done},
        "view": {
            "memref": value("memref<64x64xbf16, #gpu.address_space<workgroup>>"),
            "shape": (64, 64),
            "element": bf16,
            "layout": attributes.swizzle("128B"),
            "alignment": 1024,
        },
        "wait": {"value": in_flight, "pending": 0, "in_flight": True},
        "warp_specialize": {},
        "warpgroup_barrier": {},
    }


#: Correct arguments of `warp_specialize`.
PARTITIONS = ((1, 24, lambda warpgroup: None), (2, None, lambda warpgroup: None))
