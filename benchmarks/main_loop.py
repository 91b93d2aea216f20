"""Instructions of the main loop besides its matrix instructions.

    python benchmarks/main_loop.py NAME=FILE ... [--function REGEX] [--markdown] [--record FILE]

FILE is a cubin (of `smem-compile`, or `kernel.asm["cubin"]` of Triton), a disassembly of nvdisasm or
cuobjdump, or the source page that `benchmarks/counters.py --sass FOLDER` writes for any kernel that
runs, cuBLAS's too. The table has a column for each kernel: instructions by opcode for one matrix
instruction, `those of every iteration + those in branches that some iterations take` (an epilogue, a
wait that did not succeed at once). Loops within that loop are not counted. Matrix instructions are not
all of one size: the second line says how many multiply-adds one is.
"""

import argparse
import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from record import record
from sass import Instruction, main_loop, read
from tables import table

_SHAPE = re.compile(r"\.?(\d+)x(\d+)x(\d+)")


@dataclass(frozen=True)
class LoopCounts:
    """The counts of instructions in a main loop.

    Attributes:
        matrix: the opcode of its matrix instructions.
        count: the number of matrix instructions.
        always: the other instructions of every iteration, by opcode.
        branches: the other instructions of only some iterations, by opcode.
    """

    matrix: str
    count: int
    always: Counter[str]
    branches: Counter[str]

    @property
    def multiply_adds(self) -> int | None:
        """The multiply-adds of one matrix instruction, if its opcode has its shape."""
        shape = _SHAPE.search(self.matrix)
        return int(shape[1]) * int(shape[2]) * int(shape[3]) if shape else None

    def per_matrix_instruction(self, opcode: str | None = None) -> str:
        """Instructions for one matrix instruction, of one opcode or all: `always + in branches`."""
        always, branches = (
            (counts.total() if opcode is None else counts[opcode]) / self.count
            for counts in (self.always, self.branches)
        )
        if not always and not branches:
            return "-"
        return f"{always:.2f}" + (f" + {branches:.2f}" if branches else "")


def count_loop(function: list[Instruction]) -> LoopCounts:
    """Count the instructions of a function's main loop."""
    loop = main_loop(function)
    always, branches = (
        Counter(i.name for i in part if not i.multiplies) for part in (loop.always, loop.branches)
    )
    ((opcode, _),) = Counter(i.opcode for i in loop.matrix).most_common(1)
    return LoopCounts(opcode, len(loop.matrix), always, branches)


def choose_function(functions: dict[str, list[Instruction]], pattern: str) -> list[Instruction]:
    """The one function that multiplies matrices and whose name matches; ValueError otherwise."""
    matching = {
        name: code
        for name, code in functions.items()
        if re.search(pattern, name) and any(i.multiplies for i in code)
    }
    if len(matching) != 1:
        raise ValueError(
            f"{len(matching)} functions with matrix instructions match {pattern!r}, not one: "
            f"{', '.join(matching) or 'none of ' + ', '.join(functions)}; choose with --function"
        )
    return next(iter(matching.values()))


def render(kernels: dict[str, LoopCounts], markdown: bool) -> str:
    """A column for each kernel, a line for each opcode, most frequent first."""
    counts = list(kernels.values())
    totals = Counter[str]()
    for kernel in counts:
        totals += kernel.always + kernel.branches
    lines = [
        ["matrix instruction", *(kernel.matrix for kernel in counts)],
        ["multiply-adds of one", *(str(kernel.multiply_adds or "?") for kernel in counts)],
        ["in the loop", *(str(kernel.count) for kernel in counts)],
        ["others for one", *(kernel.per_matrix_instruction() for kernel in counts)],
        *(
            [opcode, *(kernel.per_matrix_instruction(opcode) for kernel in counts)]
            for opcode, _ in totals.most_common()
        ),
    ]
    return table(["", *kernels], lines, markdown)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("files", nargs="+", metavar="NAME=FILE")
    arguments.add_argument("--function", default="", help="a regular expression of its name")
    arguments.add_argument("--markdown", action="store_true")
    arguments.add_argument("--record", help="write the result to this file")
    options = arguments.parse_args()
    kernels = {}
    for argument in options.files:
        name, equals, file = argument.rpartition("=")
        path = Path(file)
        try:
            kernels[name if equals else path.stem] = count_loop(
                choose_function(read(path), options.function)
            )
        except (OSError, ValueError) as error:
            print(f"{file}: error: {error}", file=sys.stderr)
            return 1
    print(render(kernels, options.markdown))
    if options.record:
        record(options.record, {"loops": {name: vars(kernel) for name, kernel in kernels.items()}})
    return 0


if __name__ == "__main__":
    sys.exit(main())
