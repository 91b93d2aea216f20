"""What ops of other dialects do with memrefs; the bindings cannot ask them for their effects."""

from typing import Any, NamedTuple

#: Ops whose result shows the memory of their first operand.
ALIASES = frozenset(
    {
        "memref.assume_alignment",
        "memref.cast",
        "memref.collapse_shape",
        "memref.expand_shape",
        "memref.memory_space_cast",
        "memref.reinterpret_cast",
        "memref.reshape",
        "memref.subview",
        "memref.transpose",
        "memref.view",
    }
)

#: Ops that say something of a memref and access no memory.
_QUERIES = frozenset({"memref.dealloc", "memref.dim", "memref.prefetch", "memref.rank"})

#: Of each op, the numbers of the memrefs among its operands that it reads, and that it writes. All are
#: accesses by the thread itself, which are over when the op is.
_ACCESSES: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "affine.load": ((0,), ()),
    "affine.store": ((), (1,)),
    "affine.vector_load": ((0,), ()),
    "affine.vector_store": ((), (1,)),
    "gpu.subgroup_mma_load_matrix": ((0,), ()),
    "gpu.subgroup_mma_store_matrix": ((), (1,)),
    "memref.atomic_rmw": ((1,), (1,)),
    "memref.copy": ((0,), (1,)),
    "memref.generic_atomic_rmw": ((0,), (0,)),
    "memref.load": ((0,), ()),
    "memref.store": ((), (1,)),
    "vector.compressstore": ((), (0,)),
    "vector.expandload": ((0,), ()),
    "vector.gather": ((0,), ()),
    "vector.load": ((0,), ()),
    "vector.maskedload": ((0,), ()),
    "vector.maskedstore": ((), (0,)),
    "vector.scatter": ((), (0,)),
    "vector.store": ((), (1,)),
    "vector.transfer_read": ((0,), ()),
    "vector.transfer_write": ((), (1,)),
}


class Accessed(NamedTuple):
    """The values that an op reads the memory behind, and those that it writes."""

    reads: tuple[Any, ...]
    writes: tuple[Any, ...]


def accessed_memrefs(op: Any) -> Accessed:
    """What an op of another dialect accesses; nothing if it is not known to access any memref."""
    reads, writes = _ACCESSES.get(op.name, ((), ()))
    return Accessed(*(tuple(op.operands[i] for i in numbers) for numbers in (reads, writes)))


def is_known(op: Any) -> bool:
    """Whether all that an op does with its memrefs is known."""
    return op.name in _ACCESSES or op.name in _QUERIES


def base_of(memref: Any) -> Any:
    """The memref whose memory another one shows."""
    while (op := defining_op(memref)) is not None and op.name in ALIASES:
        memref = op.operands[0]
    return memref


def defining_op(value: Any) -> Any:
    """The op that a value is a result of; None for an argument of a block."""
    return getattr(value.owner, "operation", None)
