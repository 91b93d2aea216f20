"""Types: tiles in shared memory, and fragments distributed over a warpgroup's registers."""

from collections.abc import Callable
from math import prod
from typing import Any

from ..layout import (
    Accumulator,
    Element,
    LayoutError,
    Swizzle,
    TileLayout,
    parse_layout,
    parse_origin,
    tile_of_atoms,
)
from ..layout.elements import WINDOW_BYTES
from ..layout.fragments import REGISTERS
from ..layout.instruction import instruction_k
from ..layout.tile import size_problem
from ..layout.transfer import CONTIGUITY
from ..layout.wgmma import INSTRUCTION_M, MULTIPLICANDS, SPARSE, sparse_k
from .attributes import (
    AccumulatorAttr,
    AFragmentAttr,
    AutoAttr,
    ComposedLayoutAttr,
    InFlightAttr,
    LayoutAttr,
    MetadataAttr,
    SwizzleAttr,
)
from .attributes import layout as layout_attr
from .bindings import ir
from .caching import cached_in_context
from .diagnostics import Invalid
from .elements import accumulator_of, element_of
from .smem import Smem


class TileType(Smem.Type, name="tile"):
    """`!smem.tile<tensor<4x128x64xbf16>, #smem.auto>`: (rows, columns), or (stages, rows, columns)."""

    tensor: Any
    layout: AutoAttr | SwizzleAttr | LayoutAttr | ComposedLayoutAttr

    @classmethod
    def get(cls, *parameters: Any, context: Any = None) -> Any:
        """The type with those parameters.

        Raises:
            Invalid: if no tile has that type; `get` skips what parsing enforces.
        """
        made = super().get(*parameters, context=context)
        layout_of(made)
        return made


class FragmentType(Smem.Type, name="fragment"):
    """`!smem.fragment<tensor<64x256xf32>, #smem.accumulator>`: a matrix in a warpgroup's registers."""

    tensor: Any
    state: AccumulatorAttr | InFlightAttr | AFragmentAttr | MetadataAttr

    @classmethod
    def get(cls, *parameters: Any, context: Any = None) -> Any:
        """The type with those parameters.

        Raises:
            Invalid: if no registers hold such a fragment; `get` skips what parsing enforces.
        """
        made = super().get(*parameters, context=context)
        check_fragment(made)
        return made


class PaddedType(Smem.Type, name="padded"):
    """`!smem.padded<f4E2M1FN>`: elements of a tile that lie 16 in the first 8 of 16 bytes, as tcgen05
    reads them beside types of 6 and 8 bits.

    A tile of `f4E2M1FN` itself has two elements in a byte, as block-scaled kinds read them. Types of
    6 bits are padded without saying so, because there is no other way.
    """

    element: Any

    @classmethod
    def get(cls, *parameters: Any, context: Any = None) -> Any:
        """The type with that parameter.

        Raises:
            Invalid: if it is not the type of 4 bits; `get` skips what parsing enforces.
        """
        made = super().get(*parameters, context=context)
        element_of(made)
        return made


class PipelineType(Smem.Type, name="pipeline"):
    """`!smem.pipeline`: full and empty barriers of a tile's stages; see `smem.create_pipeline`."""


#: Elements, of one bit each, that fill shared memory; a multiprocessor's registers are as many.
MAX_ELEMENTS = 8 * WINDOW_BYTES


def tile(shape: Any, element: Any, layout: Any) -> Any:
    """`!smem.tile` of that shape, MLIR element type and layout attribute.

    Raises:
        Invalid: if no tile has that type.
    """
    return _made(element, tuple(shape), TileType, layout, element_of)


def padded(element: Any) -> Any:
    """`!smem.padded` of an MLIR element type of 4 bits."""
    return PaddedType.get(element)


def fragment(shape: Any, element: Any, in_flight: bool = False) -> Any:
    """`!smem.fragment` of an accumulator of that shape and MLIR element type.

    Raises:
        Invalid: if no registers hold such a fragment.
    """
    state = InFlightAttr if in_flight else AccumulatorAttr
    return _made(element, tuple(shape), FragmentType, state, accumulator_of)


def a_fragment(shape: Any, element: Any) -> Any:
    """`!smem.fragment` of an A in registers, of that shape and MLIR element type.

    Raises:
        Invalid: if no registers hold such a fragment.
    """
    return _made(element, tuple(shape), FragmentType, AFragmentAttr, element_of)


def metadata(shape: Any, element: Any) -> Any:
    """`!smem.fragment` of the metadata of a sparse A, of A's whole shape and MLIR element type.

    Raises:
        Invalid: if no registers hold such a fragment.
    """
    return _made(element, tuple(shape), FragmentType, MetadataAttr, element_of)


@cached_in_context
def _made(
    element: Any, shape: tuple[int, ...], kind: Any, parameter: Any, known: Callable[[Any], object]
) -> Any:
    """The type of a shape and elements that `known` takes, with a layout, or the class of a state."""
    known(element)
    if any(extent < 0 for extent in shape):
        raise Invalid(f"has the shape {list(shape)}; expected extents from 1")
    tensor = ir.RankedTensorType.get(list(shape), element)
    return kind.get(tensor, parameter.get() if isinstance(parameter, type) else parameter)


@cached_in_context
def tensor_of(type_: Any) -> Any:
    """The tensor type that says the shape and elements of a tile or fragment.

    Raises:
        Invalid: if the parameter is anything else than a ranked tensor of static shape, or one that no
            memory holds.
    """
    if not isinstance(type_, TileType | FragmentType):
        raise Invalid(f"expected a tile or a fragment, not {type_}")
    parameter = type_.params[0].maybe_downcast()
    inner = parameter.value.maybe_downcast() if isinstance(parameter, ir.TypeAttr) else parameter
    if not isinstance(inner, ir.RankedTensorType) or not inner.has_static_shape:
        raise Invalid(
            f"expected a ranked tensor of static shape as the first parameter, not {inner}"
        )
    # What has another rank is neither a tile nor a fragment.
    if inner.rank in (2, 3) and max(prod(inner.shape), *inner.shape) > MAX_ELEMENTS:
        raise Invalid(
            f"has the shape {list(inner.shape)}; the memory and the registers of a block hold at most "
            f"{MAX_ELEMENTS} elements"
        )
    return inner


@cached_in_context
def shape_of(type_: Any) -> tuple[int, ...]:
    """The shape of a tile or fragment."""
    return tuple(tensor_of(type_).shape)


@cached_in_context
def tile_element(type_: Any) -> Element:
    """The element type of a tile."""
    return element_of(tensor_of(type_).element_type)


@cached_in_context
def layout_of(type_: Any) -> TileLayout | None:
    """A tile's layout, coalesced; None for `#smem.auto`.

    Raises:
        Invalid: if the shape, the element type or the layout is not one that a tile can have.
    """
    shape, element, attr = shape_of(type_), tile_element(type_), type_.params[1].maybe_downcast()
    if len(shape) not in (2, 3):
        raise Invalid(
            f"a tile has the shape (rows, columns) or (stages, rows, columns), not {list(shape)}"
        )
    if not all(extent > 0 for extent in shape):
        raise Invalid(f"a tile has no elements in {list(shape)}")
    if problem := size_problem(element, shape):
        raise Invalid(problem)
    if isinstance(attr, AutoAttr):
        return None
    if not isinstance(attr, SwizzleAttr | LayoutAttr | ComposedLayoutAttr):
        raise Invalid(
            f"expected #smem.auto, #smem.swizzle, #smem.layout or #smem.composed_layout, not {attr}"
        )
    try:
        found = (
            _forced(shape, element, attr)
            if isinstance(attr, SwizzleAttr)
            else _written(shape, element, attr)
        )
    except LayoutError as error:
        raise Invalid(str(error)) from None
    if found.size_bytes > WINDOW_BYTES:
        raise Invalid(
            f"the layout {found} spans {found.size_bytes} bytes; descriptors reach {WINDOW_BYTES}"
        )
    twins = found.overlap()
    if twins:
        raise Invalid(
            f"the layout {found} puts the elements {list(twins[0])} and {list(twins[1])} in the "
            "same place"
        )
    return found


def allocation_layout_of(type_: Any) -> TileLayout | None:
    """The layout of a tile that is no part of another; None for `#smem.auto`.

    Raises:
        Invalid: if only a part can have it.
    """
    found = layout_of(type_)
    if found and found.origin:
        raise Invalid(f"has the layout {found}, which only a part of another tile can have")
    return found


def _check_origin(subtile: TileLayout) -> None:
    """Checks that a part has the one origin that slicing gives it."""
    usual = subtile.slice((0,) * len(subtile.shape), subtile.shape).layout
    if usual != subtile:
        raise Invalid(f"the part {subtile} is written {layout_attr(usual)}")


def _written(shape: tuple[int, ...], element: Element, attr: Any) -> TileLayout:
    text, *begin = (ir.StringAttr(p).value for p in attr.params)
    origin = parse_origin(begin[0]) if begin else ()
    found = parse_layout(text, element, shape, origin).coalesced()
    if origin:
        _check_origin(found)
    return found


def _forced(shape: tuple[int, ...], element: Element, attr: Any) -> TileLayout:
    width, order = (ir.StringAttr(p).value for p in attr.params)
    widths = {str(s): s for s in Swizzle}
    if width not in widths:
        raise Invalid(f"unknown swizzle '{width}'; expected one of {', '.join(widths)}")
    if order not in CONTIGUITY:
        raise Invalid(f"unknown order '{order}'; expected one of {', '.join(CONTIGUITY)}")
    return tile_of_atoms(element, shape, CONTIGUITY.index(order), widths[width])


def with_layout(type_: Any, layout: TileLayout) -> Any:
    """The same tile type with that layout in place of its own."""
    return TileType.get(tensor_of(type_), layout_attr(layout))


@cached_in_context
def check_fragment(type_: Any) -> None:
    """Checks that registers can hold a fragment of that type.

    Raises:
        Invalid: if its shape or element type is not one of its arrangement's.
    """
    tensor, state = tensor_of(type_), type_.params[1].maybe_downcast()
    shape = tuple(tensor.shape)
    if isinstance(state, AccumulatorAttr | InFlightAttr):
        accumulator = accumulator_of(tensor.element_type)
        _check_registers(shape, 32 // accumulator.per_register)
        if not _whole_rows(shape) or accumulator.pieces(shape[1]) is None:
            raise Invalid(
                f"has an accumulator of {list(shape)}; expected (M, N) with M a multiple of "
                f"{INSTRUCTION_M} and N of 8"
            )
        return
    if not isinstance(state, AFragmentAttr | MetadataAttr):
        raise Invalid(
            "expected #smem.accumulator, #smem.in_flight, #smem.a_fragment or #smem.metadata, not "
            f"{state}"
        )
    element = element_of(tensor.element_type)
    _check_registers(shape, element.bits)
    step, what = instruction_k(element), "a multiplicand"
    if element not in MULTIPLICANDS:
        raise Invalid(
            f"has a multiplicand of {tensor.element_type}, which no instruction takes from registers"
        )
    if isinstance(state, MetadataAttr):
        if element not in SPARSE:
            raise Invalid(f"has metadata of {element}, of which no sparse matrix is multiplied")
        step, what = sparse_k(element), "metadata"
    if not _whole_rows(shape) or shape[1] < 1 or shape[1] % step:
        raise Invalid(
            f"has {what} of {list(shape)}; expected (M, K) with M a multiple of {INSTRUCTION_M} and K "
            f"of {step} for {element}"
        )


def _check_registers(shape: tuple[int, ...], bits: int) -> None:
    """Checks that there are registers for a fragment whose elements have so many bits."""
    needed = -(-prod(shape) * bits // 32)
    if needed > REGISTERS:
        raise Invalid(
            f"has a fragment of {list(shape)}, which takes {needed} registers; a multiprocessor has "
            f"{REGISTERS}"
        )


def _whole_rows(shape: tuple[int, ...]) -> bool:
    """Whether a fragment of that shape has the rows of whole instructions."""
    return len(shape) == 2 and shape[0] > 0 and shape[0] % INSTRUCTION_M == 0


@cached_in_context
def fragment_accumulator(type_: Any) -> Accumulator:
    """The accumulator that a fragment's elements are."""
    return accumulator_of(tensor_of(type_).element_type)


def is_in_flight(type_: Any) -> bool:
    """Whether a fragment may still be written by a `wgmma`."""
    return isinstance(type_.params[1].maybe_downcast(), InFlightAttr)


def is_accumulator(type_: Any) -> bool:
    """Whether a fragment is arranged as D, in flight or not."""
    return isinstance(type_.params[1].maybe_downcast(), AccumulatorAttr | InFlightAttr)


def is_a_fragment(type_: Any) -> bool:
    """Whether a type is that of an A in registers."""
    return isinstance(type_, FragmentType) and isinstance(
        type_.params[1].maybe_downcast(), AFragmentAttr
    )


def is_metadata(type_: Any) -> bool:
    """Whether a type is that of a sparse A's metadata."""
    return isinstance(type_, FragmentType) and isinstance(
        type_.params[1].maybe_downcast(), MetadataAttr
    )


def check_readable(type_: Any) -> None:
    """Checks that a fragment is an accumulator whose registers can be read.

    Raises:
        Invalid: if it is in flight, or no accumulator.
    """
    if is_in_flight(type_):
        raise Invalid("reads an accumulator in flight; put an smem.wait before it")
    check_fragment(type_)
    if not is_accumulator(type_):
        raise Invalid(f"takes an accumulator, not {type_}")
