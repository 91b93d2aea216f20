"""What the body of a `for` statement assigns, read from the code of its function."""

from __future__ import annotations

import dis
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FrameType

#: Instructions on variables: of a function, of functions nested in it, of a module.
_OF_VARIABLES = (
    *("LOAD_FAST", "STORE_FAST", "LOAD_DEREF", "STORE_DEREF", "LOAD_CLOSURE"),
    *("LOAD_NAME", "STORE_NAME"),
)


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
