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
    found = list(accesses)
    return Access(sum(a.wavefronts for a in found), sum(a.ideal for a in found))


def of_warps(addresses: np.ndarray, size: int) -> Iterator[Access]:
    """The accesses of each warp of some threads."""
    for warp in range(0, len(addresses), _WARP):
        yield warp_access(addresses[warp : warp + _WARP], size)


def copied(layout: TileLayout, contiguous: int) -> Access:
    """The stores of a copy to a tile."""
    transfer = Transfer(layout.element, layout.shape, contiguous, WARPGROUP).plan(layout)
    return total(
        access
        for round_ in range(transfer.rounds)
        for access in of_warps(layout.offsets_at(*transfer.coordinates(round_)), 16)
    )


def moved(layout: TileLayout, access: FragmentAccess, rows: range, columns: range) -> Access:
    """The accesses of a warpgroup that loads or stores a fragment, one MMA tile at a time."""
    first_row, first_column = access.start(np.arange(WARPGROUP))
    size = access.vector * layout.element.bits // 8
    return total(
        each
        for row in rows
        for column in columns
        for each in of_warps(layout.offsets_at(first_row + row, first_column + column), size)
    )


def accumulator_moved(layout: TileLayout) -> Access:
    """The accesses that load or store an accumulator of the tile's shape."""
    access, (m, n) = accumulator_access(layout), layout.shape
    if access.matrices:
        return moved(layout, access, range(0, m, 64), range(0, n, 16))
    rows = range(0, m, 8) if m == 16 else range(0, 16, 8)
    if access.vector == 2:
        return moved(layout, access, rows, range(0, n, 8))
    odd = moved(layout, access, rows, range(1, n, 8))
    even = moved(layout, access, rows, range(0, n, 8))
    return total((even, odd))


def a_fragment_moved(layout: TileLayout) -> Access:
    """The loads of an A in registers."""
    access, (m, k), element = a_fragment_access(layout), layout.shape, layout.element
    if access.matrices:
        return moved(layout, access, range(0, m, 64), range(0, k, instruction_k(element)))
    offsets = range(0, 32 // element.bits, access.vector)
    return total(moved(layout, access, range(0, 16, 8), range(i, k, element.unit)) for i in offsets)


def layouts_of(text: str) -> list[TileLayout]:
    """The layouts of a module's allocs, in their order."""
    found = []
    with new_context():
        module = ir.Module.parse(text)
        pm = passmanager.PassManager("builtin.module")
        add_passes(pm, "smem-assign-layouts")
        pm.run(module.operation)

        def visit(op: Any) -> Any:
            if op.name == "smem.alloc":
                found.append(layout_of(op.results[0].type))
            return ir.WalkResult.ADVANCE

        module.operation.walk(visit)
    return found


def through(element: str, layout: str, by: str, columns: int = 64) -> Kernel:
    """A kernel that copies or stores to a tile, and loads it."""
    held = element if by == "copy" else "f32"
    fill = '"smem.copy"(%X, %t) : (!X, !t) -> ()'
    if by == "store":
        fill = """%x = "smem.load"(%X) : (!X) -> !x
    "smem.store"(%x, %t) : (!x, !t) -> ()"""
    text = f"""
!X = memref<64x{columns}x{held}>
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
    stores = copied(tile, 1) if by == "copy" else accumulator_moved(tile)
    matrix = np.arange(64 * columns).reshape(64, columns).astype(_ELEMENTS[held])
    described = str(tile) if layout == "#smem.auto" else layout.removeprefix("#smem.")
    name = f"{by} and load {element}, {described}"
    loads = accumulator_moved(tile)
    chosen = layout == "#smem.auto"
    return Kernel(name, text, "through", {"X": matrix}, "D", loads, stores, chosen)


def loaded(case: Case) -> Kernel:
    """An mma whose A is loaded into registers."""
    a, b = layouts_of(case.text)
    stores = total((copied(a, int(case.a_major == "k")), copied(b, int(case.b_major == "mn"))))
    name = f"A of {case.a} in registers, {case.a_major.upper()}-major, {case.a_swizzle}"
    chosen = case.a_swizzle == "auto"
    return Kernel(
        name, case.text, "product", case.inputs(), "D", a_fragment_moved(a), stores, chosen
    )


def transposing(case: TransposingMma) -> Kernel:
    """An mma whose operands are transposed by their copies."""
    name = f"{case.a} transposed, {case.a_swizzle} and {case.b_swizzle}"
    none = Access(0, 0)
    return Kernel(
        name, case.text, "product", case.given(), "D", none, case.wavefronts(), chosen=True
    )


_PLAIN = '#smem.layout<"(64,64):(64,1)">'
_PADDED = '#smem.layout<"(64,64):(72,1)">'


def kernels() -> list[Kernel]:
    """Good and bad layouts, with each access to a tile."""

    def forced(width: str, order: str = "row-major") -> str:
        return f'#smem.swizzle<"{width}", "{order}">'

    found = [
        through(element, layout, by)
        for by in ("copy", "store")
        for element in ("bf16", "f32")
        for layout in (
            "#smem.auto",
            *map(forced, ("128B", "64B", "32B", "none")),
            _PLAIN,
            _PADDED,
        )
    ]
    found += [through("bf16", forced(width, "column-major"), "store") for width in ("128B", "none")]
    mixes = (
        ("bf16", "bf16", "f32"),
        ("tf32", "tf32", "f32"),
        ("f8E4M3FN", "f8E4M3FN", "f32"),
        ("i1", "i1", "i32"),
    )
    found += [
        loaded(Case(*mix, registers=True, a_swizzle=swizzle))
        for mix in mixes
        for swizzle in ("auto", "128B", "none")
    ]
    found += [
        loaded(Case(*mix, registers=True, a_swizzle=swizzle, a_major="mn"))
        for mix in mixes[:2]
        for swizzle in ("auto", "128B", "32B")
    ]
    found += [
        transposing(TransposingMma(*mix, n=64, a_swizzle=swizzle, b_swizzle=swizzle))
        for mix in mixes[1:]
        for swizzle in ("128B", "64B", "32B", "none")
    ]
    return found


def run(kernel: Kernel) -> None:
    """Run a kernel once."""
    run_on_gpu(mlir_smem.compile(kernel.text), kernel.entry, kernel.inputs, [kernel.output], (1,))


def counted() -> list[dict[str, float]]:
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
    every = kernels()
    if options.run:
        for kernel in every:
            run(kernel)
        return 0
    results = [compared(*both) for both in zip(every, counted(), strict=True)]
    for result in results:
        counts = ", ".join(f"{what} {result[what]}" for what in result if "ted" in what)
        print(f"{'agrees ' if result['agrees'] else 'DIFFERS'} {result['kernel']}: {counts}")
    if options.record:
        record(options.record, {"kernels": results})
    return int(not all(result["agrees"] for result in results))


def compared(kernel: Kernel, counts: dict[str, float]) -> dict[str, Any]:
    """The predictions and the counters of a kernel."""
    result: dict[str, Any] = {"kernel": kernel.name}
    agrees = True
    for what, predicted in (("loads", kernel.loads), ("stores", kernel.stores)):
        measured, conflicts = int(counts[_METRICS[what]]), int(counts[_CONFLICTS[what]])
        result |= {
            f"{what} predicted": predicted.wavefronts,
            f"{what} counted": measured,
            f"{what} ideal": predicted.ideal,
            f"{what} conflicts": conflicts,
        }
        agrees &= predicted.wavefronts == measured
        agrees &= not (kernel.chosen and conflicts)
    return result | {"agrees": agrees}


if __name__ == "__main__":
    sys.exit(main())
