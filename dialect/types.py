"""Types: tiles in shared memory, fragments in the registers of a warpgroup, pipelines."""

from collections.abc import Callable, Iterable
from math import prod
from typing import Any

from ..bindings.diagnostics import Invalid
from ..bindings.irtypes import Attribute, Context, Type
from ..bindings.mlir import ir
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
    SliceAttr,
    SwizzleAttr,
    dim_of,
)
from .attributes import layout as layout_attr
from .caching import cached_in_context
from .elements import ACCUMULATOR_TYPES, accumulator_of, element_of
from .fragment_shapes import check_registers, check_slice, has_whole_rows
from .smem import Smem


class TileType(Smem.Type, name="tile"):
    """`!smem.tile<tensor<4x128x64xbf16>, #smem.auto>`: a tile in shared memory, of shape (rows, columns)
    or (stages, rows, columns)."""

    tensor: Any
    layout: AutoAttr | SwizzleAttr | LayoutAttr | ComposedLayoutAttr

    @classmethod
    def get(cls, *parameters: Any, context: Context | None = None) -> Type:
        """Return the type with these parameters.

        Raises:
            Invalid: if the type is invalid; the inherited `get` skips the constraints that parsing
                enforces.
        """
        type_ = super().get(*parameters, context=context)
        layout_of(type_)
        return type_


class FragmentType(Smem.Type, name="fragment"):
    """`!smem.fragment<tensor<64x256xf32>, #smem.accumulator>`: a matrix in the registers of a
    warpgroup; `!smem.fragment<tensor<64xf32>, #smem.slice<1>>`: an element for each of its rows."""

    tensor: Any
    state: AccumulatorAttr | InFlightAttr | AFragmentAttr | MetadataAttr | SliceAttr

    @classmethod
    def get(cls, *parameters: Any, context: Context | None = None) -> Type:
        """Return the type with these parameters.

        Raises:
            Invalid: if the type is invalid; the inherited `get` skips the constraints that parsing
                enforces.
        """
        type_ = super().get(*parameters, context=context)
        check_fragment(type_)
        return type_


class PaddedType(Smem.Type, name="padded"):
    """`!smem.padded<f4E2M1FN>`: the padded element type of a tile. 16 elements take the first 8 of 16
    bytes, as tcgen05 reads them in an mma with types of 6 and 8 bits.

    A tile of `f4E2M1FN` itself has two elements to a byte, as block-scaled kinds read them. Types of 6
    bits are always padded, and need no `!smem.padded`.
    """

    element: Any

    @classmethod
    def get(cls, *parameters: Any, context: Context | None = None) -> Type:
        """Return the type with this parameter.

        Raises:
            Invalid: if it is not f4E2M1FN; the inherited `get` skips the constraints that parsing
                enforces.
        """
        type_ = super().get(*parameters, context=context)
        element_of(type_)
        return type_


class PipelineType(Smem.Type, name="pipeline"):
    """`!smem.pipeline`: the full and empty mbarriers of stages; see `smem.create_pipeline`."""


#: The number of 1-bit elements that fill the shared memory of a CTA; its registers hold the same number.
MAX_ELEMENTS = 8 * WINDOW_BYTES


def tile(shape: Iterable[int], element: Type, layout: Attribute) -> Type:
    """Return the `!smem.tile` of a shape, MLIR element type and layout attribute.

    Raises:
        Invalid: if the type is invalid.
    """
    return _make(element, tuple(shape), TileType, layout, element_of)


def padded(element: Type) -> Type:
    """Return `!smem.padded` of the MLIR element type f4E2M1FN."""
    return PaddedType.get(element)


def fragment(shape: Iterable[int], element: Type, in_flight: bool = False) -> Type:
    """Return the `!smem.fragment` of an accumulator of a shape and MLIR element type.

    Raises:
        Invalid: if the type is invalid.
    """
    state = InFlightAttr if in_flight else AccumulatorAttr
    return _make(element, tuple(shape), FragmentType, state, accumulator_of)


def with_state(accumulator: Type, in_flight: bool) -> Type:
    """Return the type of an accumulator, readable or in flight."""
    return fragment(shape_of(accumulator), tensor_of(accumulator).element_type, in_flight)


def a_fragment(shape: Iterable[int], element: Type) -> Type:
    """Return the `!smem.fragment` of an A in registers, of a shape and MLIR element type.

    Raises:
        Invalid: if the type is invalid.
    """
    return _make(element, tuple(shape), FragmentType, AFragmentAttr, element_of)


def metadata(shape: Iterable[int], element: Type) -> Type:
    """Return the `!smem.fragment` of the metadata of a sparse A, with A's full shape and MLIR element
    type.

    Raises:
        Invalid: if the type is invalid.
    """
    return _make(element, tuple(shape), FragmentType, MetadataAttr, element_of)


@cached_in_context
def _make(
    element: Type,
    shape: tuple[int, ...],
    class_: Any,
    parameter: Attribute | type,
    check: Callable[[Type], object],
) -> Type:
    """Return the type of class `class_` for a tensor and a layout, or the class of a state.

    `check` raises an error for an element type that the class does not have.
    """
    check(element)
    if any(extent < 0 for extent in shape):
        raise Invalid(f"has the shape {list(shape)}; expected extents from 1")
    tensor = ir.RankedTensorType.get(list(shape), element)
    return class_.get(tensor, parameter.get() if isinstance(parameter, type) else parameter)


@cached_in_context
def tensor_of(type_: Type) -> Type:
    """Return the tensor type that holds the shape and element type of a tile or fragment.

    Raises:
        Invalid: if the parameter is not a ranked tensor of static shape, or is larger than the memory.
    """
    if not isinstance(type_, TileType | FragmentType):
        raise Invalid(f"expected a tile or a fragment, not {type_}")
    parameter = type_.params[0].maybe_downcast()
    inner = parameter.value.maybe_downcast() if isinstance(parameter, ir.TypeAttr) else parameter
    if not isinstance(inner, ir.RankedTensorType) or not inner.has_static_shape:
        raise Invalid(
            f"expected a ranked tensor of static shape as the first parameter, not {inner}"
        )
    # Other ranks are rejected later: neither a tile nor a fragment has them.
    if inner.rank in (2, 3) and max(prod(inner.shape), *inner.shape) > MAX_ELEMENTS:
        raise Invalid(
            f"has the shape {list(inner.shape)}; the shared memory and the registers of a CTA hold at "
            f"most {MAX_ELEMENTS} elements"
        )
    return inner


@cached_in_context
def shape_of(type_: Type) -> tuple[int, ...]:
    """Return the shape of a tile or fragment."""
    return tuple(tensor_of(type_).shape)


@cached_in_context
def tile_element(type_: Type) -> Element:
    """Return the element type of a tile."""
    return element_of(tensor_of(type_).element_type)


@cached_in_context
def layout_of(type_: Type) -> TileLayout | None:
    """Return a tile's layout, coalesced; None for `#smem.auto`.

    Raises:
        Invalid: if the shape, the element type or the layout is invalid for a tile.
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
        layout = (
            _canonical_layout(shape, element, attr)
            if isinstance(attr, SwizzleAttr)
            else _parse(shape, element, attr)
        )
    except LayoutError as error:
        raise Invalid(str(error)) from None
    if layout.size_bytes > WINDOW_BYTES:
        raise Invalid(
            f"the layout {layout} spans {layout.size_bytes} bytes; descriptors reach {WINDOW_BYTES}"
        )
    if problem := layout.overlap_problem():
        raise Invalid(problem)
    return layout


def allocation_layout_of(type_: Type) -> TileLayout | None:
    """Return the layout of a tile that is not a subtile; None for `#smem.auto`.

    Raises:
        Invalid: if only a subtile can have the layout.
    """
    layout = layout_of(type_)
    if layout and layout.origin:
        raise Invalid(f"has the layout {layout}, which only a subtile can have")
    return layout


def _check_origin(subtile: TileLayout) -> None:
    """Check that a subtile's layout has the unique form that slicing gives."""
    expected = subtile.slice((0,) * len(subtile.shape), subtile.shape).layout
    if expected != subtile:
        raise Invalid(f"the subtile layout {subtile} is written {layout_attr(expected)}")


def _parse(shape: tuple[int, ...], element: Element, attr: Attribute) -> TileLayout:
    """The layout of `#smem.layout` or `#smem.composed_layout`."""
    text, *origins = (ir.StringAttr(p).value for p in attr.params)
    origin = parse_origin(origins[0]) if origins else ()
    layout = parse_layout(text, element, shape, origin).coalesced()
    if origin:
        _check_origin(layout)
    return layout


def _canonical_layout(shape: tuple[int, ...], element: Element, attr: Attribute) -> TileLayout:
    """The layout of `#smem.swizzle`."""
    width, order = (ir.StringAttr(p).value for p in attr.params)
    widths = {str(s): s for s in Swizzle}
    if width not in widths:
        raise Invalid(f"unknown swizzle '{width}'; expected one of {', '.join(widths)}")
    if order not in CONTIGUITY:
        raise Invalid(f"unknown order '{order}'; expected one of {', '.join(CONTIGUITY)}")
    return tile_of_atoms(element, shape, CONTIGUITY.index(order), widths[width])


def with_layout(type_: Type, layout: TileLayout) -> Type:
    """Return a tile type with its layout replaced."""
    return TileType.get(tensor_of(type_), layout_attr(layout))


@cached_in_context
def check_fragment(type_: Type) -> None:
    """Check that registers can hold a fragment.

    Raises:
        Invalid: if its shape or element type is invalid for its state.
    """
    tensor, state = tensor_of(type_), type_.params[1].maybe_downcast()
    shape = tuple(tensor.shape)
    if isinstance(state, AccumulatorAttr | InFlightAttr):
        accumulator = accumulator_of(tensor.element_type)
        if isinstance(state, InFlightAttr) and not accumulator.computed:
            raise Invalid(
                f"has {tensor.element_type} in flight, in which no mma accumulates; expected "
                f"{', '.join(ACCUMULATOR_TYPES)}"
            )
        check_registers(shape, accumulator.bits)
        if not has_whole_rows(shape) or accumulator.pieces(shape[1]) is None:
            raise Invalid(
                f"has an accumulator of {list(shape)}; expected (M, N) with M a multiple of "
                f"{INSTRUCTION_M} and N of {accumulator.columns}"
            )
        return
    if isinstance(state, SliceAttr):
        narrow = accumulator_of(tensor.element_type).bits < 16
        if narrow and str(tensor.element_type) not in ("i8", "ui8"):
            raise Invalid(
                f"has a slice of {tensor.element_type}; expected elements of 16 or 32 bits, i8 or ui8"
            )
        check_slice(shape, dim_of(state))
        return
    if not isinstance(state, AFragmentAttr | MetadataAttr):
        raise Invalid(
            "expected #smem.accumulator, #smem.in_flight, #smem.a_fragment, #smem.metadata or "
            f"#smem.slice, not {state}"
        )
    element = element_of(tensor.element_type)
    check_registers(shape, element.bits)
    step, noun = instruction_k(element), "an A fragment"
    if element not in MULTIPLICANDS:
        raise Invalid(
            f"has an A fragment of {tensor.element_type}, which no instruction takes from registers"
        )
    if isinstance(state, MetadataAttr):
        if element not in SPARSE:
            raise Invalid(f"has metadata of {element}, of which there is no sparse mma")
        step, noun = sparse_k(element), "metadata"
    if not has_whole_rows(shape) or shape[1] < 1 or shape[1] % step:
        raise Invalid(
            f"has {noun} of {list(shape)}; expected (M, K) with M a multiple of {INSTRUCTION_M} and K "
            f"of {step} for {element}"
        )


@cached_in_context
def fragment_accumulator(type_: Type) -> Accumulator:
    """Return the accumulator type of a fragment."""
    return accumulator_of(tensor_of(type_).element_type)


def is_in_flight(type_: Type) -> bool:
    """Whether a fragment is in flight: an unfinished mma may still write it."""
    return isinstance(type_.params[1].maybe_downcast(), InFlightAttr)


def is_accumulator(type_: Type) -> bool:
    """Whether a fragment is an accumulator, readable or in flight."""
    return isinstance(type_.params[1].maybe_downcast(), AccumulatorAttr | InFlightAttr)


def is_a_fragment(type_: Type) -> bool:
    """Whether a type is that of an A fragment."""
    return isinstance(type_, FragmentType) and isinstance(
        type_.params[1].maybe_downcast(), AFragmentAttr
    )


def is_metadata(type_: Type) -> bool:
    """Whether a type is that of the metadata of a sparse A."""
    return isinstance(type_, FragmentType) and isinstance(
        type_.params[1].maybe_downcast(), MetadataAttr
    )


def check_readable(type_: Type) -> None:
    """Check that a fragment is a readable accumulator.

    Raises:
        Invalid: if it is in flight, or not an accumulator.
    """
    if is_in_flight(type_):
        raise Invalid("reads an accumulator in flight; put an smem.wait before it")
    check_fragment(type_)
    if not is_accumulator(type_):
        raise Invalid(f"takes an accumulator, not {type_}")
