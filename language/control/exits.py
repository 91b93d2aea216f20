"""How the block of a `with` statement ends: at its end, or by a `return`, `break` or `continue`."""

from __future__ import annotations

import dis
import sys
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FrameType

from ..errors import Position, TraceError
from ..locations import position_at, position_of

#: Instructions that enter a block: `BEFORE_WITH` until Python 3.13, then `LOAD_SPECIAL`.
_ENTER = ("BEFORE_WITH", "LOAD_SPECIAL")

#: Instructions that only go on elsewhere, and those after which a function ends.
_JUMPS = ("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT", "JUMP_ABSOLUTE")
_ENDS = ("RETURN_VALUE", "RETURN_CONST", "RERAISE", "RAISE_VARARGS")

#: What a handler pops after `POP_EXCEPT` if `__exit__` suppresses the exception.
_POPPED = 3 if sys.version_info >= (3, 14) else 2

#: How many instructions are compared.
_COMPARED = 100


class WithBlock:
    """The block of a `with` statement, which stands for code that not all threads execute.

    Args:
        frame: the frame of the function, while it calls `__enter__`.
        label: the block, for messages.
        syntax: how it is written, for messages.
        instead: the advice, in place of an early exit.

    Raises:
        TraceError: if something else than a `with` statement calls `__enter__`.
    """

    def __init__(self, frame: FrameType, label: str, syntax: str, instead: str) -> None:
        self.label = label
        self.syntax = syntax
        self.instead = instead
        self.frame = frame
        self.end = end_of_block(frame.f_code, frame.f_lasti)
        if self.end is None:
            raise TraceError(f"{label} is not entered by a with statement; write {syntax}:")

    def check_end(self, frame: FrameType) -> None:
        """Check that a frame, while it calls `__exit__`, has come to the end of the block.

        Raises:
            TraceError: if a `return`, `break` or `continue` has left it, at its line. What follows the
                block would be missing in the kernel, whatever the condition is.
        """
        if frame is not self.frame:
            raise TraceError(
                f"{self.label} is left in another function than it is entered; write {self.syntax}:"
            )
        code, call = frame.f_code, number_at(frame.f_code, frame.f_lasti)
        # After the call, its result is popped.
        if self.end is None or _is_same(code, call + 2, self.end):
            return
        raise TraceError(
            f"{_exit_statement(code, call)} leaves {self.label}, and the trace would leave out the code "
            f"behind it for all threads; {self.instead}",
            _exit_position(code, call) or position_of(frame),
        )


@lru_cache(maxsize=256)
def instructions_of(code: CodeType) -> tuple[dis.Instruction, ...]:
    """Return the instructions of code, without inline caches."""
    return tuple(dis.get_instructions(code))


@lru_cache(maxsize=256)
def _offsets(code: CodeType) -> list[int]:
    return [instruction.offset for instruction in instructions_of(code)]


def number_at(code: CodeType, offset: int) -> int:
    """Return the number of the instruction at an offset, which may be that of its inline cache."""
    return bisect_right(_offsets(code), offset) - 1


@lru_cache(maxsize=1024)
def end_of_block(code: CodeType, offset: int) -> int | None:
    """Return the number of the instruction that follows a `with` statement; None if it is none.

    The handler of its exceptions goes on there if `__exit__` suppresses one. So the place is in the code
    even if the end of the block cannot be reached.

    Args:
        offset: of the call of `__enter__`.
    """
    instructions, call = instructions_of(code), number_at(code, offset)
    if not any(
        instruction.opname in _ENTER for instruction in instructions[max(0, call - 4) : call + 1]
    ):
        return None
    first = instructions[call + 1].offset
    entries = dis.Bytecode(code).exception_entries  # type: ignore[attr-defined]
    handlers = [entry.target for entry in entries if entry.start <= first < entry.end]
    if not handlers:
        return None
    number = number_at(code, handlers[0])
    while "JUMP" not in instructions[number].opname:
        number += 1
    number = number_at(code, instructions[number].argval)
    while instructions[number].opname != "POP_EXCEPT":
        number += 1
    return number + 1 + _POPPED


def _instructions_from(code: CodeType, number: int) -> Iterator[dis.Instruction]:
    """Yield the instructions from a number on, jumps followed, until the function's end."""
    instructions = instructions_of(code)
    for _ in range(_COMPARED):
        instruction = instructions[number]
        if instruction.opname in _JUMPS:
            number = number_at(code, instruction.argval)
            continue
        if instruction.opname not in ("NOP", "NOT_TAKEN", "EXTENDED_ARG"):
            yield instruction
        if instruction.opname in _ENDS:
            return
        number += 1


def _is_same(code: CodeType, first: int, second: int) -> bool:
    """Return whether equal instructions follow two instructions, until they meet or the function ends.

    Python's compiler copies short ends of functions.
    """
    pairs = zip(_instructions_from(code, first), _instructions_from(code, second), strict=False)
    for a, b in pairs:
        if a.offset == b.offset:
            return True
        if (a.opname, a.argval) != (b.opname, b.argval):
            return False
        if a.opname in _ENDS:
            return True
    return False


def _exit_statement(code: CodeType, call: int) -> str:
    """Return the statement that leaves a block, from what follows the call of `__exit__`."""
    for instruction in _instructions_from(code, call + 2):
        if instruction.opname.startswith("RETURN"):
            return "return"
        if instruction.opname == "FOR_ITER":
            return "continue"
        if instruction.opname not in ("LOAD_CONST", "PRECALL", "CALL", "POP_TOP", "SWAP"):
            break
    return "an early exit"


def _exit_position(code: CodeType, call: int) -> Position | None:
    """Return the position of the statement that leaves a block; None if it has no code of its own."""
    instructions = instructions_of(code)
    number = call
    while number > 0 and instructions[number].positions == instructions[call].positions:
        number -= 1
    if instructions[number].opname in _ENDS + _JUMPS:
        return None
    return position_at(code, instructions[number].offset)
