"""`smem-run`: compiles a file and runs a kernel of it on NumPy arrays."""

import sys
from collections.abc import Sequence

from ..runtime import run_on_gpu
from ..runtime.arguments import DTYPES, kernel_named
from .arrays import load, save
from .command import parser, run
from .inputs import InputError
from .smem_compile import compile_file


def smem_run(argv: Sequence[str]) -> int:
    """The command; its exit code."""
    made = parser("smem-run", "Runs a kernel on arrays in .npy files.")
    made.add_argument("file", help="MLIR with smem ops; - for standard input")
    made.add_argument("--entry", help="the kernel; may be left out if there is one")
    made.add_argument(
        "--in",
        dest="inputs",
        action="append",
        default=[],
        metavar="X=x.npy",
        help="an argument's array",
    )
    made.add_argument(
        "--out",
        dest="outputs",
        action="append",
        default=[],
        metavar="Y=y.npy",
        help="where to write an argument's array",
    )
    made.add_argument("--on", choices=("gpu", "cpu"), default="gpu", help="where to run")
    made.add_argument("--grid", help="blocks along x,y,z; what the kernel says if left out")
    made.add_argument("--arch", default="sm_90a", help="the architecture to compile for")
    options = made.parse_args(argv)

    def body() -> int:
        if options.on == "cpu":
            raise InputError("--on cpu: there is no emulator in this version; use --on gpu")
        sources, targets = _pairs("--in", options.inputs), _pairs("--out", options.outputs)
        if not targets:
            raise InputError("nothing would be kept; give --out Y=y.npy")
        grid = _grid(options.grid)
        compiled = compile_file(options.file, "cubin", options.arch)
        if compiled is None:
            return 1
        kernel = kernel_named(compiled.manifest, options.entry)
        elements = {a["name"]: a.get("element") for a in kernel["arguments"]}
        inputs = {}
        for name, file in sources.items():
            if name not in elements:
                raise InputError(f"--in {name}: {kernel['entry']} has {', '.join(elements)}")
            if elements[name] not in DTYPES:
                raise InputError(f"{name} {_kind(elements[name])}; expected {', '.join(DTYPES)}")
            inputs[name] = load(name, file, DTYPES[elements[name]])
        results = run_on_gpu(compiled, options.entry, inputs, list(targets), grid)
        for name, file in targets.items():
            save(file, results[name])
            print(
                f"{name}: {list(results[name].shape)} {results[name].dtype} in {file}",
                file=sys.stderr,
            )
        return 0

    return run("smem-run", body, options.debug)


def _kind(element: str | None) -> str:
    return "is a number, which no file holds" if element is None else f"has elements of {element}"


def _pairs(flag: str, words: Sequence[str]) -> dict[str, str]:
    found = {}
    for word in words:
        name, equals, file = word.partition("=")
        if not (name and equals and file):
            raise InputError(f"{flag} takes NAME=FILE, not '{word}'")
        found[name] = file
    return found


def _grid(text: str | None) -> list[int] | None:
    if text is None:
        return None
    try:
        grid = [int(part) for part in text.split(",")]
    except ValueError:
        grid = []
    if not 1 <= len(grid) <= 3 or any(blocks < 1 for blocks in grid):
        raise InputError(f"--grid takes up to three numbers such as 16,32, not '{text}'")
    return grid
