"""The GEMM kernel: a producer warpgroup loads and stores tiles by TMA, consumer warpgroups issue the mma.

The kernel is persistent and warp-specialized, as CUTLASS's `KernelTmaWarpSpecializedCooperative`.
"""

from __future__ import annotations

from typing import Any

from ....dialect import new_context
from ....dialect import ops as smem
from ....dialect.bindings import arith, gpu, ir, memref, nvvm, scf
from .config import REGISTERS, Config
from .problem import Problem
from .tile_scheduler import PersistentTileScheduler


def build(problem: Problem, config: Config) -> Any:
    """Build a module with the kernel `gemm(A, B, C)`: C = A * B, of any extents.

    Raises:
        ConfigError: if the configuration does not fit the problem.
    """
    config.check(problem)
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        kernels = gpu.GPUModuleOp("kernels")
        block = kernels.bodyRegion.blocks.append()
    with ir.InsertionPoint(block):
        function = gpu.GPUFuncOp(
            ir.FunctionType.get(_matrix_types(problem), []),
            "gemm",
            kernel=True,
            known_block_size=[128 * (1 + config.consumers), 1, 1],
            arg_attrs=[
                {
                    "smem.name": ir.StringAttr.get(name),
                    "smem.shape": ir.ArrayAttr.get([ir.StringAttr.get(e) for e in extents]),
                }
                for name, extents in (("A", "MK"), ("B", "KN"), ("C", "MN"))
            ],
        )
        if config.cluster != (1, 1):
            function.attributes["known_cluster_size"] = ir.DenseI32ArrayAttr.get(
                [*config.cluster, 1]
            )
        function.attributes["nvvm.minctasm"] = ir.IntegerAttr.get(
            ir.IntegerType.get_signless(32), 1
        )
    with ir.InsertionPoint(function.add_entry_block()):
        _Gemm(problem, config, *function.entry_block.arguments).body()
        gpu.ReturnOp([])
    return module


def _matrix_types(problem: Problem) -> list[Any]:
    """Return the types of the kernel's arguments: memrefs of any extents."""
    columns, rows = "[1, ?]", "[?, 1]"
    a = rows if problem.a_major == "k" else columns
    b = rows if problem.b_major == "n" else columns
    return [
        ir.Type.parse(f"memref<?x?x{element}, strided<{strides}>>")
        for element, strides in ((problem.a, a), (problem.b, b), (problem.c, rows))
    ]


def _tile_element(name: str) -> Any:
    """Return the element type of a tile of A or B: TMA rounds f32 to tf32, which tensor cores read."""
    return ir.Type.parse("tf32" if name == "f32" else name)


def text(problem: Problem, config: Config) -> str:
    """Return the module as text, which is the key of the compiled kernel in the cache."""
    with new_context():
        return str(build(problem, config))


class _Gemm:
    """Builds the kernel's body at the current insertion point."""

    def __init__(self, problem: Problem, config: Config, a: Any, b: Any, c: Any) -> None:
        self.problem, self.config = problem, config
        self.a, self.b, self.c = a, b, c
        m, n, k = config.tile
        self.tiles_a = smem.alloc((config.stages, m, k), _tile_element(problem.a))
        self.tiles_b = smem.alloc((config.stages, k, n), _tile_element(problem.b))
        self.rows = m // config.consumers
        self.first_columns = range(0, n, config.store_columns)
        element = ir.Type.parse(problem.c)
        shape = (config.store_buffers, self.rows, config.store_columns)
        self.tiles_c = smem.alloc(shape, element)
        # The thread that stores C grants buffers to the consumers, so it is the producer of this
        # pipeline.
        self.epilogue_pipeline = smem.create_pipeline(config.store_stages, producers=1, consumers=1)
        self.pipeline = smem.create_pipeline(config.stages, producers=1, consumers=config.consumers)
        self.scheduler = PersistentTileScheduler(
            config, memref.dim(a, _index(0)), memref.dim(b, _index(1))
        )
        depth = memref.dim(a, _index(1))
        self.k_blocks = arith.divui(arith.addi(depth, _index(k - 1)), _index(k))

    def body(self) -> None:
        consumers = self.config.consumers
        producer_registers, consumer_registers = REGISTERS[consumers]
        smem.warp_specialize(
            (1, producer_registers, lambda _: self.producer_warpgroup()),
            (consumers, consumer_registers, self.consumer_warpgroup),
        )

    def producer_warpgroup(self) -> None:
        """A thread of the first warp loads A and B, a thread of the second stores C."""
        smem.elect(self.load)
        smem.elect(self.store, warp=1)

    def load(self) -> None:
        """Load A and B of every K block of every tile of the CTA; one thread runs this."""
        # The next kernel may start as soon as CTAs of this one end; this one reads and writes memory only
        # after earlier kernels have ended (programmatic dependent launch).
        nvvm.griddepcontrol(nvvm.GridDepActionKind.launch_dependents)
        nvvm.griddepcontrol(nvvm.GridDepActionKind.wait)
        along_m, along_n = self.config.cluster
        depth = self.config.tile[2]
        with self.scheduler.tiles() as (row, column, first_index):
            for_k = scf.ForOp(_index(0), self.k_blocks, _index(1))
            with ir.InsertionPoint(for_k.body):
                index = arith.addi(first_index(self.k_blocks), for_k.induction_variable)
                at = arith.muli(for_k.induction_variable, _index(depth))
                slot = smem.producer_acquire(self.pipeline, index)
                smem.tma_load(
                    self.a,
                    smem.stage(self.tiles_a, slot),
                    self.pipeline,
                    index,
                    (row, at),
                    multicast="y" if along_n > 1 else None,
                )
                smem.tma_load(
                    self.b,
                    smem.stage(self.tiles_b, slot),
                    self.pipeline,
                    index,
                    (at, column),
                    multicast="x" if along_m > 1 else None,
                )
                smem.producer_commit(self.pipeline, index)
                scf.yield_([])

    def consumer_warpgroup(self, warpgroup: Any) -> None:
        """Mainloop and epilogue of a consumer warpgroup for its rows of every tile of the CTA."""
        own_row = arith.muli(warpgroup, _index(self.rows))
        with self.scheduler.tiles() as (_, _, first_index):
            first = first_index(self.k_blocks)
            running = self.mma(own_row, first)
            for_k = scf.ForOp(_index(1), self.k_blocks, _index(1), [running])
            with ir.InsertionPoint(for_k.body):
                index = arith.addi(first, for_k.induction_variable)
                running = self.mma(own_row, index, for_k.inner_iter_args[0])
                running = smem.wait(running, pending=1, in_flight=True)
                smem.consumer_release(self.pipeline, arith.subi(index, _index(1)))
                scf.yield_([running])
            done = smem.wait(for_k.results[0])
            last = arith.subi(arith.addi(first, self.k_blocks), _index(1))
            smem.consumer_release(self.pipeline, last)
            self.epilogue(done, warpgroup, first_index(_index(1)))

    def mma(self, own_row: Any, index: Any, accumulator: Any = None) -> Any:
        """Wait for a stage of the pipeline and issue its mma."""
        slot = smem.consumer_wait(self.pipeline, index)
        a = smem.stage(self.tiles_a, slot)
        if self.config.consumers > 1:
            a = smem.subtile(a, (own_row, 0), (self.rows, self.config.tile[2]))
        return smem.mma(a, smem.stage(self.tiles_b, slot), accumulator)

    def epilogue(self, accumulator: Any, warpgroup: Any, tile: Any) -> None:
        """Write the warpgroup's rows of a tile to shared memory, one epilogue tile at a time."""
        for i, column in enumerate(self.first_columns):
            index = arith.addi(self.first_store(tile, warpgroup), _index(i))
            smem.consumer_wait(self.epilogue_pipeline, index)
            columns = smem.columns(accumulator, column, self.config.store_columns)
            smem.store(columns, self.buffer(index))
            smem.fence()
            smem.consumer_release(self.epilogue_pipeline, index)

    def buffer(self, index: Any) -> Any:
        """Return the buffer of the epilogue tile with a pipeline index."""
        return smem.stage(self.tiles_c, arith.remui(index, _index(self.config.store_buffers)))

    def first_store(self, tile: Any, warpgroup: Any) -> Any:
        """Return the pipeline index of a warpgroup's first epilogue tile: tile by tile, warpgroup by
        warpgroup."""
        before = arith.addi(arith.muli(tile, _index(self.config.consumers)), warpgroup)
        return arith.muli(before, _index(len(self.first_columns)))

    def store(self) -> None:
        """Store the epilogue tiles to C by TMA, and grant each buffer again when it has been read; one
        thread runs this."""
        count, stages = self.config.store_buffers, self.config.store_stages
        # One store may still read its buffer when the next one starts.
        in_flight = min(1, count - 1)
        for index in range(count - in_flight):
            smem.producer_commit(self.epilogue_pipeline, _index(index))
        with self.scheduler.tiles() as (row, column, first_index):
            stores = scf.ForOp(_index(0), _index(self.config.stores), _index(1))
            with ir.InsertionPoint(stores.body):
                number, columns = stores.induction_variable, _index(len(self.first_columns))
                warpgroup, start = arith.divui(number, columns), arith.remui(number, columns)
                own = arith.addi(row, arith.muli(warpgroup, _index(self.rows)))
                first = arith.muli(start, _index(self.config.store_columns))
                index = arith.addi(self.first_store(first_index(_index(1)), _index(0)), number)
                # The warpgroup releases the stage when it has written the buffer.
                smem.producer_acquire(self.epilogue_pipeline, arith.addi(index, _index(stages)))
                smem.tma_store(self.buffer(index), self.c, (own, arith.addi(column, first)))
                smem.tma_commit()
                smem.tma_wait(in_flight, read=True)
                # The store that has just been read frees the buffer of this pipeline index.
                smem.producer_commit(
                    self.epilogue_pipeline, arith.addi(index, _index(count - in_flight))
                )
                scf.yield_([])
        smem.tma_wait(0, read=True)


def _index(value: int) -> Any:
    return arith.constant(ir.IndexType.get(), value)
