"""Wrong builder calls: the error states the parameter, the argument and what is expected, in one line."""

import re
from inspect import signature
from pathlib import PurePosixPath

import pytest
from builder_calls import PARTITIONS, builders, calls, value

from mlir_smem.bindings import PACKAGE, arith, ir
from mlir_smem.dialect import new_context, ops, register


@pytest.fixture
def insertion_point():
    """A module in whose body ops are built."""
    with new_context():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            yield module


@pytest.fixture
def correct_arguments(insertion_point):
    """Correct arguments of each builder."""
    return calls()


def error_of(call, error=TypeError):
    """The message of the error that a call raises. The call must build nothing."""
    module = ir.InsertionPoint.current.block.owner
    before = str(module)
    with pytest.raises(error) as raised:
        call()
    assert str(module) == before
    message = str(raised.value)
    assert "\n" not in message
    return message


each_builder = pytest.mark.parametrize("name", builders())


@each_builder
def test_correct_arguments_are_accepted(name, correct_arguments):
    assert name in correct_arguments
    if name == "warp_specialize":
        ops.warp_specialize(*PARTITIONS)
    else:
        builders()[name](**correct_arguments[name])


def wrong_arguments():
    """Arguments that no parameter takes, with their description in the message."""
    from_jax = type("Value", (), {"__module__": "jaxlib.mlir._mlir_libs._mlir.ir"})
    several = ir.Operation.create("builtin.unrealized_conversion_cast", results=[index()] * 2)
    return [
        (object(), "an object"),
        (None, "None"),
        (1.5j, "a complex"),
        ({"a": 1}, "a dict"),
        (b"64", "b'64'"),
        (ir.F32Type, "the class F32Type"),
        (PurePosixPath("a.mlir"), "PurePosixPath('a.mlir')"),
        (value("vector<4xf32>"), "a value of type vector<4xf32>"),
        (ir.Attribute.parse("[1, 2]").context, "a Context"),
        (several, "the op builtin.unrealized_conversion_cast, which has 2 results"),
        (
            ir.Operation.create("smem.fence"),
            "the op smem.fence, which has 0 results",
        ),
        (
            from_jax(),
            f"a Value of the bindings package jaxlib.mlir, but mlir_smem uses {PACKAGE}",
        ),
    ]


def index():
    return ir.IndexType.get()


#: Parameters that take a value of any type, or a vector; the verifier checks it.
ANY_VALUE = {("fill", "value"), ("from_registers", "vector")}


@each_builder
def test_every_parameter_rejects_arguments_that_none_takes(name, correct_arguments):
    for parameter in correct_arguments[name]:
        for wrong, description in wrong_arguments():
            if _is_taken(name, parameter, wrong):
                continue
            arguments = {**correct_arguments[name], parameter: wrong}
            message = error_of(lambda arguments=arguments: builders()[name](**arguments))
            advice = "exchange whole modules" if "jaxlib" in description else "expected"
            assert message.startswith(f"smem.{name}: {parameter} is {description}; {advice} ")


def _is_taken(name, parameter, wrong):
    """Whether a parameter takes an argument that other parameters reject."""
    if wrong is None:
        known = signature(builders()[name]).parameters
        return parameter in known and known[parameter].default is None
    if isinstance(wrong, ir.Value):
        return (name, parameter) in ANY_VALUE
    # A class is callable.
    return isinstance(wrong, type) and parameter in ("build", "function")


@each_builder
def test_an_unknown_parameter_is_rejected(name, correct_arguments):
    if name == "warp_specialize":
        return
    known = ", ".join(correct_arguments[name])
    message = error_of(lambda: builders()[name](**correct_arguments[name], negate_c=True))
    assert message.startswith(f"smem.{name}: has no parameter negate_c; expected {known}")
    message = error_of(
        lambda: builders()[name](*correct_arguments[name].values(), 1, 2, 3, 4, 5, 6, 7)
    )
    assert message.startswith(f"smem.{name}: ")


MEMREF = "memref<64x32xbf16>"
IS_TILE = "a tile (an MLIR value of type !smem.tile)"
IS_INDEX = "an integer, or an MLIR value of type index"
IS_INTEGER = "a 32-bit integer"

#: A builder, its wrong arguments, and the start of the message.
WRONG = [
    ("mma", {"b": None}, f"b is None; expected {IS_TILE}"),
    ("mma", {"b": MEMREF}, f"b is a value of type {MEMREF}; expected {IS_TILE}"),
    (
        "mma",
        {"a": MEMREF},
        f"a is a value of type {MEMREF}; expected an MLIR value of type !smem.tile or !smem.fragment",
    ),
    ("mma", {"b": (1, 2)}, f"b is [1, 2]; expected {IS_TILE}"),
    ("mma", {"b": "tile"}, f"b is 'tile'; expected {IS_TILE}"),
    ("mma", {"pair": 1}, "pair is 1; expected True or False"),
    ("mma", {"element": "bf16"}, "element is 'bf16'; expected an MLIR type, for example BF16Type"),
    ("copy", {"tile": MEMREF}, f"tile is a value of type {MEMREF}; expected {IS_TILE}"),
    (
        "copy",
        {"source": "f32"},
        "source is a value of type f32; expected an MLIR value of type !sm",
    ),
    (
        "copy_async",
        {"source": "tile"},
        "source is 'tile'; expected a matrix (an MLIR value of type",
    ),
    (
        "copy",
        {"permutation": 1},
        f"permutation is 1; expected a sequence, each element {IS_INTEGER}",
    ),
    ("copy", {"relayout": "yes"}, "relayout is 'yes'; expected True or False"),
    ("stage", {"at": 1.5}, f"at is 1.5; expected {IS_INDEX}"),
    ("stage", {"at": True}, f"at is True; expected {IS_INDEX}"),
    ("stage", {"at": 1 << 63}, f"at is 9223372036854775808; expected {IS_INDEX}"),
    ("stage", {"at": "i32"}, f"at is a value of type i32; expected {IS_INDEX}"),
    (
        "create_pipeline",
        {"stages": "index"},
        f"stages is a value of type index; expected {IS_INTEGER}",
    ),
    ("create_pipeline", {"stages": 1 << 31}, f"stages is 2147483648; expected {IS_INTEGER}"),
    ("create_pipeline", {"stages": 4.0}, f"stages is 4.0; expected {IS_INTEGER}"),
    ("create_pipeline", {"stages": True}, f"stages is True; expected {IS_INTEGER}"),
    ("alloc", {"shape": 64}, f"shape is 64; expected a sequence, each element {IS_INTEGER}"),
    ("alloc", {"shape": "64x64"}, "shape is '64x64'; expected a sequence, each element a 32-bit"),
    (
        "alloc",
        {"shape": (64, 1.5)},
        "shape is [64, 1.5]; expected a sequence, each element a 32-bit",
    ),
    ("alloc", {"shape": (64,) * 9}, "a tile has the shape (rows, columns) or (stages, rows, col"),
    ("alloc", {"shape": (0, 8)}, "a tile has no elements in [0, 8]"),
    ("alloc", {"shape": (-8, 8)}, "has the shape [-8, 8]; expected extents from 1"),
    (
        "alloc",
        {"layout": "128B"},
        "layout is '128B'; expected a layout attribute, for example attr",
    ),
    ("view", {"memref": "f32"}, "memref is a value of type f32; expected a matrix (an MLIR value"),
    (
        "subtile",
        {"offsets": 0},
        "offsets is 0; expected a sequence, each element an integer, or an",
    ),
    (
        "tma_load",
        {"coordinates": [None]},
        "coordinates is [None]; expected a sequence, each element",
    ),
    (
        "tma_load",
        {"pipeline": None},
        "pipeline is None; expected a pipeline (an MLIR value of type !smem.pipe",
    ),
    ("tma_load", {"cache": 3}, "cache is 3; expected text or None"),
    ("map", {"inputs": []}, "maps no fragment; expected one or more"),
    (
        "map",
        {"inputs": "f32"},
        "inputs is a value of type f32; expected a sequence, each element a fr",
    ),
    ("map", {"function": 3}, "function is 3; expected a function"),
    (
        "map",
        {"function": lambda x, row, column: None},
        "the result of the function is None; expected an MLIR value",
    ),
    ("map", {"function": lambda x, row, column: row}, "has an accumulator of index; expected f32"),
    ("scale_d", {"keep": True}, "keep is True; expected an MLIR value of type i1"),
    ("fill", {"value": "f32", "shape": (64, 9)}, "has an accumulator of [64, 9]; expected (M, N)"),
    ("fill", {"value": "0"}, "value is '0'; expected a number, or an MLIR value"),
    ("load", {"result": "f32"}, "result is a value of type f32; expected an MLIR type !smem.fragm"),
    ("elect", {"build": None}, "build is None; expected a function"),
]


def _values_for_types(arguments):
    """Replace the texts of types by values of these types."""
    types = ("f32", "i32", "index", MEMREF)
    return {k: value(v) if isinstance(v, str) and v in types else v for k, v in arguments.items()}


@pytest.mark.parametrize("name, wrong, expected", WRONG)
def test_the_message_for_a_wrong_argument(name, wrong, expected, correct_arguments):
    arguments = {**correct_arguments[name], **_values_for_types(wrong)}
    message = error_of(lambda: builders()[name](**arguments), (TypeError, ValueError))
    assert message.startswith(f"smem.{name}: {expected}")


@pytest.mark.parametrize("number, element", [(1.5, 32), (1 << 31, 32), (float("nan"), 32)])
def test_integer_fragments_are_filled_with_integers(number, element, insertion_point):
    integers = ir.IntegerType.get_signless(element)
    message = error_of(lambda: ops.fill(number, (64, 8), element=integers), ValueError)
    assert (
        message == f"smem.fill: fills with {number}; expected a 32-bit integer for elements of i32"
    )


def test_a_tile_with_stages_is_no_operand_of_an_mma(correct_arguments):
    stages = correct_arguments["stage"]["tile"]
    for name, (a, b) in {
        "A": (stages, correct_arguments["mma"]["b"]),
        "B": (correct_arguments["mma"]["a"], stages),
    }.items():
        message = error_of(lambda a=a, b=b: ops.mma(a, b), ValueError)
        assert message == f"smem.mma: takes {name} (rows, columns), not [4, 64, 64]; take a stage"


def test_a_missing_argument_is_named(correct_arguments):
    assert (
        error_of(lambda: ops.mma(correct_arguments["mma"]["a"]))
        == f"smem.mma: b is missing; expected {IS_TILE}"
    )
    assert (
        error_of(ops.create_pipeline)
        == "smem.create_pipeline: stages is missing; expected a 32-bit integer"
    )


def test_partitions_are_tuples(insertion_point):
    expected = "expected (a 32-bit integer, a 32-bit integer or None, a function)"
    for wrong, description in (((1, 2), "[1, 2]"), ((1, None, 3), "[1, None, 3]"), (None, "None")):
        assert error_of(lambda wrong=wrong: ops.warp_specialize(wrong)) == (
            f"smem.warp_specialize: an argument is {description}; {expected}"
        )


def test_an_error_in_a_region_names_only_the_inner_builder(insertion_point):
    with pytest.raises(
        ValueError, match=re.escape("smem.alloc: a tile has no elements in [0, 8]")
    ) as e:
        ops.elect(lambda: ops.alloc((0, 8), ir.BF16Type.get()))
    assert "elect" not in str(e.value)


def test_numpy_integers_are_accepted(insertion_point):
    numpy = pytest.importorskip("numpy")
    tile = ops.alloc(numpy.array([4, 8, 8]), ir.BF16Type.get())
    ops.stage(tile, numpy.int64(1))
    ops.fill(numpy.float32(0.5), (numpy.int32(64), 8))
    assert insertion_point.operation.verify()


def test_an_op_is_accepted_for_its_result(correct_arguments):
    load = {**correct_arguments["tma_load"], "index": arith.constant(index(), 1).owner}
    ops.tma_load(**{name: getattr(v, "owner", v) for name, v in load.items()})


# Without a context, an insertion point, a location or the dialect.


def test_without_a_context():
    with pytest.raises(ValueError) as raised:
        ops.fence()
    assert str(raised.value) == (
        f"smem.fence: no MLIR context of {PACKAGE} is current; enter one by `with context:`"
    )


def test_without_an_insertion_point():
    with new_context(), pytest.raises(ValueError) as raised:
        ops.fence()
    assert str(raised.value) == (
        "smem.fence: no insertion point is current; enter one by `with ir.InsertionPoint(block):`"
    )


@pytest.fixture
def no_location():
    """A block in a context, without a current location."""
    with register(ir.Context()):
        with ir.Location.unknown():
            module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            yield module


def test_without_a_location(no_location):
    message = error_of(ops.fence, ValueError)
    assert (
        message == "smem.fence: no location is current; enter one by `with ir.Location.unknown():`"
    )


@pytest.mark.skipif(
    not hasattr(ir, "loc_tracebacks"), reason="these bindings have no traceback locations"
)
def test_locations_from_the_python_traceback(no_location):
    with ir.loc_tracebacks():
        ops.fence()
    assert "test_builder_misuse.py" in no_location.operation.get_asm(enable_debug_info=True)


def test_in_a_context_without_the_dialect():
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            message = error_of(ops.fence, ValueError)
    assert message == (
        "smem.fence: the current context does not have the dialect; call mlir_smem.register(context)"
    )
