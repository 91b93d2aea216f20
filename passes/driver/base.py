"""Passes, frozen dataclasses whose fields are their options, and their registry."""

import dataclasses
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from ...bindings.diagnostics import UNREADABLE, Invalid, emit_op_error, emit_unreadable
from ...bindings.irtypes import Module
from ...bindings.mlir import PACKAGE
from ...bindings.packages import is_foreign, package_of, remedy
from ...dialect.arguments import describe
from ...ir.errors import OpError
from ...ir.kernel import MODULES
from ...ir.module_checks import check_in_flight, check_nesting
from ...ir.walk import walk
from ...layout import LayoutError, Swizzle
from ...layout.arch import Arch

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class OptionError(ValueError):
    """An unknown option of a pass, or a value that the option does not take."""


def option(default: Any, description: str, *, choices: tuple[Any, ...] = ()) -> Any:
    """Return the dataclass field of an option.

    Args:
        default: its value if the pipeline does not set it; its type is the option's.
        description: what it does, for lists of options.
        choices: the values that it takes; empty for all of its type.

    Example:
        >>> from dataclasses import dataclass
        >>> @dataclass(frozen=True)
        ... class Count(Pass):
        ...     name = "count"
        ...     description = "counts ops"
        ...     verbose: bool = option(False, "print each op")
        >>> list(Count.options())
        ['verbose']
    """
    return dataclasses.field(
        default=default, metadata={"description": description, "choices": choices}
    )


@dataclass(frozen=True)
class Pass:
    """A transformation of a module. Subclasses set `name` and `description`, and override `run`.

    Option names are the fields' with dashes: `max_swizzle` is written `max-swizzle`. A pass is a function
    that `PassManager.add` of the bindings takes.
    """

    name: ClassVar[str]
    description: ClassVar[str]

    #: Whether the pass takes mma with readable accumulators as results, as `smem-insert-sync` does.
    takes_program_order: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for key, field in self.options().items():
            choices, value = field.metadata["choices"], getattr(self, field.name)
            if choices and value not in choices:
                takes, value = " or ".join(map(option_text, choices)), option_text(value)
                raise OptionError(f"{self.name}: option {key} takes {takes}, not {value!r}")

    def run(self, module: Module) -> None:
        """Transform a `builtin.module`.

        Raises:
            OpError, Invalid: if the module breaks a rule; the module is then partly transformed.
        """
        raise NotImplementedError

    def passes(self) -> Iterator["Pass"]:
        """Yield the passes that this one runs: itself, unless it is a pipeline."""
        yield self

    @classmethod
    def options(cls) -> dict[str, dataclasses.Field]:
        """Return the options by their textual names."""
        return {f.name.replace("_", "-"): f for f in dataclasses.fields(cls)}

    @classmethod
    def from_text(cls, text: str) -> "Pass":
        """Return the pass with options as a pipeline writes them: `explain=true max-swizzle=64`.

        Raises:
            OptionError: for an unknown option, or a value that it does not take.
        """
        values: dict[str, str] = {}
        for word in text.split():
            key, _, value = word.partition("=")
            values[key] = value or "true"
        return cls.from_options(values)

    @classmethod
    def from_options(cls, values: dict[str, Any]) -> "Pass":
        """Return the pass with options given by name, as text or as values.

        Raises:
            OptionError: for an unknown option, or a value that it does not take.
        """
        fields = cls.options()
        arguments = {}
        for key, value in values.items():
            textual = key.replace("_", "-")
            if textual not in fields:
                names = ", ".join(fields) or "none"
                raise OptionError(f"{cls.name} has no option '{textual}'; its options: {names}")
            field = fields[textual]
            arguments[field.name] = _option_value(cls.name, textual, field.default, value)
        return cls(**arguments)

    def __str__(self) -> str:
        options = [
            f"{key}={option_text(getattr(self, field.name))}"
            for key, field in self.options().items()
            if getattr(self, field.name) != field.default
        ]
        return f"{self.name}{{{' '.join(options)}}}" if options else self.name

    @property
    def __name__(self) -> str:
        """The name that the bindings give a pass that is added without one; see `textual._UNNAMED`."""
        return str(self)

    def __call__(self, op: Any, external: Any) -> None:
        """Run the pass, or all passes of a pipeline, as a pass manager calls it.

        A pipeline is one pass of the manager, which verifies the module once, after the whole pipeline.
        Verifying after each of the passes would take a third of their time.

        Args:
            op: the op on which the manager runs.
            external: the manager's side of the pass, to which a failure is signalled.

        Raises:
            TypeError: if the manager is of another bindings package.
        """
        if is_foreign(op) or is_foreign(external):
            package = str(package_of(op) or package_of(external))
            raise TypeError(
                f"{self.name} was added to a PassManager of the bindings package {package}, but "
                f"mlir_smem uses {PACKAGE}; {remedy(package)}"
            )
        if op.operation.name not in MODULES:
            emit_op_error(op, f"is not what {self.name} runs on; expected {MODULES[0]}")
            external.signal_pass_failure()
        elif not run_all(self, op):
            external.signal_pass_failure()


def _option_value(pass_name: str, key: str, default: Any, value: Any) -> Any:
    try:
        return _parse_value(default, value)
    except (KeyError, ValueError):
        takes = {
            bool: "true or false",
            Swizzle: "0, 32, 64 or 128",
            Arch: ", ".join(map(str, Arch)),
            int: "a number from 0",
        }
        raise OptionError(
            f"{pass_name}: option {key} takes {takes.get(type(default), 'text')}, not "
            f"{describe(value)}"
        ) from None


def _parse_value(default: Any, value: Any) -> Any:
    """Return an option's value as the type of its default, from text or from a value.

    Raises:
        KeyError, ValueError: if the option does not take the value.
    """
    if isinstance(default, Swizzle) and type(value) is int:
        return Swizzle.of_width(value)
    if not isinstance(value, str):
        if type(value) is not type(default) or (type(value) is int and value < 0):
            raise ValueError(value)
        return value
    if isinstance(default, bool):
        return {"true": True, "false": False, "1": True, "0": False}[value]
    if isinstance(default, Swizzle):
        return Swizzle.of_width(int(value))
    if isinstance(default, Arch):
        return Arch.parse(value)
    if isinstance(default, int) and int(value) < 0:
        raise ValueError(value)
    return type(default)(value)


def option_text(value: Any) -> str:
    """Return the value of an option as a pipeline writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Swizzle):
        return str(0 if value is Swizzle.NONE else value.width)
    return str(value)


def run_on(pass_: Pass, module: Module) -> bool:
    """Run a pass on a module; return False if it failed, after its error was emitted as a diagnostic."""
    with module.context, module.location:
        try:
            pass_.run(module)
        except OpError as error:
            emit_op_error(error.op, error.message)
        except (Invalid, LayoutError) as error:
            module.location.emit_error(f"{pass_.name}: {error}")
        except UNREADABLE:
            if not any(map(emit_unreadable, walk(module))):
                raise
        else:
            return True
    return False


def run_all(pass_: Pass, module: Module) -> bool:
    """Run a pass, or all passes of a pipeline; return False if one failed, after a located diagnostic."""
    members = list(pass_.passes())
    try:
        check_nesting(module)
        if not any(member.takes_program_order for member in members[:1]):
            check_in_flight(module)
    except OpError as error:
        emit_op_error(error.op, error.message)
        return False
    return all(run_on(member, module) for member in members)


#: Entry points of this group add passes: each names a subclass of `Pass`.
GROUP = "mlir_smem.passes"

#: This project, among the distributions that have entry points.
DISTRIBUTION = "mlir-smem"

#: The passes of this project, in the order in which they are listed; see `register_passes`.
REGISTERED: list[type[Pass]] = []


def register_passes(*passes: type[Pass]) -> None:
    """Register passes of this project. Passes of other packages are found by their entry points."""
    REGISTERED.extend(passes)


def passes() -> dict[str, type[Pass]]:
    """Return every pass by its name, those of this project first.

    Example:
        >>> list(passes())[0]
        'smem-warp-specialize'
    """
    by_name = {pass_.name: pass_ for pass_ in REGISTERED}
    for entry in _entries():
        if (pass_ := _load(entry)) is not None:
            by_name.setdefault(pass_.name, pass_)
    return by_name


def find_pass(name: str) -> type[Pass] | None:
    """Return the pass of that name; None if there is none.

    Entry points of this project have the names of their passes, so the others are not loaded: `frontend`
    loads the runtime, which most compilers do not need.
    """
    for pass_ in REGISTERED:
        if pass_.name == name:
            return pass_
    for entry in _entries():
        if entry.name == name or entry.dist is None or entry.dist.name != DISTRIBUTION:
            pass_ = _load(entry)
            if pass_ is not None and pass_.name == name:
                return pass_
    return None


@cache
def _entries() -> "tuple[EntryPoint, ...]":
    """Return the entry points. To find them, every installed distribution is read."""
    # Few runs need them, and the import takes as long as a small pass.
    from importlib.metadata import entry_points

    return tuple(entry_points(group=GROUP))


@cache
def _load(entry: "EntryPoint") -> type[Pass] | None:
    """Return the pass of an entry point; warn and return None if it cannot be loaded.

    An error in another package must not make the passes of this project unusable.
    """
    try:
        pass_ = entry.load()
        _ = pass_.name
    except Exception as error:
        warnings.warn(f"pass '{entry.name}' cannot be loaded: {error}", stacklevel=3)
        return None
    return pass_


def pass_named(name: str) -> type[Pass]:
    """Return the pass of that name.

    Raises:
        OptionError: if there is none.

    Example:
        >>> pass_named("smem-allocate").description
        'give each tile an offset in shared memory, aligned to its swizzle pattern'
    """
    if (pass_ := find_pass(name)) is None:
        raise OptionError(f"no pass is named '{name}'; there are {', '.join(passes())}")
    return pass_
