"""The time of a GEMM by a model: which configuration is likely the fastest, without a measurement.

A CTA's time is that of its K blocks, each limited by the tensor cores, by the bytes that a multiprocessor
takes from L2, or by the latency of memory over the stages in flight; then the epilogue, the part of it
that no other work hides, and what it costs to split K. Device memory limits the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, prod

from ....layout.instruction import INSTRUCTION_K_BYTES
from ....layout.wgmma import INSTRUCTION_M
from .config import Config
from .problem import Problem, item_bytes

#: The exponent of the norm that joins a CTA's own time and the memory's: their maximum, but for a
#: smooth corner.
_SHARPNESS = 4

#: Bytes of a partial sum in the workspace.
_PART_BYTES = 4


@dataclass(frozen=True)
class Prediction:
    """The predicted time of a GEMM with a configuration.

    Attributes:
        seconds: of the whole.
        bound: what limits the mainloop: "mma", "L2", "latency" or "memory".
        waves: K blocks of the busiest CTA, in tiles.
        mainloop, epilogue, split, fixed: the seconds of its parts.
        memory: the seconds to move every byte once, which the parts hide or wait for.
    """

    seconds: float
    bound: str
    waves: float
    mainloop: float
    epilogue: float
    split: float
    fixed: float
    memory: float

    def __str__(self) -> str:
        parts = {
            "fixed": self.fixed,
            "mainloop": self.mainloop,
            "epilogue": self.epilogue,
            "split": self.split,
        }
        text = ", ".join(f"{name} {1e6 * value:.1f}" for name, value in parts.items() if value)
        return (
            f"{1e6 * self.seconds:.1f} us: {text}; {self.waves:.2f} waves, limited by {self.bound}"
        )


@dataclass(frozen=True)
class TimeModel:
    """The constants of a GPU.

    Attributes:
        multiprocessors: how many it has.
        clock: cycles in a nanosecond.
        launch: microseconds of a launch and of the end of a kernel.
        fill: microseconds from a CTA's start to its first K block.
        mma_cycles: cycles of a 64xNxK instruction for each of its N.
        read_cycles: cycles in which shared memory gives an instruction its A.
        read_cycles_n: and its B, for each of its N.
        step_cycles: cycles of a K block besides its instructions.
        l2_bytes: bytes that a multiprocessor takes from L2 in a cycle.
        latency: cycles from a load to its data.
        memory: bytes of device memory in a nanosecond.
        store: cycles of an epilogue.
        store_bytes: bytes of the result in a cycle of an epilogue.
        hidden: the part of an epilogue that the next tile of the CTA hides.
        arrive: microseconds to write a part of a tile, to arrive, and to begin with the sum.
        part_bytes: bytes of parts that a multiprocessor writes or adds in a cycle.
    """

    multiprocessors: int
    clock: float
    launch: float
    fill: float
    mma_cycles: float
    read_cycles: float
    read_cycles_n: float
    step_cycles: float
    l2_bytes: float
    latency: float
    memory: float
    store: float
    store_bytes: float
    hidden: float
    arrive: float
    part_bytes: float

    def predict(
        self,
        problem: Problem,
        m: int,
        n: int,
        k: int,
        config: Config,
        batch: Sequence[int] = (),
    ) -> Prediction:
        """Return the time of a GEMM.

        Args:
            problem: element types and major-ness.
            m, n, k: the GEMM's extents.
            config: a configuration that fits.
            batch: the leading dimensions of the result.
        """
        rows, columns = (n, m) if config.exchanged else (m, n)
        along_m, along_n = config.cluster
        tile_m, tile_n, depth = config.tile
        steps = ceil(k / depth)
        clusters = ceil(rows / (tile_m * along_m)) * ceil(columns / (tile_n * along_n))
        tiles = prod(batch) * clusters * along_m * along_n
        ctas = prod(config.grid(m, n, k, self.multiprocessors, batch))
        step, bound = self._step(problem, config)
        if config.split_k > 1 and tiles % ctas:
            waves, parts = tiles / ctas, max(2, ceil(ctas / tiles))
        else:
            waves, parts = ceil(tiles / ctas), 1
        nanoseconds = 1 / self.clock
        mainloop = ceil(waves * steps) * step * nanoseconds * 1e-9
        item = sum(item_bytes(result) for result in problem.results)
        stored = self.store + tile_m * tile_n * item / self.store_bytes
        exposed = 1 + max(0, ceil(waves) - 1) * (1 - self.hidden)
        epilogue = exposed * stored * nanoseconds * 1e-9
        split = 0.0
        if parts > 1:
            part = tile_m * tile_n * _PART_BYTES / self.part_bytes * nanoseconds * 1e-9
            split = self.arrive * 1e-6 + (1 + parts) * part
        fixed = (self.launch + self.fill) * 1e-6
        moved = prod(batch) * m * n * item
        item = item_bytes(problem.a)
        for name, extent in (("a", m), ("b", n)):
            matrices = (e for e, having in zip(batch, problem.batch, strict=True) if name in having)
            moved += prod(matrices) * extent * k * item
        memory = moved / self.memory * 1e-9 + self.launch * 1e-6
        own = fixed + mainloop + epilogue + split
        # Near the memory's speed, a CTA's own time is not wholly hidden.
        total = (own**_SHARPNESS + memory**_SHARPNESS) ** (1 / _SHARPNESS)
        if memory > own:
            bound = "memory"
        return Prediction(total, bound, waves, mainloop, epilogue, split, fixed, memory)

    def _step(self, problem: Problem, config: Config) -> tuple[float, str]:
        """Return the cycles of a K block, and what limits it."""
        tile_m, tile_n, depth = config.tile
        line = depth * item_bytes(problem.a)
        instructions = tile_m // INSTRUCTION_M * (line // INSTRUCTION_K_BYTES)
        instruction = max(self.mma_cycles * tile_n, self.read_cycles + self.read_cycles_n * tile_n)
        limits = {
            "mma": instructions * instruction,
            "L2": (tile_m + tile_n) * line / self.l2_bytes,
            "latency": self.latency / (config.stages - 1),
        }
        bound = max(limits, key=limits.__getitem__)
        return limits[bound] + self.step_cycles, bound


#: An H200. Peak rates of its data sheet and of the ISA's instructions; the others are estimates, which no
#: sweep has been fitted to yet.
H200 = TimeModel(
    multiprocessors=132,
    clock=1.6,
    launch=1.6,
    fill=0.9,
    mma_cycles=0.5,
    read_cycles=16,
    read_cycles_n=0.25,
    step_cycles=16,
    l2_bytes=48,
    latency=1000,
    memory=4000,
    store=600,
    store_bytes=64,
    hidden=0.8,
    arrive=1.5,
    part_bytes=32,
)
