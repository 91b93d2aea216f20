"""The two blocks that execute `cta_group::2` together (PTX ISA 9.7.16.5): ranks 2i and 2i + 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..block import ThreadBlock
from ..convergent import ConvergentThreads
from .tensor_memory import TensorMemory, of_block, wrong

_KEY = "tensor pairs"


@dataclass
class _Taking:
    """A warp that takes part in an instruction of both blocks.

    Attributes:
        warp: its number in its block.
        said: what it gives to the instruction.
        result: what the instruction gives; None until it is executed.
    """

    warp: int
    said: str
    result: int | None = None


@dataclass
class Pair:
    """Two blocks.

    Attributes:
        blocks: by their rank.
        taking: for each instruction by its name, who takes part, by the rank of the block.
    """

    blocks: tuple[ThreadBlock, ThreadBlock]
    taking: dict[str, dict[int, _Taking]] = field(default_factory=dict)

    @property
    def memories(self) -> list[TensorMemory]:
        """The tensor memory of each block."""
        return [of_block(block) for block in self.blocks]

    def each(self, do: Callable[[TensorMemory], None]) -> int:
        """Does something to the tensor memory of each block; an instruction that gives nothing."""
        for memory in self.memories:
            do(memory)
        return 0

    def together(
        self,
        convergent: ConvergentThreads,
        warp: int,
        said: str,
        begin: Callable[[], None],
        execute: Callable[[], int],
        ready: Callable[[], bool] = lambda: True,
    ) -> int | None:
        """What an instruction gives that a warp of each block executes; None if the warp has to wait
        for that of the other block, and comes again.

        Args:
            convergent: the threads.
            warp: which of their warps takes part.
            said: what it gives to the instruction, in words; both must say the same.
            begin: is called once for each warp, when it takes part.
            execute: is called once, when both do.
            ready: whether it can be.

        Raises:
            Stop: if the warps say different things, which is reported.
        """
        name = convergent.current.name
        taking, rank = self.taking.setdefault(name, {}), convergent.block.rank
        if rank not in taking:
            begin()
            taking[rank] = _Taking(warp, said)
        mine = taking[rank]
        if mine.warp != warp:
            words = f"warp {mine.warp} of its block, which executes {name} before it"
            convergent.wait(lambda: taking.get(rank) is not mine, words, again=True)
            return None

        def both() -> _Taking | None:
            other = taking.get(rank ^ 1)
            return other if other and other.result is None and ready() else None

        other = both()
        if mine.result is None and other:
            if other.said != said:
                wrong(
                    convergent,
                    f"{said}, but the cluster's block {rank ^ 1} {other.said}; the blocks of a pair must "
                    "do the same",
                )
            mine.result = other.result = execute()
        if mine.result is None:
            words = f"the cluster's block {rank ^ 1}, which must execute {name} with it"
            if rank ^ 1 in taking:
                words = "columns of tensor memory to be freed"
            convergent.wait(
                lambda: mine.result is not None or both() is not None, words, again=True
            )
            return None
        del taking[rank]
        return mine.result


def pair_of(convergent: ConvergentThreads) -> Pair:
    """The pair that a convergent's block belongs to.

    Raises:
        Stop: if the block is alone, which is reported.
    """
    cluster, rank = convergent.block.cluster, convergent.block.rank
    even = rank & ~1
    blocks = cluster.blocks[even : even + 2]
    if len(blocks) < 2:
        wrong(
            convergent,
            f"is of a pair of blocks, but block {rank} of a cluster of {len(cluster.blocks)} is in none; "
            "expected a cluster of an even number of blocks",
        )
    return cluster.state.setdefault(_KEY, {}).setdefault(even, Pair((blocks[0], blocks[1])))


def blocks_of(convergent: ConvergentThreads, group: int) -> tuple[ThreadBlock, ...]:
    """The blocks that an instruction of a group of one block, or two, concerns, by their rank.

    Raises:
        Stop: if the cluster has no second, which is reported.
    """
    if group == 1:
        return (convergent.block,)
    return pair_of(convergent).blocks
