"""Kernels that together use every builder."""

from mlir_smem.bindings import arith, gpu, ir, memref
from mlir_smem.dialect import attributes, types

WORKGROUP = "#gpu.address_space<workgroup>"


def gemm(ops, a, b, d):
    """D = f(A * B) * B^T by one warpgroup: stages, subtiles, views, A from a tile and from registers."""
    bf16 = a.type.element_type
    shared = memref.get_global(ir.Type.parse(f"memref<64x64xbf16, {WORKGROUP}>"), "shared")
    a_stages, b_tile = ops.alloc((2, 64, 64), bf16), ops.alloc((64, 64), bf16)
    a_tile = ops.stage(a_stages, 1)
    ops.copy(a, a_tile)
    ops.copy_async(b, b_tile)
    ops.copy_commit()
    ops.copy_wait()
    ops.fence()
    gpu.barrier()
    never_keep = arith.constant(ir.IntegerType.get_signless(1), 0)
    start = ops.scale_d(ops.fill(0, (64, 64)), never_keep)
    subtiles = ops.subtile(a_tile, (0, 32), (64, 32)), ops.subtile(b_tile, (32, 0), (32, 64))
    first = ops.wait(ops.mma(*subtiles, start))
    doubled = ops.map([first], lambda x: arith.addf(x, x))
    most = ops.broadcast(ops.reduce(doubled, "maximumf", axis=1), 64)
    doubled = ops.map([doubled, most], arith.addf)
    done = ops.wait(ops.mma(ops.convert(doubled, bf16), ops.transpose(b_tile)))
    view = ops.view(shared, (64, 64), bf16, attributes.swizzle("128B"))
    ops.offset(view, 0, 8, (1, 8))
    vector = ops.to_registers(done)
    ops.store(ops.from_registers(arith.addf(vector, vector), done.type), view)
    gpu.barrier()
    ops.store(ops.columns(ops.load(view, done.type), 8, 16), d)


def pipeline(ops, a, b, d):
    """D = A * B in two partitions: one loads by TMA, the other multiplies and stores by TMA."""
    bf16 = a.type.element_type
    pipe = ops.create_pipeline(2)
    a_stages, b_stages = (ops.alloc((2, 64, 64), bf16) for _ in range(2))
    d_tile = ops.alloc((64, 64), bf16)

    def load():
        stage = ops.producer_acquire(pipe, 0)
        ops.tma_load(a, ops.stage(a_stages, stage), pipe, 0, (0, 0))
        ops.tma_load(b, ops.stage(b_stages, stage), pipe, 0, (0, 0), cache="evict_last")
        ops.producer_commit(pipe, 0)

    def store():
        ops.tma_store(d_tile, d, (0, 0))
        ops.tma_commit()
        ops.tma_wait()

    def multiply(_):
        stage = ops.consumer_wait(pipe, 0)
        ops.order_wait()
        product = ops.mma(ops.stage(a_stages, stage), ops.stage(b_stages, stage))
        ops.order_arrive()
        done = ops.wait(product)
        ops.consumer_release(pipe, 0)
        ops.store(done, d_tile)
        ops.fence()
        ops.warpgroup_barrier()
        ops.elect(store)

    ops.warp_specialize((1, 40, lambda _: ops.elect(load)), (1, 232, multiply))


def sparse(ops, a, b, metadata, d):
    """D = A * B of a sparse A."""
    a_tile, b_tile = (ops.alloc(memory.type.shape, memory.type.element_type) for memory in (a, b))
    ops.copy(a, a_tile)
    ops.copy(b, b_tile)
    ops.fence()
    gpu.barrier()
    metadata_fragment = ops.load(metadata, types.metadata((64, 64), a.type.element_type))
    ops.store(ops.wait(ops.mma_sp(a_tile, b_tile, metadata_fragment)), d)


def block_scaled(ops, a, b, a_scales, b_scales, d):
    """D = A * B of 4-bit floats with scale factors."""
    fp4, factors = ir.Type.parse("f4E2M1FN"), a_scales.type.element_type
    tiles = [ops.alloc((128, 64), fp4), ops.alloc((64, 128), fp4)]
    tiles += [ops.alloc((128, 4), factors) for _ in range(2)]
    for memory, tile in zip((a, b, a_scales, b_scales), tiles, strict=True):
        ops.copy(memory, tile)
    ops.fence()
    gpu.barrier()
    ops.store(ops.wait(ops.mma_scaled(*tiles)), d)


def semaphores(ops, a, s, d):
    """D = A, and an arrival."""
    ops.store(ops.load(a, types.fragment((64, 64), a.type.element_type)), d)
    ops.semaphore_arrive(s, 0, 2)


def tensor_memory(ops):
    """Tensor memory. Kernels do not build this op; `smem-place-accumulators` adds it."""
    ops.tensor_memory(64, warpgroups=1)


#: For each kernel: the function that builds it with the builders `ops`, its architecture, its arguments'
#: types by name, and the number of warpgroups of its CTA.
KERNELS = {
    "gemm": (
        gemm,
        "sm_90a",
        {"A": "64x64xbf16", "B": "64x64xbf16", "D": "64x16xf32"},
        1,
    ),
    "pipeline": (pipeline, "sm_90a", dict.fromkeys("ABD", "64x64xbf16"), 2),
    "sparse": (
        sparse,
        "sm_90a",
        {"A": "64x32xbf16", "B": "64x64xbf16", "E": "1x1x128xi32", "D": "64x64xf32"},
        1,
    ),
    "scaled": (
        block_scaled,
        "sm_100a",
        {
            "A": "128x32xi8",
            "B": "32x128xi8, strided<[1, 32]>",
            "SA": "1x1x32x4x4xf8E4M3FN",
            "SB": "1x1x32x4x4xf8E4M3FN",
            "D": "128x128xf32",
        },
        1,
    ),
    "semaphores": (
        semaphores,
        "sm_90a",
        {"A": "64x64xf32", "S": "1xi32", "D": "64x64xf32"},
        1,
    ),
    "tensor_memory": (tensor_memory, None, {}, 1),
}


def build_kernel(name, ops):
    """Build a module with a kernel with the builders `ops`, in the current context."""
    build, _, arguments, warpgroups = KERNELS[name]
    matrices = [ir.Type.parse(f"memref<{text}>") for text in arguments.values()]
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        block = gpu.GPUModuleOp("kernels").bodyRegion.blocks.append()
    with ir.InsertionPoint(block):
        shared = ir.Operation.parse(f"memref.global @shared : memref<64x64xbf16, {WORKGROUP}>")
        ir.InsertionPoint.current.insert(shared)
        function = gpu.GPUFuncOp(
            ir.FunctionType.get(matrices, []),
            name,
            kernel=True,
            known_block_size=[128 * warpgroups, 1, 1],
            arg_attrs=[
                {"smem.name": ir.StringAttr.get(argument_name)} for argument_name in arguments
            ],
        )
    with ir.InsertionPoint(function.add_entry_block()):
        build(ops, *function.entry_block.arguments)
        gpu.ReturnOp([])
    return module
