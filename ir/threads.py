"""The thread index in a CTA."""

from typing import Any

from ..bindings.irtypes import Value
from ..bindings.mlir import ir
from . import emit


def linear_thread(size: tuple[int, int, int]) -> Value:
    """Emit the linear thread index (i32) in a CTA of `size` threads along x, y and z."""
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
