"""`smem-compile`: a module with smem ops to NVVM, LLVM IR, PTX or a cubin, and a manifest."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..bindings.parsing import parse_module
from ..codegen import DEBUG_INFO, STAGES, Compiled, CompileError, compile_in_place
from ..codegen.targets import TARGETS
from ..dialect import new_context
from ..layout import Swizzle
from ..passes import OptionError
from .command import Parser, add_diagnostics_option, json_diagnostic, parser, run
from .diagnostics import Collector, is_mlir_error, print_diagnostics
from .inputs import InputError, shown_name
from .module_input import read
from .outputs import write_all

_SUFFIXES = {"nvvm": ".nvvm.mlir", "llvm": ".ll", "ptx": ".ptx", "cubin": ".cubin"}


def compile_text(
    text: str | bytes, file: str, emit: str, arch: str, diagnostics: str = "text", **options: Any
) -> Compiled | None:
    """Compile text or bytecode and print its diagnostics, as text or as JSON; return None on an error.

    Raises:
        CompileError, OptionError: for errors without a location in the file.
    """
    name = shown_name(file)
    collector = Collector(name)
    compiled = None
    with new_context() as context, collector.listen(context):
        try:
            compiled = compile_in_place(parse_module(text), arch, emit, source_name=name, **options)
        except CompileError:
            if not collector.has_error:
                raise
        except Exception as error:
            if not is_mlir_error(error):
                raise
            if not collector.has_error:
                collector.add("error", "", str(error))
    print_diagnostics(collector, text, diagnostics)
    return compiled


def arguments() -> Parser:
    """Return the parser of the command's arguments."""
    command_parser = parser("smem-compile", "Compiles MLIR with smem ops to code for a GPU.")
    command_parser.add_argument("file", help="the input; - for standard input")
    command_parser.add_argument("--emit", choices=STAGES, default="cubin", help="the code to write")
    command_parser.add_argument("--arch", default="sm_90a", help=f"one of {', '.join(TARGETS)}")
    command_parser.add_argument(
        "-o", dest="output", help="the output; the input's name with a suffix if left out"
    )
    command_parser.add_argument(
        "--explain", action="store_true", help="print what was inserted and chosen, and why"
    )
    add_compile_options(command_parser)
    command_parser.add_argument(
        "--max-swizzle",
        type=int,
        default=128,
        help="the widest swizzle to choose: 0, 32, 64 or 128",
    )
    add_diagnostics_option(command_parser)
    return command_parser


def add_compile_options(command_parser: Parser) -> None:
    """Add the options of every command that compiles to a parser."""
    command_parser.add_argument(
        "--insert-sync",
        action="store_true",
        help="first insert the waits, fences and barriers that program order needs",
    )
    command_parser.add_argument(
        "--pipeline",
        choices=("none", "marked", "all"),
        default="none",
        help="before that, give stages to the tiles that loops load: no loop's, those with smem.stages, "
        "or all",
    )
    command_parser.add_argument(
        "--mask-accesses",
        action="store_true",
        help="mask accesses of arrays that may be outside of them",
    )
    command_parser.add_argument(
        "--debug-info",
        choices=DEBUG_INFO,
        default="none",
        help="what the code tells profilers and debuggers: nothing, or the line of each instruction",
    )


def smem_compile(argv: Sequence[str]) -> int:
    """Run the command; return its exit code."""
    options = arguments().parse_args(argv)

    def body() -> int:
        try:
            max_swizzle = Swizzle.of_width(options.max_swizzle)
        except ValueError as error:
            raise InputError(f"--max-swizzle: {error}") from None
        compiled = compile_text(
            read(options.file),
            options.file,
            options.emit,
            options.arch,
            options.diagnostics,
            debug_info=options.debug_info,
            explain=options.explain,
            insert_sync=options.insert_sync,
            pipeline=options.pipeline,
            mask_accesses=options.mask_accesses,
            max_swizzle=max_swizzle,
        )
        if compiled is None:
            return 1
        output = options.output or _default_output(options.file, options.emit)
        files: list[tuple[str, str | bytes]] = [(output, compiled.stage(options.emit))]
        if output != "-":
            manifest = _manifest_name(output)
            files.append((manifest, json.dumps(compiled.manifest, indent=2) + "\n"))
        write_all(files)
        if options.diagnostics == "text":
            _summarize(compiled, [name for name, _ in files])
        elif compiled.report:
            for warning in compiled.report.warnings:
                print(json.dumps(json_diagnostic("warning", warning)), file=sys.stderr)
        return 0

    user_errors = (InputError, OptionError, CompileError)
    return run("smem-compile", body, options.debug, user_errors, options.diagnostics)


def _manifest_name(output: str) -> str:
    """Return the manifest's name: the output's name with `.json` for the stage's suffix."""
    stem = next((output.removesuffix(s) for s in _SUFFIXES.values() if output.endswith(s)), output)
    return f"{stem}.json"


def _default_output(file: str, emit: str) -> str:
    if file == "-":
        raise InputError("the input has no name to derive the output's from; give -o")
    return str(Path(file).with_suffix("")) + _SUFFIXES[emit]


def _summarize(compiled: Compiled, files: list[str]) -> None:
    """Print a summary to standard error."""
    if compiled.report:
        report = compiled.report
        spills = f"{report.spill_bytes} bytes of spills" if report.spill_bytes else "no spills"
        print(f"ptxas: {report.registers} registers, {spills}", file=sys.stderr)
        for warning in report.warnings:
            print(warning, file=sys.stderr)
    for kernel in compiled.manifest["kernels"]:
        names = ", ".join(argument["name"] for argument in kernel["arguments"])
        print(
            f"kernel {kernel['entry']}({names}): block {kernel['block']}, "
            f"{kernel['shared_bytes']} bytes of shared memory",
            file=sys.stderr,
        )
    if files[0] != "-":
        print(f"wrote {', '.join(files)}", file=sys.stderr)
