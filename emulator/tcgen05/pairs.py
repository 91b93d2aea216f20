"""CTA pairs, which execute `cta_group::2` (PTX ISA 9.7.16.5): the CTAs of ranks 2i and 2i + 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..cta import ConvergentThreads, Cta
from .tensor_memory import TensorMemory, report_misuse, tensor_memory_of

_KEY = "CTA pairs"


@dataclass
class _Participant:
    """A warp that participates in an instruction of both CTAs.

    Attributes:
        warp: its number in its CTA.
        arguments: its operands of the instruction, for messages.
        result: of the instruction; None until it is executed.
    """

    warp: int
    arguments: str
    result: int | None = None


@dataclass
class PairedCtas:
    """A CTA pair.

    Attributes:
        ctas: by their rank.
        participants: for the name of each instruction, the participating warps, by the rank of the CTA.
    """

    ctas: tuple[Cta, Cta]
    participants: dict[str, dict[int, _Participant]] = field(default_factory=dict)

    @property
    def memories(self) -> list[TensorMemory]:
        """The tensor memory of each CTA."""
        return [tensor_memory_of(cta) for cta in self.ctas]

    def for_each(self, action: Callable[[TensorMemory], None]) -> int:
        """Apply an action to the tensor memory of each CTA. Return 0, the result of the instruction."""
        for memory in self.memories:
            action(memory)
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
        """Execute an instruction that a warp of each CTA must execute. Return its result; None if the
        warp waits for that of the peer CTA, and then executes the instruction again.

        Args:
            convergent: the threads.
            warp: the participating warp.
            arguments: its operands, for messages; those of both warps must be equal.
            begin: called once for each warp, when it participates.
            execute: called once, when both participate.
            ready: returns whether it can be executed.

        Raises:
            Stop: if the operands differ; this is reported.
        """
        name = convergent.current.name
        participants, rank = self.participants.setdefault(name, {}), convergent.cta.rank
        if rank not in participants:
            begin()
            participants[rank] = _Participant(warp, arguments)
        participant = participants[rank]
        if participant.warp != warp:
            description = f"warp {participant.warp} of its CTA, which executes {name} before it"
            convergent.wait(
                lambda: participants.get(rank) is not participant, description, again=True
            )
            return None

        def ready_peer() -> _Participant | None:
            peer = participants.get(rank ^ 1)
            return peer if peer and peer.result is None and ready() else None

        peer = ready_peer()
        if participant.result is None and peer:
            if peer.arguments != arguments:
                report_misuse(
                    convergent,
                    f"{arguments}, but CTA {rank ^ 1} of the cluster {peer.arguments}; the CTAs of a "
                    "pair must do the same",
                )
            participant.result = peer.result = execute()
        if participant.result is None:
            description = f"CTA {rank ^ 1} of the cluster, which must execute {name} with it"
            if rank ^ 1 in participants:
                description = "columns of tensor memory to be freed"
            convergent.wait(
                lambda: participant.result is not None or ready_peer() is not None,
                description,
                again=True,
            )
            return None
        del participants[rank]
        return participant.result


def pair_of(convergent: ConvergentThreads) -> PairedCtas:
    """Return the CTA pair of convergent threads.

    Raises:
        Stop: if the CTA has no peer; this is reported.
    """
    cluster, rank = convergent.cta.cluster, convergent.cta.rank
    even = rank & ~1
    ctas = cluster.ctas[even : even + 2]
    if len(ctas) < 2:
        report_misuse(
            convergent,
            f"has cta_group::2, but CTA {rank} of a cluster of {len(cluster.ctas)} has no peer CTA; "
            "expected a cluster of an even number of CTAs",
        )
    return cluster.state.setdefault(_KEY, {}).setdefault(even, PairedCtas((ctas[0], ctas[1])))


def ctas_of(convergent: ConvergentThreads, group: int) -> tuple[Cta, ...]:
    """Return the CTAs of an instruction of `group` CTAs, by rank.

    Raises:
        Stop: if the CTA has no peer; this is reported.
    """
    if group == 1:
        return (convergent.cta,)
    return pair_of(convergent).ctas
