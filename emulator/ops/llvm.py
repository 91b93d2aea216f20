"""The LLVM dialect: pointers, loads and stores, structs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...bindings.mlir import ir
from ..access import load, store
from ..cta import ConvergentThreads
from ..errors import ViolationKind
from ..kernel import Op
from ..lanes import WARP
from ..local_memory import local_memory_of
from ..memory import CLUSTER, GENERIC, LOCAL_BYTES, RANK_SHIFT, SHARED, SHARED_WINDOW
from ..registry import computes, executes
from ..types import as_signed, bits_of, dtype_of, shape_of, space_of, struct_members
from ..values import POISON, RegisterStruct

#: The value in `rawConstantIndices` of an index that is an operand.
_DYNAMIC = -(1 << 31)


# -- pointers --------------------------------------------------------------------------------------


@executes("llvm.mlir.addressof")
def _address_of(op: Op) -> Any:
    symbol = ir.FlatSymbolRefAttr(op.attribute("global_name")).value

    def step(convergent: ConvergentThreads) -> np.ndarray:
        symbols = convergent.cta.launch.symbols
        if symbol not in symbols:
            raise op.refuse(f"takes the address of '{symbol}', which is not in shared memory")
        return np.array([symbols[symbol]], np.int64)

    return step


@computes("llvm.getelementptr")
def _element_pointer(op: Op) -> Any:
    indices = op.numbers("rawConstantIndices")
    if len(indices) != 1:
        raise op.refuse(f"has {len(indices)} indices; the emulator knows those with one")
    # The stride of vectors of three elements is that of four.
    size = natural_alignment(ir.TypeAttr(op.attribute("elem_type")).value, op.location)
    if indices[0] != _DYNAMIC:
        return lambda base: base + indices[0] * size
    return lambda base, index: base + as_signed(index).astype(np.int64) * size


@computes("llvm.ptrtoint")
def _pointer_to_integer(op: Op) -> Any:
    dtype = dtype_of(op.result_types[0], op.location)
    return lambda pointer: pointer.astype(dtype)


@computes("llvm.inttoptr")
def _integer_to_pointer(op: Op) -> Any:
    return lambda number: number.astype(np.int64)


@executes("llvm.addrspacecast")
def _change_space(op: Op) -> Any:
    source, target = op.space, space_of(str(op.result_types[0]))
    cast = _cast(op, source, target)
    return lambda convergent, pointer: cast(convergent.cta.rank, convergent.check_value(pointer))


def _cast(op: Op, source: int, target: int) -> Callable[[int, np.ndarray], np.ndarray]:
    """Return a function from a CTA's rank and addresses to addresses in another state space."""
    if (source, target) == (SHARED, CLUSTER):
        return lambda rank, pointer: pointer + (rank << RANK_SHIFT)
    if CLUSTER in (source, target):
        raise op.refuse(
            "casts to or from a cluster's shared memory, which the emulator does not know"
        )
    if (source, target) == (SHARED, GENERIC):
        return lambda _, pointer: pointer + SHARED_WINDOW
    if (source, target) == (GENERIC, SHARED):
        return lambda _, pointer: pointer - SHARED_WINDOW
    return lambda _, pointer: pointer


# -- memory ----------------------------------------------------------------------------------------


def natural_alignment(type_: Any, location: Any) -> int:
    """Return LLVM's natural alignment of a type, in bytes."""
    size = bits_of(type_, location) // 8
    return 1 << (size - 1).bit_length()


def _stored_space(op: Op) -> int:
    """Return the state space of the pointer of a store."""
    space = space_of(str(op.operand_types[1]))
    if space == CLUSTER:
        raise op.refuse("writes a cluster's shared memory, which the emulator does not know")
    return space


@executes("llvm.alloca")
def _variable(op: Op) -> Any:
    type_ = ir.TypeAttr(op.attribute("elem_type")).value
    size = natural_alignment(type_, op.location)
    alignment = op.number("alignment", size)
    if space_of(str(op.result_types[0])) != GENERIC:
        raise op.refuse(f"gives a {op.result_types[0]}; the emulator knows those of !llvm.ptr")

    def step(convergent: ConvergentThreads, count: Any) -> np.ndarray:
        sizes = convergent.broadcast(convergent.check_value(count)).astype(np.int64) * size
        addresses = local_memory_of(convergent.cta).allocate(
            convergent.lanes.threads, sizes, alignment
        )
        if addresses is None:
            raise op.refuse(f"has no room; the emulator has {LOCAL_BYTES} bytes for each thread")
        return addresses

    return step


@executes("llvm.load")
def _load(op: Op) -> Any:
    type_ = op.result_types[0]
    size, shape = bits_of(type_, op.location) // 8, shape_of(type_)
    dtype = dtype_of(type_, op.location)
    alignment = op.number("alignment", natural_alignment(type_, op.location))
    space = op.space

    def step(convergent: ConvergentThreads, pointer: Any) -> np.ndarray:
        raw = load(convergent, convergent.check_value(pointer), space, size, alignment)
        return raw.view(dtype).reshape(len(raw), *shape)

    return step


@executes("llvm.store")
def _store(op: Op) -> Any:
    type_ = op.operand_types[0]
    alignment = op.number("alignment", natural_alignment(type_, op.location))
    space = _stored_space(op)

    def step(convergent: ConvergentThreads, value: Any, pointer: Any) -> None:
        values = convergent.check_value(value)
        raw = np.ascontiguousarray(values).reshape(len(values), -1).view(np.uint8)
        store(convergent, convergent.check_value(pointer), space, raw, alignment)

    return step


# -- structs ---------------------------------------------------------------------------------------


@executes("llvm.mlir.zero", "llvm.mlir.poison", "llvm.mlir.undef", "ub.poison")
def _whole(op: Op) -> Any:
    return _zeros_or_poison(op.result_types[0], op.name == "llvm.mlir.zero", op.location)


def _zeros_or_poison(
    type_: Any, defined: bool, location: Any
) -> Callable[[ConvergentThreads], Any]:
    """Return a function that makes a value of zeros, or a poison value."""
    members = struct_members(type_)
    if members is None:
        if not defined:
            return lambda convergent: POISON
        dtype, shape = dtype_of(type_, location), shape_of(type_)
        return lambda convergent: np.zeros((1, *shape), dtype)
    if not _is_uniform(members):
        parts = [_zeros_or_poison(member, defined, location) for member in members]
        return lambda convergent: tuple(part(convergent) for part in parts)
    dtype, count = dtype_of(members[0], location), len(members)

    def step(convergent: ConvergentThreads) -> RegisterStruct:
        data = np.zeros((convergent.lanes.count, count), dtype)
        registers = new_registers(convergent, data, np.full(count, defined))
        # No instruction writes poison: the stamp comes from values that are inserted later.
        return registers if defined else replace(registers, stamp=np.full_like(registers.stamp, -1))

    return step


def _is_uniform(members: list[Any]) -> bool:
    """Whether a struct is represented as registers of one type."""
    if not members or struct_members(members[0]) is not None:
        return False
    return all(member == members[0] for member in members)


def new_registers(
    convergent: ConvergentThreads, data: np.ndarray, defined: np.ndarray
) -> RegisterStruct:
    """Return registers that the threads write now by an ordinary instruction."""
    warps = convergent.lanes.threads // WARP
    stamp = convergent.cta.groups.fences[warps]
    return RegisterStruct(data, np.zeros(len(stamp), np.int32), stamp, defined)


@executes("llvm.extractvalue")
def _extract(op: Op) -> Any:
    outer, *inner = op.numbers("position")

    def step(convergent: ConvergentThreads, struct: Any) -> Any:
        struct = member(struct, outer)
        for position in inner:
            struct = member(struct, position)
        return struct

    return step


def member(struct: Any, position: int) -> Any:
    """Return a member of a struct. No instruction uses it yet, so it may be in flight or poison, and it
    keeps its stamp."""
    if not isinstance(struct, RegisterStruct):
        return struct[position]
    if not struct.defined[position]:
        return POISON
    column = struct.data[:, position : position + 1]
    return RegisterStruct(
        column, struct.pending, struct.stamp, struct.defined[position : position + 1]
    )


@executes("llvm.insertvalue")
def _insert(op: Op) -> Any:
    position = op.numbers("position")
    # A struct of registers is made by a chain of these ops.
    in_place = op.is_last_use(0)

    def step(convergent: ConvergentThreads, struct: Any, member: Any) -> Any:
        return _insert_member(convergent, struct, member, position, in_place)

    return step


def _insert_member(
    convergent: ConvergentThreads,
    struct: Any,
    member: Any,
    position: list[int],
    in_place: bool = False,
) -> Any:
    outer, inner_position = position[0], position[1:]
    if not isinstance(struct, RegisterStruct):
        inner = (
            _insert_member(convergent, struct[outer], member, inner_position)
            if inner_position
            else member
        )
        return (*struct[:outer], inner, *struct[outer + 1 :])
    pending, stamp = struct.pending, struct.stamp
    if isinstance(member, RegisterStruct):
        pending = np.maximum(pending, member.pending)
        stamp = np.maximum(stamp, member.stamp)
        member = member.data[:, 0]
    elif not np.count_nonzero(pending):
        stamp = convergent.cta.groups.fences[convergent.lanes.threads // WARP]
    data, defined = struct.data, struct.defined
    if not in_place:
        data, defined = data.copy(), defined.copy()
    defined[outer] = member is not POISON
    if defined[outer]:
        data[:, outer] = member
    return RegisterStruct(data, pending, stamp, defined)


@executes("llvm.intr.assume")
def _assume(op: Op) -> Any:
    def step(convergent: ConvergentThreads, condition: Any, *_: Any) -> None:
        if not convergent.check_value(condition).all():
            convergent.cta.report_at(
                convergent,
                ViolationKind.ASSERTION,
                "assumes a condition that does not hold: that of an sl.assume, or that the memory of an "
                "smem.view has the alignment it states",
            )

    return step
