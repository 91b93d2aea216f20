"""`wgmma` in inline assembly, for instructions that upstream's `nvvm.wgmma.mma_async` does not support.

That op takes descriptors only, so no A in registers; its scale-d is a constant; it has no `.sp`; and it
omits `.and.popc` from the instruction of b1, which ptxas then rejects.
`tests/codegen/test_upstream_wgmma.py` fails when upstream fixes one of these.
"""

from ....bindings.irtypes import Value
from ....bindings.mlir import ir
from ....ir import emit
from ....layout.accumulators import ACC_F32
from ....layout.elements import B1
from ....layout.instruction import instruction_k
from ....layout.wgmma import INSTRUCTION_M, MN_MAJOR, SPARSITY
from ..mma_qualifiers import InstructionQualifiers
from ..registers import extract


def fence_registers(words: list[Value]) -> list[Value]:
    """Emit a `wgmma.fence` through which the registers of A pass.

    The fence must be between the writes of these registers and the instruction (PTX ISA 9.7.15.7.1). As
    operands of the fence they cannot be written after it; upstream's op does not have them.
    """
    struct = _pass_through("wgmma.fence.sync.aligned;", words, "~{memory}")
    return [extract(struct, i, emit.i32()) for i in range(len(words))]


def pin_registers(scalars: list[Value]) -> Value:
    """Emit empty assembly through which values of one type, i32 or f32, pass; return their struct.

    LLVM then computes the values before this point, in registers of their own: it neither rematerialises
    a constant at its use, nor copies a value that is used again. It keeps the order of assembly
    statements, so the fence that follows stays after this one.
    """
    return _pass_through("", scalars)


def multiply(
    qualifiers: InstructionQualifiers,
    n: int,
    adds: bool | Value,
    accumulator: Value,
    a: tuple[Value, ...],
    b: Value,
    metadata: tuple[Value, int] | None,
) -> Value:
    """Emit one instruction; return the struct of the registers of its accumulator.

    Args:
        qualifiers: its types, majorness and modifiers.
        n: its N.
        adds: scale-d, whether it adds to the accumulator: a constant or an i32 value.
        accumulator: the struct of registers.
        a: the descriptor of A, or its four registers.
        b: the descriptor of B.
        metadata: the register and the selector of a sparse A.
    """
    count = n // 2 // qualifiers.accumulator.per_register
    type_ = ir.F32Type.get() if qualifiers.accumulator is ACC_F32 else emit.i32()
    scalars = [extract(accumulator, i, type_) for i in range(count)]
    operands = [*scalars]
    constraints: list[str] = []

    def operand(value: Value, constraint: str) -> str:
        """Add an input; return its number, after the outputs and the inputs that are tied to them."""
        operands.append(value)
        constraints.append(constraint)
        return f"${count + len(operands) - 1}"

    in_registers = len(a) > 1
    a_names = [operand(value, "r" if in_registers else "l") for value in a]
    names = [_register_list([f"${i}" for i in range(count)])]
    names += [_register_list(a_names) if in_registers else a_names[0], operand(b, "l")]
    if metadata is not None:
        names += [operand(metadata[0], "r"), str(metadata[1])]
    condition = str(int(adds)) if isinstance(adds, bool) else operand(adds, "r")
    text = (
        f"{{\n.reg .pred p;\nsetp.ne.b32 p, {condition}, 0;\n"
        f"{_mnemonic(qualifiers, n, metadata is not None)} "
        f"{', '.join([*names, 'p', *_immediates(qualifiers, in_registers)])};\n}}"
    )
    letter = "f" if qualifiers.accumulator is ACC_F32 else "r"
    outputs, tied = ",".join([f"={letter}"] * count), ",".join(map(str, range(count)))
    return emit.value(
        "llvm.inline_asm",
        operands,
        accumulator.type,
        asm_string=ir.StringAttr.get(text),
        constraints=ir.StringAttr.get(f"{outputs},{tied},{','.join(constraints)}"),
        has_side_effects=ir.UnitAttr.get(),
    )


def _mnemonic(qualifiers: InstructionQualifiers, n: int, sparse: bool) -> str:
    """Return the instruction with its qualifiers (PTX ISA 9.7.15.5.2 and 9.7.15.6.2)."""
    k = instruction_k(qualifiers.a) * (SPARSITY if sparse else 1)
    parts = [
        "wgmma.mma_async" + (".sp" if sparse else ""),
        "sync.aligned",
        f"m{INSTRUCTION_M}n{n}k{k}",
        *(["satfinite"] if "satfinite" in qualifiers.modifiers else []),
        str(qualifiers.accumulator),
        str(qualifiers.a),
        str(qualifiers.b),
        *(["and.popc"] if qualifiers.a is B1 else []),
    ]
    return ".".join(parts)


def _immediates(qualifiers: InstructionQualifiers, a_in_registers: bool) -> list[str]:
    """Return the immediates after scale-d: signs of floats, transposes of 16-bit types."""
    if qualifiers.accumulator.integer:
        return []
    immediates = [str(qualifiers.sign("a")), str(qualifiers.sign("b"))]
    if qualifiers.a in MN_MAJOR:
        majors = (
            [qualifiers.b_major] if a_in_registers else [qualifiers.a_major, qualifiers.b_major]
        )
        immediates += [str(int(major == "mn")) for major in majors]
    return immediates


def _register_list(names: list[str]) -> str:
    return f"{{{', '.join(names)}}}"


def _pass_through(text: str, values: list[Value], *clobbers: str) -> Value:
    """Emit assembly through which values of one type, i32 or f32, pass unchanged; return their struct."""
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
