"""What the body of a `for` statement assigns, read from the code of its function."""

from __future__ import annotations

import dis
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
class Body:
    """The names of a loop's body.

    Attributes:
        assigned: the names that it assigns, and those that nested functions may.
        read_first: those of them that it reads before it assigns them.
        target: the name of the loop's variable, "" if it is not a single one.
    """

    assigned: frozenset[str]
    read_first: frozenset[str]
    target: str


def body_of(frame: FrameType) -> Body | None:
    """Return what the body of the `for` statement that a frame executes assigns.

    It is None if the frame's instruction is not that of a `for` statement.
    """
    return _body(frame.f_code, frame.f_lasti)


def is_iterated_by_for(frame: FrameType) -> bool:
    """Return whether a frame takes the iterator of a `for` statement.

    It may also be the argument of a function, such as `zip`, or what a comprehension iterates over.
    """
    instructions = [
        each for each in dis.get_instructions(frame.f_code) if each.opname != "EXTENDED_ARG"
    ]
    number = next(i for i, each in enumerate(instructions) if each.offset == frame.f_lasti)
    names = [each.opname for each in instructions[number : number + 2]]
    return names == ["GET_ITER", "FOR_ITER"]


@lru_cache(maxsize=512)
def _body(code: CodeType, offset: int) -> Body | None:
    instructions = list(dis.get_instructions(code))
    at = next((i for i, each in enumerate(instructions) if each.offset == offset), None)
    if at is None or instructions[at].opname != "FOR_ITER":
        return None
    end = instructions[at].argval
    body = [each for each in instructions[at + 1 :] if each.offset < end]
    target = ""
    if body and body[0].opname.startswith("STORE_"):
        target = str(body[0].argval)
    assigned, first = set[str](), dict[str, bool]()
    for each in body:
        for name, is_store in _accesses(each):
            if is_store:
                assigned.add(name)
            first.setdefault(name, is_store)
    read = {name for name, stored in first.items() if not stored}
    # What nested functions do first, and whether the body calls them, is not looked at.
    nested = _of_nested(code)
    return Body(frozenset(assigned | nested), frozenset((assigned & read) | nested), target)


def _of_nested(code: CodeType) -> set[str]:
    """Return the variables of a function that functions nested in it assign (`nonlocal`)."""
    found = set[str]()
    for nested in code.co_consts:
        if isinstance(nested, CodeType):
            stored = {
                str(e.argval) for e in dis.get_instructions(nested) if e.opname == "STORE_DEREF"
            }
            found |= (stored | _of_nested(nested)) & set(nested.co_freevars)
    return found


def _accesses(instruction: dis.Instruction) -> list[tuple[str, bool]]:
    """Return (name, whether it is assigned) for each variable that an instruction accesses."""
    name, argument = instruction.opname, instruction.argval
    if not name.startswith(_OF_VARIABLES):
        return []
    # Python 3.12 and later have instructions on two variables: STORE_FAST_LOAD_FAST, ...
    names = argument if isinstance(argument, tuple) else (argument,)
    stores = [part == "STORE" for part in name.split("_") if part in ("LOAD", "STORE")]
    stores = stores if len(stores) == len(names) else stores[:1] * len(names)
    return [(str(each), store) for each, store in zip(names, stores, strict=True)]


def is_read_after(frame: FrameType, name: str) -> bool:
    """Return whether a function may read a variable, after what it executes, before it assigns it.

    Variables that functions within it use are taken as read.
    """
    code = frame.f_code
    return name in (*code.co_cellvars, *code.co_freevars) or _is_read(code, frame.f_lasti, name)


@lru_cache(maxsize=4096)
def _is_read(code: CodeType, offset: int, name: str) -> bool:
    left, seen = _successors(code, number_at(code, offset)), set[int]()
    while left:
        number = left.pop()
        if number in seen:
            continue
        seen.add(number)
        instruction = instructions_of(code)[number]
        uses = [is_store for used, is_store in _accesses(instruction) if used == name]
        if instruction.opname == "DELETE_FAST" and instruction.argval == name:
            uses = [False]
        if not uses:
            left += _successors(code, number)
        elif not uses[0]:
            return True
    return False


def _successors(code: CodeType, number: int) -> list[int]:
    """Return the numbers of the instructions that may follow one, exceptions apart.

    The end of a `with` statement may follow its begin, as if the block were not executed: in the kernel,
    that of `sl.when` perhaps is not.
    """
    instruction = instructions_of(code)[number]
    operation = instruction.opname
    after: list[int] = []
    if operation in ("BEFORE_WITH", "CALL"):
        end = end_of_block(code, instruction.offset)
        after += [] if end is None else [end]
    if "JUMP" in operation or operation in ("FOR_ITER", "SEND"):
        after.append(number_at(code, instruction.argval))
    if not operation.startswith(("RETURN", "RERAISE", "RAISE")) and operation not in _ALWAYS:
        after.append(number + 1)
    return after
