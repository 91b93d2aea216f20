"""Functions that build ops: what all of them check before they build."""

import functools
import inspect
from collections.abc import Callable
from itertools import chain, repeat
from typing import Any, TypeVar, cast, get_args, get_type_hints

from .arguments import REFUSED, Kind, kind_of, wrong_argument
from .bindings import PACKAGE, ir
from .diagnostics import Invalid
from .smem import Smem

Function = TypeVar("Function", bound=Callable[..., Any])


class NotBuilt(Invalid):
    """A rule that the arguments of a builder break; the message begins with the builder's name."""


def builder(function: Function) -> Function:
    """Makes a function that builds an op check its arguments first, by its annotations, and that there
    is a place to build it: nothing is built of a call that is refused.

    Ops stand for their results, and sequences become lists.

    Raises:
        TypeError: for an argument of another kind than the annotation says.
        ValueError: without a current context, insertion point or location, or in a context without the
            dialect.
        NotBuilt: for arguments that break a rule together.
    """
    name = f"{Smem.DIALECT_NAMESPACE}.{function.__name__}"
    kinds: dict[str, Kind] = {}
    positional: list[tuple[str, Kind]] = []
    required = 0
    rest: Kind | None = None
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            # `**modifiers: Unpack[Modifiers]`: each is a parameter that need not be there.
            (modifiers,) = get_args(parameter.annotation)
            kinds |= {key: kind_of(each) for key, each in get_type_hints(modifiers).items()}
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            rest = kind_of(parameter.annotation)
            continue
        kinds[parameter.name] = kind = kind_of(parameter.annotation)
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            positional.append((parameter.name, kind))
            required += parameter.default is parameter.empty

    @functools.wraps(function)
    def build(*given: Any, **named: Any) -> Any:
        _check_place(name)
        taken = []
        places = positional if rest is None else chain(positional, repeat(("an argument", rest)))
        for (parameter, kind), argument in zip(places, given, strict=False):
            found = kind.take(argument)
            if found is REFUSED:
                raise wrong_argument(name, parameter, argument, kind.expected)
            taken.append(found)
        if len(taken) < len(given):
            raise TypeError(f"{name}: has {len(given)} arguments; expected {', '.join(kinds)}")
        for parameter, argument in named.items():
            if parameter not in kinds:
                raise TypeError(
                    f"{name}: has no parameter {parameter}; expected {', '.join(kinds)}"
                )
            kind = kinds[parameter]
            named[parameter] = found = kind.take(argument)
            if found is REFUSED:
                raise wrong_argument(name, parameter, argument, kind.expected)
        for parameter, kind in positional[len(given) : required]:
            if parameter not in named:
                raise TypeError(f"{name}: {parameter} is missing; expected {kind.expected}")
        try:
            return function(*taken, **named)
        except NotBuilt:
            raise
        except Invalid as error:
            raise NotBuilt(f"{name}: {error}") from None

    return cast(Function, build)


def _check_place(name: str) -> None:
    """Checks that an op of the dialect can be built here.

    Raises:
        ValueError: if it cannot.
    """
    context = _current(ir.Context)
    if context is None:
        raise ValueError(
            f"{name}: no MLIR context of {PACKAGE} is current; enter one by `with context:`"
        )
    if not context.is_dialect_loaded(Smem.DIALECT_NAMESPACE):
        raise ValueError(
            f"{name}: the current context does not have the dialect; call mlir_smem.register(context)"
        )
    if _current(ir.InsertionPoint) is None:
        raise ValueError(
            f"{name}: no insertion point is current; enter one by `with ir.InsertionPoint(block):`"
        )
    if _current(ir.Location) is None and not _has_traceback_locations():
        raise ValueError(
            f"{name}: no location is current; enter one by `with ir.Location.unknown():`"
        )


def _current(of: Any) -> Any:
    """The current context, insertion point or location; None without, which bindings say in two ways."""
    try:
        return of.current
    except ValueError:
        return None


def _has_traceback_locations() -> bool:
    """Whether the bindings take locations from Python's stack, as newer ones can."""
    enabled = getattr(getattr(ir, "_globals", None), "loc_tracebacks_enabled", None)
    return enabled is not None and enabled()
