"""What became of the graphs of PyTorch that the backend was given."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

_LOGGER = logging.getLogger("mlir_smem")

_GRAPHS: list[TorchGraph] = []


@dataclass(frozen=True)
class TorchPart:
    """A part of a graph.

    Attributes:
        by: who runs it: "mlir_smem", "default" (PyTorch's default compiler), or "views", which need no
            kernel.
        ops: the names of its ops, in order.
        reasons: its ops that could have been in our kernels, and why they are not.
    """

    by: str
    ops: tuple[str, ...]
    reasons: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        reasons = "".join(f"\n    {node} is left: {reason}" for node, reason in self.reasons)
        return f"{self.by}: {', '.join(self.ops)}{reasons}"


@dataclass(frozen=True)
class TorchGraph:
    """A graph that `torch.compile` gave the backend.

    Attributes:
        parts: its parts, in the order in which they run.
    """

    parts: tuple[TorchPart, ...]

    def count(self, by: str) -> int:
        """Return the number of parts that one of the compilers runs."""
        return sum(part.by == by for part in self.parts)

    def __str__(self) -> str:
        return "\n".join(map(str, self.parts))


def torch_graphs() -> tuple[TorchGraph, ...]:
    """Return what the backend of `torch.compile` was given in this process, the oldest first.

    Example:
        >>> torch_graphs()
        ()
    """
    return tuple(_GRAPHS)


def add_graph(parts: Sequence[TorchPart]) -> None:
    """Keep and log what became of a graph."""
    graph = TorchGraph(tuple(parts))
    _GRAPHS.append(graph)
    counts = ", ".join(f"{graph.count(by)} by {by}" for by in ("mlir_smem", "default", "views"))
    _LOGGER.info("a graph of %d parts: %s\n%s", len(parts), counts, graph)
