"""Stores of the low bits of a register that holds a float, in a form that every ptxas compiles correctly.

A store takes the low bits of a wider register (PTX ISA 9.1, 9.4.1, "Operand Size Exceeding
Instruction-Type Size"). If a floating-point instruction wrote the register, ptxas 13.0 converts the
number to an unsigned integer instead: `F2I.U32.F64` for `st.b32` of the sum of two f64; ptxas 13.1 is
right. Both take the result of a `mov.b64` as bits, and the move costs no instruction.
"""

import re
from collections.abc import Iterator

#: Bits of a register, by the prefix of its name in LLVM's PTX.
_BITS = {"rd": 64, "r": 32, "rs": 16}

_REGISTER = re.compile(r"%(rd|rs|r)\d+\b")

_STORE = re.compile(
    r"^[ \t]*(?P<op>st\.[\w.:]*\.b(?P<bits>8|16|32))[ \t]+(?P<to>\[[^\]]*\]),[ \t]*"
    r"(?P<source>\{[^}]*\}|%\w+);",
    re.M,
)

#: A floating-point instruction; the group is its destination.
_OF_FLOATS = re.compile(
    r"^[ \t]*(?:@!?%\w+[ \t]+)?[a-z][\w.:]*\.(?:b?f16|f32|f64)\b\S*[ \t]+(\{[^}]*\}|%\w+)", re.M
)


def explicit_narrow_stores(ptx: str) -> str:
    """Return PTX in which stores of the low bits of a float take them from an untyped register."""
    if not any(True for store in _STORE.finditer(ptx) for _ in _wider_registers(store)):
        return ptx
    floats = {
        register[0] for op in _OF_FLOATS.finditer(ptx) for register in _REGISTER.finditer(op[1])
    }
    return _STORE.sub(lambda store: _explicit_store(store, floats), ptx)


def _wider_registers(store: re.Match[str]) -> Iterator[tuple[str, int]]:
    """Yield the registers that are wider than a store of them, with their bits."""
    for register in _REGISTER.finditer(store["source"]):
        if (bits := _BITS[register[1]]) > int(store["bits"]):
            yield register[0], bits


def _explicit_store(store: re.Match[str], floats: set[str]) -> str:
    registers = {register: bits for register, bits in _wider_registers(store) if register in floats}
    if not registers:
        return store[0]
    names = {register: f"bits{index}" for index, register in enumerate(registers)}
    moves = " ".join(
        f".reg .b{bits} {names[register]}; mov.b{bits} {names[register]}, {register};"
        for register, bits in registers.items()
    )
    source = _REGISTER.sub(lambda register: names.get(register[0], register[0]), store["source"])
    return f"\t{{ {moves} {store['op']} {store['to']}, {source}; }}"
