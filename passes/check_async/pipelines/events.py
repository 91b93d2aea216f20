"""Waits and arrivals on pipelines, each with how far its threads are in all of them."""

from __future__ import annotations

from typing import NamedTuple

from ....bindings.irtypes import Op
from .partition import Partition
from .pipeline_sides import PipelineSide


class Turn(NamedTuple):
    """A warpgroup's turn on a pipeline.

    Attributes:
        chunk: how many consecutive indices a warpgroup takes in a turn.
        taken: how many of them it has taken.
        held: how many indices it holds.
    """

    chunk: int
    taken: int
    held: int


class Event(NamedTuple):
    """A wait or an arrival on a pipeline.

    Attributes:
        waits: whether it is a wait.
        pipeline_side: the pipeline, and the partition's side.
        ahead: for each pipeline side that the partition has taken indices of before, the next index of
            that side minus the index of the event; None if that is not one constant.
        turns: the turn of a warpgroup on each of these that the partition's warpgroups take in turn.
    """

    partition: Partition
    op: Op
    waits: bool
    pipeline_side: PipelineSide
    ahead: dict[PipelineSide, int | None]
    turns: dict[PipelineSide, Turn]
