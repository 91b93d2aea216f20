"""Block-scaled mma of subtiles with run-time offsets, in loops and in partitions."""

import re

import numpy as np
import pytest

import mlir_smem
from fuzz.generated.blocks import BlockCase
from mlir_smem.runtime import run_on_cpu

MX = BlockCase(k=128, m=256)
LONG = BlockCase("f4E2M1FN", "f4E2M1FN", "f8E4M3FN", 16, n=32, k=768)
PAIR = BlockCase(n=32, pair=True)

K_MAJOR = {
    "A": '#smem.swizzle<"128B", "row-major">',
    "B": '#smem.swizzle<"128B", "column-major">',
}


def run(case, text, arch="sm_100a"):
    compiled = mlir_smem.compile(text, arch=arch, emit="nvvm")
    return run_on_cpu(compiled, "product", case.inputs(), ["D"], (case.blocks,))["D"]


def with_subtile(case, name, dim, start, extent):
    """The kernel with tile `name` replaced by a subtile of a tile of `extent` elements along `dim`.

    Its offset is `start`; the compiler knows that it is a multiple of `start`.
    """
    (type_,) = re.findall(rf'%{name.lower()} = "smem.alloc"\(\) : \(\) -> (.*)', case.text)
    shape = [int(x) for x in re.findall(r"(\d+)x", type_)]
    element = re.search(r"x([^0-9x]\w+)>", type_)[1]
    whole = list(shape)
    whole[dim] = extent
    offsets = ["-9223372036854775808" if i == dim else "0" for i in range(2)]
    layout = K_MAJOR.get(name, "#smem.auto")
    large = f"!smem.tile<tensor<{whole[0]}x{whole[1]}x{element}>, {layout}>"
    return case.text.replace(
        f'%{name.lower()} = "smem.alloc"() : () -> {type_}',
        f"""%whole = "smem.alloc"() : () -> {large}
    %zero_cta = gpu.block_id y
    %step = arith.constant {start} : index
    %one = arith.constant 1 : index
    %which = arith.addi %zero_cta, %one : index
    %start = arith.muli %which, %step : index
    %{name.lower()} = "smem.subtile"(%whole, %start)
      {{static_offsets = array<i64: {", ".join(offsets)}>}} : ({large}, index) -> {type_}""",
    )


def mma_of(case):
    """Return the line of the mma, the lines behind it, and its operands, attributes and types."""
    match = re.search(
        r'%once = "smem\.mma_scaled"\((.*)\) (\{.*\}) : \((.*)\) -> !flying', case.text
    )
    rest = case.text[match.end() : case.text.index("gpu.return")]
    return match[0], rest, match.groups()


@pytest.mark.parametrize("name, dim", [("A", 0), ("A", 1), ("B", 0), ("B", 1)])
@pytest.mark.parametrize("start", [32, 64, 4])
def test_subtile_that_cuts_atoms(name, dim, start):
    along_k = dim == (1 if name == "A" else 0)
    text = with_subtile(MX, name, dim, 32 if along_k and start == 4 else start, 512)
    assert np.array_equal(run(MX, text), MX.expected_result())


@pytest.mark.parametrize(
    "name, dim, start, extent, count",
    [("A", 0, 8, 256, 8), ("B", 1, 8, 64, 8), ("A", 1, 128, 1024, 12)],
)
def test_subtile_of_rows_of_48_bytes(name, dim, start, extent, count):
    text = with_subtile(LONG, name, dim, start, extent)
    emitted = mlir_smem.compile(text, arch="sm_103a", emit="nvvm").located
    assert emitted.count("tcgen05.mma.block_scale") == count
    assert np.array_equal(run(LONG, text, "sm_103a"), LONG.expected_result())


@pytest.mark.parametrize("name, dim, start, extent", [("SA", 1, 4, 16), ("SB", 0, 128, 384)])
def test_subtile_of_the_scale_factors(name, dim, start, extent):
    assert np.array_equal(run(MX, with_subtile(MX, name, dim, start, extent)), MX.expected_result())


@pytest.mark.parametrize("case, arch", [(MX, "sm_100a"), (LONG, "sm_103a"), (PAIR, "sm_100a")])
def test_mma_in_a_loop(case, arch):
    mma, _, (operands, unit, types) = mma_of(case)
    loop = f"""%none = arith.constant 3.0 : f32
    %from = arith.constant 0 : index
    %by = arith.constant 1 : index
    %to = arith.constant 6 : index
    %zero = "smem.fill"(%none) : (f32) -> !flying
    %once = scf.for %step = %from to %to step %by iter_args(%sum = %zero) -> (!flying) {{
      %keep = arith.cmpi ne, %step, %from : index
      %kept = "smem.scale_d"(%sum, %keep) : (!flying, i1) -> !flying
      %more = "smem.mma_scaled"({operands}, %kept) {unit} : ({types}, !flying) -> !flying
      %next = "smem.wait"(%more) {{pending = 1 : i32}} : (!flying) -> !flying
      scf.yield %next : !flying
    }}"""
    assert np.array_equal(run(case, case.text.replace(mma, loop), arch), 6 * case.expected_result())


@pytest.mark.parametrize("case, arch", [(MX, "sm_100a"), (LONG, "sm_103a"), (PAIR, "sm_100a")])
def test_mma_in_the_second_partition(case, arch):
    mma, rest, _ = mma_of(case)
    partitions = f""""smem.warp_specialize"() ({{
      "smem.partition"() ({{
      ^bb0:
      }}) {{warpgroups = 1 : i32}} : () -> ()
      "smem.partition"() ({{
        {mma}{rest}
      }}) {{warpgroups = 2 : i32}} : () -> ()
    }}) : () -> ()
    """
    text = case.text.replace(mma + rest, partitions).replace("i32: 128, 1, 1", "i32: 384, 1, 1")
    assert np.array_equal(run(case, text, arch), case.expected_result())
