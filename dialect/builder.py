"""The decorator of builders (functions that build ops): it checks arguments before an op is built."""

import functools
import inspect
from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any, NamedTuple, TypeVar, cast, get_args, get_type_hints

from ..bindings.diagnostics import Invalid
from ..bindings.mlir import PACKAGE, ir, is_dialect_loaded
from ..bindings.packages import foreign_current_context, remedy
from .arguments import REFUSED, ArgumentType, argument_type, wrong_argument
from .smem import Smem

Function = TypeVar("Function", bound=Callable[..., Any])


class NotBuilt(Invalid):
    """A rule that the arguments of a builder violate; the message begins with the builder's name."""


def builder(function: Function) -> Function:
    """Make a builder check its arguments against its annotations, and that an op can be created here.

    A rejected call builds nothing. An op is accepted for its result, and sequences become lists.

    Raises:
        TypeError: for an argument that its annotation does not accept.
        ValueError: without a current context, insertion point or location, or in a context without the
            dialect.
        NotBuilt: for arguments that violate a rule of the op.
    """
    name = f"{Smem.DIALECT_NAMESPACE}.{function.__name__}"
    types, positional, required = _parameters(function)
    parameter_names = ", ".join(types)

    @functools.wraps(function)
    def build(*arguments: Any, **keywords: Any) -> Any:
        if not _can_build():
            _check_can_build(name)
        accepted_arguments = []
        for (parameter, type_), argument in zip(positional, arguments, strict=False):
            accepted = type_.take(argument)
            if accepted is REFUSED:
                raise wrong_argument(name, parameter, argument, type_.expected)
            accepted_arguments.append(accepted)
        if len(accepted_arguments) < len(arguments):
            raise TypeError(
                f"{name}: has {len(arguments)} positional arguments; expected {parameter_names}"
            )
        if keywords:
            for parameter, argument in keywords.items():
                type_ = types.get(parameter)
                if type_ is None:
                    raise TypeError(
                        f"{name}: has no parameter {parameter}; expected {parameter_names}"
                    )
                keywords[parameter] = accepted = type_.take(argument)
                if accepted is REFUSED:
                    raise wrong_argument(name, parameter, argument, type_.expected)
        for parameter in required[len(arguments) :]:
            if parameter not in keywords:
                expected = types[parameter].expected
                raise TypeError(f"{name}: {parameter} is missing; expected {expected}")
        try:
            return function(*accepted_arguments, **keywords)
        except NotBuilt:
            raise
        except Invalid as error:
            raise NotBuilt(f"{name}: {error}") from None

    return cast(Function, build)


class _Parameters(NamedTuple):
    """The argument types of a builder's parameters.

    Attributes:
        types: by parameter name.
        positional: (name, type) of each positional parameter, in order; infinite for `*arguments`.
        required: the names of parameters without a default.
    """

    types: dict[str, ArgumentType]
    positional: Iterable[tuple[str, ArgumentType]]
    required: list[str]


def _parameters(function: Callable[..., Any]) -> _Parameters:
    types, positional, required = {}, [], []
    variadic: Iterable[tuple[str, ArgumentType]] = ()
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            # `**modifiers: Unpack[Modifiers]`: each key is an optional parameter.
            (modifiers,) = get_args(parameter.annotation)
            types |= {
                key: argument_type(annotation)
                for key, annotation in get_type_hints(modifiers).items()
            }
        elif parameter.kind is parameter.VAR_POSITIONAL:
            variadic = repeat(("an argument", argument_type(parameter.annotation)))
        else:
            types[name] = argument_type(parameter.annotation)
            positional.append((name, types[name]))
            if parameter.default is parameter.empty:
                required.append(name)
    return _Parameters(types, positional or variadic, required)


def _can_build() -> bool:
    """Whether an op of the dialect can be created here; the fastest check."""
    try:
        return (
            ir.InsertionPoint.current is not None
            and ir.Location.current is not None
            and is_dialect_loaded(ir.Context.current, Smem.DIALECT_NAMESPACE)
        )
    except ValueError:
        return False


def _check_can_build(name: str) -> None:
    """Check that an op of the dialect can be created here; the error states what is missing.

    Raises:
        ValueError: if it cannot.
    """
    context, missing = _current(ir.Context), None
    if context is None and (package := foreign_current_context()):
        missing = (
            f"the current context is of the bindings package {package}, but mlir_smem uses {PACKAGE}; "
            f"{remedy(package)}"
        )
    elif context is None:
        missing = f"no MLIR context of {PACKAGE} is current; enter one by `with context:`"
    elif not is_dialect_loaded(context, Smem.DIALECT_NAMESPACE):
        missing = "the current context does not have the dialect; call mlir_smem.register(context)"
    elif _current(ir.InsertionPoint) is None:
        missing = "no insertion point is current; enter one by `with ir.InsertionPoint(block):`"
    elif _current(ir.Location) is None and not _has_traceback_locations():
        missing = "no location is current; enter one by `with ir.Location.unknown():`"
    if missing:
        raise ValueError(f"{name}: {missing}")


def _current(class_: Any) -> Any:
    """The current context, insertion point or location; None if there is none.

    Depending on their version, the bindings return None or raise ValueError.
    """
    try:
        return class_.current
    except ValueError:
        return None


def _has_traceback_locations() -> bool:
    """Whether the bindings take locations from the Python traceback, as newer ones can."""
    enabled = getattr(getattr(ir, "_globals", None), "loc_tracebacks_enabled", None)
    return enabled is not None and enabled()
