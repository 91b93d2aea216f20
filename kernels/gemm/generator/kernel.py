"""The kernel: one warpgroup loads and stores tiles by TMA, the others multiply them."""

from __future__ import annotations

from typing import Any

from ....dialect import new_context
from ....dialect import ops as smem
from ....dialect.bindings import arith, gpu, ir, memref, nvvm, scf
from .config import REGISTERS, Config
from .problem import Problem
from .tile_scheduler import PersistentTileScheduler


def build(problem: Problem, config: Config) -> Any:
    """A module with the kernel `gemm(A, B, C)`: C = A * B, of any extents.

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
    """The kernel's arguments: memrefs of any extents."""
    columns, rows = "[1, ?]", "[?, 1]"
    a = rows if problem.a_major == "k" else columns
    b = rows if problem.b_major == "n" else columns
    return [
        ir.Type.parse(f"memref<?x?x{element}, strided<{strides}>>")
        for element, strides in ((problem.a, a), (problem.b, b), (problem.c, rows))
    ]


def _tile_element(name: str) -> Any:
    """The element type of a tile of A or B: TMA rounds f32 to the tf32 that tensor cores read."""
    return ir.Type.parse("tf32" if name == "f32" else name)


def text(problem: Problem, config: Config) -> str:
    """The module as text, which is what compiled kernels are remembered by."""
    with new_context():
        return str(build(problem, config))


class _Gemm:
    """The body, at the current insertion point."""

    def __init__(self, problem: Problem, config: Config, a: Any, b: Any, c: Any) -> None:
        self.problem, self.config = problem, config
        self.a, self.b, self.c = a, b, c
        m, n, k = config.tile
        self.tiles_a = smem.alloc((config.stages, m, k), _tile_element(problem.a))
        self.tiles_b = smem.alloc((config.stages, k, n), _tile_element(problem.b))
        self.rows = m // config.consumers
        self.starts = range(0, n, config.store_columns)
        stored = ir.Type.parse(problem.c)
        shape = (config.store_buffers, self.rows, config.store_columns)
        self.tiles_c = smem.alloc(shape, stored)
        # The thread that stores hands out buffers, so it is the producer.
        self.buffers = smem.create_pipeline(config.store_stages, producers=1, consumers=1)
        self.pipeline = smem.create_pipeline(config.stages, producers=1, consumers=config.consumers)
        self.loop = PersistentTileScheduler(
            config, memref.dim(a, _index(0)), memref.dim(b, _index(1))
        )
        depth = memref.dim(a, _index(1))
        self.steps = arith.divui(arith.addi(depth, _index(k - 1)), _index(k))

    def body(self) -> None:
        consumers = self.config.consumers
        producer_registers, consumer_registers = REGISTERS[consumers]
        smem.warp_specialize(
            (1, producer_registers, lambda _: self.move()),
            (consumers, consumer_registers, self.consume),
        )

    def move(self) -> None:
        """One thread loads, another stores."""
        smem.elect(self.produce)
        smem.elect(self.send, warp=1)

    def produce(self) -> None:
        """One thread loads the tiles of all K steps of all of the block's tiles of C."""
        # The next kernel may start as soon as blocks of this one end; this one reads and writes memory
        # only when those before it are done.
        nvvm.griddepcontrol(nvvm.GridDepActionKind.launch_dependents)
        nvvm.griddepcontrol(nvvm.GridDepActionKind.wait)
        along_m, along_n = self.config.cluster
        depth = self.config.tile[2]
        with self.loop.tiles() as (row, column, before):
            for_k = scf.ForOp(_index(0), self.steps, _index(1))
            with ir.InsertionPoint(for_k.body):
                step = arith.addi(before(self.steps), for_k.induction_variable)
                at = arith.muli(for_k.induction_variable, _index(depth))
                slot = smem.producer_acquire(self.pipeline, step)
                smem.tma_load(
                    self.a,
                    smem.stage(self.tiles_a, slot),
                    self.pipeline,
                    step,
                    (row, at),
                    multicast="y" if along_n > 1 else None,
                )
                smem.tma_load(
                    self.b,
                    smem.stage(self.tiles_b, slot),
                    self.pipeline,
                    step,
                    (at, column),
                    multicast="x" if along_m > 1 else None,
                )
                smem.producer_commit(self.pipeline, step)
                scf.yield_([])

    def consume(self, warpgroup: Any) -> None:
        """A warpgroup multiplies its rows of the tiles, and hands them over to be stored."""
        own_row = arith.muli(warpgroup, _index(self.rows))
        with self.loop.tiles() as (_, _, before):
            first = before(self.steps)
            product = self.multiply(own_row, first)
            for_k = scf.ForOp(_index(1), self.steps, _index(1), [product])
            with ir.InsertionPoint(for_k.body):
                step = arith.addi(first, for_k.induction_variable)
                product = self.multiply(own_row, step, for_k.inner_iter_args[0])
                product = smem.wait(product, pending=1, in_flight=True)
                smem.consumer_release(self.pipeline, arith.subi(step, _index(1)))
                scf.yield_([product])
            done = smem.wait(for_k.results[0])
            last = arith.subi(arith.addi(first, self.steps), _index(1))
            smem.consumer_release(self.pipeline, last)
            self.store(done, warpgroup, before(_index(1)))

    def multiply(self, own_row: Any, step: Any, accumulator: Any = None) -> Any:
        slot = smem.consumer_wait(self.pipeline, step)
        a = smem.stage(self.tiles_a, slot)
        if self.config.consumers > 1:
            a = smem.subtile(a, (own_row, 0), (self.rows, self.config.tile[2]))
        return smem.mma(a, smem.stage(self.tiles_b, slot), accumulator)

    def store(self, done: Any, warpgroup: Any, number: Any) -> None:
        """Hands the warpgroup's rows of a tile to the thread that stores, some columns at a time."""
        for i, start in enumerate(self.starts):
            step = arith.addi(self.first_store(number, warpgroup), _index(i))
            smem.consumer_wait(self.buffers, step)
            part = smem.columns(done, start, self.config.store_columns)
            smem.store(part, self.buffer(step))
            smem.fence()
            smem.consumer_release(self.buffers, step)

    def buffer(self, step: Any) -> Any:
        """The buffer of a store."""
        return smem.stage(self.tiles_c, arith.remui(step, _index(self.config.store_buffers)))

    def first_store(self, number: Any, warpgroup: Any) -> Any:
        """The first of the stores of a warpgroup's rows: one warpgroup after the other, tile by tile."""
        turn = arith.addi(arith.muli(number, _index(self.config.consumers)), warpgroup)
        return arith.muli(turn, _index(len(self.starts)))

    def send(self) -> None:
        """One thread stores what the warpgroups have written, and gives the buffers back when it is
        read."""
        count, stages = self.config.store_buffers, self.config.store_stages
        # A store is still reading its buffer while the next one is started.
        ahead = min(1, count - 1)
        for step in range(count - ahead):
            smem.producer_commit(self.buffers, _index(step))
        with self.loop.tiles() as (row, column, before):
            parts = scf.ForOp(_index(0), _index(self.config.stores), _index(1))
            with ir.InsertionPoint(parts.body):
                part, columns = parts.induction_variable, _index(len(self.starts))
                warpgroup, start = arith.divui(part, columns), arith.remui(part, columns)
                own = arith.addi(row, arith.muli(warpgroup, _index(self.rows)))
                first = arith.muli(start, _index(self.config.store_columns))
                step = arith.addi(self.first_store(before(_index(1)), _index(0)), part)
                # The pipeline's stage is given back when the warpgroup has written the buffer.
                smem.producer_acquire(self.buffers, arith.addi(step, _index(stages)))
                smem.tma_store(self.buffer(step), self.c, (own, arith.addi(column, first)))
                smem.tma_commit()
                smem.tma_wait(ahead, read=True)
                # The buffer that is read by now is that of the store to which it is handed next.
                smem.producer_commit(self.buffers, arith.addi(step, _index(count - ahead)))
                scf.yield_([])
        smem.tma_wait(0, read=True)


def _index(value: int) -> Any:
    return arith.constant(ir.IndexType.get(), value)
