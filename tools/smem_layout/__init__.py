"""`smem-layout`: layouts, swizzles and descriptors of tiles in shared memory."""

from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType

from ...layout.modes import LayoutError
from ...layout.text_error import TextError
from ..command import Parser, parser, run
from ..inputs import InputError
from . import commands

#: The modules of `commands` by name; its docstring describes a module.
COMMANDS: dict[str, ModuleType] = {
    module_info.name: import_module(f"{commands.__name__}.{module_info.name}")
    for module_info in iter_modules(commands.__path__)
}


def arguments() -> Parser:
    """Return the parser of the command's arguments, with one subparser per subcommand."""
    command_parser = parser("smem-layout", "Layouts and descriptors of tiles in shared memory.")
    subparsers = command_parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in COMMANDS.items():
        subparser = subparsers.add_parser(name, help=module.SUMMARY, description=module.__doc__)
        subparser.add_argument("--json", action="store_true", help="print JSON, for programs")
        module.add_arguments(subparser)
    return command_parser


def smem_layout(argv: Sequence[str]) -> int:
    """Run the command; return its exit code."""
    options = arguments().parse_args(argv)

    def body() -> int:
        try:
            return COMMANDS[options.command].run(options)
        except TextError as error:
            raise InputError(error.format_with_caret()) from None

    name = f"smem-layout {options.command}"
    return run(name, body, options.debug, (InputError, LayoutError))
