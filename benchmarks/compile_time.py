"""Time of our passes, and from text to cubin, by the size of the module.

    python benchmarks/compile_time.py [--record FILE] [--mlir-opt PATH] [--sizes 10 100 1000]

For the example and for modules of chained 128x128x64 mma (8 wgmma each), medians of several runs. The
passes are timed alone first, on kernels with ten mma each and on one kernel with all of them; memory
that LLVM leaves in the process would slow them down. Text to cubin is timed on kernels of ten mma,
because LLVM's instruction selection and ptxas take quadratic time for one basic block of wgmma. With
`--mlir-opt`, upstream's C++ pass `convert-nvgpu-to-nvvm` runs on the same mma, alternating with ours:
`--mlir-timing` gives the time of the pass, and of the whole command (parse, pass, print).
"""

import argparse
import re
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from record import record

from mlir_smem.bindings import ir, passmanager
from mlir_smem.codegen.back_end import to_llvm
from mlir_smem.codegen.llvm_dialect import device_module, lower_to_llvm_dialect
from mlir_smem.codegen.ptxas import assemble
from mlir_smem.codegen.targets import target
from mlir_smem.dialect import new_context
from mlir_smem.passes import add_passes

EXAMPLE = Path(__file__).parents[1] / "examples" / "matmul.mlir"
MMA_PER_KERNEL = 10


def ours(kernels: int, mma: int) -> str:
    """A module of kernels with `count` chained mma of 128x128x64 each."""
    functions = "".join(_kernel(f"chain{i}", mma) for i in range(kernels))
    return f"gpu.module @kernels {{{functions}}}"


def _kernel(name: str, count: int) -> str:
    flying = "!smem.fragment<tensor<128x128xf32>, #smem.in_flight>"
    ready = "!smem.fragment<tensor<128x128xf32>, #smem.accumulator>"
    a, b = (f"!smem.tile<tensor<{s}xbf16>, #smem.auto>" for s in ("128x64", "64x128"))
    lines = [f'%d0 = "smem.mma"(%a, %b) : ({a}, {b}) -> {flying}']
    lines += [
        f'%d{i} = "smem.mma"(%a, %b, %d{i - 1}) : ({a}, {b}, {flying}) -> {flying}'
        for i in range(1, count)
    ]
    chain = "\n    ".join(lines)
    return f"""
  gpu.func @{name}(%A: memref<128x64xbf16>, %B: memref<64x128xbf16>, %D: memref<128x128xf32>)
      kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
    %a = "smem.alloc"() : () -> {a}
    %b = "smem.alloc"() : () -> {b}
    "smem.copy"(%A, %a) : (memref<128x64xbf16>, {a}) -> ()
    "smem.copy"(%B, %b) : (memref<64x128xbf16>, {b}) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
    {chain}
    %ready = "smem.wait"(%d{count - 1}) {{pending = 0 : i32}} : ({flying}) -> {ready}
    "smem.store"(%ready, %D) : ({ready}, memref<128x128xf32>) -> ()
    gpu.return
  }}
"""


def upstreams(kernels: int, mma: int) -> str:
    """The same mma as upstream's `nvgpu.warpgroup.mma`."""
    memory = "memref<{}xf16, #gpu.address_space<workgroup>>"
    a = f"!nvgpu.warpgroup.descriptor<tensor = {memory.format('128x64')}>"
    b = f"!nvgpu.warpgroup.descriptor<tensor = {memory.format('64x128')}>"
    d = "!nvgpu.warpgroup.accumulator<fragmented = vector<128x128xf32>>"
    chain = "\n    ".join(
        f"%d{i + 1} = nvgpu.warpgroup.mma %a, %b, %d{i} {{transposeB}} : {a}, {b}, {d} -> {d}"
        for i in range(mma)
    )
    return "".join(
        f"""
func.func @chain{i}(%a: {a}, %b: {b}) -> {d} {{
    %d0 = nvgpu.warpgroup.mma.init.accumulator -> {d}
    {chain}
    return %d{mma} : {d}
}}
"""
        for i in range(kernels)
    )


def stages(text: str, last: str = "ptxas") -> dict[str, float]:
    """Seconds of each step from text to `last`."""
    seconds = {}
    clock = time.perf_counter()

    def lap(name: str) -> None:
        nonlocal clock
        end = time.perf_counter()
        seconds[name], clock = end - clock, end

    with new_context():
        lap("context")
        module = ir.Module.parse(text)
        lap("parse")
        pm = passmanager.PassManager("builtin.module")
        add_passes(pm, "smem-to-nvvm")
        pm.run(module.operation)
        lap("smem-to-nvvm")
        if last == "smem-to-nvvm":
            return seconds
        lower_to_llvm_dialect(module)
        lap("to the LLVM dialect")
        _, ptx = to_llvm(device_module(module), target("sm_90a"))
        lap("to PTX")
    assemble(ptx, "sm_90a")
    lap("ptxas")
    return seconds


def upstream_seconds(mlir_opt: str, kernels: int, mma: int) -> tuple[float, float]:
    """Seconds of upstream's pass and of the whole command, as `--mlir-timing` says."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(upstreams(kernels, mma))
        file.flush()
        output = subprocess.run(
            [mlir_opt, "--convert-nvgpu-to-nvvm", "--mlir-timing", file.name, "-o", "/dev/null"],
            capture_output=True,
            text=True,
            check=True,
        ).stderr
    matches = [re.search(rf"([\d.]+) \(.*{row}", output) for row in ("ConvertNVGPUToNVVM", "Total")]
    assert all(matches), output
    return float(matches[0][1]), float(matches[1][1])  # type: ignore[index]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--record", help="write the result to this file")
    arguments.add_argument("--mlir-opt", help="upstream's mlir-opt, to compare with")
    arguments.add_argument("--sizes", type=int, nargs="*", default=[10, 100, 1000])
    arguments.add_argument("--runs", type=int, default=7)
    options = arguments.parse_args()

    cases = []
    for count in options.sizes:
        kernels = count // MMA_PER_KERNEL
        for name, shape in (
            (f"{count} mma in {kernels} kernels", (kernels, MMA_PER_KERNEL)),
            (f"{count} mma in one kernel", (1, count)),
        ):
            cases.append((name, 8 * count, ours(*shape), "smem-to-nvvm", shape))
    cases.append(("examples/matmul.mlir", 4, EXAMPLE.read_text(), "ptxas", None))
    for count in options.sizes:
        shape = (count // MMA_PER_KERNEL, MMA_PER_KERNEL)
        cases.append((f"{count} mma, to a cubin", 8 * count, ours(*shape), "ptxas", None))

    rows = []
    for name, wgmma, text, last, shape in cases:
        runs, theirs = [], []
        for _ in range(options.runs if wgmma < 8000 or last != "ptxas" else 1):
            runs.append(stages(text, last))
            if options.mlir_opt and shape:
                theirs.append(upstream_seconds(options.mlir_opt, *shape))
        rows.append(_row(name, wgmma, runs, theirs))
    if options.record:
        record(options.record, {"unit": "milliseconds, medians", "rows": rows})


def _row(
    name: str, wgmma: int, runs: list[dict[str, float]], theirs: list[tuple[float, float]]
) -> dict[str, Any]:
    """The medians of a case in milliseconds, printed and as data."""
    row: dict[str, Any] = {step: round(1e3 * median(r[step] for r in runs), 3) for step in runs[0]}
    total = sum(row.values())
    row["total"] = round(total, 3)
    row["smem-to-nvvm, us a wgmma"] = round(1e3 * row["smem-to-nvvm"] / wgmma, 2)
    if "ptxas" in row:
        row["smem-to-nvvm, part of total"] = round(row["smem-to-nvvm"] / total, 4)
    if theirs:
        row["upstream convert-nvgpu-to-nvvm"] = round(1e3 * median(t[0] for t in theirs), 3)
        row["upstream mlir-opt, whole"] = round(1e3 * median(t[1] for t in theirs), 3)
    print(f"{name} ({wgmma} wgmma), milliseconds, medians of {len(runs)}:")
    for key, value in row.items():
        print(f"  {key:32} {value:10}")
    return {"module": name, "wgmma": wgmma, "runs": len(runs)} | row


if __name__ == "__main__":
    main()
