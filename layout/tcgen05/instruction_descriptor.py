"""The 32-bit instruction descriptor of `tcgen05.mma` (PTX ISA 9.7.16.4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter

from ..descriptor import field_of, mask_of
from ..elements import Element
from .kinds import MN_MAJOR, SCALE_TYPES, Kind
from .shapes import LONG_K_BYTES, MmaShape, check_shape

#: First bit and width of each field: those of all kinds, of plain kinds, and of block-scaled kinds.
_SPARSE, _A_TYPE, _B_TYPE = (2, 1), (7, 3), (10, 3)
_NEGATE_A, _NEGATE_B, _A_MN_MAJOR, _B_MN_MAJOR = (13, 1), (14, 1), (15, 1), (16, 1)
_N, _M = (17, 6), (24, 5)
_SELECTOR, _SATURATE, _D_TYPE = (0, 2), (3, 1), (4, 2)
_B_SCALE, _SCALE_TYPE, _A_SCALE, _LONG_K = (4, 2), (23, 1), (29, 2), (31, 1)

_SHARED = (_SPARSE, _A_TYPE, _B_TYPE, _NEGATE_A, _NEGATE_B, _A_MN_MAJOR, _B_MN_MAJOR, _N, _M)
_PLAIN = mask_of(*_SHARED, _SELECTOR, _SATURATE, _D_TYPE)
_SCALED = mask_of(*_SHARED, _B_SCALE, _SCALE_TYPE, _A_SCALE, _LONG_K)

_FIELDS = {
    "selector": _SELECTOR,
    "sparse": _SPARSE,
    "saturate": _SATURATE,
    "d": _D_TYPE,
    "a": _A_TYPE,
    "b": _B_TYPE,
    "negate_a": _NEGATE_A,
    "negate_b": _NEGATE_B,
    "a_mn_major": _A_MN_MAJOR,
    "b_mn_major": _B_MN_MAJOR,
    "n": _N,
    "m": _M,
}
_SCALED_FIELDS = {
    "b_scale": _B_SCALE,
    "scale": _SCALE_TYPE,
    "a_scale": _A_SCALE,
    "k_bytes": _LONG_K,
}

#: The encoding of D's type.
_D_CODES = {"f16": 0, "f32": 1, "s32": 2}


@dataclass(frozen=True)
class InstructionDescriptor:
    """An instruction descriptor by its fields; `check` checks the types and the shape.

    Attributes:
        kind: the instruction's kind, which the bits do not encode.
        a, b: the element types of A and B.
        m, n: rows and columns of D, of all CTAs that execute the instruction.
        d: the type of D; "f32" for a block-scaled kind.
        a_mn_major, b_mn_major: whether A is M-major, B is N-major.
        negate_a, negate_b: whether A or B is negated.
        saturate: whether D is saturated (integers).
        sparse: whether A is sparse.
        selector: the sparsity selector, 0 to 3.
        scale: the type of the scale factors; None for a kind that has none.
        a_scale, b_scale: the ids of A's and B's scale factors: the byte of a word, 0 to 3.
        k_bytes: 32, or 48 on sm_103a.
    """

    kind: Kind
    a: Element
    b: Element
    m: int
    n: int
    d: str = "f32"
    a_mn_major: bool = False
    b_mn_major: bool = False
    negate_a: bool = False
    negate_b: bool = False
    saturate: bool = False
    sparse: bool = False
    selector: int = 0
    scale: str | None = None
    a_scale: int = 0
    b_scale: int = 0
    k_bytes: int = 32

    @staticmethod
    def fields(kind: Kind) -> dict[str, tuple[int, int]]:
        """Return (first bit, width) of each attribute's field in the descriptors of a kind, in order."""
        fields = _FIELDS
        if kind.scales:
            plain_only = ("selector", "saturate", "d")
            shared = {name: field for name, field in _FIELDS.items() if name not in plain_only}
            fields = shared | _SCALED_FIELDS
        return dict(sorted(fields.items(), key=itemgetter(1)))

    def check(self, ctas: int) -> None:
        """Check that an instruction with `.cta_group::{ctas}` can have this descriptor.

        Raises:
            ValueError: if none can; the message states what would fit.
        """
        kind = self.kind
        if not kind.multiplies(self.a, self.b):
            fitting = ", ".join(map(str, kind.codes))
            of_one_type = " of one type" if kind.same else ""
            raise ValueError(
                f"kind::{kind} does not multiply {self.a} and {self.b}; it takes A and B{of_one_type} of "
                f"{fitting}"
            )
        if self.d not in kind.accumulators:
            raise ValueError(
                f"D of kind::{kind} is {self.d}; expected {' or '.join(kind.accumulators)}"
            )
        if self.d == "f16" and kind.name == "f16" and self.a.name != "f16":
            raise ValueError(f"D of {self.a} is f16; expected f32")
        for name, is_set, is_supported in (
            ("negate A or B", self.negate_a or self.negate_b, kind.negates),
            ("saturate", self.saturate, kind.saturates),
        ):
            if is_set and not is_supported:
                raise ValueError(f"kind::{kind} does not {name}")
        scales = {name for name, _ in kind.scales}
        if self.scale not in (scales or {None}):
            expected = f"factors of {' or '.join(sorted(scales))}" if scales else "none"
            raise ValueError(
                f"kind::{kind} is scaled by {self.scale or 'nothing'}; expected {expected}"
            )
        for name, major, element in (
            ("A", self.a_mn_major, self.a),
            ("B", self.b_mn_major, self.b),
        ):
            if major and element not in MN_MAJOR:
                raise ValueError(
                    f"{name} of {element} is {'M' if name == 'A' else 'N'}-major; tcgen05 reads that "
                    "type K-major only"
                )
        shape = MmaShape(self.m, self.n, ctas, self.k_bytes)
        check_shape(kind, shape, self.b, self.b_mn_major)

    def encode(self) -> int:
        """Return the 32 bits."""
        bits = 0

        def put(field: tuple[int, int], value: int) -> None:
            nonlocal bits
            bits |= value << field[0]

        put(_SPARSE, self.sparse)
        put(_A_TYPE, self.kind.codes[self.a])
        put(_B_TYPE, self.kind.codes[self.b])
        put(_NEGATE_A, self.negate_a)
        put(_NEGATE_B, self.negate_b)
        put(_A_MN_MAJOR, self.a_mn_major)
        put(_B_MN_MAJOR, self.b_mn_major)
        put(_N, self.n >> 3)
        # Block-scaled kinds have M / 128 from bit 27 on, which is the same encoding.
        put(_M, self.m >> 4)
        if self.scale is None:
            put(_SELECTOR, self.selector)
            put(_SATURATE, self.saturate)
            put(_D_TYPE, _D_CODES[self.d])
        else:
            put(_B_SCALE, self.b_scale)
            put(_SCALE_TYPE, SCALE_TYPES[self.scale])
            put(_A_SCALE, self.a_scale)
            put(_LONG_K, self.k_bytes == LONG_K_BYTES)
        return bits

    @classmethod
    def decode(cls, bits: int, kind: Kind) -> InstructionDescriptor:
        """Return the descriptor that 32 bits encode for an instruction of that kind.

        Raises:
            ValueError: if a bit that belongs to no field is set, or a field has an undefined value.
        """
        field_mask = _SCALED if kind.scales else _PLAIN
        if not 0 <= bits < 1 << 32:
            raise ValueError(f"{bits:#x} is not a 32-bit value")
        if bits & ~field_mask:
            raise ValueError(
                f"{bits:#010x} sets bits {bits & ~field_mask:#010x}, which belong to no field of "
                f"kind::{kind}"
            )

        def get(field: tuple[int, int]) -> int:
            return field_of(bits, field)

        return cls(
            kind,
            _decode_code("the type of A", get(_A_TYPE), kind.codes),
            _decode_code("the type of B", get(_B_TYPE), kind.codes),
            get(_M) << 4,
            get(_N) << 3,
            a_mn_major=bool(get(_A_MN_MAJOR)),
            b_mn_major=bool(get(_B_MN_MAJOR)),
            negate_a=bool(get(_NEGATE_A)),
            negate_b=bool(get(_NEGATE_B)),
            sparse=bool(get(_SPARSE)),
            **_scaled_values(get) if kind.scales else _plain_values(get, kind),
        )


def _plain_values(get, kind: Kind) -> dict:
    codes = {name: _D_CODES[name] for name in kind.accumulators}
    return {
        "d": _decode_code("the type of D", get(_D_TYPE), codes),
        "saturate": bool(get(_SATURATE)),
        "selector": get(_SELECTOR),
    }


def _scaled_values(get) -> dict:
    return {
        "scale": _decode_code("the type of the scale factors", get(_SCALE_TYPE), SCALE_TYPES),
        "a_scale": get(_A_SCALE),
        "b_scale": get(_B_SCALE),
        "k_bytes": LONG_K_BYTES if get(_LONG_K) else 32,
    }


def _decode_code(name: str, code: int, codes: dict):
    """Return the meaning of a field's code.

    Args:
        name: the field in words.
        code: its value.
        codes: the code of each meaning.

    Raises:
        ValueError: for an undefined code.
    """
    meanings = {code: meaning for meaning, code in codes.items()}
    if code not in meanings:
        defined = ", ".join(f"{code} ({meaning})" for code, meaning in meanings.items())
        raise ValueError(f"{name} is {code}; expected {defined}")
    return meanings[code]
