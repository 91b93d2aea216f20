"""The passes by name: ours, and those that other packages add."""

import warnings
from functools import cache
from importlib.metadata import entry_points

from .base import OptionError, Pass

#: Entry points of this group add passes: each names a subclass of `Pass`.
GROUP = "mlir_smem.passes"

#: Our passes, in the order in which they are listed; see `add_own`.
OWN: list[type[Pass]] = []


def add_own(*passes: type[Pass]) -> None:
    """Makes passes known. Other packages' passes come by entry points."""
    OWN.extend(passes)


@cache
def passes() -> dict[str, type[Pass]]:
    """Every pass by its name, ours first."""
    found = {pass_.name: pass_ for pass_ in OWN}
    for entry in entry_points(group=GROUP):
        try:
            pass_ = entry.load()
            found.setdefault(pass_.name, pass_)
        except Exception as error:
            # Another package's fault must not take our passes with it.
            warnings.warn(f"pass '{entry.name}' cannot be loaded: {error}", stacklevel=2)
    return found


def pass_named(name: str) -> type[Pass]:
    """The pass of that name.

    Raises:
        OptionError: if there is none.
    """
    try:
        return passes()[name]
    except KeyError:
        raise OptionError(f"no pass is named '{name}'; there are {', '.join(passes())}") from None
