"""Tiles that are read: some op must write them."""

from ...ir.errors import OpError
from . import report
from .program import BulkStore, Load, Mma, Program
from .rectangles import Allocation


def check_written(program: Program) -> None:
    """Check that some op writes what is read.

    Raises:
        OpError: if none does.
    """
    for reader, allocation in unwritten(program):
        if not allocation.outside:
            raise OpError(reader.op, f"reads the {report.at(allocation.op)}, which nothing writes")


def unwritten(program: Program) -> list[tuple[Mma | Load | BulkStore, Allocation]]:
    """Return the reads of tiles that no copy of the function writes."""
    written = {copy.target.allocation.memory for copy in program.copies}
    return [
        (reader, source.allocation)
        for reader in program.readers
        for source in reader.sources
        if source.allocation.memory not in written and not source.allocation.of_registers
    ]
