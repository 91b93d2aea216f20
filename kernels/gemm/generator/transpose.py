"""A kernel that transposes a matrix in memory: the same indices, the other dimension contiguous.

wgmma reads 8-bit and 32-bit operands K-major only; this kernel transposes an M-major A or an N-major B
first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ....dialect import ops as smem
from ....dialect.bindings import arith, gpu, ir, memref, scf
from .config import ConfigError


@dataclass(frozen=True)
class TransposeConfig:
    """The configuration of the kernel. A CTA transposes one window after the other.

    Attributes:
        window: (rows, columns) of a window, in elements.
        stages: stages of loaded windows.
        buffers: buffers of transposed windows, which are written or stored; at least 2.
        warpgroups: warpgroups of a CTA; all of its threads transpose the data.
    """

    window: tuple[int, int]
    stages: int = 3
    buffers: int = 2
    warpgroups: int = 2


#: By MLIR's name of the element type; 8-bit floats are copied as i8. Lines of a window are 128 bytes or
#: more along both dimensions, so that memory is read and written in whole sectors, and two CTAs fit a
#: multiprocessor.
CONFIGS = {"i8": TransposeConfig((128, 128)), "f32": TransposeConfig((64, 64))}


def build_transpose(element: str, config: TransposeConfig | None = None) -> Any:
    """Build a module with the kernel `transpose(X, Y)`: Y = X of any extents.

    X has contiguous columns and Y contiguous rows; other strides are multiples of 16 bytes. Any number of
    thread blocks may be launched: they divide the windows among them.

    Args:
        element: "i8" or "f32".
        config: the configuration; that of `CONFIGS` if None.

    Raises:
        ConfigError: if the element type is another, or there are fewer than 2 buffers.
    """
    if element not in CONFIGS:
        raise ConfigError(f"element is {element}; expected {' or '.join(CONFIGS)}")
    config = config or CONFIGS[element]
    if config.buffers < 2:
        raise ConfigError(
            f"buffers is {config.buffers}; expected 2 or more, because one is stored while another is "
            "written"
        )
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        kernels = gpu.GPUModuleOp("kernels")
        block = kernels.bodyRegion.blocks.append()
    types = [
        ir.Type.parse(f"memref<?x?x{element}, strided<{strides}>>")
        for strides in ("[1, ?]", "[?, 1]")
    ]
    with ir.InsertionPoint(block):
        function = gpu.GPUFuncOp(
            ir.FunctionType.get(types, []),
            "transpose",
            kernel=True,
            known_block_size=[128 * config.warpgroups, 1, 1],
            arg_attrs=[
                {
                    "smem.name": ir.StringAttr.get(name),
                    "smem.shape": ir.ArrayAttr.get([ir.StringAttr.get(e) for e in "MN"]),
                }
                for name in "XY"
            ],
        )
    with ir.InsertionPoint(function.add_entry_block()):
        _Transpose(ir.Type.parse(element), config, *function.entry_block.arguments).body()
        gpu.ReturnOp([])
    return module


class _Transpose:
    """Builds the kernel's body at the current insertion point."""

    def __init__(self, element: Any, config: TransposeConfig, x: Any, y: Any) -> None:
        self.config, self.x, self.y = config, x, y
        self.loaded = smem.alloc((config.stages, *config.window), element)
        self.transposed = smem.alloc((config.buffers, *config.window), element)
        self.pipeline = smem.create_pipeline(
            config.stages, producers=1, consumers=config.warpgroups
        )
        rows, columns = (
            arith.divui(arith.addi(memref.dim(x, _index(dim)), _index(extent - 1)), _index(extent))
            for dim, extent in enumerate(config.window)
        )
        self.rows, self.total = rows, arith.muli(rows, columns)
        self.first, self.ctas = (
            gpu.block_id(gpu.Dimension.x),
            gpu.grid_dim(gpu.Dimension.x),
        )

    def body(self) -> None:
        config = self.config

        def load_first() -> None:
            for index in range(config.stages):
                self.load(_index(index))

        smem.elect(load_first, scope="cta")
        windows = scf.ForOp(self.first, self.total, self.ctas, [_index(0)])
        with ir.InsertionPoint(windows.body):
            window, index = windows.induction_variable, windows.inner_iter_args[0]
            slot = smem.consumer_wait(self.pipeline, index)
            transposed = smem.stage(self.transposed, arith.remui(index, _index(config.buffers)))
            smem.copy(smem.stage(self.loaded, slot), transposed, relayout=True)
            smem.consumer_release(self.pipeline, index)
            smem.fence()
            # After the barrier every thread may write the next window's buffer: its store has been read.
            smem.elect(lambda: smem.tma_wait(config.buffers - 2, read=True), scope="cta")
            gpu.barrier()

            def store_and_load() -> None:
                smem.tma_store(transposed, self.y, self.origin(window))
                smem.tma_commit()
                self.load(arith.addi(index, _index(config.stages)))

            smem.elect(store_and_load, scope="cta")
            scf.yield_([arith.addi(index, _index(1))])
        smem.elect(lambda: smem.tma_wait(0, read=True), scope="cta")

    def load(self, index: Any) -> None:
        """Load the CTA's window of a pipeline index, if the matrix has it."""
        window = arith.addi(self.first, arith.muli(index, self.ctas))
        in_range = arith.cmpi(arith.CmpIPredicate.ult, window, self.total)
        branch = scf.IfOp(in_range)
        with ir.InsertionPoint(branch.then_block):
            slot = smem.producer_acquire(self.pipeline, index)
            tile = smem.stage(self.loaded, slot)
            smem.tma_load(self.x, tile, self.pipeline, index, self.origin(window))
            smem.producer_commit(self.pipeline, index)
            scf.yield_([])

    def origin(self, window: Any) -> tuple[Any, Any]:
        """Return the first (row, column) of a window. Windows are counted along X's contiguous
        columns."""
        row, column = arith.remui(window, self.rows), arith.divui(window, self.rows)
        return tuple(
            arith.muli(number, _index(extent))
            for number, extent in zip((row, column), self.config.window, strict=True)
        )


def _index(value: int) -> Any:
    return arith.constant(ir.IndexType.get(), value)
