"""Tiles in the kernels of other hosts (`examples/hosts`): instructions of their main loops, exactness.

    python benchmarks/foreign_kernels.py [--markdown] [--record FILE]

For each host, and for `examples/matmul.mlir`, whose memory and copies are ours: the wgmma instructions of
the main loop, and the other instructions for each of them. Those of SASS need nvdisasm; the second number
counts branches that only some iterations execute (`benchmarks/main_loop.py`). Those of PTX are counted
everywhere; ptxas folds some of them, such as the predicate of each wgmma. On a machine with a GPU, each
host's products are compared with NumPy.
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

import numpy as np
from main_loop import choose_function, count_loop
from record import record
from sass import Instruction, read
from tables import table

import mlir_smem
from mlir_smem.codegen import Compiled
from mlir_smem.runtime import run_on_gpu

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))
from foreign_hosts import CASES, FOREIGN

OURS = Path(__file__).parents[1] / "examples" / "matmul.mlir"

_LABEL = re.compile(r"^(\$L\w+):")
_INSTRUCTION = re.compile(r"^(?:(@!?%\w+)\s+)?([a-z][\w.:]*)\s*(.*);$")

#: The opcodes of SASS that `sass.main_loop` knows, by those of PTX.
_OPCODES = {"bra": "BRA", "ret": "EXIT", "wgmma": "HGMMA"}


def ptx(text: str) -> list[Instruction]:
    """Return the instructions of a kernel in PTX, with the opcodes of SASS where control flow and matrix
    instructions depend on them; their addresses are their numbers."""
    labels, matches = {}, []
    for line in map(str.strip, text.splitlines()):
        if label := _LABEL.match(line):
            labels[label[1]] = len(matches)
        elif match := _INSTRUCTION.match(line):
            matches.append(match)
    code = []
    for number, match in enumerate(matches):
        predicate, opcode, operands = match[1] or "", match[2], match[3]
        target = labels.get(operands) if opcode.startswith("bra") else None
        family, *modifiers = opcode.split(".")
        # The fences, commits and waits of wgmma multiply nothing.
        name = None if family == "wgmma" and "mma_async" not in modifiers else _OPCODES.get(family)
        code.append(
            Instruction(
                number,
                name or opcode,
                predicate,
                operands if target is None else hex(target),
                target,
            )
        )
    return code


def row(compiled: Compiled, folder: str) -> dict[str, object]:
    """Return the counts of a kernel as a row of the table."""
    assert compiled.ptx is not None and compiled.cubin is not None and compiled.report is not None
    loop = count_loop(ptx(compiled.ptx))
    counts: dict[str, object] = {
        "wgmma in the loop": loop.count,
        "PTX, others for one": loop.per_matrix_instruction(),
        "registers": compiled.report.registers,
    }
    file = Path(folder, "kernel.cubin")
    file.write_bytes(compiled.cubin)
    try:
        sass = count_loop(choose_function(read(file), ""))
    except FileNotFoundError as error:
        print(f"SASS is not counted: {error}", file=sys.stderr)
        return counts
    return counts | {
        "SASS, matrix instruction": sass.matrix,
        "SASS, others for one": sass.per_matrix_instruction(),
    }


def exact() -> dict[str, bool] | None:
    """Return whether each product on the GPU is that of NumPy; None without a GPU."""
    try:
        import cuda.core  # noqa: F401
    except ImportError as error:
        print(f"nothing is run: {error}", file=sys.stderr)
        return None
    is_exact = {}
    for name, size in CASES:
        host = FOREIGN[name]
        inputs, c = host.inputs(*size), host.names[-1]
        compiled = mlir_smem.compile(host.text())
        result = run_on_gpu(compiled, host.entry, inputs, [c], host.blocks(*size[:2]))[c]
        is_exact[f"{name} {'x'.join(map(str, size))}"] = np.array_equal(
            result, host.expected_c(inputs)
        )
    return is_exact


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--markdown", action="store_true")
    arguments.add_argument("--record", help="write the result to this file")
    options = arguments.parse_args()
    texts = {"ours (matmul)": OURS.read_text()} | {n: host.text() for n, host in FOREIGN.items()}
    with tempfile.TemporaryDirectory() as folder:
        rows = {name: row(mlir_smem.compile(text), folder) for name, text in texts.items()}
    heading = list(next(iter(rows.values())))
    lines = [[label, *(str(counts[label]) for counts in rows.values())] for label in heading]
    print(table(["", *rows], lines, options.markdown))
    results = exact()
    for name, same in (results or {}).items():
        print(f"{name}: {'exact' if same else 'WRONG'}")
    if options.record:
        record(options.record, {"loops": rows, "exact": results})
    return 0 if all((results or {}).values()) else 1


if __name__ == "__main__":
    sys.exit(main())
