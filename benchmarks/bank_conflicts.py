"""Bank conflicts: the predictions of `layout/banks.py` and the counts of the GPU.

    python benchmarks/bank_conflicts.py [--record FILE]

Each kernel copies or stores a tile and loads it again, in layouts that are chosen, forced, and bad on
purpose. `ncu` counts the passes over the banks (wavefronts) of all loads and stores of shared memory.
Exits with 1 if a count differs from the prediction, or if a chosen layout has a conflict.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
from ncu import launches, profile
from record import record

import mlir_smem
from mlir_smem.bindings import ir, passmanager
from mlir_smem.dialect import new_context
from mlir_smem.dialect.types import layout_of
from mlir_smem.layout import Access, TileLayout, Transfer, warp_access
from mlir_smem.layout.fragment_access import (
    FragmentAccess,
    a_fragment_access,
    accumulator_access,
)
from mlir_smem.layout.fragments import WARPGROUP
from mlir_smem.passes import add_passes
from mlir_smem.runtime import run_on_gpu

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
from mma_cases import Case
from relayouts import TransposingMma

from mlir_smem.layout import instruction_k

_METRICS = {
    "loads": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "stores": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
}
_CONFLICTS = {
    "loads": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "stores": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
}
_ELEMENTS = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32}
_WARP = 32


@dataclass(frozen=True)
class Kernel:
    """A kernel that accesses shared memory only through its tiles.

    Attributes:
        name: the accesses and the layout.
        text, entry, inputs, output: the kernel.
        loads, stores: the predicted wavefronts.
        chosen: whether `smem-assign-layouts` chose the layouts.
    """

    name: str
    text: str
    entry: str
    inputs: dict[str, np.ndarray]
    output: str
    loads: Access
    stores: Access
    chosen: bool


def total(accesses: Iterable[Access]) -> Access:
    """The sum of several accesses."""
    items = list(accesses)
    return Access(sum(access.wavefronts for access in items), sum(access.ideal for access in items))


def warp_accesses(addresses: np.ndarray, size: int) -> Iterator[Access]:
    """The accesses of each warp."""
    for warp in range(0, len(addresses), _WARP):
        yield warp_access(addresses[warp : warp + _WARP], size)


def copy_stores(layout: TileLayout, contiguous: int) -> Access:
    """The stores of a copy to a tile."""
    transfer = Transfer(layout.element, layout.shape, contiguous, WARPGROUP).plan(layout)
    return total(
        access
        for round_ in range(transfer.rounds)
        for access in warp_accesses(layout.offsets_at(*transfer.coordinates(round_)), 16)
    )


def fragment_accesses(
    layout: TileLayout, access: FragmentAccess, rows: range, columns: range
) -> Access:
    """The accesses of a warpgroup that loads or stores a fragment, one MMA tile at a time."""
    first_row, first_column = access.start(np.arange(WARPGROUP))
    size = access.vector * layout.element.bits // 8
    return total(
        access_of_warp
        for row in rows
        for column in columns
        for access_of_warp in warp_accesses(
            layout.offsets_at(first_row + row, first_column + column), size
        )
    )


def accumulator_accesses(layout: TileLayout) -> Access:
    """The accesses that load or store an accumulator of the tile's shape."""
    access, (m, n) = accumulator_access(layout), layout.shape
    if access.matrices:
        return fragment_accesses(layout, access, range(0, m, 64), range(0, n, 16))
    rows = range(0, m, 8) if m == 16 else range(0, 16, 8)
    if access.vector == 2:
        return fragment_accesses(layout, access, rows, range(0, n, 8))
    odd = fragment_accesses(layout, access, rows, range(1, n, 8))
    even = fragment_accesses(layout, access, rows, range(0, n, 8))
    return total((even, odd))


def a_fragment_loads(layout: TileLayout) -> Access:
    """The loads of an A in registers."""
    access, (m, k), element = a_fragment_access(layout), layout.shape, layout.element
    if access.matrices:
        return fragment_accesses(
            layout, access, range(0, m, 64), range(0, k, instruction_k(element))
        )
    offsets = range(0, 32 // element.bits, access.vector)
    return total(
        fragment_accesses(layout, access, range(0, 16, 8), range(i, k, element.unit))
        for i in offsets
    )


def layouts_of(text: str) -> list[TileLayout]:
    """The layouts of a module's allocs, in their order."""
    layouts = []
    with new_context():
        module = ir.Module.parse(text)
        pm = passmanager.PassManager("builtin.module")
        add_passes(pm, "smem-assign-layouts")
        pm.run(module.operation)

        def visit(op: Any) -> Any:
            if op.name == "smem.alloc":
                layouts.append(layout_of(op.results[0].type))
            return ir.WalkResult.ADVANCE

        module.operation.walk(visit)
    return layouts


def round_trip_kernel(element: str, layout: str, by: str, columns: int = 64) -> Kernel:
    """A kernel that copies or stores to a tile, and loads it."""
    memory_element = element if by == "copy" else "f32"
    fill = '"smem.copy"(%X, %t) : (!X, !t) -> ()'
    if by == "store":
        fill = """%x = "smem.load"(%X) : (!X) -> !x
    "smem.store"(%x, %t) : (!x, !t) -> ()"""
    text = f"""
!X = memref<64x{columns}x{memory_element}>
!D = memref<64x{columns}xf32>
!t = !smem.tile<tensor<64x{columns}x{element}>, {layout}>
!x = !smem.fragment<tensor<64x{columns}xf32>, #smem.accumulator>
gpu.module @kernels {{
  gpu.func @through(%X: !X {{smem.name = "X"}}, %D: !D {{smem.name = "D"}})
      kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
    %t = "smem.alloc"() : () -> !t
    {fill}
    gpu.barrier
    %y = "smem.load"(%t) : (!t) -> !x
    "smem.store"(%y, %D) : (!x, !D) -> ()
    gpu.return
  }}
}}
"""
    (tile,) = layouts_of(text)
    stores = copy_stores(tile, 1) if by == "copy" else accumulator_accesses(tile)
    matrix = np.arange(64 * columns).reshape(64, columns).astype(_ELEMENTS[memory_element])
    layout_text = str(tile) if layout == "#smem.auto" else layout.removeprefix("#smem.")
    name = f"{by} and load {element}, {layout_text}"
    loads = accumulator_accesses(tile)
    chosen = layout == "#smem.auto"
    return Kernel(name, text, "through", {"X": matrix}, "D", loads, stores, chosen)


def load_a_kernel(case: Case) -> Kernel:
    """An mma whose A is loaded into registers."""
    a, b = layouts_of(case.text)
    stores = total(
        (copy_stores(a, int(case.a_major == "k")), copy_stores(b, int(case.b_major == "mn")))
    )
    name = f"A of {case.a} in registers, {case.a_major.upper()}-major, {case.a_swizzle}"
    chosen = case.a_swizzle == "auto"
    return Kernel(
        name, case.text, "product", case.inputs(), "D", a_fragment_loads(a), stores, chosen
    )


def transposing_kernel(case: TransposingMma) -> Kernel:
    """An mma whose operands are transposed by their copies."""
    name = f"{case.a} transposed, {case.a_swizzle} and {case.b_swizzle}"
    none = Access(0, 0)
    return Kernel(
        name, case.text, "product", case.arguments(), "D", none, case.wavefronts(), chosen=True
    )


_PLAIN = '#smem.layout<"(64,64):(64,1)">'
_PADDED = '#smem.layout<"(64,64):(72,1)">'


def kernels() -> list[Kernel]:
    """Good and bad layouts, with each access to a tile."""

    def swizzle(width: str, order: str = "row-major") -> str:
        return f'#smem.swizzle<"{width}", "{order}">'

    all_kernels = [
        round_trip_kernel(element, layout, by)
        for by in ("copy", "store")
        for element in ("bf16", "f32")
        for layout in (
            "#smem.auto",
            *map(swizzle, ("128B", "64B", "32B", "none")),
            _PLAIN,
            _PADDED,
        )
    ]
    all_kernels += [
        round_trip_kernel("bf16", swizzle(width, "column-major"), "store")
        for width in ("128B", "none")
    ]
    mixes = (
        ("bf16", "bf16", "f32"),
        ("tf32", "tf32", "f32"),
        ("f8E4M3FN", "f8E4M3FN", "f32"),
        ("i1", "i1", "i32"),
    )
    all_kernels += [
        load_a_kernel(Case(*mix, registers=True, a_swizzle=swizzle))
        for mix in mixes
        for swizzle in ("auto", "128B", "none")
    ]
    all_kernels += [
        load_a_kernel(Case(*mix, registers=True, a_swizzle=swizzle, a_major="mn"))
        for mix in mixes[:2]
        for swizzle in ("auto", "128B", "32B")
    ]
    all_kernels += [
        transposing_kernel(TransposingMma(*mix, n=64, a_swizzle=swizzle, b_swizzle=swizzle))
        for mix in mixes[1:]
        for swizzle in ("128B", "64B", "32B", "none")
    ]
    return all_kernels


def run(kernel: Kernel) -> None:
    """Run a kernel once."""
    run_on_gpu(mlir_smem.compile(kernel.text), kernel.entry, kernel.inputs, [kernel.output], (1,))


def count_wavefronts() -> list[dict[str, float]]:
    """The counters of each kernel."""
    metrics = [*_METRICS.values(), *_CONFLICTS.values()]
    command = [sys.executable, __file__, "--run"]
    text = profile(command, metrics, "-k", "regex:through|product")
    return [launch.metrics for launch in launches(text)]


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--record", help="write the result to this file")
    arguments.add_argument("--run", action="store_true", help="only run each kernel once")
    options = arguments.parse_args()
    all_kernels = kernels()
    if options.run:
        for kernel in all_kernels:
            run(kernel)
        return 0
    rows = [
        compare(*kernel_and_counts)
        for kernel_and_counts in zip(all_kernels, count_wavefronts(), strict=True)
    ]
    for row in rows:
        counts = ", ".join(
            f"{direction} {row[direction]}" for direction in row if "ted" in direction
        )
        print(f"{'agrees ' if row['agrees'] else 'DIFFERS'} {row['kernel']}: {counts}")
    if options.record:
        record(options.record, {"kernels": rows})
    return int(not all(row["agrees"] for row in rows))


def compare(kernel: Kernel, counts: dict[str, float]) -> dict[str, Any]:
    """The predictions and the counters of a kernel."""
    row: dict[str, Any] = {"kernel": kernel.name}
    agrees = True
    for direction, predicted in (("loads", kernel.loads), ("stores", kernel.stores)):
        measured, conflicts = int(counts[_METRICS[direction]]), int(counts[_CONFLICTS[direction]])
        row |= {
            f"{direction} predicted": predicted.wavefronts,
            f"{direction} counted": measured,
            f"{direction} ideal": predicted.ideal,
            f"{direction} conflicts": conflicts,
        }
        agrees &= predicted.wavefronts == measured
        agrees &= not (kernel.chosen and conflicts)
    return row | {"agrees": agrees}


if __name__ == "__main__":
    sys.exit(main())
