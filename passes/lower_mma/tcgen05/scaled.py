"""`smem.mma_desc_scaled`: scale factors copied to tensor memory, and the instructions that read them."""

from typing import Any

from ....dialect.bindings import ir
from ....dialect.caching import cached_in_context
from ....dialect.ops import MmaDescScaledOp
from ....dialect.ops.mma_desc_scaled import k_bytes_of, scaling_of_descriptors
from ....dialect.types import shape_of
from ....ir import emit
from ....ir.kernel import function_of
from ....ir.matrix_descriptors import START_MASK
from ....layout.descriptor import LBO
from ....layout.tcgen05 import LBO_MODE, LONG_K_BYTES, TCGEN05_M, InstructionDescriptor
from ....layout.tcgen05.scales import BLOCK_COLUMNS, BLOCK_ROWS, LANES, scale_step
from ..mma_qualifiers import qualifiers_of
from ..steps import Steps
from ..typed import TypedOp
from .mma import checked_bits
from .target import LOWERINGS, Tcgen05Target
from .tensor_memory import TensorMemory, pointer


@LOWERINGS.of(MmaDescScaledOp)
def lower_scaled(typed: TypedOp, target: Tcgen05Target) -> Any:
    """Emits the copies and the instructions of one scaled mma, which one thread of the warpgroup starts;
    the accumulator's address.

    Copies and mma of one thread are executed in their order (PTX ISA 9.7.16.6.2 says it of mma after
    copies; of copies after mma, Triton's tutorial does, and CUTLASS relies on it). So all mma of a
    warpgroup have their factors in the same columns.
    """
    op, registers, steps = typed.op, target.registers(typed.result), target.steps
    kernel = target.kernel_of(op)
    scaling, form = scaling_of_descriptors(op), qualifiers_of(op, registers.accumulator)
    m = shape_of(typed.result)[0]
    k_bytes = k_bytes_of(op, scaling, m)
    a, b = (_descriptors(op, operand, k_bytes, steps) for operand in "ab")
    factors = _Factors(op, m, steps, kernel.memory)
    sum_ = kernel.sum_of(typed, registers)
    across, k_blocks = registers.across, registers.k_blocks(op)
    count = k_bytes * 8 // scaling.a.bits // scaling.block
    with kernel.memory.issued():
        factors.copy()
        places = sum_.places(registers)
        for k in range(k_blocks):
            adds, (word, byte) = sum_.adds(k), scale_step(k, count)
            for i, (row, column, n) in enumerate(registers.instructions):
                down, right = divmod(i, across)
                descriptor = InstructionDescriptor(
                    scaling.kind,
                    scaling.a,
                    scaling.b,
                    TCGEN05_M * op.ctas,
                    n,
                    a_mn_major=form.a_major == "mn",
                    b_mn_major=form.b_major == "mn",
                    negate_a=form.sign("a") < 0,
                    negate_b=form.sign("b") < 0,
                    scale=scaling.scale,
                    a_scale=byte,
                    b_scale=byte,
                    k_bytes=k_bytes,
                )
                emit.op(
                    "nvvm.tcgen05.mma.block_scale",
                    (
                        places[i],
                        a[down * k_blocks + k],
                        b[right * k_blocks + k],
                        emit.constant(checked_bits(op, descriptor), emit.i32()),
                        adds,
                        factors.of_a(row, word),
                        factors.of_b(column, word),
                    ),
                    ctaGroup=kernel.memory.group,
                    **_attributes(ir.Context.current, scaling.kind.name, scaling.block),
                )
    return sum_.address


def _descriptors(op: Any, operand: str, k_bytes: int, steps: Steps) -> list[Any]:
    """The descriptor of each block of A or B. That of rows in two chunks has, in place of its LBO, the
    second one's address, which is as far from the first block's as the op says."""
    function = function_of(op)
    if k_bytes != LONG_K_BYTES:
        return steps.of_blocks(op, operand, function)
    base = getattr(op, operand)
    shift, first = LBO[0], emit.binary("andi", base, START_MASK)
    absolute = emit.binary("addi", base, emit.binary("shli", first, shift))
    # The LBO that nothing depends on is 1.
    mode = (1 << LBO_MODE[0]) - (1 << shift)
    return [
        steps.get(base, step, op, function)
        if second < 0
        else steps.get(absolute, step + (second << shift) + mode, op, function)
        for step, second in zip(
            op.attributes[f"{operand}_steps"], op.attributes[f"{operand}_seconds"], strict=True
        )
    ]


class _Factors:
    """The scale factors of an mma: blocks of 128 rows and 4 factors along K, a word, in four columns
    each.

    Those of A's 128 rows follow each other along K, because an instruction's factors may run into the
    next word, which then lies as many columns further as its rows take. Those of B are all rows' of a
    word after the other.
    """

    def __init__(self, op: Any, m: int, steps: Steps, memory: TensorMemory) -> None:
        function, self._group = function_of(op), memory.group
        self._descriptors = [
            [
                steps.get(value, step, op, function)
                for step in op.attributes[f"{operand}_scale_steps"]
            ]
            for operand, value in zip("ab", op.scales, strict=True)
        ]
        a, b = map(len, self._descriptors)
        self._words = a // (m // BLOCK_ROWS)
        self._a = emit.binary("addi", memory.first, memory.columns - (a + b) * BLOCK_COLUMNS)
        self._b = emit.binary("addi", self._a, a * BLOCK_COLUMNS)
        # What one word of all of B's rows takes.
        self._across = b // self._words * BLOCK_COLUMNS

    def of_a(self, row: int, word: int) -> Any:
        """The pointer to a word of the factors of 128 rows of A, from a row on."""
        at = (row // BLOCK_ROWS * self._words + word) * BLOCK_COLUMNS
        return pointer(emit.binary("addi", self._a, at))

    def of_b(self, column: int, word: int) -> Any:
        """The pointer to a word of the factors of columns of B, from one on."""
        return pointer(emit.binary("addi", self._b, word * self._across + column // LANES))

    def copy(self) -> None:
        """Emits the copies of all factors."""
        a, b = self._descriptors
        for i, descriptor in enumerate(a):
            down, word = divmod(i, self._words)
            self._copy(self.of_a(down * BLOCK_ROWS, word), descriptor)
        for i, descriptor in enumerate(b):
            right, word = divmod(i, self._words)
            self._copy(self.of_b(right * BLOCK_ROWS, word), descriptor)

    def _copy(self, to: Any, descriptor: Any) -> None:
        said = _copy_attributes(ir.Context.current)
        emit.op("nvvm.tcgen05.cp", (to, descriptor), group=self._group, **said)


@cached_in_context
def _copy_attributes(context: Any) -> dict[str, Any]:
    return {
        "shape": ir.Attribute.parse("#nvvm.tcgen05_cp_shape<shape_32x128b>", context),
        "multicast": ir.Attribute.parse("#nvvm.tcgen05_cp_multicast<warpx4>", context),
    }


@cached_in_context
def _attributes(context: Any, kind: str, block: int) -> dict[str, Any]:
    return {
        "kind": ir.Attribute.parse(f"#nvvm.tcgen05_mma_kind<{kind}>", context),
        "blockScale": ir.Attribute.parse(f"#nvvm.tcgen05_mma_block_scale<block{block}>", context),
    }
