"""Functions that build ops: what all of them check before they build."""

import functools
import inspect
from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any, NamedTuple, TypeVar, cast, get_args, get_type_hints

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
    kinds, positional, required = _parameters(function)
    known = ", ".join(kinds)

    @functools.wraps(function)
    def build(*given: Any, **named: Any) -> Any:
        if not _is_place():
            _check_place(name)
        taken = []
        for (parameter, kind), argument in zip(positional, given, strict=False):
            found = kind.take(argument)
            if found is REFUSED:
                raise wrong_argument(name, parameter, argument, kind.expected)
            taken.append(found)
        if len(taken) < len(given):
            raise TypeError(f"{name}: has {len(given)} arguments without a name; expected {known}")
        if named:
            for parameter, argument in named.items():
                kind = kinds.get(parameter)
                if kind is None:
                    raise TypeError(f"{name}: has no parameter {parameter}; expected {known}")
                named[parameter] = found = kind.take(argument)
                if found is REFUSED:
                    raise wrong_argument(name, parameter, argument, kind.expected)
        for parameter in required[len(given) :]:
            if parameter not in named:
                expected = kinds[parameter].expected
                raise TypeError(f"{name}: {parameter} is missing; expected {expected}")
        try:
            return function(*taken, **named)
        except NotBuilt:
            raise
        except Invalid as error:
            raise NotBuilt(f"{name}: {error}") from None

    return cast(Function, build)


class _Parameters(NamedTuple):
    """What the parameters of a function take.

    Attributes:
        kinds: by their names.
        positional: those that need not be named, in their order; without end for `*arguments`.
        required: the names of those that must be given.
    """

    kinds: dict[str, Kind]
    positional: Iterable[tuple[str, Kind]]
    required: list[str]


def _parameters(function: Callable[..., Any]) -> _Parameters:
    kinds, positional, required = {}, [], []
    rest: Iterable[tuple[str, Kind]] = ()
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            # `**modifiers: Unpack[Modifiers]`: each is a parameter that need not be there.
            (modifiers,) = get_args(parameter.annotation)
            kinds |= {key: kind_of(each) for key, each in get_type_hints(modifiers).items()}
        elif parameter.kind is parameter.VAR_POSITIONAL:
            rest = repeat(("an argument", kind_of(parameter.annotation)))
        else:
            kinds[name] = kind_of(parameter.annotation)
            positional.append((name, kinds[name]))
            if parameter.default is parameter.empty:
                required.append(name)
    return _Parameters(kinds, positional or rest, required)


def _is_place() -> bool:
    """Whether an op of the dialect can be built here, asked in the fastest way."""
    try:
        return (
            ir.InsertionPoint.current is not None
            and ir.Location.current is not None
            and ir.Context.current.is_dialect_loaded(Smem.DIALECT_NAMESPACE)
        )
    except ValueError:
        return False


def _check_place(name: str) -> None:
    """Checks that an op of the dialect can be built here, and says what is missing.

    Raises:
        ValueError: if it cannot.
    """
    context, missing = _current(ir.Context), None
    if context is None:
        missing = f"no MLIR context of {PACKAGE} is current; enter one by `with context:`"
    elif not context.is_dialect_loaded(Smem.DIALECT_NAMESPACE):
        missing = "the current context does not have the dialect; call mlir_smem.register(context)"
    elif _current(ir.InsertionPoint) is None:
        missing = "no insertion point is current; enter one by `with ir.InsertionPoint(block):`"
    elif _current(ir.Location) is None and not _has_traceback_locations():
        missing = "no location is current; enter one by `with ir.Location.unknown():`"
    if missing:
        raise ValueError(f"{name}: {missing}")


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
