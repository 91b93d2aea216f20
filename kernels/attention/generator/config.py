"""The configuration of a kernel: its tile, its stages, and whether they fit."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ....dialect.ops.pipeline import MBARRIER_BYTES
from ....layout.banks import MAX_BYTES
from ....layout.wgmma import INSTRUCTION_M
from ...errors import ConfigError
from ...registers import REGISTERS as _REGISTERS
from .problem import Problem

#: Registers of a thread of the producer and of a consumer, by the number of consumers. O, S and P take
#: more than a GEMM's accumulators, so that a producer of two consumers keeps the fewest; it spills some.
REGISTERS = _REGISTERS | {2: (24, 240)}

#: The registers of a consumer that O, S and P can have; the others hold the softmax's rows and addresses.
_MATRIX_REGISTERS = {1: 208, 2: 200, 3: 128}

#: Keys are columns of S and rows of V, of which an instruction takes 32 bytes.
_KEY_BYTES = 32

#: The rows of a head's queries in a tile of several heads are a multiple of this: TMA loads them to whole
#: swizzle atoms (PTX ISA 5.5.5).
QUERY_MULTIPLE = 8

#: The most keys of a block: the columns of an instruction.
MOST_KEYS = 256

#: CTAs of a cluster: with more, a slice of a block of 80 keys would not be a multiple of 8 rows.
_CLUSTERS = (1, 2)


def key_multiple(problem: Problem) -> int:
    """Return what the keys of a block are a multiple of."""
    return _KEY_BYTES // problem.item_bytes


@dataclass(frozen=True)
class Config:
    """The configuration of a kernel.

    Attributes:
        consumers: consumer warpgroups; each has 64 queries of a tile.
        keys: keys of a block.
        stages: blocks of K, and of V, in shared memory.
        query_stages: tiles of Q in shared memory; with 2 the next one is loaded while O of this one,
            which takes the memory of its Q, is stored.
        cluster: CTAs of a cluster, which share the loads of K and V (multicast).
    """

    consumers: int = 2
    keys: int = 128
    stages: int = 2
    query_stages: int = 1
    cluster: int = 1

    @property
    def rows(self) -> int:
        """The rows of a CTA's tile: queries of one head, or of several."""
        return INSTRUCTION_M * self.consumers

    def check(self, problem: Problem) -> None:
        """Check that the configuration fits a problem.

        Raises:
            ConfigError: if it does not; the message states what would fit.
        """
        if self.consumers not in REGISTERS:
            fitting = " or ".join(map(str, REGISTERS))
            raise ConfigError(f"consumers is {self.consumers}; expected {fitting} warpgroups")
        # The values of the next block are waited for before those of this one are released.
        for name, least in (("stages", 2), ("query_stages", 1)):
            if getattr(self, name) < least:
                raise ConfigError(f"{name} is {getattr(self, name)}; expected {least} or more")
        if self.cluster not in _CLUSTERS:
            fitting = " or ".join(map(str, _CLUSTERS))
            raise ConfigError(f"cluster is {self.cluster}; expected {fitting} CTAs")
        if self.cluster > 1 and not problem.has_equal_tiles:
            raise ConfigError(
                f"cluster is {self.cluster}, but tiles do not all read the same blocks; expected 1 with "
                "a mask, with packed sequences, and with parts of the keys"
            )
        least = QUERY_MULTIPLE * problem.heads
        if problem.heads > 1 and (problem.heads % self.consumers or self.rows % least):
            raise ConfigError(
                f"a tile of {self.consumers} consumers has {self.rows} rows for the queries of "
                f"{problem.heads} heads; expected a multiple of {least} rows, and of {self.consumers} "
                "heads"
            )
        multiple = key_multiple(problem)
        if self.keys % multiple or not 0 < self.keys <= MOST_KEYS:
            raise ConfigError(
                f"keys is {self.keys}; expected a multiple of {multiple} up to {MOST_KEYS}"
            )
        # 64 rows in 128 threads: half a register for each column in f32, a quarter in 16 bits.
        o, s, p = problem.dim // 2, self.keys // 2, self.keys * problem.item_bytes // 8
        limit = _MATRIX_REGISTERS[self.consumers]
        if o + s + p > limit:
            most = (limit - o) * 8 // (4 + problem.item_bytes) // multiple * multiple
            raise ConfigError(
                f"a thread of {self.consumers} consumers has at most {limit} registers for matrices, but "
                f"O has {o}, S {s} and P {p}; expected keys up to {most}"
            )
        if self.shared_bytes(problem) > MAX_BYTES:
            q, block = self._tiles(problem)
            raise ConfigError(
                f"a CTA needs {self.shared_bytes(problem)} bytes of shared memory, but has {MAX_BYTES}: "
                f"{self.query_stages} * {q} for Q, 2 * {self.stages} * {block} for K and V, "
                f"{self._barriers} of mbarriers"
            )

    def shared_bytes(self, problem: Problem) -> int:
        """Return the bytes of shared memory of a CTA."""
        q, block = self._tiles(problem)
        return self.query_stages * q + 2 * self.stages * block + self._barriers

    def _tiles(self, problem: Problem) -> tuple[int, int]:
        """Return the bytes of a tile of Q and of a block of K or V."""
        row = problem.dim * problem.item_bytes
        return self.rows * row, self.keys * row

    @property
    def _barriers(self) -> int:
        """The bytes of the mbarriers: two for each stage of three pipelines."""
        return (self.query_stages + 2 * self.stages) * 2 * MBARRIER_BYTES


#: The default configurations by head dimension, the fastest of a few on an H100 (docs/attention.md).
_DEFAULTS = {
    64: Config(3, 128, 2, 2),
    96: Config(2, 160, 2, 2),
    128: Config(2, 160, 2, 2),
    192: Config(2, 112, 2, 1),
    256: Config(2, 80, 2, 1),
}

#: The length from which on sequences are long.
_MANY = 8192

#: Those of elements of 8 bits, and of long sequences of these.
_OF_8_BITS = {
    64: Config(3, 128, 2, 2),
    96: Config(2, 192, 2, 2),
    128: Config(2, 128, 2, 2),
    192: Config(2, 128, 2, 2),
    256: Config(2, 96, 2, 2),
}
_OF_MANY_OF_8_BITS = {128: Config(2, 192, 2, 2)}

#: Those with narrower blocks, of which a short sequence fills more, and a mask hides less: under a mask
#: they are faster for fewer queries than the number beside them.
_NARROW = {
    96: (Config(2, 128, 2, 2), _MANY),
    128: (Config(2, 128, 2, 2), _MANY),
    192: (Config(2, 80, 2, 2), _MANY),
    256: (Config(2, 64, 2, 1), _MANY // 2),
}

#: Those of long sequences without a mask, whose CTAs share what they read: two of them read as much of
#: the L2 cache as one. At tiles' ends one of them waits for the other.
_OF_MANY = {
    128: Config(2, 176, 2, 1, 2),
    192: Config(2, 112, 2, 1, 2),
    256: Config(2, 80, 2, 1, 2),
}

#: How many more keys wide blocks may have than narrow ones, of which one is not full.
_MOST_WASTE = 1.05

#: Those of few queries, of one warpgroup, measured with one query of 64 heads over 8.
_OF_FEW_QUERIES = {
    64: Config(1, 128, 2, 2),
    96: Config(1, 128, 2, 2),
    128: Config(1, 128, 2, 2),
    192: Config(1, 64, 2, 2),
    256: Config(1, 64, 2, 2),
}

#: Those of few queries of 8 bits; for dimensions 96 and 192 they are not measured.
_OF_FEW_OF_8_BITS = {
    64: Config(1, 224, 3, 2),
    96: Config(1, 128, 3, 2),
    128: Config(1, 128, 3, 2),
    192: Config(1, 128, 2, 2),
    256: Config(1, 128, 2, 2),
}

#: Multiprocessors of an H100 and an H200, each with one CTA at a time.
MULTIPROCESSORS = 132


def default_config(problem: Problem, queries: int = 1 << 20, keys: int = 1 << 20) -> Config:
    """Return the configuration that `attention` uses for a problem.

    Args:
        problem: the problem.
        queries, keys: the lengths of the sequences; queries times the heads of a tile.

    Example:
        >>> default_config(Problem(dim=96))
        Config(consumers=2, keys=160, stages=2, query_stages=2, cluster=1)
    """
    is_long = min(queries, keys) >= _MANY
    if problem.is_8_bit:
        if queries <= INSTRUCTION_M:
            return _OF_FEW_OF_8_BITS[problem.dim]
        if is_long and problem.dim in _OF_MANY_OF_8_BITS:
            config = _OF_MANY_OF_8_BITS[problem.dim]
            return replace(config, cluster=2) if problem.has_equal_tiles else config
        return _OF_8_BITS[problem.dim]
    if queries <= INSTRUCTION_M:
        return _OF_FEW_QUERIES[problem.dim]
    if is_long and problem.has_equal_tiles and problem.dim in _OF_MANY:
        return _OF_MANY[problem.dim]
    wide = _DEFAULTS[problem.dim]
    narrow, below = _NARROW.get(problem.dim, (wide, 0))
    of_wide, of_narrow = (-(-keys // config.keys) * config.keys for config in (wide, narrow))
    is_short = problem.right and queries < below
    return narrow if is_short or of_wide > _MOST_WASTE * of_narrow else wide
