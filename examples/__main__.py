"""`python -m mlir_smem.examples FOLDER` copies the examples to a folder."""

import sys

from . import copy


def main(arguments: list[str]) -> int:
    """Copy the examples, print the paths of the copies, and return the exit code."""
    command = "python -m mlir_smem.examples"
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(f"usage: {command} FOLDER", file=sys.stderr)
        return 1
    try:
        copies = copy(arguments[0])
    except OSError as error:
        print(f"{command}: error: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    print(*copies, sep="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
