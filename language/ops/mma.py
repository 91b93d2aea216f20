"""Matrix multiplication: mma, its wait, and operands in registers."""

from __future__ import annotations

from typing import Any, Unpack

from ...dialect import ops as smem
from ...dialect.ops.convert import CONVERTED
from ...dialect.ops.mma import Modifiers
from ...dialect.types import is_a_fragment, shape_of, with_state
from ..dtypes import DType
from ..errors import TraceError
from ..trace import current, op_builder
from ..values.base import describe
from ..values.boolean import Bool, condition_value
from ..values.fragment import Fragment, readable
from ..values.mapping import rounding_source
from ..values.node import Operation, fragment_of
from ..values.operators import Unloaded
from ..values.tile import Tile
from .memory import tile_value


@op_builder
def mma(
    a: Tile | Fragment,
    b: Tile,
    acc: Fragment | None = None,
    dtype: DType | None = None,
    *,
    keep: Bool | None = None,
    **modifiers: Unpack[Modifiers],
) -> Fragment:
    """Return A * B, or A * B + acc, which a warpgroup computes.

    The result can be read; with `sync="manual"` it is in flight until `sl.wait`.

    Args:
        a: A (M, K): a tile, or a fragment of B's element type, for example `p.to(sl.f16)`.
        b: B (K, N), a tile.
        acc: an accumulator (M, N) that is added.
        dtype: of the result: f32, f16 or i32; by default that of `acc`, or the first that fits.
        keep: a condition: if it does not hold, `acc` counts as zero.
        modifiers: `negate_a`, `negate_b`, `satfinite`, `truncate`, `pair`.

    Raises:
        TraceError: if shapes or types do not meet.

    Example:
        >>> print(sl.mma(a, b).type_text)
        a fragment 64x64 of f32 in flight
    """
    first, second = _operand(a, b), tile_value(b)
    _check_shapes(first, second, acc, bool(modifiers.get("pair")))
    added = None if acc is None else _accumulator(acc)
    if keep is not None and added is not None:
        added = smem.scale_d(added, condition_value(keep))
    product = smem.mma(first, second, added, None if dtype is None else dtype.type, **modifiers)
    return _fragment_of_product(product)


@op_builder
def mma_sp(
    a: Tile | Fragment,
    b: Tile,
    metadata: Fragment,
    acc: Fragment | None = None,
    dtype: DType | None = None,
    **modifiers: Unpack[Modifiers],
) -> Fragment:
    """Multiply a sparse A by B, and return A * B, or A * B + acc; see `mma`.

    Args:
        a: half of the columns of A (M, K), a tile or a fragment.
        b: B (K, N), a tile.
        metadata: which columns `a` holds, of `load_metadata`.
        acc: an accumulator (M, N) that is added.
        dtype, modifiers: as for `mma`.

    Example:
        >>> metadata = sl.load_metadata(W, (64, 64), sl.bf16)
        >>> print(sl.mma_sp(a[:, 0:32], b, metadata).shape)
        (64, 64)
    """
    first, second = _operand(a, b), tile_value(b)
    added = None if acc is None else _accumulator(acc)
    element = None if dtype is None else dtype.type
    return _fragment_of_product(
        smem.mma_sp(first, second, metadata.value, added, element, **modifiers)
    )


@op_builder
def mma_scaled(
    a: Tile, b: Tile, a_scales: Tile, b_scales: Tile, acc: Fragment | None = None, **modifiers: Any
) -> Fragment:
    """Multiply with block scaling (tcgen05), and return (A * scale_A) * (B * scale_B) + acc.

    Args:
        a, b: tiles (M, K) and (K, N).
        a_scales, b_scales: tiles (M, K / block) and (N, K / block) of scale factors.
        acc: an accumulator (M, N) that is added.
        modifiers: `negate_a`, `negate_b`, `pair`.

    Example:
        >>> x, scales = sl.alloc((128, 128), sl.e4m3), sl.alloc((128, 4), sl.e8m0)
        >>> print(sl.mma_scaled(x, x, scales, scales).shape)
        (128, 128)
    """
    added = None if acc is None else _accumulator(acc)
    tiles = (tile_value(a), tile_value(b), tile_value(a_scales), tile_value(b_scales))
    return _fragment_of_product(smem.mma_scaled(*tiles, added, **modifiers))


@op_builder
def wait(acc: Fragment, pending: int = 0, in_flight: bool | None = None) -> Fragment:
    """Wait for all but the latest `pending` mma of the warpgroup, and return the accumulator.

    Args:
        acc: the result of an mma, in flight.
        pending: the number of mma that may still run.
        in_flight: whether the result stays in flight, to be added to; by default if `pending` is not 0.

    Raises:
        TraceError: for something else than an accumulator in flight.

    Example:
        >>> print(sl.wait(sl.mma(a, b)).type_text)
        a fragment 64x64 of f32
    """
    if not isinstance(acc, Fragment) or not acc.in_flight:
        expected = "an accumulator in flight, the result of sl.mma"
        if current().options.inserts_sync:
            expected = 'sync="manual", without which waits are inserted'
        raise TraceError(f"{describe(acc)} is waited for; expected {expected}")
    return Fragment(smem.wait(acc.value, pending, pending > 0 if in_flight is None else in_flight))


def _fragment_of_product(product: Any) -> Fragment:
    """Return D: readable, unless the author waits for it."""
    if current().options.inserts_sync:
        product.set_type(with_state(product.type, False))
    return Fragment(product)


def _accumulator(acc: Any) -> Any:
    if not isinstance(acc, Fragment) or acc.axis is not None:
        raise TraceError(
            f"{describe(acc)} is added to a product; expected an accumulator, such as sl.zeros"
        )
    return acc.value


def _operand(a: Any, b: Any) -> Any:
    """Return A: a tile, an A fragment, or an accumulator that is converted to one."""
    if isinstance(a, Tile):
        return tile_value(a)
    if isinstance(a, Unloaded):
        raise TraceError(
            f"{describe(a)} is A of a product; expected a tile, which sl.copy fills, or a fragment"
        )
    fragment = readable(a)
    if not fragment.is_expression and is_a_fragment(fragment.value.type):
        return fragment.value
    node = fragment.node
    rounded = rounding_source(node, CONVERTED)
    if rounded is not None and isinstance(node, Operation):
        converted = fragment_of(node, "a")
        if converted is None:
            converted = Fragment(smem.convert(Fragment(node=rounded).value, node.dtype.type))
            current().remember(node.computed, "a", converted)
        return converted.value
    wanted = b.dtype if isinstance(b, Tile) else "f16"
    if fragment.dtype != wanted:
        raise TraceError(
            f"{fragment.type_text} is A of a product with {wanted}; convert it, by x.to(sl.{wanted})"
        )
    return smem.convert(fragment.value, fragment.dtype.type)


def _check_shapes(a: Any, b: Any, acc: Fragment | None, pair: bool) -> None:
    (m, k), (k_b, n) = shape_of(a.type), shape_of(b.type)
    n = 2 * n if pair else n
    if k != k_b:
        raise TraceError(f"A of {m}x{k} is multiplied by B of {k_b}x{n}: K differs, {k} and {k_b}")
    if isinstance(acc, Fragment) and acc.shape not in (None, (m, n)):
        raise TraceError(
            f"the product of {m}x{k} and {k_b}x{n} is added to {acc.type_text}; expected an accumulator "
            f"{m}x{n}"
        )


@op_builder
def to_registers(value: Fragment) -> Any:
    """Return the elements that a thread holds of a fragment, `value`, as an MLIR vector.

    See `smem.to_registers`. The ops of the bindings (`arith`, `vector`, ...) compute with it.

    Example:
        >>> print(sl.to_registers(acc).type)
        vector<32xf32>
    """
    return smem.to_registers(readable(value).value)


@op_builder
def from_registers(vector: Any, like: Fragment) -> Fragment:
    """Return a fragment with the shape and type of `like`, of an MLIR vector in each thread.

    Args:
        vector: the elements of a thread, as `to_registers` returns them.
        like: a fragment.

    Example:
        >>> print(sl.from_registers(sl.to_registers(acc), acc).type_text)
        a fragment 64x64 of f32
    """
    return Fragment(smem.from_registers(vector, like.value.type))
