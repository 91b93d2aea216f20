"""A compiler that uses mlir-smem: build tiles with the op builders, run the passes, read the code.

    python examples/build_matmul.py [--element f16|bf16] [--output f32|bf16|f16] [--tile-n 128]

The kernel is that of `matmul.mlir`; the options choose the element type, the output type and the tile's
N. The compiler's own pass manager runs the pipeline of mlir-smem and upstream's passes.
"""

import argparse

import mlir_smem
from mlir_smem.bindings import arith, gpu, ir, memref, passmanager, scf
from mlir_smem.dialect import ops as smem

#: AHEAD is the number of K blocks whose copies run ahead of the mma.
TILE_M, TILE_K, STAGES, AHEAD = 128, 64, 4, 2
WARPGROUPS = 2


def matmul(element: str, output: str, tile_n: int) -> ir.Module:
    """Return a module with the kernel `matmul(A, B, C)`: C = A * B of row-major matrices.

    Their extents are multiples of the tile."""
    module = ir.Module.create()
    index = ir.IndexType.get()
    dynamic = ir.ShapedType.get_dynamic_size()
    elements = [ir.Type.parse(name) for name in (element, element, output)]
    matrices = [ir.MemRefType.get([dynamic, dynamic], type_) for type_ in elements]
    with ir.InsertionPoint(module.body):
        kernels = gpu.GPUModuleOp("kernels")
        block = kernels.bodyRegion.blocks.append()
    with ir.InsertionPoint(block):
        function = gpu.GPUFuncOp(
            ir.FunctionType.get(matrices, []),
            "matmul",
            kernel=True,
            known_block_size=[128 * WARPGROUPS, 1, 1],
            arg_attrs=[
                {
                    "smem.name": ir.StringAttr.get(name),
                    "smem.shape": ir.ArrayAttr.get([ir.StringAttr.get(e) for e in extents]),
                }
                for name, extents in (("A", "MK"), ("B", "KN"), ("C", "MN"))
            ],
        )
        function.attributes["smem.grid"] = ir.Attribute.parse(f'[["N", {tile_n}], ["M", {TILE_M}]]')
        function.attributes["smem.multiples"] = ir.Attribute.parse(
            f"{{K = {TILE_K}, M = {TILE_M}, N = {tile_n}}}"
        )
    with ir.InsertionPoint(function.add_entry_block()):
        build_body(*function.entry_block.arguments, elements[0], tile_n, index)
        gpu.ReturnOp([])
    return module


def build_body(a, b, c, element, tile_n: int, index) -> None:
    """Build the kernel's body at the current insertion point."""

    def constant(value: int):
        return arith.constant(index, value)

    def times(value, factor: int):
        return arith.muli(value, constant(factor))

    def window(matrix, row, column, rows: int, columns: int):
        type_ = ir.Type.parse(
            f"memref<{rows}x{columns}x{matrix.type.element_type}, strided<[?, 1], offset: ?>>"
        )
        offsets = [row, column]
        return memref.subview(matrix, offsets, [rows, columns], [1, 1], result_type=type_)

    row = times(gpu.block_id(gpu.Dimension.y), TILE_M)
    column = times(gpu.block_id(gpu.Dimension.x), tile_n)
    warpgroup = arith.divui(gpu.thread_id(gpu.Dimension.x), constant(128))
    own_row = times(warpgroup, TILE_M // WARPGROUPS)
    k_blocks = arith.divui(memref.dim(a, constant(1)), constant(TILE_K))

    # The tiles have no layout yet: `smem-assign-layouts` chooses one that every op on them accepts.
    a_tiles = smem.alloc((STAGES, TILE_M, TILE_K), element)
    b_tiles = smem.alloc((STAGES, TILE_K, tile_n), element)

    def start_copy(k_block) -> None:
        """Start the copy of a K block if K has it, and commit its group in either case."""
        in_range = arith.cmpi(arith.CmpIPredicate.ult, k_block, k_blocks)
        branch = scf.IfOp(in_range)
        with ir.InsertionPoint(branch.then_block):
            k, slot = times(k_block, TILE_K), arith.remui(k_block, constant(STAGES))
            smem.copy_async(window(a, row, k, TILE_M, TILE_K), smem.stage(a_tiles, slot))
            smem.copy_async(window(b, k, column, TILE_K, tile_n), smem.stage(b_tiles, slot))
            scf.yield_([])
        smem.copy_commit()

    for k_block in range(AHEAD):
        start_copy(constant(k_block))

    shape = (TILE_M // WARPGROUPS, tile_n)
    start = smem.fill(0.0, shape, in_flight=True)
    loop = scf.ForOp(constant(0), k_blocks, constant(1), [start])
    with ir.InsertionPoint(loop.body):
        k_block, accumulator = loop.induction_variable, loop.inner_iter_args[0]
        smem.copy_wait(pending=AHEAD - 1)
        smem.fence()
        gpu.barrier()
        slot = arith.remui(k_block, constant(STAGES))
        a_rows = smem.subtile(smem.stage(a_tiles, slot), (own_row, 0), (shape[0], TILE_K))
        running = smem.mma(a_rows, smem.stage(b_tiles, slot), accumulator)
        start_copy(arith.addi(k_block, constant(AHEAD)))
        scf.yield_([smem.wait(running, pending=1, in_flight=True)])
    done = smem.wait(loop.results[0])
    smem.store(done, window(c, arith.addi(row, own_row), column, *shape))


def main() -> None:
    """Build the kernel for the options, lower it in a pass manager, compile it, and print the sizes."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--element", choices=("f16", "bf16"), default="bf16")
    arguments.add_argument("--output", choices=("f32", "bf16", "f16"), default="f32")
    arguments.add_argument("--tile-n", type=int, choices=(64, 128, 256), default=128)
    options = arguments.parse_args()

    with mlir_smem.register(ir.Context()), ir.Location.unknown():
        module = matmul(options.element, options.output, options.tile_n)

        # A compiler adds the pipeline to its own pass manager...
        lowered = ir.Module.parse(str(module))
        pm = passmanager.PassManager("builtin.module")
        mlir_smem.add_passes(pm, "smem-to-nvvm")
        pm.add("gpu.module(canonicalize,cse)")
        pm.run(lowered.operation)
        print(f"after smem-to-nvvm: {len(str(lowered).splitlines())} lines of NVVM")

        # ... or calls `compile`, which also runs LLVM and ptxas.
        compiled = mlir_smem.compile(module, arch="sm_90a")
    assert compiled.report and compiled.ptx and compiled.cubin
    print(f"PTX: {len(compiled.ptx.splitlines())} lines; cubin: {len(compiled.cubin)} bytes")
    print(f"{compiled.report.registers} registers, {compiled.report.spill_bytes} bytes of spills")
    kernel = compiled.manifest["kernels"][0]
    print(f"block {kernel['block']}, grid {kernel['grid']}")


if __name__ == "__main__":
    main()
