"""Run-time starts on the emulator: the last that fits is accepted, one beyond is an error."""

import ml_dtypes
import numpy as np
import pytest

import mlir_smem
from mlir_smem.emulator import Violations
from mlir_smem.runtime import run_on_cpu

#: A tile of 4 stages of 128 rows. Stage 0 is filled, twice with %m; %i is an argument of the kernel.
KERNEL = """
!s = !smem.tile<tensor<4x128x64xbf16>, #smem.auto>
!p = !smem.tile<tensor<128x64xbf16>, #smem.auto>
!t = !smem.tile<tensor<64x64xbf16>, #smem.auto>
!c = !smem.fragment<tensor<64x64xf32>, #smem.accumulator>
!f = !smem.fragment<tensor<64x64xf32>, #smem.in_flight>
!m = memref<64x64xbf16>
!n = memref<64x64xf32>
gpu.module @kernels {{
  gpu.func @k(%m: !m, %n: !n, %i: index) kernel attributes {{
    known_block_size = array<i32: 256, 1, 1>, known_cluster_size = array<i32: {ctas}, 1, 1>
  }} {{
    %c0 = arith.constant 0 : index
    %c128 = arith.constant 128 : index
    %thread = gpu.thread_id x
    %w = arith.divui %thread, %c128 : index
    %is_first = arith.cmpi eq, %w, %c0 : index
    %s = "smem.alloc"() : () -> !s
    %whole = "smem.stage"(%s, %c0) : (!s, index) -> !p
    %low = "smem.subtile"(%whole) {{static_offsets = array<i64: 0, 0>}} : (!p) -> !t
    %high = "smem.subtile"(%whole) {{static_offsets = array<i64: 64, 0>}} : (!p) -> !t
    "smem.copy"(%m, %low) : (!m, !t) -> ()
    "smem.copy"(%m, %high) : (!m, !t) -> ()
    "smem.fence"() : () -> ()
    nvvm.cluster.arrive {{aligned}}
    nvvm.cluster.wait {{aligned}}
    {body}
    nvvm.cluster.arrive {{aligned}}
    nvvm.cluster.wait {{aligned}}
    gpu.return
  }}
}}
"""


def subtile(multiple=1):
    """Rows from %i on, which are asserted to be multiples of a number."""
    return (
        f'%t = "smem.subtile"(%whole, %i) {{static_offsets = array<i64: -9223372036854775808, 0>, '
        f"multiple_of = array<i64: {multiple}>}} : (!p, index) -> !t\n"
    )


STAGE = """%q = "smem.stage"(%s, %i) : (!s, index) -> !p
%t = "smem.subtile"(%q) {static_offsets = array<i64: 64, 0>} : (!p) -> !t
"""
COPY = '"smem.copy"(%m, %t) : (!m, !t) -> ()\n'
LOAD = '%c = "smem.load"(%t) : (!t) -> !c\n'
LOAD_OF_RANK = '%c = "smem.load"(%low, %i) : (!t, index) -> !c\n'
MMA = """%d = "smem.mma"(%t, %low) : (!t, !t) -> !f
%c = "smem.wait"(%d) {pending = 0 : i32} : (!f) -> !c
"""


def in_first_warpgroup(body):
    return f"scf.if %is_first {{\n{body}}}\n"


def with_store(body):
    """The body, and a store of %c by the first warpgroup."""
    return in_first_warpgroup(f'{body}"smem.store"(%c, %n) : (!c, !n) -> ()\n')


def compile_kernel(body, ctas=1):
    return mlir_smem.compile(KERNEL.format(body=body, ctas=ctas), emit="nvvm")


def run(kernel, start, ctas=1):
    """Run a kernel on the emulator; return what it stores."""
    m = (np.arange(64 * 64).reshape(64, 64) % 61).astype(ml_dtypes.bfloat16)
    inputs = {"arg0": m, "arg2": start}
    return run_on_cpu(kernel, "k", inputs, ["arg1"], grid=(ctas,))["arg1"]


@pytest.mark.parametrize(
    "body, access, last, noun, ctas",
    [
        (with_store(subtile() + LOAD), "smem.load", 64, "row", 1),
        (with_store(subtile(8) + MMA), "smem.mma", 64, "row", 1),
        (subtile(8) + COPY, '"smem.copy"(%m, %t)', 64, "row", 1),
        (STAGE + COPY, '"smem.copy"(%m, %t)', 3, "stage", 1),
        (with_store(LOAD_OF_RANK), "smem.load", 1, "rank", 2),
    ],
)
def test_a_start_beyond_the_last_is_an_error_at_the_access(body, access, last, noun, ctas):
    text = KERNEL.format(body=body, ctas=ctas)
    kernel = compile_kernel(body, ctas)
    run(kernel, last, ctas)
    (line,) = (i for i, words in enumerate(text.splitlines(), 1) if access in words)
    for start in (last + 1, -8):
        with pytest.raises(Violations) as error:
            run(kernel, start, ctas)
        violation = error.value.found[0]
        assert violation.kind.value == "assertion" and f":{line}:" in str(violation.location)
        assert f"which is false: it compares {start} with {last}" in violation.message
        expected = (
            "one of the cluster's 2 CTAs" if noun == "rank" else f"begins at {noun} 0 to {last},"
        )
        assert expected in violation.message


def test_the_elements_of_a_start_within():
    kernel = compile_kernel(with_store(subtile() + LOAD))
    rows = np.arange(64 * 64).reshape(64, 64) % 61
    assert np.array_equal(run(kernel, 3), np.concatenate([rows, rows])[3:67])


def test_a_start_that_is_no_multiple_of_what_is_asserted():
    kernel = compile_kernel(subtile(8) + COPY)
    with pytest.raises(
        Violations, match="at a multiple of 8, which is false: it compares 4 with 0"
    ):
        run(kernel, 12)


def test_threads_that_do_not_access_a_tile_do_not_object():
    body = subtile() + "%none = arith.cmpi slt, %i, %c0 : index\nscf.if %none {\n" + COPY + "}\n"
    run(compile_kernel(body), 1000)


def test_the_code_is_that_without_the_emulator():
    text = KERNEL.format(body=with_store(subtile(8) + MMA) + STAGE + COPY, ctas=1)
    emulated = mlir_smem.compile(text, emit="nvvm")
    assert emulated.nvvm == mlir_smem.compile(text, emit="llvm").nvvm
    assert "assert" not in emulated.nvvm
    # One for the rows of the load, and one for the stages of the copy; multiples of 8 are asserted.
    assert emulated.located.count("cf.assert") == 3
