"""The two CTAs that execute `cta_group::2` together (PTX ISA 9.7.16.5): ranks 2i and 2i + 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..convergent import ConvergentThreads
from ..cta import Cta
from .tensor_memory import TensorMemory, of_cta, report_misuse

_KEY = "CTA pairs"


@dataclass
class _Participant:
    """A warp that takes part in an instruction of both CTAs.

    Attributes:
        warp: its number in its CTA.
        arguments: what it gives to the instruction.
        result: what the instruction gives; None until it is executed.
    """

    warp: int
    arguments: str
    result: int | None = None


@dataclass
class CtaPair:
    """Two CTAs.

    Attributes:
        ctas: by their rank.
        participants: for each instruction by its name, who takes part, by the rank of the CTA.
    """

    ctas: tuple[Cta, Cta]
    participants: dict[str, dict[int, _Participant]] = field(default_factory=dict)

    @property
    def memories(self) -> list[TensorMemory]:
        """The tensor memory of each CTA."""
        return [of_cta(cta) for cta in self.ctas]

    def for_each(self, do: Callable[[TensorMemory], None]) -> int:
        """Does something to the tensor memory of each CTA; an instruction that gives nothing."""
        for memory in self.memories:
            do(memory)
        return 0

    def execute_together(
        self,
        convergent: ConvergentThreads,
        warp: int,
        arguments: str,
        begin: Callable[[], None],
        execute: Callable[[], int],
        ready: Callable[[], bool] = lambda: True,
    ) -> int | None:
        """What an instruction gives that a warp of each CTA executes; None if the warp has to wait
        for that of the other CTA, and comes again.

        Args:
            convergent: the threads.
            warp: which of their warps takes part.
            arguments: what it gives to the instruction, in words; both must say the same.
            begin: is called once for each warp, when it takes part.
            execute: is called once, when both do.
            ready: whether it can be.

        Raises:
            Stop: if the warps say different things, which is reported.
        """
        name = convergent.current.name
        participants, rank = self.participants.setdefault(name, {}), convergent.cta.rank
        if rank not in participants:
            begin()
            participants[rank] = _Participant(warp, arguments)
        mine = participants[rank]
        if mine.warp != warp:
            words = f"warp {mine.warp} of its CTA, which executes {name} before it"
            convergent.wait(lambda: participants.get(rank) is not mine, words, again=True)
            return None

        def both() -> _Participant | None:
            other = participants.get(rank ^ 1)
            return other if other and other.result is None and ready() else None

        other = both()
        if mine.result is None and other:
            if other.arguments != arguments:
                report_misuse(
                    convergent,
                    f"{arguments}, but CTA {rank ^ 1} of the cluster {other.arguments}; the CTAs of a pair must "
                    "do the same",
                )
            mine.result = other.result = execute()
        if mine.result is None:
            words = f"CTA {rank ^ 1} of the cluster, which must execute {name} with it"
            if rank ^ 1 in participants:
                words = "columns of tensor memory to be freed"
            convergent.wait(
                lambda: mine.result is not None or both() is not None, words, again=True
            )
            return None
        del participants[rank]
        return mine.result


def pair_of(convergent: ConvergentThreads) -> CtaPair:
    """The pair that a convergent's CTA belongs to.

    Raises:
        Stop: if the CTA is alone, which is reported.
    """
    cluster, rank = convergent.cta.cluster, convergent.cta.rank
    even = rank & ~1
    ctas = cluster.ctas[even : even + 2]
    if len(ctas) < 2:
        report_misuse(
            convergent,
            f"is of a pair of CTAs, but CTA {rank} of a cluster of {len(cluster.ctas)} is in none; "
            "expected a cluster of an even number of CTAs",
        )
    return cluster.state.setdefault(_KEY, {}).setdefault(even, CtaPair((ctas[0], ctas[1])))


def ctas_of(convergent: ConvergentThreads, group: int) -> tuple[Cta, ...]:
    """The CTAs that an instruction of a group of one CTA, or two, concerns, by their rank.

    Raises:
        Stop: if the cluster has no second, which is reported.
    """
    if group == 1:
        return (convergent.cta,)
    return pair_of(convergent).ctas
