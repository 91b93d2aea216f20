"""The thread's index in its block."""

from typing import Any

from ..dialect.bindings import ir
from . import emit


def linear_thread(size: tuple[int, int, int]) -> Any:
    """The thread's linear index in a block of that size (i32)."""
    total: Any = None
    x, y, z = size
    for dim, extent, scale in (("x", x, 1), ("y", y, x), ("z", z, x * y)):
        if extent == 1 and dim != "x":
            continue
        attr = ir.Attribute.parse(f"#gpu<dim {dim}>")
        index = emit.value("gpu.thread_id", (), ir.IndexType.get(), dimension=attr)
        scaled = emit.binary("muli", emit.cast_index(index, emit.i32()), scale)
        total = scaled if total is None else emit.binary("addi", total, scaled)
    return total
