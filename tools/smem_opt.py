"""`smem-opt`: parses a module, runs passes and prints it, with mlir-opt's options."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

from ..bindings.irtypes import Module
from ..bindings.mlir import passmanager
from ..bindings.parsing import parse_module
from ..dialect import dialects, irdl, new_context
from ..interop.host_version import HostVersionError, check_version, for_llvm, from_llvm
from ..passes import OptionError, passes, register_transform
from ..passes.driver.base import Pass, option_text
from ..passes.driver.manager import entry_passes
from ..passes.driver.textual import PipelineEntry, module_entries
from .command import Parser, add_diagnostics_option, parser, run
from .diagnostics import Collector, is_mlir_error, print_diagnostics, with_notes
from .inputs import InputError, shown_name
from .module_input import read
from .outputs import write_all
from .server import ServerError, serve
from .verify import mismatches

SEPARATOR = "// -----"

#: The name of a pass, and a function that adds it to a pass manager.
Step = tuple[str, Callable[[Any], None]]


@dataclass
class Printing:
    """The passes before and after which the IR is printed."""

    before: set[str] = field(default_factory=set)
    after: set[str] = field(default_factory=set)
    before_all: bool = False
    after_all: bool = False

    def add_to(self, pm: Any, name: str, when: str) -> None:
        """Add a pass that prints the module, if requested before or after a pass."""
        names, is_all = (
            (self.before, self.before_all) if when == "Before" else (self.after, self.after_all)
        )
        if not is_all and name not in names:
            return

        def show(module: Any, external: Any) -> None:
            print(f"// -----// IR Dump {when} {name} //----- //\n{module}", file=sys.stderr)

        pm.add(show, name=f"print-ir-{when.lower()}-{name}")


def arguments() -> Parser:
    """Return the parser of the command's arguments, without the `--NAME=OPTIONS` of passes."""
    command_parser = parser("smem-opt", "Runs passes over MLIR with the smem dialect.")
    command_parser.add_argument(
        "file", nargs="?", default="-", help="the input; standard input if left out"
    )
    command_parser.add_argument(
        "-o", dest="output", default="-", help="the output; standard output if left out"
    )
    command_parser.add_argument(
        "--pass-pipeline", help="builtin.module(...): our passes and upstream's"
    )
    command_parser.add_argument(
        "--split-input-file", action="store_true", help=f"process parts between {SEPARATOR} alone"
    )
    command_parser.add_argument(
        "--verify-diagnostics", action="store_true", help="check expected-* comments"
    )
    command_parser.add_argument(
        "--allow-unregistered-dialect", action="store_true", help="parse ops of unknown dialects"
    )
    command_parser.add_argument(
        "--mlir-print-op-generic", action="store_true", help="print the generic form"
    )
    command_parser.add_argument(
        "--emit-bytecode", action="store_true", help="write bytecode instead of text"
    )
    command_parser.add_argument(
        "--emit-bytecode-version",
        type=int,
        metavar="N",
        help="the version of the bytecode; the newest if left out",
    )
    command_parser.add_argument(
        "--mlir-print-debuginfo", action="store_true", help="print locations"
    )
    command_parser.add_argument(
        "--host-llvm",
        type=int,
        metavar="VERSION",
        help="read and print the generic form as a tool with this major version of LLVM does",
    )
    command_parser.add_argument(
        "--mlir-print-ir-before",
        action="append",
        default=[],
        metavar="PASS",
        help="print the IR before a pass",
    )
    command_parser.add_argument(
        "--mlir-print-ir-after",
        action="append",
        default=[],
        metavar="PASS",
        help="print the IR after a pass",
    )
    command_parser.add_argument(
        "--mlir-print-ir-before-all", action="store_true", help="print the IR before each pass"
    )
    command_parser.add_argument(
        "--mlir-print-ir-after-all", action="store_true", help="print the IR after each pass"
    )
    command_parser.add_argument(
        "--mlir-timing", action="store_true", help="print the time of each pass"
    )
    command_parser.add_argument(
        "--list-passes",
        nargs="?",
        const="text",
        choices=("text", "json"),
        help="list our passes with their options, as text or as JSON",
    )
    command_parser.add_argument(
        "--show-dialects", action="store_true", help="list the dialects that are known"
    )
    command_parser.add_argument(
        "--dump-irdl", action="store_true", help="print the smem dialect as IRDL"
    )
    command_parser.add_argument(
        "--server",
        metavar="SOCKET",
        help="serve the commands at a socket: each runs in a fork, without the time to start",
    )
    add_diagnostics_option(command_parser)
    command_parser.epilog = (
        "Any other --NAME or --NAME=OPTIONS runs that pass on builtin.module, in the order given."
    )
    return command_parser


def _parse_arguments(argv: Sequence[str]) -> tuple[argparse.Namespace, list[PipelineEntry]]:
    command_parser = arguments()
    options, unknown_words = command_parser.parse_known_args(argv)
    leaves = []
    for word in unknown_words:
        if not word.startswith("--"):
            command_parser.error(f"unexpected argument '{word}'")
        name, _, text = word[2:].partition("=")
        leaves.append(PipelineEntry((), name, text))
    if leaves and options.pass_pipeline:
        command_parser.error(
            f"--pass-pipeline and --{leaves[0].name} cannot be combined; put it into the pipeline"
        )
    if options.verify_diagnostics and options.diagnostics == "json":
        command_parser.error("--verify-diagnostics and --diagnostics=json cannot be combined")
    if options.server is not None and (leaves or options.pass_pipeline or options.file != "-"):
        command_parser.error("--server takes no input and no passes; its clients give them")
    if options.host_llvm is not None and options.emit_bytecode:
        command_parser.error(
            "--host-llvm and --emit-bytecode cannot be combined; it rewrites text alone"
        )
    if options.host_llvm is not None:
        try:
            check_version(options.host_llvm)
        except ValueError as error:
            command_parser.error(f"--host-llvm: {error}")
    return options, leaves


def _parts(text: str | bytes, split: bool) -> Sequence[str | bytes]:
    """Return the parts to process, each padded so that its lines keep their numbers.

    Bytecode is one part.
    """
    if not split or isinstance(text, bytes):
        return [text]
    parts, current, start = [], [], 0
    for number, line in enumerate(text.splitlines()):
        if line.startswith(SEPARATOR):
            parts.append("\n" * start + "\n".join(current))
            current, start = [], number + 1
        else:
            current.append(line)
    parts.append("\n" * start + "\n".join(current))
    return parts


def _process(
    text: str | bytes, steps: list[Step], options: argparse.Namespace, file: str
) -> tuple[str | bytes | None, Collector]:
    """Run passes over a part of the input.

    Returns:
        The module as text or bytecode, None on an error; and the diagnostics.
    """
    collector = Collector(file)
    printing = Printing(
        set(options.mlir_print_ir_before),
        set(options.mlir_print_ir_after),
        options.mlir_print_ir_before_all,
        options.mlir_print_ir_after_all,
    )
    with new_context() as context:
        context.allow_unregistered_dialects = options.allow_unregistered_dialect
        if _has_transform_ops(text, steps):
            register_transform(context)
        pm = passmanager.PassManager("builtin.module")
        for name, add in steps:
            printing.add_to(pm, name, "Before")
            add(pm)
            printing.add_to(pm, name, "After")
        if options.mlir_timing:
            pm.enable_timing()
        with collector.listen(context):
            try:
                if options.host_llvm and isinstance(text, str):
                    text = from_llvm(text, options.host_llvm)
                module = parse_module(text)
                pm.run(module.operation)
                return _module_output(module, options), collector
            except HostVersionError as error:
                collector.add("error", error.location, str(error))
                return None, collector
            except Exception as error:
                if not is_mlir_error(error):
                    raise
                if not collector.has_error:
                    collector.add("error", "", str(error))
                return None, collector


def _module_output(module: Module, options: argparse.Namespace) -> str | bytes:
    """Return a module as text, as text for another version of LLVM, or as bytecode.

    Raises:
        HostVersionError: if the host's version of LLVM cannot represent an op.
        InputError: for a version of bytecode that does not exist.
    """
    if options.emit_bytecode:
        return _bytecode(module, options.emit_bytecode_version)
    if options.host_llvm:
        return _text_for_host(module, options)
    return module.operation.get_asm(
        print_generic_op_form=options.mlir_print_op_generic,
        enable_debug_info=options.mlir_print_debuginfo,
    )


def _text_for_host(module: Module, options: argparse.Namespace) -> str:
    def generic(locations: bool) -> str:
        return module.operation.get_asm(print_generic_op_form=True, enable_debug_info=locations)

    try:
        return for_llvm(generic(options.mlir_print_debuginfo), options.host_llvm)
    except HostVersionError:
        for_llvm(generic(True), options.host_llvm)  # the error has a location
        raise


def _bytecode(module: Module, version: int | None) -> bytes:
    stream = BytesIO()
    try:
        # The diagnostic repeats the error.
        with Collector("").listen(module.context):
            module.operation.write_bytecode(stream, desired_version=version)
    except ValueError as error:
        raise InputError(f"--emit-bytecode-version: {error}") from None
    return stream.getvalue()


def _has_transform_ops(text: str | bytes, steps: list[Step]) -> bool:
    """Whether ops of our transform dialect can be in the input, or in a library that a pass reads."""
    name = b"smem_transform" if isinstance(text, bytes) else "smem_transform"
    return name in text or any(step.startswith("transform-") for step, _ in steps)  # type: ignore[operator]


def _show_lists(options: argparse.Namespace) -> bool:
    """Print the lists of passes or dialects, if requested; return whether one was."""
    if options.list_passes == "json":
        print(json.dumps([_describe(pass_) for pass_ in passes().values()], indent=1))
    elif options.list_passes:
        for name, pass_ in passes().items():
            print(f"--{name:<28} {pass_.description}")
            for key, entry in pass_.options().items():
                print(f"    {key:<26} {entry.metadata['description']}")
    elif options.show_dialects:
        print("\n".join(dialects()))
    elif options.dump_irdl:
        print(irdl())
    else:
        return False
    return True


def _describe(pass_: type[Pass]) -> dict[str, Any]:
    """Return the object of a pass that `--list-passes=json` prints."""
    return {
        "name": pass_.name,
        "description": pass_.description,
        "options": [
            {
                "name": key,
                "description": entry.metadata["description"],
                "default": option_text(entry.default),
            }
            for key, entry in pass_.options().items()
        ],
    }


def smem_opt(argv: Sequence[str]) -> int:
    """Run the command; return its exit code."""
    options, leaves = _parse_arguments(argv)

    def body() -> int:
        if options.server is not None:
            serve(options.server)
            return 0
        if _show_lists(options):
            return 0
        requested = module_entries(options.pass_pipeline) if options.pass_pipeline else leaves
        steps = [step for leaf in requested for step in entry_passes(leaf)]
        running_passes = {name for name, _ in steps}
        for name in (*options.mlir_print_ir_before, *options.mlir_print_ir_after):
            if name not in running_passes:
                raise OptionError(f"cannot print the IR around '{name}': no pass of that name runs")
        text = read(options.file)
        file = shown_name(options.file)
        outputs, problems, has_failed = [], [], False
        for part in _parts(text, options.split_input_file):
            output, collector = _process(part, steps, options, file)
            if options.verify_diagnostics:
                source = part if isinstance(part, str) else ""
                problems += mismatches([*with_notes(collector.diagnostics)], source, file)
                continue
            print_diagnostics(collector, text, options.diagnostics)
            if output is None:
                has_failed = True
            else:
                outputs.append(output)
        if options.verify_diagnostics:
            print("\n".join(problems), file=sys.stderr, end="\n" if problems else "")
            return 1 if problems else 0
        if has_failed:
            return 1
        if options.emit_bytecode:
            if len(outputs) > 1:
                raise InputError(
                    f"--emit-bytecode: the input has {len(outputs)} parts; expected one"
                )
            write_all([(options.output, outputs[0])])
        else:
            write_all([(options.output, f"{SEPARATOR}\n".join(outputs))])
        return 0

    user_errors = (InputError, OptionError, ServerError, NotImplementedError)
    return run("smem-opt", body, options.debug, user_errors, options.diagnostics)
