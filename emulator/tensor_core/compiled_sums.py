"""Sums of aligned and truncated products, compiled for this CPU: NumPy takes ten times as long."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

#: The columns of a product are a multiple of this: the elements of a vector.
COLUMNS = 8

#: For each row, each vector of columns and each step along K: a function of A, B and C.
_LOOPS = """
define void @{name}(ptr noalias %a, ptr noalias %b, ptr noalias %c, ptr noalias %largest,
                    ptr noalias %out, float %number, i64 %rows, i64 %columns, i64 %steps,
                    i64 %step_stride, i64 %row_stride) nounwind {{
start:
  %number_0 = insertelement <8 x float> poison, float %number, i64 0
  %numbers = shufflevector <8 x float> %number_0, <8 x float> poison, <8 x i32> zeroinitializer
  br label %row
row:
  %i = phi i64 [0, %start], [%next_i, %end_of_row]
  %row_of_a = mul i64 %i, %steps
  %row_of_b = mul i64 %i, %row_stride
  %row_of_c = mul i64 %i, %columns
  br label %vector
vector:
  %j = phi i64 [0, %row], [%next_j, %end_of_vector]
  %index = add i64 %row_of_c, %j
  %c_pointer = getelementptr float, ptr %c, i64 %index
  %added = load <8 x float>, ptr %c_pointer, align 4
  {first}
  br label %step
step:
  %k = phi i64 [0, %vector], [%next_k, %step]
  %sum = phi <8 x i32> [%first, %vector], [%next_sum, %step]
  %a_index = add i64 %row_of_a, %k
  %a_pointer = getelementptr float, ptr %a, i64 %a_index
  %a_0 = load float, ptr %a_pointer
  %a_1 = insertelement <8 x float> poison, float %a_0, i64 0
  %left = shufflevector <8 x float> %a_1, <8 x float> poison, <8 x i32> zeroinitializer
  %step_of_b = mul i64 %k, %step_stride
  %b_0 = add i64 %row_of_b, %step_of_b
  %b_index = add i64 %b_0, %j
  %b_pointer = getelementptr float, ptr %b, i64 %b_index
  %right = load <8 x float>, ptr %b_pointer, align 4
  %product = fmul <8 x float> %left, %right
  {next}
  %next_k = add nuw i64 %k, 1
  %more_steps = icmp ult i64 %next_k, %steps
  br i1 %more_steps, label %step, label %end_of_vector
end_of_vector:
  {last}
  %next_j = add nuw i64 %j, 8
  %more_columns = icmp ult i64 %next_j, %columns
  br i1 %more_columns, label %vector, label %end_of_row
end_of_row:
  %next_i = add nuw i64 %i, 1
  %more_rows = icmp ult i64 %next_i, %rows
  br i1 %more_rows, label %row, label %end
end:
  ret void
}}
"""

#: The order of floats that are not negative is that of their bits, with NaN above all. 2139095040 has the
#: bits of the exponent.
_LARGEST = {
    "first": """
  %c_bits = bitcast <8 x float> %added to <8 x i32>
  %exponents = and <8 x i32> %c_bits, splat (i32 2139095040)
  %least = bitcast <8 x float> %numbers to <8 x i32>
  %is_normal = icmp ugt <8 x i32> %exponents, %least
  %powers = select <8 x i1> %is_normal, <8 x i32> %exponents, <8 x i32> %least
  %is_zero = fcmp oeq <8 x float> %added, zeroinitializer
  %first = select <8 x i1> %is_zero, <8 x i32> zeroinitializer, <8 x i32> %powers""",
    "next": """
  %bits = bitcast <8 x float> %product to <8 x i32>
  %is_larger = icmp ugt <8 x i32> %bits, %sum
  %next_sum = select <8 x i1> %is_larger, <8 x i32> %bits, <8 x i32> %sum""",
    "last": """
  %out_pointer = getelementptr i32, ptr %out, i64 %index
  store <8 x i32> %next_sum, ptr %out_pointer, align 4""",
}

_SUMS = {
    "first": """
  %largest_pointer = getelementptr float, ptr %largest, i64 %index
  %powers = load <8 x float>, ptr %largest_pointer, align 4
  %scale = fdiv <8 x float> %numbers, %powers
  %first = bitcast <8 x i32> zeroinitializer to <8 x i32>""",
    "next": """
  %scaled = fmul <8 x float> %product, %scale
  %term = fptosi <8 x float> %scaled to <8 x i32>
  %next_sum = add <8 x i32> %sum, %term""",
    "last": """
  %scaled_c = fmul <8 x float> %added, %scale
  %term_of_c = fptosi <8 x float> %scaled_c to <8 x i32>
  %products = sitofp <8 x i32> %next_sum to <8 x double>
  %rest = sitofp <8 x i32> %term_of_c to <8 x double>
  %total = fadd <8 x double> %products, %rest
  %wide_scale = fpext <8 x float> %scale to <8 x double>
  %exact = fdiv <8 x double> %total, %wide_scale
  %out_pointer = getelementptr double, ptr %out, i64 %index
  store <8 x double> %exact, ptr %out_pointer, align 8""",
}


def largest_terms(a: np.ndarray, b: np.ndarray, c: np.ndarray, least: float) -> np.ndarray:
    """Return the largest of the powers of two of the terms of each sum; 0 if all terms are zero, and
    infinity or NaN if one has no power.

    Args:
        a: float32[m, k], the powers of A; zero for zero.
        b: float32[k, n], or [k, m, n], a B for each row of A; the powers of B.
        c: float32[m, n].
        least: the least power of an element of C.

    Returns:
        float32[m, n].
    """
    out = np.empty(c.shape, np.float32)
    _run("largest", a, b, c, None, out, least)
    return out


def truncated_sums(
    a: np.ndarray, b: np.ndarray, c: np.ndarray, largest: np.ndarray, one: float
) -> np.ndarray:
    """Return A * B + C, each term truncated to a multiple of the largest term's power, divided by `one`.

    Args:
        a: float32[m, k].
        b: float32[k, n], or [k, m, n].
        c: float32[m, n].
        largest: float32[m, n], of `largest_terms`; not zero.
        one: a power of two. int32 must hold the sum of the products, as multiples.

    Returns:
        float64[m, n], exact sums of the truncated terms.
    """
    out = np.empty(c.shape, np.float64)
    _run("sums", a, b, c, largest, out, one)
    return out


def _run(
    name: str,
    a: np.ndarray,
    b: np.ndarray,
    c: np.ndarray,
    largest: np.ndarray | None,
    out: np.ndarray,
    number: float,
) -> None:
    # The copies live until the function returns.
    arrays = [
        array if array is None else np.ascontiguousarray(array) for array in (a, b, c, largest)
    ]
    pointers = [None if array is None else array.ctypes.data for array in (*arrays, out)]
    (rows, columns), steps = out.shape, a.shape[1]
    row_stride = columns if b.ndim == 3 else 0
    _functions()[name](*pointers, number, rows, columns, steps, b[0].size, row_stride)


@cache
def _functions() -> dict[str, Any]:
    """Compile the functions."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(), features=llvm.get_host_cpu_features().flatten(), jit=True
    )
    parts = {"largest": _LARGEST, "sums": _SUMS}
    library = llvm.JITLibraryBuilder()
    for name, part in parts.items():
        library.add_ir(_LOOPS.format(name=name, **part)).export_symbol(name)
    compiler = llvm.create_lljit_compiler(machine)
    code = library.link(compiler, "sums")
    pointers, sizes = [ctypes.c_void_p] * 5, [ctypes.c_int64] * 5
    type_ = ctypes.CFUNCTYPE(None, *pointers, ctypes.c_float, *sizes)
    functions: dict[str, Any] = {name: type_(code[name]) for name in parts}
    # The code lives as long as these.
    return functions | {"compiler": compiler, "code": code}
