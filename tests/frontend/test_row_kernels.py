"""Ops of linalg that share their rows, as one kernel: on the emulator, against NumPy."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linalg_programs import as_tuple

from mlir_smem.bindings.parsing import parse_module
from mlir_smem.dialect import new_context
from mlir_smem.frontend import Executable
from mlir_smem.frontend.linalg.lowering import lower_linalg

BF16 = ml_dtypes.bfloat16

#: The softmax of the rows of x + y, which is a result, too, as the sums of exponentials are.
SOFTMAX = """
#rows = affine_map<(r, c) -> (r)>
#all = affine_map<(r, c) -> (r, c)>
func.func @main(%x: tensor<?xCOLUMNSxbf16>, %y: tensor<?xCOLUMNSxbf16>)
    -> (tensor<?xCOLUMNSxbf16>, tensor<?xCOLUMNSxf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %n = tensor.dim %x, %c0 : tensor<?xCOLUMNSxbf16>
  %all = tensor.empty(%n) : tensor<?xCOLUMNSxf32>
  %one = tensor.empty(%n) : tensor<?xf32>
  %narrow = tensor.empty(%n) : tensor<?xCOLUMNSxbf16>
  %z = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<?xCOLUMNSxbf16>, tensor<?xCOLUMNSxbf16>) outs(%all : tensor<?xCOLUMNSxf32>) {
    ^bb0(%a: bf16, %b: bf16, %o: f32):
      %u = arith.extf %a : bf16 to f32
      %v = arith.extf %b : bf16 to f32
      %s = arith.addf %u, %v : f32
      linalg.yield %s : f32
  } -> tensor<?xCOLUMNSxf32>
  %m0 = linalg.fill ins(%least : f32) outs(%one : tensor<?xf32>) -> tensor<?xf32>
  %m = linalg.reduce {arith.maximumf} ins(%z : tensor<?xCOLUMNSxf32>) outs(%m0 : tensor<?xf32>)
    dimensions = [1]
  %e = linalg.generic {indexing_maps = [#all, #rows, #all], iterator_types = ["parallel", "parallel"]}
      ins(%z, %m : tensor<?xCOLUMNSxf32>, tensor<?xf32>) outs(%all : tensor<?xCOLUMNSxf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %d = arith.subf %a, %b : f32
      %r = math.exp %d : f32
      linalg.yield %r : f32
  } -> tensor<?xCOLUMNSxf32>
  %s0 = linalg.fill ins(%zero : f32) outs(%one : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.reduce {arith.addf} ins(%e : tensor<?xCOLUMNSxf32>) outs(%s0 : tensor<?xf32>)
    dimensions = [1]
  %w = linalg.generic {indexing_maps = [#all, #rows, #all], iterator_types = ["parallel", "parallel"]}
      ins(%e, %s : tensor<?xCOLUMNSxf32>, tensor<?xf32>) outs(%narrow : tensor<?xCOLUMNSxbf16>) {
    ^bb0(%a: f32, %b: f32, %o: bf16):
      %d = arith.divf %a, %b : f32
      %r = arith.truncf %d : f32 to bf16
      linalg.yield %r : bf16
  } -> tensor<?xCOLUMNSxbf16>
  return %w, %z, %s : tensor<?xCOLUMNSxbf16>, tensor<?xCOLUMNSxf32>, tensor<?xf32>
}
"""

#: Rotary embeddings of halves, times the index of the column.
ROPE = """
#all = affine_map<(b, t, h, d) -> (b, t, h, d)>
#angle = affine_map<(b, t, h, d) -> (t, d)>
func.func @main(%x: tensor<2x3x2xWIDTHxf32>, %cos: tensor<3xWIDTHxf32>) -> tensor<2x3x2xWIDTHxf32> {
  %low = tensor.extract_slice %x[0, 0, 0, 0] [2, 3, 2, HALF] [1, 1, 1, 1]
    : tensor<2x3x2xWIDTHxf32> to tensor<2x3x2xHALFxf32>
  %high = tensor.extract_slice %x[0, 0, 0, HALF] [2, 3, 2, HALF] [1, 1, 1, 1]
    : tensor<2x3x2xWIDTHxf32> to tensor<2x3x2xHALFxf32>
  %half = tensor.empty() : tensor<2x3x2xHALFxf32>
  %minus = linalg.negf ins(%high : tensor<2x3x2xHALFxf32>) outs(%half : tensor<2x3x2xHALFxf32>)
    -> tensor<2x3x2xHALFxf32>
  %turned = tensor.concat dim(3) %minus, %low
    : (tensor<2x3x2xHALFxf32>, tensor<2x3x2xHALFxf32>) -> tensor<2x3x2xWIDTHxf32>
  %empty = tensor.empty() : tensor<2x3x2xWIDTHxf32>
  %y = linalg.generic {indexing_maps = [#all, #angle, #all],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%turned, %cos : tensor<2x3x2xWIDTHxf32>, tensor<3xWIDTHxf32>)
      outs(%empty : tensor<2x3x2xWIDTHxf32>) {
    ^bb0(%a: f32, %c: f32, %o: f32):
      %d = linalg.index 3 : index
      %i = arith.index_cast %d : index to i32
      %f = arith.sitofp %i : i32 to f32
      %p = arith.mulf %a, %c : f32
      %q = arith.mulf %p, %f : f32
      linalg.yield %q : f32
  } -> tensor<2x3x2xWIDTHxf32>
  return %y : tensor<2x3x2xWIDTHxf32>
}
"""

#: Sums of squares of columns and of rows of integers; those of columns have a plain kernel.
SUMS = """
#all = affine_map<(r, c) -> (r, c)>
func.func @main(%x: tensor<5x40xi32>) -> (tensor<5xi32>, tensor<40xi32>) {
  %zero = arith.constant 3 : i32
  %rows = tensor.empty() : tensor<5xi32>
  %columns = tensor.empty() : tensor<40xi32>
  %r0 = linalg.fill ins(%zero : i32) outs(%rows : tensor<5xi32>) -> tensor<5xi32>
  %c0 = linalg.fill ins(%zero : i32) outs(%columns : tensor<40xi32>) -> tensor<40xi32>
  %r = linalg.generic {indexing_maps = [#all, affine_map<(r, c) -> (r)>],
      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<5x40xi32>) outs(%r0 : tensor<5xi32>) {
    ^bb0(%a: i32, %o: i32):
      %s = arith.muli %a, %a : i32
      %t = arith.addi %o, %s : i32
      linalg.yield %t : i32
  } -> tensor<5xi32>
  %c = linalg.generic {indexing_maps = [#all, affine_map<(r, c) -> (c)>],
      iterator_types = ["reduction", "parallel"]} ins(%x : tensor<5x40xi32>) outs(%c0 : tensor<40xi32>) {
    ^bb0(%a: i32, %o: i32):
      %s = arith.muli %a, %a : i32
      %t = arith.addi %o, %s : i32
      linalg.yield %t : i32
  } -> tensor<40xi32>
  return %r, %c : tensor<5xi32>, tensor<40xi32>
}
"""


#: Elements of rows of 24 times sums of rows of 40, and those of 56.
OTHER_ROWS = """
#all = affine_map<(r, c) -> (r, c)>
#rows = affine_map<(r, c) -> (r)>
func.func @main(%x: tensor<5x24xf32>, %y: tensor<5x40xf32>, %z: tensor<5x56xf32>)
    -> (tensor<5x24xf32>, tensor<5xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = tensor.empty() : tensor<5xf32>
  %empty = tensor.empty() : tensor<5x24xf32>
  %begin = linalg.fill ins(%zero : f32) outs(%one : tensor<5xf32>) -> tensor<5xf32>
  %s = linalg.reduce {arith.addf} ins(%y : tensor<5x40xf32>) outs(%begin : tensor<5xf32>)
    dimensions = [1]
  %t = linalg.reduce {arith.addf} ins(%z : tensor<5x56xf32>) outs(%s : tensor<5xf32>)
    dimensions = [1]
  %w = linalg.generic {indexing_maps = [#all, #rows, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<5x24xf32>, tensor<5xf32>) outs(%empty : tensor<5x24xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      linalg.yield %p : f32
  } -> tensor<5x24xf32>
  return %w, %t : tensor<5x24xf32>, tensor<5xf32>
}
"""


def compile_program(text, **options):
    with new_context():
        program = parse_module(text)
        lower_linalg(program, **options)
        return Executable(program, on="cpu")


def random(*shape):
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(BF16)


def softmax(x, y):
    z = x.astype(np.float32) + y.astype(np.float32)
    e = np.exp(z - z.max(1, keepdims=True, initial=-np.inf))
    return e / e.sum(1, keepdims=True), z, e.sum(1)


def check(results, expected, bound):
    for one, other in zip(as_tuple(results), expected, strict=True):
        np.testing.assert_allclose(one.astype(float), other, rtol=bound, atol=0)


# Elements of one thread of a warp, of some; of several warps; vectors of 8, 4, 2 and 1; the last threads
# have none.
@pytest.mark.parametrize("columns", [3, 64, 90, 516, 1040])
def test_a_softmax_is_one_kernel(columns):
    program = compile_program(SOFTMAX.replace("COLUMNS", str(columns)))
    # One with vectors, and one for arrays that are not aligned.
    assert len(program.kernels) == (1 if columns % 2 else 2)
    for rows in (0, 1, 11):
        x, y = random(rows, columns), random(rows + 2, columns)[2:]
        check(program(x, y), softmax(x, y), 2.0**-8)


def test_approximations():
    program = compile_program(SOFTMAX.replace("COLUMNS", "64"), math="approx")
    kernel, _ = program.kernels.values()
    assert "ex2.approx" in kernel.nvvm or "afn" in kernel.nvvm
    x, y = random(5, 64), random(6, 64)[:5]
    check(program(x, y), softmax(x, y), 2.0**-8)


def test_arrays_that_no_vector_reads():
    """They begin at two bytes behind a multiple of 16."""
    program = compile_program(SOFTMAX.replace("COLUMNS", "64"))
    memory = random(8 * 64 + 8)
    offset = next(n for n in range(8) if (memory.ctypes.data + 2 * n) % 16 == 2)
    x = memory[offset : offset + 7 * 64].reshape(7, 64)
    y = random(7, 64)
    check(program(x, y), softmax(x, y), 2.0**-8)


# Halves of whole vectors of several threads, of a thread's, and of none.
@pytest.mark.parametrize("width", [128, 16, 6])
def test_halves_are_read_in_place(width):
    program = compile_program(ROPE.replace("WIDTH", str(width)).replace("HALF", str(width // 2)))
    assert len(program.kernels) == (1 if width == 6 else 2)
    x, cos = (random(*shape).astype(np.float32) for shape in ((2, 3, 2, width), (3, width)))
    low, high = np.split(x, 2, axis=-1)
    turned = np.concatenate([-high, low], -1)
    expected = turned * cos[None, :, None] * np.arange(width, dtype=np.float32)
    np.testing.assert_array_equal(program(x, cos), expected)


def test_sums_of_columns_have_a_kernel_of_their_own():
    program = compile_program(SUMS)
    x = np.random.default_rng(0).integers(-9, 9, (5, 40), dtype=np.int32)
    rows, columns = program(x)
    np.testing.assert_array_equal(rows, (x * x).sum(1) + 3)
    np.testing.assert_array_equal(columns, (x * x).sum(0) + 3)


def test_sums_of_rows_of_other_lengths():
    program = compile_program(OTHER_ROWS)
    x, y, z = (np.random.default_rng(n).integers(-4, 5, (5, n)).astype("f4") for n in (24, 40, 56))
    sums = y.sum(1)
    check(program(x, y, z), (x * sums[:, None], sums + z.sum(1)), 0)


class Drawing:
    """A random program of element-wise ops and sums of rows, on i32, and what it computes.

    Args:
        draw: of hypothesis.
    """

    def __init__(self, draw):
        self.draw = draw
        self.rows, widths = draw(st.integers(1, 5)), draw(st.permutations([3, 8, 40]))
        random = np.random.default_rng(draw(st.integers(0, 9)))
        shapes = [(self.rows, widths[0]), (self.rows, widths[1]), (self.rows,), (widths[0],)]
        self.arguments = [random.integers(-9, 9, shape, dtype=np.int32) for shape in shapes]
        #: By value: its name, its array, and how an op of rows and columns indexes it.
        self.values = [
            (f"%a{n}", array, loops)
            for n, (array, loops) in enumerate(
                zip(self.arguments, ("rc", "rc", "r", "c"), strict=True)
            )
        ]
        self.lines = ["%zero = arith.constant 0 : i32"]

    def add(self, number):
        """Add an op on two values that the same loops index, or the sums of rows of such."""
        width = self.draw(
            st.sampled_from(sorted({v[1].shape[1] for v in self.values if v[2] == "rc"}))
        )
        kind = self.draw(st.sampled_from(["element", "element", "sum", "row"]))
        fitting = [
            (name, array, loops)
            for name, array, loops in self.values
            if loops == "r" or (kind != "row" and array.shape[-1:] == (width,))
        ]
        indexed = [value for value in fitting if kind == "row" or "c" in value[2]]
        pair = [self.draw(st.sampled_from(values)) for values in (indexed, fitting)]
        op, function = self.draw(st.sampled_from([("addi", np.add), ("muli", np.multiply)]))
        loops = "r" if kind == "row" else "rc"
        result = "rc" if kind == "element" else "r"
        wide = [a[:, None] if loops == "rc" and x == "r" else a for _, a, x in pair]
        array = function(*wide)
        shape = (self.rows, width) if loops == "rc" else (self.rows,)
        array = np.broadcast_to(array, shape)
        if kind == "sum":
            array = array.sum(1, dtype=np.int32)
        types = [text_of(a) for _, a, _ in pair]
        maps = ", ".join(
            f"affine_map<({', '.join(loops)}) -> ({', '.join(x)})>"
            for x in (*(p[2] for p in pair), result)
        )
        iterators = ['"parallel"'] * len(loops)
        if kind == "sum":
            iterators[-1] = '"reduction"'
        type_, begin = text_of(array), f"%e{number}"
        self.lines.append(f"{begin} = tensor.empty() : {type_}")
        body = [f"%p = arith.{op} %x, %y : i32", "linalg.yield %p : i32"]
        if kind == "sum":
            fill = f"linalg.fill ins(%zero : i32) outs({begin} : {type_}) -> {type_}"
            begin = f"%f{number}"
            self.lines.append(f"{begin} = {fill}")
            body[1:] = ["%q = arith.addi %o, %p : i32", "linalg.yield %q : i32"]
        self.lines += [
            f"%v{number} = linalg.generic {{indexing_maps = [{maps}],",
            f"iterator_types = [{', '.join(iterators)}]}}",
            f"ins({pair[0][0]}, {pair[1][0]} : {types[0]}, {types[1]}) outs({begin} : {type_}) {{",
            "^bb0(%x: i32, %y: i32, %o: i32):",
            *body,
            f"}} -> {type_}",
        ]
        self.values.append((f"%v{number}", array, result))

    def program(self):
        """Return the module, and its results."""
        computed = self.values[len(self.arguments) :]
        results = self.draw(
            st.lists(st.sampled_from(computed), min_size=1, unique_by=lambda v: v[0])
        )
        types = ", ".join(text_of(array) for _, array, _ in results)
        arguments = ", ".join(f"%a{n}: {text_of(a)}" for n, a in enumerate(self.arguments))
        names = ", ".join(name for name, _, _ in results)
        lines = "\n".join(self.lines)
        text = (
            f"func.func @main({arguments}) -> ({types}) {{\n{lines}\nreturn {names} : {types}\n}}"
        )
        return text, [array for _, array, _ in results]


def text_of(array):
    return f"tensor<{'x'.join(map(str, array.shape))}xi32>"


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_random_programs(data):
    with np.errstate(over="ignore"):
        drawing = Drawing(data.draw)
        for number in range(data.draw(st.integers(1, 7))):
            drawing.add(number)
        text, expected = drawing.program()
    results = as_tuple(compile_program(text)(*drawing.arguments))
    for one, other in zip(results, expected, strict=True):
        np.testing.assert_array_equal(one, other)
