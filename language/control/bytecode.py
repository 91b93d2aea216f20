"""Variables that the body of a `for` statement assigns and reads, from the bytecode of its function."""

from __future__ import annotations

import dis
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FrameType

from .exits import end_of_block, instructions_of, number_at

#: Instructions on variables: of a function, of functions nested in it, of a module.
_OF_VARIABLES = (
    *("LOAD_FAST", "STORE_FAST", "LOAD_DEREF", "STORE_DEREF", "LOAD_CLOSURE"),
    *("LOAD_NAME", "STORE_NAME"),
)

#: Instructions that always go on elsewhere.
_ALWAYS = ("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")


@dataclass(frozen=True)
class BodyNames:
    """The names of a loop's body.

    Attributes:
        assigned: the names that it assigns, and those that nested functions may.
        read_first: those of them that it may read before it assigns them.
        target: the name of the loop's variable, "" if it is not a single one.
    """

    assigned: frozenset[str]
    read_first: frozenset[str]
    target: str


def body_of(frame: FrameType) -> BodyNames | None:
    """Return the names that the body of the `for` statement of a frame assigns.

    It is None if the frame's instruction is not that of a `for` statement.
    """
    return _body(frame.f_code, frame.f_lasti)


def is_iterated_by_for(frame: FrameType) -> bool:
    """Return whether a frame takes the iterator of a `for` statement.

    It may also be the argument of a function, such as `zip`, or what a comprehension iterates over.
    """
    instructions = [
        instruction
        for instruction in dis.get_instructions(frame.f_code)
        if instruction.opname != "EXTENDED_ARG"
    ]
    number = next(
        i for i, instruction in enumerate(instructions) if instruction.offset == frame.f_lasti
    )
    names = [instruction.opname for instruction in instructions[number : number + 2]]
    return names == ["GET_ITER", "FOR_ITER"]


@lru_cache(maxsize=512)
def _body(code: CodeType, offset: int) -> BodyNames | None:
    instructions = list(dis.get_instructions(code))
    start = next(
        (i for i, instruction in enumerate(instructions) if instruction.offset == offset), None
    )
    if start is None or instructions[start].opname != "FOR_ITER":
        return None
    end = instructions[start].argval
    body = [instruction for instruction in instructions[start + 1 :] if instruction.offset < end]
    target = ""
    if body and body[0].opname.startswith("STORE_"):
        target = str(body[0].argval)
    assigned = {
        name for instruction in body for name, is_store in _accesses(instruction) if is_store
    }
    numbers = (
        range(number_at(code, body[0].offset), number_at(code, body[-1].offset) + 1)
        if body
        else range(0)
    )
    # Python's branches are not followed: which of them a trace takes is not known here. But the kernel
    # may skip the block of a `with` statement.
    read = {
        name
        for name in assigned
        if _is_read_from(
            numbers[:1], code, name, numbers, lambda c, n: [n + 1, *_end_of_with(c, n)]
        )
    }
    # What nested functions do first, and whether the body calls them, is not looked at.
    nested = _stored_by_nested(code)
    return BodyNames(frozenset(assigned | nested), frozenset(read | nested), target)


def _end_of_with(code: CodeType, number: int) -> list[int]:
    """Return the number of the instruction behind the block that an instruction enters, if it does."""
    instruction = instructions_of(code)[number]
    if instruction.opname not in ("BEFORE_WITH", "CALL"):
        return []
    end = end_of_block(code, instruction.offset)
    return [] if end is None else [end]


def _stored_by_nested(code: CodeType) -> set[str]:
    """Return the variables of a function that functions nested in it assign (`nonlocal`)."""
    stored_names = set[str]()
    for nested in code.co_consts:
        if isinstance(nested, CodeType):
            stored = {
                str(e.argval) for e in dis.get_instructions(nested) if e.opname == "STORE_DEREF"
            }
            stored_names |= (stored | _stored_by_nested(nested)) & set(nested.co_freevars)
    return stored_names


def _accesses(instruction: dis.Instruction) -> list[tuple[str, bool]]:
    """Return (name, whether it is assigned) for each variable that an instruction accesses."""
    name, argument = instruction.opname, instruction.argval
    if not name.startswith(_OF_VARIABLES):
        return []
    # Python 3.12 and later have instructions on two variables: STORE_FAST_LOAD_FAST, ...
    names = argument if isinstance(argument, tuple) else (argument,)
    stores = [part == "STORE" for part in name.split("_") if part in ("LOAD", "STORE")]
    stores = stores if len(stores) == len(names) else stores[:1] * len(names)
    return [(str(variable), store) for variable, store in zip(names, stores, strict=True)]


def may_be_read_first(frame: FrameType, name: str) -> bool:
    """Return whether the body of a frame's `for` statement may read a variable before it assigns it,
    whichever of Python's branches it takes."""
    return _may_be_read_first(frame.f_code, frame.f_lasti, name)


@lru_cache(maxsize=4096)
def _may_be_read_first(code: CodeType, offset: int, name: str) -> bool:
    start = number_at(code, offset)
    body = range(start + 1, number_at(code, instructions_of(code)[start].argval))
    return _is_read_from([start + 1], code, name, body)


def is_read_behind(frame: FrameType, name: str) -> bool:
    """Return whether a function may read a variable behind the `for` statement of a frame, before it
    assigns it. Variables that functions within it use are taken as read."""
    code = frame.f_code
    return name in (*code.co_cellvars, *code.co_freevars) or _is_read_behind(
        code, frame.f_lasti, name
    )


@lru_cache(maxsize=4096)
def _is_read_behind(code: CodeType, offset: int, name: str) -> bool:
    instructions = instructions_of(code)
    end = number_at(code, instructions[number_at(code, offset)].argval)
    return _is_read_from([end], code, name, range(len(instructions)))


def is_read_after(frame: FrameType, name: str) -> bool:
    """Return whether a function may read a variable, after what it executes, before it assigns it.

    Variables that functions within it use are taken as read.
    """
    code = frame.f_code
    return name in (*code.co_cellvars, *code.co_freevars) or _is_read(code, frame.f_lasti, name)


@lru_cache(maxsize=4096)
def _is_read(code: CodeType, offset: int, name: str) -> bool:
    numbers = range(len(instructions_of(code)))
    return _is_read_from(_successors(code, number_at(code, offset)), code, name, numbers)


def _is_read_from(
    starts: Sequence[int],
    code: CodeType,
    name: str,
    within: range,
    successors: Callable[[CodeType, int], list[int]] | None = None,
) -> bool:
    """Return whether a variable may be read before it is assigned, on a path from some instructions.

    Args:
        starts: their numbers.
        code, name: the function's code, and the variable.
        within: the numbers of the instructions that are followed.
        successors: the numbers of those that may follow one; by default, those of Python.
    """
    pending, seen = list(starts), set[int]()
    while pending:
        number = pending.pop()
        if number in seen or number not in within:
            continue
        seen.add(number)
        instruction = instructions_of(code)[number]
        uses = [is_store for used, is_store in _accesses(instruction) if used == name]
        if instruction.opname == "DELETE_FAST" and instruction.argval == name:
            uses = [False]
        if not uses:
            pending += (successors or _successors)(code, number)
        elif not uses[0]:
            return True
    return False


def _successors(code: CodeType, number: int) -> list[int]:
    """Return the numbers of the instructions that may follow an instruction, without exceptions.

    The end of a `with` statement may follow its begin: the kernel may skip the block of `sl.when`.
    """
    instruction = instructions_of(code)[number]
    operation = instruction.opname
    after = _end_of_with(code, number)
    if "JUMP" in operation or operation in ("FOR_ITER", "SEND"):
        after.append(number_at(code, instruction.argval))
    if not operation.startswith(("RETURN", "RERAISE", "RAISE")) and operation not in _ALWAYS:
        after.append(number + 1)
    return after
