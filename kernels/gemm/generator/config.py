"""What is chosen for a GEMM kernel: tile, stages, cluster, order; and whether it fits."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import ceil

from ....dialect.ops.pipeline import MBARRIER_BYTES
from ....ir.cluster import MAX_BLOCKS
from ....layout.banks import MAX_BYTES
from ....layout.elements import UNIT_BYTES
from ....layout.instruction import INSTRUCTION_K_BYTES
from ....layout.wgmma import INSTRUCTION_M
from .problem import Problem, item_bytes, multiplicand

#: Registers of a thread of the producer and of a consumer, by how many consumers there are: the
#: producer gives up what they take.
REGISTERS = {1: (40, 248), 2: (40, 232), 3: (32, 160)}

#: Those of a consumer that its accumulator can have; with 16 more, ptxas 13.5 spills or gives up.
_ACCUMULATOR_REGISTERS = {1: 208, 2: 160, 3: 96}

#: A consumer releases a stage when the mma of the next is under way, so it holds two.
_FEWEST_STAGES = 2

#: Blocks of a cluster along M or N.
_CLUSTER_EXTENTS = (1, 2, 4)

#: Lines of a tile that the swizzle's pattern has; a block of a cluster loads whole patterns of a tile.
_PATTERN_LINES = 8

#: Columns of an accumulator that lie in registers of their own: N is a multiple of that, and so is
#: what is stored at a time.
_COLUMN_STEP = 8


class ConfigError(ValueError):
    """A configuration that cannot be; the message has the arithmetic."""


@dataclass(frozen=True)
class Config:
    """A kernel's shape.

    Attributes:
        tile: (M, N, K) of what a block computes at a time, in elements.
        stages: K steps of A and B that shared memory holds.
        cluster: blocks of a cluster along M and N; they share A along N and B along M.
        consumers: warpgroups that multiply; each has an equal part of the tile's rows.
        group: rows of clusters that are worked on together, so that L2 holds what they share.
        store_columns: columns of the result that a warpgroup stores at a time.
        store_buffers: tiles of that width, for all warpgroups, that may be under way.
    """

    tile: tuple[int, int, int] = (128, 256, 64)
    stages: int = 4
    cluster: tuple[int, int] = (1, 1)
    consumers: int = 2
    group: int = 16
    store_columns: int = 128
    store_buffers: int = 2

    def grid(self, m: int, n: int, resident: int) -> tuple[int, int]:
        """Blocks along x and y: as many clusters as run at a time, or as there are tiles for.

        Args:
            m, n: rows and columns of the result.
            resident: blocks that run at a time (`Kernel.resident_blocks`).
        """
        along_m, along_n = self.cluster
        tiles = ceil(m / (self.tile[0] * along_m)) * ceil(n / (self.tile[1] * along_n))
        clusters = min(tiles, max(1, resident // (along_m * along_n)))
        return clusters * along_m, along_n

    def check(self, problem: Problem) -> None:
        """Checks that there can be such a kernel for a problem.

        Raises:
            ConfigError: if there cannot; the message says what would fit.
        """
        self._check_numbers()
        self._check_tile(problem)
        self._check_cluster(problem)
        self._check_registers()
        if self.shared_bytes(problem) > MAX_BYTES:
            self._refuse_shared(problem)

    def shared_bytes(self, problem: Problem) -> int:
        """Bytes of shared memory that a block takes."""
        return sum(self._shared(problem))

    @property
    def stores(self) -> int:
        """The parts in which a tile of the result is stored."""
        return self.consumers * (self.tile[1] // self.store_columns)

    @property
    def store_stages(self) -> int:
        """Stages of the pipeline by which buffers are handed out: each is of one part of every tile, so that
        the warpgroup that waits for it sees all of its phases."""
        return self.stores * ceil(self.store_buffers / self.stores)

    def max_stages(self, problem: Problem) -> int:
        """How many stages fit beside what is stored; 0 or fewer if none do."""
        none, one = (replace(self, stages=stages).shared_bytes(problem) for stages in (0, 1))
        return (MAX_BYTES - none) // (one - none)

    def _check_numbers(self) -> None:
        least = {"stages": _FEWEST_STAGES, "group": 1, "store_columns": 1, "store_buffers": 1}
        for name, lowest in least.items():
            if getattr(self, name) < lowest:
                raise ConfigError(f"{name} is {getattr(self, name)}; expected {lowest} or more")
        if self.consumers not in REGISTERS:
            raise ConfigError(
                f"consumers is {self.consumers}; expected {_either(REGISTERS)} warpgroups"
            )

    def _check_tile(self, problem: Problem) -> None:
        rows = INSTRUCTION_M * self.consumers
        step = INSTRUCTION_K_BYTES // item_bytes(problem.a)
        for name, extent, of, why in (
            ("M", self.tile[0], rows, f"{self.consumers} consumers of {INSTRUCTION_M} rows each"),
            ("N", self.tile[1], _COLUMN_STEP, "columns of an instruction"),
            ("K", self.tile[2], step, f"{INSTRUCTION_K_BYTES} bytes of {problem.a}"),
        ):
            if extent < of or extent % of:
                raise ConfigError(
                    f"the tile's {name} is {extent}; expected a multiple of {of} ({why}), for example "
                    f"{_nearest(extent, of)}"
                )
        # What TMA stores has lines of whole 16 bytes.
        columns = max(_COLUMN_STEP, UNIT_BYTES // item_bytes(problem.c))
        fitting = [c for c in range(columns, self.tile[1] + 1, columns) if self.tile[1] % c == 0]
        if self.store_columns not in fitting:
            raise ConfigError(
                f"store_columns is {self.store_columns}; expected a multiple of {columns} that divides "
                f"the tile's N = {self.tile[1]}: {_either(fitting) if fitting else 'there is none'}"
            )

    def _check_cluster(self, problem: Problem) -> None:
        along_m, along_n = self.cluster
        extents = all(extent in _CLUSTER_EXTENTS for extent in self.cluster)
        if not extents or along_m * along_n > MAX_BLOCKS:
            raise ConfigError(
                f"the cluster is {along_m}x{along_n} blocks; expected {_either(_CLUSTER_EXTENTS)} along "
                f"M and N, and at most {MAX_BLOCKS} blocks"
            )
        m, n, k = self.tile
        a = ("A", "M", m) if problem.a_major == "k" else ("A", "K", k)
        b = ("B", "N", n) if problem.b_major == "k" else ("B", "K", k)
        for (name, dim, extent), blocks in ((a, along_n), (b, along_m)):
            of = blocks * _PATTERN_LINES
            if blocks > 1 and extent % of:
                raise ConfigError(
                    f"{blocks} blocks share the load of {name} along {dim}, of which the tile has "
                    f"{extent}; expected a multiple of {blocks} * {_PATTERN_LINES} = {of}, for example "
                    f"{_nearest(extent, of)}"
                )

    def _check_registers(self) -> None:
        m, n, _ = self.tile
        blocks = m // self.consumers // INSTRUCTION_M
        needed, limit = blocks * n // 2, _ACCUMULATOR_REGISTERS[self.consumers]
        if needed > limit:
            raise ConfigError(
                f"a thread of {self.consumers} consumers has at most {limit} registers for its "
                f"accumulator of {m // self.consumers}x{n}, which takes {blocks} * {n} / 2 = {needed}; "
                f"expected N up to {limit * 2 // blocks // _COLUMN_STEP * _COLUMN_STEP}"
            )

    def _shared(self, problem: Problem) -> tuple[int, int, int]:
        """Bytes of the stages, of the tiles that are stored, and of the mbarriers of their pipelines."""
        m, n, k = self.tile
        stage = m * k * item_bytes(problem.a) + k * n * item_bytes(problem.b)
        buffer = m // self.consumers * self.store_columns * item_bytes(problem.c)
        barriers = (self.stages + self.store_stages) * 2 * MBARRIER_BYTES
        return self.stages * stage, self.store_buffers * buffer, barriers

    def _refuse_shared(self, problem: Problem) -> None:
        m, n, k = self.tile
        stages, store, barriers = self._shared(problem)
        a, b, c = (item_bytes(element) for element in (problem.a, problem.b, problem.c))
        fitting = self.max_stages(problem)
        raise ConfigError(
            f"a block needs {stages + store + barriers} bytes of shared memory, but has {MAX_BYTES}: "
            f"{self.stages} stages * ({m} * {k} * {a} + {k} * {n} * {b}) = {stages}, "
            f"{self.store_buffers} buffers * {m // self.consumers} * {self.store_columns} * {c} = "
            f"{store} to store, ({self.stages} + {self.store_stages}) * {2 * MBARRIER_BYTES} = "
            f"{barriers} of mbarriers; "
            + (f"{fitting} stages fit" if fitting >= _FEWEST_STAGES else "a smaller tile would fit")
        )


def default_config(problem: Problem, m: int, n: int, k: int) -> Config:
    """A good guess for a problem of any size."""
    depth = 128 * 8 // multiplicand(problem.a).bits
    columns = 128 if problem.c in ("bf16", "f16") else 64
    return Config(tile=(128, 256, depth), store_columns=columns)


def _nearest(extent: int, of: int) -> str:
    """The multiples on both sides of an extent, in words."""
    return _either(sorted({max(of, x * of) for x in (extent // of, -(-extent // of))}))


def _either(numbers: Iterable[int]) -> str:
    return " or ".join(map(str, numbers))
