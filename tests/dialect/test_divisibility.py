"""Known divisors of index values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlir_smem.bindings import ir
from mlir_smem.dialect import new_context
from mlir_smem.dialect.divisibility import ZERO_DIVISOR, constant_of, divisor


@pytest.fixture(autouse=True)
def context():
    with new_context() as context:
        yield context


def last(body, read=divisor):
    """The result of `read` for the last value that a body defines; %x, %y, %b, %n are unknown."""
    module = ir.Module.parse(
        f"func.func @f(%x: index, %y: index, %b: i1, %n: i32) {{\n{body}\nreturn }}"
    )
    block = module.body.operations[0].regions[0].blocks[0]
    return read(list(block.operations)[-2].results[0])


CONSTANTS = "".join(
    f"%c{n} = arith.constant {n} : index\n" for n in (0, 1, 3, 4, 6, 8, 12, 24, 48, 64)
)


@pytest.mark.parametrize(
    "op, known",
    [
        ("arith.constant 48 : index", 48),
        ("arith.constant -48 : index", 48),
        ("arith.constant 48 : i32", 48),
        ("arith.constant 0 : index", ZERO_DIVISOR),
        ("arith.muli %x, %c48 : index", 48),
        ("arith.muli %c12, %c4 : index", 48),
        ("arith.muli %x, %x : index", 1),
        ("arith.muli %x, %c0 : index", ZERO_DIVISOR),
        ("arith.addi %c48, %c64 : index", 16),
        ("arith.addi %c48, %x : index", 1),
        ("arith.subi %c24, %c64 : index", 8),
        ("arith.addi %c64, %c0 : index", 64),
        ("arith.select %b, %c48, %c64 : index", 16),
        ("arith.select %b, %c48, %x : index", 1),
        ("arith.shli %x, %c4 : index", 16),
        ("arith.shli %c3, %c4 : index", 48),
        ("arith.shli %c3, %x : index", 1),
        ("arith.shli %c3, %c64 : index", 1),
        ("arith.index_cast %n : i32 to index", 1),
        ("arith.remui %c48, %c64 : index", 1),
        ("arith.divui %c48, %c4 : index", 1),
        ("gpu.thread_id x", 1),
    ],
)
def test_each_op(op, known):
    assert last(f"{CONSTANTS}%v = {op}") == known


@pytest.mark.parametrize("cast", ["index_cast", "index_castui"])
def test_casts_are_looked_through(cast):
    body = f"""
        %c = arith.constant 64 : i32
        %m = arith.muli %n, %c : i32
        %v = arith.{cast} %m : i32 to index"""
    assert last(body) == 64


@pytest.mark.parametrize("extension", ["extsi", "extui"])
def test_extensions_are_looked_through(extension):
    body = f"""
        %c = arith.constant 64 : i32
        %m = arith.muli %n, %c : i32
        %v = arith.{extension} %m : i32 to i64"""
    assert last(body) == 64


@pytest.mark.parametrize("by", [-1, 64])
def test_a_poison_shift_is_unknown(by):
    body = f"""
        %c = arith.constant {by} : index
        %v = arith.shli %x, %c : index"""
    assert last(body) == 1


def of_argument(lower, step, position=0):
    """The divisor of a block argument of a loop; argument 0 is the induction variable."""
    body = f"""{CONSTANTS}
        %v = scf.for %i = {lower} to %x step {step} iter_args(%j = %c64) -> index {{
          scf.yield %j : index
        }}"""
    return last(body, lambda v: divisor(v.owner.regions[0].blocks[0].arguments[position]))


@pytest.mark.parametrize(
    "lower, step, known",
    [
        ("%c0", "%c64", 64),
        ("%c48", "%c64", 16),
        ("%x", "%c64", 1),
        ("%c64", "%x", 1),
        ("%c0", "%c1", 1),
    ],
)
def test_induction_variables(lower, step, known):
    assert of_argument(lower, step) == known


def test_the_divisor_of_a_loop_from_zero_divides_its_step():
    known = of_argument("%c0", "%c48")
    assert known % 16 == 0
    assert 48 % known == 0


def test_iteration_arguments_are_unknown():
    assert of_argument("%c0", "%c64", 1) == 1


def test_function_arguments_are_unknown():
    assert last("%v = arith.addi %x, %y : index", lambda v: divisor(v.owner.operands[0])) == 1


def chain(length):
    """`length` additions of 64 to a multiple of 64."""
    adds = "".join(f"%v{i + 1} = arith.addi %v{i}, %c64 : index\n" for i in range(length))
    return f"{CONSTANTS}%v0 = arith.muli %x, %c64 : index\n{adds}"


@pytest.mark.parametrize("length, known", [(7, 64), (8, 1), (100, 1)])
def test_the_search_depth_is_limited(length, known):
    assert last(chain(length)) == known


def test_an_expression_tree_of_2_60_nodes_is_fast():
    doubled = "".join(f"%v{i + 1} = arith.addi %v{i}, %v{i} : index\n" for i in range(60))
    assert last(f"%v0 = arith.constant 4 : index\n{doubled}") == 1


@pytest.mark.parametrize(
    "op, known",
    [
        ("arith.constant 7 : index", 7),
        ("arith.constant 1.0 : f32", None),
        ("arith.addi %x, %x : index", None),
    ],
)
def test_constants(op, known):
    assert last(f"%v = {op}", constant_of) == known


# For any expression, the known divisor divides its value.

LEAVES = st.sampled_from(["x", "y"]) | st.integers(-64, 64)


def binary_ops(inner):
    return (
        st.tuples(st.sampled_from(["addi", "subi", "muli"]), inner, inner)
        | st.tuples(st.just("shli"), inner, st.integers(0, 5))
        | st.tuples(st.just("select"), inner, inner)
    )


@given(
    st.recursive(LEAVES, binary_ops, max_leaves=8),
    st.integers(0, 99),
    st.integers(0, 99),
    st.booleans(),
)
def test_the_divisor_divides(expression, x, y, flag):
    lines = []

    def emit(node):
        """The name of a node's value, and its number."""
        name = f"%v{len(lines)}"
        if isinstance(node, str):
            return f"%{node}", {"x": x, "y": y}[node]
        if isinstance(node, int):
            lines.append(f"{name} = arith.constant {node} : index")
            return name, node
        (left, a), (right, b) = emit(node[1]), emit(node[2])
        name = f"%v{len(lines)}"
        if node[0] == "select":
            lines.append(f"{name} = arith.select %b, {left}, {right} : index")
            return name, a if flag else b
        lines.append(f"{name} = arith.{node[0]} {left}, {right} : index")
        return name, {"addi": a + b, "subi": a - b, "muli": a * b, "shli": a << b % 64}[node[0]]

    value, number = emit(expression)
    lines += ["%zero = arith.constant 0 : index", f"%sum = arith.addi {value}, %zero : index"]
    with new_context():
        known = last("\n".join(lines))
    assert number % known == 0
