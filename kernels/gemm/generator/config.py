"""The configuration of a GEMM kernel: tile, stages, cluster, rasterization; and whether it fits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, gcd, prod
from typing import TYPE_CHECKING

from ....dialect.ops.pipeline import MBARRIER_BYTES
from ....layout.banks import MAX_BYTES
from ....layout.elements import UNIT_BYTES
from ....layout.instruction import INSTRUCTION_K_BYTES
from ....layout.wgmma import INSTRUCTION_M
from ...errors import ConfigError
from ...registers import REGISTERS
from .problem import Problem, item_bytes

if TYPE_CHECKING:
    from .fusion import EpilogueOperand

#: The registers of a consumer that its accumulator can have; with 16 more, ptxas 13.5 spills or fails.
_ACCUMULATOR_REGISTERS = {1: 208, 2: 160, 3: 96}

#: A consumer releases a stage while the mma of the next stage is in flight, so it holds two.
_MIN_STAGES = 2

#: Fields that are 1 or more.
_COUNTS = ("group", "store_columns", "store_buffers", "split_k")

#: CTAs of a cluster along M or N, and along K.
_CLUSTER_EXTENTS = (1, 2, 4)
_CLUSTER_K = (1, 2, 4, 8, 16)

#: CTAs of a cluster that share loads, at most.
_MAX_SHARING = 8

#: Bytes of the mbarriers of a stage.
_STAGE_BARRIERS = 2 * MBARRIER_BYTES

#: Bytes of an element of a part of a tile: an accumulator.
_PART_BYTES = 4

#: Lines of a swizzle atom; a CTA of a cluster loads whole atoms of a tile.
_ATOM_LINES = 8

#: Columns of an accumulator that have their own registers: N and the columns of an epilogue tile are
#: multiples of it.
_COLUMN_MULTIPLE = 8


@dataclass(frozen=True)
class Config:
    """The configuration of a kernel.

    Attributes:
        tile: (M, N, K) of a CTA's tile, in elements; K is that of a K block. If `exchanged`, M is along
            C's columns. A gated kernel has twice as many columns of products.
        stages: K blocks of A and B in shared memory.
        cluster: CTAs of a cluster along M and N; they share A along N and B along M (multicast).
        consumers: consumer warpgroups; each has an equal part of the tile's rows.
        group: rows of clusters in a rasterization group, whose A and B L2 holds.
        store_columns: columns of an epilogue tile, which a warpgroup stores at a time.
        store_buffers: epilogue tiles in shared memory, for all warpgroups.
        split_k: parts into which K of a tile is split at most, so that more CTAs work: by stream-K, if
            the parts of all tiles are more than the CTAs that run at the same time. The order of
            additions is the same in every launch of the same grid.
        cluster_k: CTAs of a cluster that have a part of K each of one tile; they add the parts, in the
            order of K, through distributed shared memory.
        exchanged: whether the kernel computes C^T = B^T * A^T: for an A of few rows, because an
            instruction has at least 64 rows, and 8 columns.
    """

    tile: tuple[int, int, int] = (128, 256, 64)
    stages: int = 4
    cluster: tuple[int, int] = (1, 1)
    consumers: int = 2
    group: int = 16
    store_columns: int = 128
    store_buffers: int = 2
    split_k: int = 1
    exchanged: bool = False
    cluster_k: int = 1

    def kernel_problem(self, problem: Problem) -> Problem:
        """Return the problem that the kernel solves: that of the exchanged matrices, if `exchanged`."""
        return problem.exchanged if self.exchanged else problem

    def grid(
        self, m: int, n: int, k: int, resident: int, batch: Sequence[int] = ()
    ) -> tuple[int, int]:
        """Return the CTAs along x and y: the clusters that run at the same time, or fewer if C has
        fewer tiles or parts of tiles.

        Args:
            m, n, k: the GEMM's extents.
            resident: CTAs that run at the same time (`Kernel.resident_blocks`).
            batch: the leading dimensions of the result.
        """
        along_m, along_n = self.cluster
        rows, columns = (n, m) if self.exchanged else (m, n)
        tiles = ceil(rows / (self.tile[0] * along_m)) * ceil(columns / (self.tile[1] * along_n))
        if self.cluster_k > 1:
            return tiles * prod(batch) * self.cluster_k, 1
        parts = tiles * prod(batch) * min(self.split_k, ceil(k / self.tile[2]))
        clusters = min(parts, max(1, resident // (along_m * along_n)))
        return clusters * along_m, along_n

    def check(self, problem: Problem) -> None:
        """Check that the configuration fits a problem.

        Raises:
            ConfigError: if it does not; the message states what would fit.
        """
        if self.exchanged and problem.gated:
            raise ConfigError(
                "operands are exchanged, but a gated GEMM has two B; expected exchanged=False"
            )
        problem = self.kernel_problem(problem)
        self._check_numbers()
        self._check_tile(problem)
        self._check_cluster(problem)
        self._check_store_columns(problem)
        self._check_registers(problem)
        if sum(self._shared_bytes(problem)) > MAX_BYTES:
            self._refuse_shared(problem)

    def shared_bytes(self, problem: Problem) -> int:
        """Return the bytes of shared memory of a CTA."""
        return sum(self._shared_bytes(self.kernel_problem(problem)))

    @property
    def warpgroups_store(self) -> bool:
        """Whether consumer warpgroups store their rows themselves."""
        return self.split_k > 1 or self.cluster_k > 1

    @property
    def finished_columns(self) -> int:
        """The columns of a tile that a CTA stores: a share if a cluster adds its parts. If there are
        fewer shares than CTAs, the first CTAs have them."""
        return max(self.tile[1] // self.cluster_k, min(self.tile[1], _COLUMN_MULTIPLE))

    @property
    def finishing_ctas(self) -> int:
        """The CTAs of a cluster that store a share of the tile."""
        return self.tile[1] // self.finished_columns

    @property
    def adds_halves(self) -> bool:
        """Whether each of two CTAs adds the other's part to its own half of the columns."""
        return self.cluster_k == self.finishing_ctas == 2

    def part_columns(self, problem: Problem) -> int:
        """Return the columns that a CTA writes for its cluster to add: all columns of its products, or
        those of the other one of two CTAs. The problem is the kernel's."""
        columns = self.finished_columns if self.adds_halves else self.tile[1]
        return problem.products * columns

    @property
    def stores(self) -> int:
        """The number of epilogue tiles of a CTA's tile."""
        return self.consumers * (self.tile[1] // self.store_columns)

    def sources(self, problem: Problem) -> tuple[EpilogueOperand, ...]:
        """The matrices of the epilogue that a thread loads by TMA. The problem is the kernel's."""
        if self.warpgroups_store or self.exchanged or problem.fusion is None:
            return ()
        return problem.fusion.matrices

    @property
    def source_stages(self) -> int:
        """The stages of the pipeline of these: two for each consumer warpgroup."""
        return 2 * self.consumers

    @property
    def store_stages(self) -> int:
        """The stages of the epilogue pipeline; 0 if warpgroups store their rows themselves. A stage
        belongs to one epilogue tile of every tile, so the warpgroup that waits for it observes all of its
        phases."""
        if self.warpgroups_store:
            return 0
        return self.stores * ceil(self.store_buffers / self.stores)

    @property
    def own_buffers(self) -> int:
        """The epilogue tiles of each warpgroup, if warpgroups store their rows themselves. The number
        divides the epilogue tiles of its rows, so that they are used in turn."""
        tiles = self.finished_columns // self.store_columns
        return gcd(tiles, max(1, self.store_buffers // self.consumers))

    @property
    def _buffers(self) -> int:
        """The epilogue tiles in shared memory."""
        return self.own_buffers * self.consumers if self.warpgroups_store else self.store_buffers

    def max_stages(self, problem: Problem) -> int:
        """Return the number of stages that fit next to the epilogue tiles; 0 or less if none fit."""
        return self._max_stages(self.kernel_problem(problem))

    def _max_stages(self, problem: Problem) -> int:
        stages, *others, barriers = self._shared_bytes(problem)
        other_bytes = sum(others) + barriers - self.stages * _STAGE_BARRIERS
        return (MAX_BYTES - other_bytes) // (stages // self.stages + _STAGE_BARRIERS)

    def _check_numbers(self) -> None:
        least = {"stages": _MIN_STAGES, **dict.fromkeys(_COUNTS, 1)}
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
        for name, extent, multiple, why in (
            ("M", self.tile[0], rows, f"{self.consumers} consumers of {INSTRUCTION_M} rows each"),
            ("N", self.tile[1], _COLUMN_MULTIPLE, "columns of an instruction"),
            ("K", self.tile[2], step, f"{INSTRUCTION_K_BYTES} bytes of {problem.a}"),
        ):
            if extent < multiple or extent % multiple:
                raise ConfigError(
                    f"the tile's {name} is {extent}; expected a multiple of {multiple} ({why}), for "
                    f"example {_nearest(extent, multiple)}"
                )

    def _check_store_columns(self, problem: Problem) -> None:
        # TMA stores lines whose sizes are multiples of 16 bytes.
        item = min(item_bytes(result) for result in problem.results)
        columns = max(_COLUMN_MULTIPLE, UNIT_BYTES // item)
        stored = self.finished_columns
        fitting = [c for c in range(columns, stored + 1, columns) if stored % c == 0]
        if self.store_columns not in fitting:
            share = f" / {self.finishing_ctas} = {stored}" if self.cluster_k > 1 else ""
            choices = _either(fitting) if fitting else "there is none"
            raise ConfigError(
                f"store_columns is {self.store_columns}; expected a multiple of {columns} that divides "
                f"the tile's N = {self.tile[1]}{share}: {choices}"
            )

    def _check_cluster(self, problem: Problem) -> None:
        along_m, along_n = self.cluster
        extents = all(extent in _CLUSTER_EXTENTS for extent in self.cluster)
        if not extents or along_m * along_n > _MAX_SHARING:
            raise ConfigError(
                f"the cluster is {along_m}x{along_n} CTAs; expected {_either(_CLUSTER_EXTENTS)} along "
                f"M and N, and at most {_MAX_SHARING} CTAs"
            )
        self._check_cluster_k()
        m, n, k = self.tile
        a = ("A", "M", m) if problem.a_major == "k" else ("A", "K", k)
        b = ("B", "N", n) if problem.b_major == "k" else ("B", "K", k)
        for (name, dim, extent), ctas in ((a, along_n), (b, along_m)):
            multiple = ctas * _ATOM_LINES
            if ctas > 1 and extent % multiple:
                raise ConfigError(
                    f"{ctas} CTAs share the load of {name} along {dim}, where the tile has "
                    f"{extent} elements; expected a multiple of {ctas} * {_ATOM_LINES} = {multiple}, for "
                    f"example {_nearest(extent, multiple)}"
                )

    def _check_cluster_k(self) -> None:
        if self.cluster_k == 1:
            return
        if self.cluster_k not in _CLUSTER_K:
            raise ConfigError(
                f"cluster_k is {self.cluster_k}; expected {_either(_CLUSTER_K)} CTAs of a cluster"
            )
        if self.cluster != (1, 1) or self.split_k > 1:
            along_m, along_n = self.cluster
            raise ConfigError(
                f"cluster_k is {self.cluster_k}, with clusters of {along_m}x{along_n} and split_k = "
                f"{self.split_k}; expected cluster=(1, 1) and split_k=1"
            )
        if self.tile[1] % self.finished_columns or self.finished_columns % _COLUMN_MULTIPLE:
            multiple = self.cluster_k * _COLUMN_MULTIPLE
            raise ConfigError(
                f"each of {self.cluster_k} CTAs stores an equal share of a tile's {self.tile[1]} "
                f"columns; expected a multiple of {self.cluster_k} * {_COLUMN_MULTIPLE} = {multiple}, "
                f"for example {_nearest(self.tile[1], multiple)}"
            )

    def _check_registers(self, problem: Problem) -> None:
        m, n = self.tile[0], problem.products * self.tile[1]
        mma_tiles = m // self.consumers // INSTRUCTION_M
        needed, limit = mma_tiles * n // 2, _ACCUMULATOR_REGISTERS[self.consumers]
        if needed > limit:
            most = limit * 2 // mma_tiles // problem.products
            raise ConfigError(
                f"a thread of {self.consumers} consumers has at most {limit} registers for its "
                f"accumulator of {m // self.consumers}x{n}, which takes {mma_tiles} * {n} / 2 = "
                f"{needed}; expected N up to {most // _COLUMN_MULTIPLE * _COLUMN_MULTIPLE}"
            )

    def _shared_bytes(self, problem: Problem) -> tuple[int, int, int, int, int]:
        """Return the bytes of the stages, of the epilogue tiles, of those that the epilogue reads, of the
        part of a tile that a cluster adds, and of the mbarriers of the pipelines.

        The problem is the kernel's.
        """
        m, n, k = self.tile
        stage = m * k * item_bytes(problem.a) + problem.products * k * n * item_bytes(problem.b)
        stored = sum(item_bytes(result) for result in problem.results)
        elements = m // self.consumers * self.store_columns
        read = sum(item_bytes(operand.element) for operand in self.sources(problem))
        stages = self.stages + self.store_stages + (self.source_stages if read else 0)
        barriers = stages * _STAGE_BARRIERS
        part = m * self.part_columns(problem) * _PART_BYTES if self.cluster_k > 1 else 0
        loaded = self.source_stages * elements * read
        return self.stages * stage, self._buffers * elements * stored, loaded, part, barriers

    def _refuse_shared(self, problem: Problem) -> None:
        m, n, k = self.tile
        stages, store, loaded, part, barriers = self._shared_bytes(problem)
        a, b = item_bytes(problem.a), item_bytes(problem.b)
        c = sum(item_bytes(result) for result in problem.results)
        fitting = self._max_stages(problem)
        columns = self.part_columns(problem)
        of_part = f"{m} * {columns} * {_PART_BYTES} = {part} of a part, " if part else ""
        of_part += f"{loaded} for matrices of the epilogue, " if loaded else ""
        total = stages + store + loaded + part + barriers
        raise ConfigError(
            f"a CTA needs {total} bytes of shared memory, but has {MAX_BYTES}: "
            f"{self.stages} stages * ({m} * {k} * {a} + {k} * {problem.products * n} * {b}) = {stages}, "
            f"{self._buffers} buffers * {m // self.consumers} * {self.store_columns} * {c} = "
            f"{store} to store, {of_part}({self.stages} + {barriers // _STAGE_BARRIERS - self.stages}) * "
            f"{_STAGE_BARRIERS} = "
            f"{barriers} of mbarriers; "
            + (f"{fitting} stages fit" if fitting >= _MIN_STAGES else "a smaller tile would fit")
        )


def _nearest(extent: int, multiple: int) -> str:
    """Return the next multiples below and above an extent, as text."""
    return _either(
        sorted({max(multiple, x * multiple) for x in (extent // multiple, -(-extent // multiple))})
    )


def _either(numbers: Iterable[int]) -> str:
    return " or ".join(map(str, numbers))
