"""`smem-run`: compiles a file and runs one of its kernels on NumPy arrays."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tqdm import tqdm

from ..codegen import CompileError
from ..emulator import EmulationError, Violations
from ..passes import OptionError
from ..runtime import LaunchError, run_on_cpu, run_on_gpu
from ..runtime.arguments import DTYPES, kernel_named
from .arrays import load, save
from .command import Parser, parser, run
from .diagnostics import Collector, print_diagnostics
from .inputs import InputError, shown_name
from .module_input import read
from .smem_compile import add_compile_options, compile_text


def arguments() -> Parser:
    """Return the parser of the command's arguments."""
    command_parser = parser("smem-run", "Runs a kernel on arrays in .npy files.")
    command_parser.add_argument("file", help="MLIR with smem ops; - for standard input")
    command_parser.add_argument("--entry", help="the kernel; not needed if there is only one")
    command_parser.add_argument(
        "--in",
        dest="inputs",
        action="append",
        default=[],
        metavar="X=x.npy",
        help="an argument's array",
    )
    command_parser.add_argument(
        "--out",
        dest="outputs",
        action="append",
        default=[],
        metavar="Y=y.npy",
        help="where to write an argument's array",
    )
    command_parser.add_argument("--on", choices=("gpu", "cpu"), default="gpu", help="where to run")
    command_parser.add_argument(
        "--grid", help="thread blocks along x,y,z; default: that of the kernel"
    )
    command_parser.add_argument("--arch", default="sm_90a", help="the architecture to compile for")
    add_compile_options(command_parser)
    return command_parser


def smem_run(argv: Sequence[str]) -> int:
    """Run the command; return its exit code."""
    options = arguments().parse_args(argv)

    def body() -> int:
        sources, targets = _pairs("--in", options.inputs), _pairs("--out", options.outputs)
        if not targets:
            raise InputError("no output; give --out Y=y.npy")
        grid = _grid(options.grid)
        stage = "cubin" if options.on == "gpu" else "nvvm"
        text = read(options.file)
        compiled = compile_text(
            text,
            options.file,
            stage,
            options.arch,
            debug_info=options.debug_info,
            insert_sync=options.insert_sync,
            pipeline=options.pipeline,
            mask_accesses=options.mask_accesses,
        )
        if compiled is None:
            return 1
        kernel = kernel_named(compiled.manifest, options.entry)
        elements = {argument["name"]: argument.get("element") for argument in kernel["arguments"]}
        inputs = {}
        for name, file in sources.items():
            if name not in elements:
                raise InputError(f"--in {name}: {kernel['entry']} has {', '.join(elements)}")
            if elements[name] not in DTYPES:
                raise InputError(f"{name} {_problem(elements[name])}; expected {', '.join(DTYPES)}")
            inputs[name] = load(name, file, DTYPES[elements[name]])
        output_names, results = list(targets), {}
        if options.on == "gpu":
            results = run_on_gpu(compiled, options.entry, inputs, output_names, grid)
        else:
            collector = Collector(shown_name(options.file))
            with _collect_errors(collector):
                results = run_on_cpu(compiled, options.entry, inputs, output_names, grid, _progress)
            print_diagnostics(collector, text)
            if collector.has_error:
                return 1
        save([(file, results[name]) for name, file in targets.items()])
        for name, file in targets.items():
            print(
                f"{name}: {list(results[name].shape)} {results[name].dtype} in {file}",
                file=sys.stderr,
            )
        return 0

    user_errors = (InputError, OptionError, CompileError, LaunchError, EmulationError)
    return run("smem-run", body, options.debug, user_errors)


@contextmanager
def _collect_errors(collector: Collector) -> Iterator[None]:
    """Collect the emulator's errors at an op as diagnostics.

    Raises:
        EmulationError: for errors without a location in the kernel.
    """
    try:
        yield
    except Violations as error:
        for violation in error.found:
            cta = ", ".join(map(str, violation.cta))
            message = f"{violation.message} [{violation.kind.value}, CTA {cta}]"
            collector.add("error", violation.location, message)
    except EmulationError as error:
        if error.location is None:
            raise
        collector.add("error", error.location, error.message)


def _progress(blocks: Iterable[Any], total: int) -> Iterable[Any]:
    """Show a progress bar on a terminal, for runs of more than a second."""
    return tqdm(blocks, total=total, unit="block", delay=1, disable=None, leave=False)


def _problem(element: str | None) -> str:
    return "is a scalar, not an array" if element is None else f"has elements of {element}"


def _pairs(flag: str, words: Sequence[str]) -> dict[str, str]:
    files = {}
    for word in words:
        name, equals, file = word.partition("=")
        if not (name and equals and file):
            raise InputError(f"{flag} takes NAME=FILE, not '{word}'")
        if name in files:
            raise InputError(f"{flag} has {name} twice: {files[name]} and {file}")
        files[name] = file
    return files


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
