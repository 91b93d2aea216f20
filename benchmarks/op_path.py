"""Count the files that handle one `smem.mma` on its way from the kernel language to PTX.

    python benchmarks/op_path.py [--list] [--record FILE]

A function handles the op if the op, or a later form of it (`smem.mma_desc`), is an argument. The calls
are those of one compilation of a kernel with a single mma. A change is a call in another file than the
previous call. The kernel is compiled twice: with synchronization by hand, and inserted.
"""

from __future__ import annotations

import argparse
import sys
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

from record import record

import mlir_smem
import mlir_smem.language as sl

ROOT = Path(mlir_smem.__file__).parent

#: The op in the order of its lowering.
NAMES = ("smem.mma", "smem.mma_desc")


def multiply_with_sync(A, B, C):
    """Multiply 64x64 matrices, with synchronization."""
    a, b = sl.alloc((64, 64), A.dtype), sl.alloc((64, 64), B.dtype)
    sl.copy(A[:64, :64], a)
    sl.copy(B[:64, :64], b)
    sl.fence()
    sl.barrier()
    acc = sl.wait(sl.mma(a, b))
    sl.store(acc, C[:64, :64])


def multiply_without_sync(A, B, C):
    """Multiply 64x64 matrices, without synchronization."""
    a, b = sl.alloc((64, 64), A.dtype), sl.alloc((64, 64), B.dtype)
    sl.copy(A[:64, :64], a)
    sl.copy(B[:64, :64], b)
    sl.store(sl.mma(a, b), C[:64, :64])


def files_of(function: Any, sync: str) -> list[str]:
    """Return the file of each call that handles the op, in order."""
    calls: list[str] = []

    def profile(frame: FrameType, event: str, _: Any) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(str(ROOT)) and _handles_op(frame):
            calls.append(str(Path(file).relative_to(ROOT)))

    kernel = sl.kernel("(M,K), (K,N), (M,N)", sync=sync)(function)
    sys.setprofile(profile)
    try:
        kernel.ptx("bf16", "bf16", "f32")
    finally:
        sys.setprofile(None)
    return calls


def _handles_op(frame: FrameType) -> bool:
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return any(_is_op(frame.f_locals.get(name)) for name in names)


def _is_op(argument: Any) -> bool:
    kind = type(argument)
    if getattr(kind, "OPERATION_NAME", None) is not None:
        return kind.OPERATION_NAME in NAMES
    return kind.__name__ == "Operation" and argument.name in NAMES


def changes_of(calls: list[str]) -> int:
    """Return how often a call is in another file than the previous one."""
    return sum(one != other for one, other in pairwise(calls))


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--list", action="store_true", help="print the files by their first use")
    parser.add_argument("--record", type=Path, metavar="FILE", help="write the counts to FILE")
    options = parser.parse_args()
    rows = {}
    for name, function, sync in (
        ("by hand", multiply_with_sync, "manual"),
        ("inserted", multiply_without_sync, "auto"),
    ):
        calls = files_of(function, sync)
        row = {"files": len(set(calls)), "changes": changes_of(calls), "calls": len(calls)}
        print(f"synchronization {name}: {row}")
        if options.list:
            print(*dict.fromkeys(calls), sep="\n")
        rows[name] = row
    if options.record:
        record(options.record, {"synchronization": rows})


if __name__ == "__main__":
    main()
