"""The time of a GEMM by a model: which configuration is likely the fastest, without a measurement.

A CTA's time is that of its K blocks, each limited by the tensor cores, by the bytes that a multiprocessor
takes from L2, or by those that all of them take; then the epilogue, of which the next tile hides a part,
and what it costs to split K. Device memory limits the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, prod

from ....layout.instruction import INSTRUCTION_K_BYTES
from ....layout.wgmma import INSTRUCTION_M
from .config import Config
from .problem import Problem, item_bytes

#: The exponents of the norms that join limits: their maximum, but for a smooth corner. First for a K
#: block, then for a CTA's own time and that of device memory.
_SHARP, _SMOOTH = 6, 4

#: Cycles in a nanosecond, of which the other constants are multiples: the boost clock of an H200.
_CLOCK = 1.755

#: Bytes of a partial sum in the workspace.
_PART_BYTES = 4


@dataclass(frozen=True)
class Prediction:
    """The predicted time of a GEMM with a configuration.

    Attributes:
        seconds: of the whole.
        bound: what limits it most: "mma", "L2" or "memory".
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
        launch: microseconds of a launch, of the first loads, and of the end of a kernel.
        mma: cycles of a 64xNxK instruction for each of its N.
        read: cycles in which shared memory gives an instruction its A.
        read_n: and its B, for each of its N.
        step: cycles of a K block besides its instructions.
        l2: bytes that a multiprocessor takes from L2 in a cycle.
        all_l2: the same, if all multiprocessors do.
        unaligned: what more a byte costs whose row begins at a multiple of 64, 32 or 16 bytes only.
        cluster: cycles for which CTAs of a cluster wait for each other in a K block.
        memory: bytes of device memory in a nanosecond.
        store: cycles of an epilogue.
        store_part: cycles of each of its epilogue tiles.
        store_bytes: bytes of the results in a cycle.
        store_unaligned: what more these cost if rows begin at multiples of 16 bytes only.
        hidden: the part of an epilogue that the next tile of the CTA hides.
        arrive: microseconds to arrive at a semaphore, and to begin with the sum.
        part_bytes: bytes of parts that a multiprocessor writes or adds in a cycle.
        added: microseconds for which the CTAs of a cluster wait for each other to add their parts.
        added_bytes: bytes of parts that a multiprocessor writes to shared memory, or adds, in a cycle.
    """

    multiprocessors: int
    launch: float
    mma: float
    read: float
    read_n: float
    step: float
    l2: float
    all_l2: float
    unaligned: tuple[float, float, float]
    cluster: float
    memory: float
    store: float
    store_part: float
    store_bytes: float
    store_unaligned: float
    hidden: float
    arrive: float
    part_bytes: float
    added: float
    added_bytes: float

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
        step, bound = self._step(problem, config, (m, n, k), ctas)
        if config.cluster_k > 1:
            # Clusters run side by side, each as long as its longest part.
            steps, parts = ceil(steps / config.cluster_k), config.cluster_k
            waves = ceil(ctas / self.multiprocessors)
        elif config.split_k > 1 and tiles % ctas:
            waves, parts = tiles / ctas, max(2, ceil(ctas / tiles))
        else:
            waves, parts = ceil(tiles / ctas), 1
        cycle = 1e-9 / _CLOCK
        mainloop = ceil(waves * steps) * step * cycle
        exposed = 1 + max(0, ceil(waves) - 1) * (1 - self.hidden)
        epilogue = exposed * self._stored(problem, config, n) * cycle
        split = 0.0
        if config.cluster_k > 1:
            added = tile_m * config.part_columns(problem) * _PART_BYTES / self.added_bytes * cycle
            split = self.added * 1e-6 + 2 * added
        elif parts > 1:
            part = problem.products * tile_m * tile_n * _PART_BYTES / self.part_bytes * cycle
            split = self.arrive * 1e-6 + (1 + parts) * part
        fixed = self.launch * 1e-6
        memory = self._moved(problem, (m, n, k), batch) / self.memory * 1e-9 + fixed
        own = fixed + mainloop + epilogue + split
        total = (own**_SMOOTH + memory**_SMOOTH) ** (1 / _SMOOTH)
        if memory > own:
            bound = "memory"
        return Prediction(total, bound, waves, mainloop, epilogue, split, fixed, memory)

    def _step(
        self, problem: Problem, config: Config, extents: tuple[int, int, int], ctas: int
    ) -> tuple[float, str]:
        """Return the cycles of a K block, and what limits it most."""
        tile_m, tile_n, depth = config.tile
        tile_n *= problem.products
        along_m, along_n = config.cluster
        line = depth * item_bytes(problem.a)
        instructions = tile_m // INSTRUCTION_M * (line // INSTRUCTION_K_BYTES)
        mma = instructions * max(self.mma * tile_n, self.read + self.read_n * tile_n)
        (m, n, k), item = extents, item_bytes(problem.a)
        of_a = self._line((k if problem.a_major == "k" else m) * item)
        of_b = self._line((k if problem.b_major == "k" else n) * item)
        if config.exchanged:
            of_a, of_b = of_b, of_a
        loaded = line * (tile_m * of_a / along_n + tile_n * of_b / along_m)
        l2 = max(loaded / self.l2, loaded / self.all_l2 * ctas / self.multiprocessors)
        waiting = self.step + (self.cluster if along_m * along_n > 1 else 0)
        joined = (mma**_SHARP + l2**_SHARP) ** (1 / _SHARP)
        return joined + waiting, "mma" if mma > l2 else "L2"

    def _line(self, row: int) -> float:
        """Return the cost of a byte of a row of so many bytes."""
        for alignment, more in zip((128, 64, 32), (0.0, *self.unaligned[:2]), strict=True):
            if row % alignment == 0:
                return 1 + more
        return 1 + self.unaligned[2]

    def _stored(self, problem: Problem, config: Config, n: int) -> float:
        """Return the cycles of an epilogue."""
        tile_m = config.tile[0]
        stored = sum(item_bytes(result) for result in problem.results)
        line = n * min(item_bytes(result) for result in problem.results)
        more = 1 + self.store_unaligned * (line % 32 > 0)
        columns = config.finished_columns
        parts = config.consumers * columns / config.store_columns
        return (
            self.store
            + self.store_part * parts
            + tile_m * columns * stored / self.store_bytes * more
        )

    def _moved(
        self, problem: Problem, extents: tuple[int, int, int], batch: Sequence[int]
    ) -> float:
        """Return the bytes of the operands and results."""
        m, n, k = extents
        moved = prod(batch) * m * n * sum(item_bytes(result) for result in problem.results)
        for name, extent in (("a", m), ("b", n * problem.products)):
            matrices = (e for e, having in zip(batch, problem.batch, strict=True) if name in having)
            moved += prod(matrices) * extent * k * item_bytes(problem.a)
        return moved


#: An H200, fitted to 524 random shapes of bf16 (log-uniform, multiples of 8 from 8 to 16384), each with
#: up to 30 configurations. The sweep was a trial: `benchmarks/sweep.py` has no record yet.
H200 = TimeModel(
    multiprocessors=132,
    launch=1.116,
    mma=0.456,
    read=15.0,
    read_n=0.12,
    step=101,
    l2=204,
    all_l2=64.8,
    unaligned=(0.37, 0.56, 1.39),
    cluster=72,
    memory=3306,
    store=409,
    store_part=239,
    store_bytes=25.1,
    store_unaligned=0.53,
    hidden=0.615,
    arrive=3.62,
    part_bytes=29.1,
    added=1.0,
    added_bytes=40.0,
)
