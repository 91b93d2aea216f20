"""The time of a GEMM by a model: which configuration is likely the fastest, without a measurement.

A CTA's time is that of its K blocks, each limited by the tensor cores, by what TMA and L2 bring, or by
the latency of its loads; then the epilogue, of which the next tile hides a part, and what it costs to add
parts of K. The bytes of the operands and results, which device memory or L2 moves, limit the whole.
`benchmarks/fit_time_model.py` fits the constants to a sweep.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .work import ALIGNMENTS, Work

#: The exponent of the norm that joins the limits of a K block: their maximum, but for a smooth corner.
_SHARP = 4

#: The exponent by which more bytes than L2 keeps leave it.
_LEAVING = 3

#: Cycles in a microsecond, of which the constants are multiples: the boost clock of an H200.
_CYCLES = 1755


@dataclass(frozen=True)
class Prediction:
    """The predicted time of a GEMM with a configuration.

    Attributes:
        seconds: of the whole.
        bound: what limits it most: "mma", "L2", "latency" or "memory".
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


class Times(NamedTuple):
    """Microseconds of several configurations, an array each; see `Prediction`.

    Attributes:
        whole: what is predicted.
        mainloop, epilogue, split, fixed, memory: its parts.
        limits: cycles of a K block by the tensor cores, by L2, and by latency.
    """

    whole: Any
    mainloop: Any
    epilogue: Any
    split: Any
    fixed: Any
    memory: Any
    limits: tuple[Any, Any, Any]


@dataclass(frozen=True)
class TimeModel:
    """The constants of a GPU.

    Attributes:
        multiprocessors: how many it has.
        clusters: how many clusters of 2, 4, 8 and 16 CTAs run at the same time; 0 leaves them out.
        sharing: the part of the time that kernels take longer whose CTAs share loads, once the GPU is at
            its power limit. It is not fitted: sweeps measure a cooler GPU.
        launch: microseconds of a launch, of the first loads, and of the end of a kernel.
        cluster_launch: and what more a launch with clusters costs.
        mma: cycles of a 64xNxK instruction for each of its N.
        throttle: what more these take if all multiprocessors multiply: the clock sinks with the power.
        read: cycles in which shared memory gives an instruction its A.
        read_n: and its B, for each of its N.
        step: cycles of a K block besides what limits it.
        cluster: and of one whose loads CTAs share, because they wait for each other.
        latency: cycles from a load's issue to its stage's use.
        line: cycles of a line of a box.
        box: cycles of a box.
        l2: bytes that a multiprocessor takes from L2 in a cycle.
        all_l2: the same, if all multiprocessors do.
        request: cycles of a request, of many for the same 128 bytes, which one slice of L2 serves.
        request_byte: and of each of its bytes.
        unaligned_64, unaligned_32, unaligned_16: what more a load costs of rows that begin at multiples
            of so many bytes only.
        memory, written: bytes of device memory that are read and written in a nanosecond.
        l2_memory, l2_written: the same of L2.
        cached: megabytes of operands and results that stay in L2 from launch to launch.
        store: cycles of an epilogue.
        store_part: cycles of each of its epilogue tiles.
        store_bytes: bytes of the results in a cycle.
        warpgroup_bytes: bytes that a warpgroup writes to its epilogue tiles in a cycle.
        store_unaligned: what more these cost if rows begin at multiples of 16 bytes only.
        hidden: the part of an epilogue that the next tile of the CTA hides.
        arrive: microseconds to arrive at a semaphore, and to begin with the sum.
        part_bytes: bytes of parts that a multiprocessor writes or adds in a cycle, in a workspace.
        add: microseconds for which the CTAs of a cluster wait for each other to add their parts.
        added_bytes: bytes of parts that a multiprocessor writes to shared memory, or adds, in a cycle.
        smooth: the exponent of the norm that joins a CTA's own time and that of memory.
    """

    multiprocessors: int
    clusters: tuple[int, int, int, int]
    sharing: float
    launch: float
    cluster_launch: float
    mma: float
    throttle: float
    read: float
    read_n: float
    step: float
    cluster: float
    latency: float
    line: float
    box: float
    l2: float
    all_l2: float
    request: float
    request_byte: float
    unaligned_64: float
    unaligned_32: float
    unaligned_16: float
    memory: float
    written: float
    l2_memory: float
    l2_written: float
    cached: float
    store: float
    store_part: float
    store_bytes: float
    warpgroup_bytes: float
    store_unaligned: float
    hidden: float
    arrive: float
    part_bytes: float
    add: float
    added_bytes: float
    smooth: float

    def predict(self, works: Sequence[Work]) -> list[Prediction]:
        """Return the times of GEMMs, each with its work."""
        times = self.times(Work(*np.array(works, float).T))
        parts = (times.mainloop, times.epilogue, times.split, times.fixed, times.memory)
        columns = [microseconds / 1e6 for microseconds in (times.whole, *parts)]
        bounds = np.argmax(np.array(times.limits), axis=0)
        predictions: list[Prediction] = []
        for place, work in enumerate(works):
            whole, mainloop, epilogue, split, fixed, memory = (float(x[place]) for x in columns)
            cta_seconds = fixed + mainloop + epilogue + split
            bound = "memory" if memory > cta_seconds else ("mma", "L2", "latency")[bounds[place]]
            predictions.append(
                Prediction(whole, bound, work.waves, mainloop, epilogue, split, fixed, memory)
            )
        return predictions

    def times(self, work: Any) -> Times:
        """Return the times of several configurations.

        Args:
            work: a `Work` of arrays.
        """
        limits = self._limits(work)
        waiting = self.step + self.cluster * work.clustered
        mainloop = work.blocks * (_norm(limits, _SHARP) + waiting)
        more = 1 + self.store_unaligned * (work.c_alignment >= len(ALIGNMENTS) - 1)
        stored = work.store_bytes * more
        epilogue = (
            self.store
            + self.store_part * work.store_parts
            + stored / self.store_bytes
            + stored / work.consumers / self.warpgroup_bytes
        ) * (1 + np.maximum(0, work.tiles - 1) * (1 - self.hidden))
        summed = self.arrive + (1 + work.arrivals) * work.part_bytes / self.part_bytes / _CYCLES
        added = self.add + 2 * work.part_bytes / self.added_bytes / _CYCLES
        split = np.where(work.arrivals > 0, summed, 0) + np.where(work.added > 0, added, 0)
        fixed = self.launch + self.cluster_launch * work.clustered
        cta_time = fixed + (mainloop + epilogue) / _CYCLES + split
        memory = self.launch + self._memory_microseconds(work, more)
        whole = _norm((cta_time, memory), self.smooth) * (1 + self.sharing * work.clustered)
        return Times(
            whole,
            mainloop / _CYCLES,
            epilogue / _CYCLES,
            split,
            fixed + 0 * cta_time,
            memory,
            limits,
        )

    def _limits(self, work: Any) -> tuple[Any, Any, Any]:
        """Return the cycles of a K block by each of its limits."""
        n = work.instruction_n
        slower = 1 + self.throttle * work.busy
        mma = work.instructions * np.maximum(self.mma * n * slower, self.read + self.read_n * n)
        penalties = np.array([0, self.unaligned_64, self.unaligned_32, self.unaligned_16]) + 1
        of_a, of_b = (penalties[np.asarray(x, int)] for x in (work.a_alignment, work.b_alignment))
        loaded = work.a_bytes * of_a + work.b_bytes * of_b
        lines = work.a_lines * of_a + work.b_lines * of_b
        requests = np.maximum(
            work.a_requests * of_a * (self.request + self.request_byte * work.a_request_bytes),
            work.b_requests * of_b * (self.request + self.request_byte * work.b_request_bytes),
        )
        l2 = (
            loaded / self.l2,
            loaded * work.busy / self.all_l2,
            self.line * lines + self.box * work.boxes,
            requests,
        )
        return mma, _norm(l2, _SHARP), self.latency / work.stages

    def _memory_microseconds(self, work: Any, more: Any) -> Any:
        """Return the microseconds in which device memory or L2 moves all bytes."""
        moved = (work.read_bytes + work.written_bytes) / 1e6
        uncached = moved**_LEAVING / (moved**_LEAVING + self.cached**_LEAVING)
        read = uncached / self.memory + (1 - uncached) / self.l2_memory
        written = uncached / self.written + (1 - uncached) / self.l2_written
        return (work.read_bytes * read + work.written_bytes * more * written) / 1e3


def _norm(limits: Sequence[Any], exponent: float) -> Any:
    """Return the norm of several limits."""
    return sum(limit**exponent for limit in limits) ** (1 / exponent)


H200 = TimeModel(
    multiprocessors=132,
    clusters=(66, 30, 15, 7),
    # Untuned against tuned at 4096^3 and 4096x14336x4096, 0 to 3 %: results/gemm-quack-h200.json.
    sharing=0.02,
    launch=0.756,
    cluster_launch=0.389,
    mma=0.432,
    throttle=0.227,
    read=17.1,
    read_n=0.343,
    step=71.4,
    cluster=30.2,
    latency=525,
    line=0.776,
    box=0.221,
    l2=161,
    all_l2=71.1,
    request=0.405,
    request_byte=0.0152,
    unaligned_64=0.0216,
    unaligned_32=0.397,
    unaligned_16=1.05,
    memory=4000,
    written=3640,
    l2_memory=5180,
    l2_written=3690,
    cached=31,
    store=679,
    store_part=236,
    store_bytes=42.6,
    warpgroup_bytes=17.3,
    store_unaligned=0.489,
    hidden=0.747,
    arrive=2.21,
    part_bytes=29.4,
    add=0.891,
    added_bytes=16,
    smooth=2.66,
)
