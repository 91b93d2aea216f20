"""`wgmma` in assembly: what upstream's `nvvm.wgmma.mma_async` cannot say.

It takes descriptors only, so no A in registers; its scale-d is a constant; it has no `.sp`; and it
leaves `.and.popc` out of b1's instruction, which ptxas then refuses.
`tests/codegen/test_upstream_wgmma.py` tells when one of these is mended.
"""

from typing import Any

from ....dialect.bindings import ir
from ....ir import emit
from ....layout.accumulators import ACC_F32
from ....layout.elements import B1
from ....layout.instruction import instruction_k
from ....layout.wgmma import INSTRUCTION_M, MN_MAJOR, SPARSITY
from ..mma_qualifiers import MmaQualifiers
from ..registers import extract


def fence_registers(words: list[Any]) -> list[Any]:
    """`wgmma.fence`, with the registers of A passing through it.

    So what makes them cannot be moved behind the fence, which must lie between that and the instruction
    (PTX ISA 9.7.15.7.1); upstream's op does not mention them.
    """
    passed = _tied("wgmma.fence.sync.aligned;", words, "~{memory}")
    return [extract(passed, i, emit.i32()) for i in range(len(words))]


def pin_registers(scalars: list[Any]) -> Any:
    """Empty assembly through which values of one type, i32 or f32, pass; the struct of them.

    LLVM makes them before it, in registers that nothing else has: no constant is made anew at its use,
    and no copy of what is used again. It keeps the order of assembly, and of the fence behind it.
    """
    return _tied("", scalars)


def multiply(
    form: MmaQualifiers,
    n: int,
    adds: Any,
    accumulator: Any,
    a: tuple[Any, ...],
    b: Any,
    metadata: tuple[Any, int] | None,
) -> Any:
    """One instruction; gives the struct of its accumulator's registers.

    Args:
        form: its types, majors and modifiers.
        n: its N.
        adds: scale-d: whether it adds to the accumulator, known now or an i32 value.
        accumulator: the struct of registers.
        a: A's descriptor, or its four registers.
        b: B's descriptor.
        metadata: the register and the selector of a sparse A.
    """
    count = n // 2 // form.accumulator.per_register
    type_ = ir.F32Type.get() if form.accumulator is ACC_F32 else emit.i32()
    scalars = [extract(accumulator, i, type_) for i in range(count)]
    operands = [*scalars]
    kinds: list[str] = []

    def number(value: Any, kind: str) -> str:
        """An input's number; outputs come first, then the inputs that are tied to them."""
        operands.append(value)
        kinds.append(kind)
        return f"${count + len(operands) - 1}"

    in_registers = len(a) > 1
    a_said = [number(value, "r" if in_registers else "l") for value in a]
    said = [_braced([f"${i}" for i in range(count)])]
    said += [_braced(a_said) if in_registers else a_said[0], number(b, "l")]
    if metadata is not None:
        said += [number(metadata[0], "r"), str(metadata[1])]
    condition = str(int(adds)) if isinstance(adds, bool) else number(adds, "r")
    text = (
        f"{{\n.reg .pred p;\nsetp.ne.b32 p, {condition}, 0;\n"
        f"{_name(form, n, metadata is not None)} "
        f"{', '.join([*said, 'p', *_immediates(form, in_registers)])};\n}}"
    )
    letter = "f" if form.accumulator is ACC_F32 else "r"
    outputs, tied = ",".join([f"={letter}"] * count), ",".join(map(str, range(count)))
    return emit.value(
        "llvm.inline_asm",
        operands,
        accumulator.type,
        asm_string=ir.StringAttr.get(text),
        constraints=ir.StringAttr.get(f"{outputs},{tied},{','.join(kinds)}"),
        has_side_effects=ir.UnitAttr.get(),
    )


def _name(form: MmaQualifiers, n: int, sparse: bool) -> str:
    """The instruction with its qualifiers (PTX ISA 9.7.15.5.2 and 9.7.15.6.2)."""
    k = instruction_k(form.a) * (SPARSITY if sparse else 1)
    qualifiers = [
        "wgmma.mma_async" + (".sp" if sparse else ""),
        "sync.aligned",
        f"m{INSTRUCTION_M}n{n}k{k}",
        *(["satfinite"] if "satfinite" in form.modifiers else []),
        str(form.accumulator),
        str(form.a),
        str(form.b),
        *(["and.popc"] if form.a is B1 else []),
    ]
    return ".".join(qualifiers)


def _immediates(form: MmaQualifiers, a_in_registers: bool) -> list[str]:
    """What the instruction says behind scale-d: signs of floats, transposes of 16-bit types."""
    if form.accumulator.integer:
        return []
    found = [str(form.sign("a")), str(form.sign("b"))]
    if form.a in MN_MAJOR:
        majors = [form.b_major] if a_in_registers else [form.a_major, form.b_major]
        found += [str(int(major == "mn")) for major in majors]
    return found


def _braced(names: list[str]) -> str:
    return f"{{{', '.join(names)}}}"


def _tied(text: str, values: list[Any], *clobbers: str) -> Any:
    """Assembly through which values of one type, i32 or f32, pass unchanged; the struct of them."""
    count, type_ = len(values), values[0].type
    struct = ir.Type.parse(f"!llvm.struct<({', '.join([str(type_)] * count)})>")
    output = "=f" if isinstance(type_, ir.F32Type) else "=r"
    outputs, inputs = ",".join([output] * count), ",".join(map(str, range(count)))
    return emit.value(
        "llvm.inline_asm",
        values,
        struct,
        asm_string=ir.StringAttr.get(text),
        constraints=ir.StringAttr.get(",".join([outputs, inputs, *clobbers])),
        has_side_effects=ir.UnitAttr.get(),
    )
