"""The text of a `wgmma.mma_async` in inline assembly (PTX ISA 9.7.15.5.2, sparse 9.7.15.6):

    {
    .reg .pred p;
    setp.ne.b32 p, <scale-d>, 0;
    wgmma.mma_async[.sp].sync.aligned.<shape>[.satfinite].<D>.<A>.<B>[.and.popc]
        {<D's registers>}, <A>, <B>[, <metadata>, <selector>], p
        [, <scale-a>, <scale-b>][, <trans-a>][, <trans-b>];
    }

An operand is named by its number, such as `$4`. A is its descriptor, or four registers in braces.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..tensor_core.arithmetic import ACCUMULATORS
from ..tensor_core.multiplicands import MULTIPLICANDS, Multiplicand
from .fragments import A_REGISTERS, ROWS
from .mma import MmaQualifiers

_TEXT = re.compile(
    r"\{\s*\.reg \.pred p;\s*setp\.ne\.b32 p, (?P<scale_d>[01]|\$\d+), 0;\s*"
    r"wgmma\.mma_async(?P<sparse>\.sp)?\.sync\.aligned\.m(?P<m>\d+)n(?P<n>\d+)k(?P<k>\d+)"
    r"(?P<satfinite>\.satfinite)?\.(?P<d>\w+)\.(?P<a>\w+)\.(?P<b>\w+)(?P<popc>\.and\.popc)? "
    r"(?P<operands>[^;]+);\s*\}"
)
_OPERAND = r"\{\$\d+(?:, \$\d+)*\}|\$\d+|-?\d+|p"

#: Element types of A and B that can be combined, and their accumulator types.
_FAMILIES = (
    ({"f16"}, {"f16", "f32"}),
    ({"bf16"}, {"f32"}),
    ({"tf32"}, {"f32"}),
    ({"e4m3", "e5m2"}, {"f16", "f32"}),
    ({"s8", "u8"}, {"s32"}),
    ({"b1"}, {"s32"}),
)


@dataclass(frozen=True)
class Assembly:
    """An instruction in inline assembly: its qualifiers, and the numbers of its operands.

    Attributes:
        qualifiers: of the instruction.
        d: the registers of D.
        a: the descriptor of A, or its four registers.
        b: the descriptor of B.
        metadata: of a sparse instruction, else None.
        scale_d: the operand that is scale-d; None if the text has a constant.
    """

    qualifiers: MmaQualifiers
    d: tuple[int, ...]
    a: tuple[int, ...]
    b: int
    metadata: int | None
    scale_d: int | None

    @property
    def constraints(self) -> dict[int, str]:
        """The constraint of each operand: `f` and `r` are registers, `l` is a descriptor."""
        register = "f" if self.qualifiers.accumulator.name == "float32" else "r"
        constraints = dict.fromkeys(self.d, register)
        constraints |= dict.fromkeys(self.a, "r" if len(self.a) > 1 else "l")
        constraints[self.b] = "l"
        constraints |= {n: "r" for n in (self.metadata, self.scale_d) if n is not None}
        return constraints


def parse(text: str) -> Assembly | None:
    """Parse the text of a `wgmma.mma_async`. Return None for any other text.

    Raises:
        ValueError: if PTX does not have the instruction.
    """
    match = _TEXT.fullmatch(text)
    if not match or not re.fullmatch(f"(?:{_OPERAND})(?:, (?:{_OPERAND}))*", match["operands"]):
        return None
    fields = match.groupdict()
    a, b = _types(fields)
    n = _columns(fields, a)
    is_float, is_16_bit = a.is_float, a.dtype.itemsize == 2
    operands = re.findall(_OPERAND, fields["operands"])

    def take(expected: str, pattern: str) -> str:
        if not operands or not re.fullmatch(pattern, operands[0]):
            was = operands[0] if operands else "nothing"
            raise ValueError(f"{was} where {expected} is expected")
        return operands.pop(0)

    def sign(expected: str) -> int:
        return int(take(expected, "1|-1")) if is_float else 1

    def mn_major(expected: str) -> bool:
        return is_16_bit and take(expected, "[01]") == "1"

    d = _numbers(take("the accumulator", r"\{.*\}"))
    left = _numbers(take("A", r"\{.*\}|\$\d+"))
    right = _numbers(take("B", r"\$\d+"))
    metadata = _numbers(take("metadata", r"\$\d+")) if fields["sparse"] else ()
    # All threads hold metadata of 8-bit types, so that the selector is 0 (measured on an H200).
    selector = take("a selector", "0" if a.dtype.itemsize == 1 else "[01]") if metadata else None
    take("p", "p")
    # The remaining operands are taken in the order of the text.
    qualifiers = MmaQualifiers(
        n,
        a,
        b,
        ACCUMULATORS[fields["d"]],
        accumulates=fields["scale_d"] == "1",
        a_sign=sign("scale-a"),
        b_sign=sign("scale-b"),
        a_mn_major=len(left) == 1 and mn_major("trans-a"),
        b_mn_major=mn_major("trans-b"),
        saturates=fields["satfinite"] is not None,
        selector=None if selector is None else int(selector),
    )
    if operands:
        raise ValueError(f"{operands[0]} after its last operand")
    registers = n * qualifiers.accumulator.itemsize // 8
    if len(d) != registers or len(left) not in (1, A_REGISTERS):
        raise ValueError(
            f"{len(d)} registers of D and {len(left)} operands of A; expected {registers}, and 1 or "
            f"{A_REGISTERS}"
        )
    scale_d = _numbers(fields["scale_d"]) if fields["scale_d"].startswith("$") else ()
    optional = (metadata or (None,))[0], (scale_d or (None,))[0]
    return Assembly(qualifiers, d, left, right[0], *optional)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", text)))


def _types(fields: dict[str, str]) -> tuple[Multiplicand, Multiplicand]:
    """Return the types of A and B; check that the instruction takes them."""
    names = {fields["a"], fields["b"]}
    if not any(names <= types and fields["d"] in sums for types, sums in _FAMILIES):
        raise ValueError(f"{fields['a']} cannot be multiplied by {fields['b']} into {fields['d']}")
    a, b = MULTIPLICANDS[fields["a"]], MULTIPLICANDS[fields["b"]]
    if (fields["popc"] is not None) != a.packed:
        raise ValueError(".and.popc is for b1 alone, which needs it")
    if fields["satfinite"] and (a.is_float or a.packed):
        raise ValueError(f".satfinite is for 8-bit integers, not for {fields['a']}")
    if fields["sparse"] and a.packed:
        raise ValueError("a sparse wgmma does not take b1")
    return a, b


def _columns(fields: dict[str, str], a: Multiplicand) -> int:
    """Return N; check the shape."""
    m, n, k = (int(fields[letter]) for letter in "mnk")
    depth = a.k * (2 if fields["sparse"] else 1)
    step = 8 if a.is_float or n <= 32 else 16
    if m != ROWS or k != depth or n % step or not 8 <= n <= 256:
        raise ValueError(f"m{m}n{n}k{k} is not a shape of this wgmma; expected m{ROWS}n<N>k{depth}")
    return n
