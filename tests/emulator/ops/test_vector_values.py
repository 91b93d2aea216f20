"""Vector values: elements, broadcasts, constants, selects and bitcasts."""

import numpy as np
import pytest
from emulated import ELEMENTS, elementwise, run
from hypothesis import given
from hypothesis import strategies as st

from mlir_smem.emulator import EmulationError, Violations

THREADS = 8
LEFT = np.arange(THREADS, dtype=np.float32)
RIGHT = np.arange(THREADS, dtype=np.float32) + 100


def pair_of(*lines):
    """Run lines that compute %r0 and %r1 (f32) from each thread's %x and %y."""
    out = np.zeros((THREADS, 2), np.float32)
    body = """
    %x = memref.load %A[%tid] : memref<8xf32>
    %y = memref.load %B[%tid] : memref<8xf32>
    {}
    memref.store %r0, %C[%tid, %c0] : memref<8x2xf32>
    memref.store %r1, %C[%tid, %c1] : memref<8x2xf32>"""
    run(body.format("\n    ".join(lines)), LEFT, RIGHT, out, block=THREADS)
    return out[:, 0].tolist(), out[:, 1].tolist()


VECTOR = "%v = vector.from_elements %x, %y : vector<2xf32>"
PARTS = [
    "%r0 = vector.extract %w[0] : f32 from vector<2xf32>",
    "%r1 = vector.extract %w[1] : f32 from vector<2xf32>",
]


def test_from_elements_and_extract():
    assert pair_of(VECTOR.replace("%v", "%w"), *PARTS) == (LEFT.tolist(), RIGHT.tolist())


def test_ops_are_elementwise():
    sums = "%w = arith.addf %v, %v : vector<2xf32>"
    assert pair_of(VECTOR, sums, *PARTS) == ((2 * LEFT).tolist(), (2 * RIGHT).tolist())


def test_insert_does_not_change_its_operand():
    change = "%u = vector.insert %y, %v [0] : f32 into vector<2xf32>"
    other = "%w = arith.subf %u, %v : vector<2xf32>"
    assert pair_of(VECTOR, change, other, *PARTS) == ([100] * THREADS, [0] * THREADS)


def test_insert_of_thread_values_into_a_uniform_vector():
    lines = [
        "%v = arith.constant dense<[1.0, 2.0]> : vector<2xf32>",
        "%w = vector.insert %x, %v [1] : f32 into vector<2xf32>",
    ]
    assert pair_of(*lines, *PARTS) == ([1] * THREADS, LEFT.tolist())


def test_insert_of_a_uniform_value_into_thread_vectors():
    lines = [
        "%k = arith.constant 7.0 : f32",
        VECTOR,
        "%w = vector.insert %k, %v [1] : f32 into vector<2xf32>",
    ]
    assert pair_of(*lines, *PARTS) == (LEFT.tolist(), [7] * THREADS)


def test_broadcast_of_a_scalar():
    lines = ["%w = vector.broadcast %y : f32 to vector<2xf32>"]
    assert pair_of(*lines, *PARTS) == (RIGHT.tolist(), RIGHT.tolist())


def test_broadcast_of_a_row():
    lines = [
        VECTOR,
        "%m = vector.broadcast %v : vector<2xf32> to vector<3x2xf32>",
        "%n = vector.insert %x, %m [2, 1] : f32 into vector<3x2xf32>",
        "%w = vector.extract %n[2] : vector<2xf32> from vector<3x2xf32>",
    ]
    assert pair_of(*lines, *PARTS) == (LEFT.tolist(), LEFT.tolist())


def test_insertion_at_a_run_time_position_is_refused():
    with pytest.raises(EmulationError, match=r"'vector\.insert' takes an element whose position"):
        pair_of(
            VECTOR,
            "%w = vector.insert %x, %v[%tid] : f32 into vector<2xf32>",
            *PARTS,
        )


@pytest.mark.parametrize(
    "element, values",
    [
        ("i8", [-128, -1, 0, 127]),
        ("i32", [-(2**31), -1, 3, 2**31 - 1]),
        ("i64", [-(2**63), -1, 3, 2**63 - 1]),
        ("f16", [1.5, -0.0, 65504.0, 0.0]),
        ("bf16", [1.5, -0.0, 3.0, 0.0]),
        ("f32", [1.5, -0.0, 3.0, 0.0]),
        ("f16", [6.1035e-05, -5.9605e-08, 1e-3, 0.0]),
        ("bf16", [1e-38, -1e38, 9.2e-41, 0.0]),
        ("f64", [0.1, -0.0, 3.0, 0.0]),
        ("i32", [7, 7, 7, 7]),
        ("f16", [2.5] * 4),
        ("bf16", [2.5] * 4),
    ],
)
def test_dense_constants(element, values):
    dtype = next(d for d, name in ELEMENTS.items() if name == element)
    type_ = f"vector<4x{element}>"
    out = np.zeros(4, dtype)
    words = ", ".join(f"{v:.6e}" if isinstance(v, float) else str(v) for v in values)
    body = f"%v = arith.constant dense<[{words}]> : {type_}\n"
    for i in range(4):
        body += f"%r{i} = vector.extract %v[{i}] : {element} from {type_}\n"
        body += f"%i{i} = arith.constant {i} : index\n"
        body += f"memref.store %r{i}, %A[%i{i}] : memref<4x{element}>\n"
    run(body, out, block=1)
    assert out.tobytes() == np.array(values).astype(dtype).tobytes()


def test_dense_constant_of_i1():
    out = np.zeros((THREADS, 2), np.float32)
    choice = "%k = arith.constant dense<[true, false]> : vector<2xi1>"
    other = "%o = vector.from_elements %y, %x : vector<2xf32>"
    chosen = "%w = arith.select %k, %v, %o : vector<2xi1>, vector<2xf32>"
    assert pair_of(VECTOR, other, choice, chosen, *PARTS) == (LEFT.tolist(), LEFT.tolist())
    assert out.sum() == 0


@pytest.mark.parametrize("op", ["arith.select", "llvm.select"])
@pytest.mark.parametrize("dtype", ELEMENTS)
def test_select_for_each_thread(op, dtype):
    name = ELEMENTS[dtype]
    condition = np.array([True, False, False, True])
    a, b = (np.array(x).astype(dtype) for x in ([1, 1, 0, 0], [0, 1, 1, 0]))
    line = f'"{op}"(%a, %b, %c) : (i1, {name}, {name}) -> {name}'
    selected = elementwise(line, [condition, a, b], dtype)
    assert selected.tolist() == np.where(condition, a, b).tolist()


def test_select_of_whole_vectors():
    lines = [
        "%k = arith.cmpi ult, %t32, %four : i32",
        "%o = vector.from_elements %y, %x : vector<2xf32>",
        "%w = arith.select %k, %v, %o : vector<2xf32>",
    ]
    four = "%four = arith.constant 4 : i32"
    first, second = pair_of(VECTOR, four, *lines, *PARTS)
    assert first == [*LEFT[:4], *RIGHT[4:]]
    assert second == [*RIGHT[:4], *LEFT[4:]]


PAIR = "!llvm.struct<(f32, f32)>"
NESTED = f"!llvm.struct<(i32, {PAIR})>"
STRUCTS = [
    "%four = arith.constant 4 : index",
    "%k = arith.cmpi ult, %tid, %four : index",
    f"%poison = llvm.mlir.poison : {PAIR}",
    f"%p = llvm.insertvalue %x, %poison[0] : {PAIR}",
    f"%q = llvm.insertvalue %y, %p[1] : {PAIR}",
    f"%zero = llvm.mlir.zero : {PAIR}",
]


@pytest.mark.parametrize("nested", [False, True], ids=["registers", "in a struct"])
def test_select_of_structs(nested):
    lines = [f"%w = arith.select %k, %q, %zero : {PAIR}"]
    if nested:
        lines = [
            f"%empty = llvm.mlir.zero : {NESTED}",
            f"%n = llvm.insertvalue %q, %empty[1] : {NESTED}",
            f"%s = arith.select %k, %n, %empty : {NESTED}",
            f"%w = llvm.extractvalue %s[1] : {NESTED}",
        ]
    members = [f"%r{i} = llvm.extractvalue %w[{i}] : {PAIR}" for i in range(2)]
    first, second = pair_of(*STRUCTS, *lines, *members)
    assert first == [*LEFT[:4], *[0] * 4]
    assert second == [*RIGHT[:4], *[0] * 4]


def test_select_of_a_struct_with_a_poison_member():
    # The first member is whole in both; the second is poison in one.
    select = f"%w = arith.select %k, %p, %zero : {PAIR}"
    member = "%r{} = llvm.extractvalue %w[{}] : !llvm.struct<(f32, f32)>"
    other = "%r1 = arith.addf %x, %y : f32"
    assert pair_of(*STRUCTS, select, member.format(0, 0), other)[0] == [*LEFT[:4], *[0] * 4]
    with pytest.raises(Violations, match="poison"):
        pair_of(*STRUCTS, select, member.format(0, 1), other)


def test_select_of_memrefs_is_refused():
    with pytest.raises(
        EmulationError, match=r"'arith.select' selects between values that are not numbers"
    ):
        pair_of(
            "%k = arith.cmpi eq, %tid, %c0 : index",
            "%w = arith.select %k, %A, %A : memref<8xf32>",
            "%r0 = arith.addf %x, %y : f32",
            "%r1 = arith.addf %x, %y : f32",
        )


@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "i32"])
def test_large_dense_constants_and_infinities(element):
    dtype = next(d for d, name in ELEMENTS.items() if name == element)
    values = np.arange(200).astype(dtype)
    whole = ", ".join(str(v) for v in values.astype(float if dtype.kind != "i" else int).tolist())
    out = np.zeros(1, dtype)
    body = f"""
    %v = arith.constant dense<[{whole}]> : vector<200x{element}>
    %r = vector.extract %v[117] : {element} from vector<200x{element}>
    memref.store %r, %A[%c0] : memref<1x{element}>"""
    run(body, out, block=1)
    assert out.tolist() == [117]


@pytest.mark.parametrize("element, bits", [("f16", "0x7C00"), ("bf16", "0xFF80")])
def test_infinity_in_a_dense_constant(element, bits):
    dtype = next(d for d, name in ELEMENTS.items() if name == element)
    out = np.zeros(1, dtype)
    body = f"""
    %v = arith.constant dense<[1.0, {bits}]> : vector<2x{element}>
    %r = vector.extract %v[1] : {element} from vector<2x{element}>
    memref.store %r, %A[%c0] : memref<1x{element}>"""
    run(body, out, block=1)
    assert int(out.view(np.uint16)[0]) == int(bits, 16)


@given(st.lists(st.integers(0, 2**16 - 1), min_size=4, max_size=4))
def test_bitcast_of_a_vector_keeps_the_order_of_bytes(halves):
    out = np.zeros(2, np.uint32)
    body = "".join(
        f"%h{i} = arith.constant {h - 2**16 if h >= 2**15 else h} : i16\n"
        for i, h in enumerate(halves)
    )
    body += """
    %v = vector.from_elements %h0, %h1, %h2, %h3 : vector<4xi16>
    %w = vector.bitcast %v : vector<4xi16> to vector<2xi32>
    %r0 = vector.extract %w[0] : i32 from vector<2xi32>
    %r1 = vector.extract %w[1] : i32 from vector<2xi32>
    memref.store %r0, %A[%c0] : memref<2xi32>
    memref.store %r1, %A[%c1] : memref<2xi32>""".replace("vector.bitcast", "llvm.bitcast")
    run(body, out, block=1)
    assert out.view(np.uint16).tolist() == halves


def test_empty_struct():
    run("%u = llvm.mlir.zero : !llvm.struct<()>")
