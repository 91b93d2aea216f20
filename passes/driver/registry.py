"""The passes by name: those of this project, and those that other packages add."""

import warnings
from functools import cache
from importlib.metadata import entry_points

from .base import OptionError, Pass

#: Entry points of this group add passes: each names a subclass of `Pass`.
GROUP = "mlir_smem.passes"

#: The passes of this project, in the order in which they are listed; see `add_own`.
OWN: list[type[Pass]] = []


def add_own(*passes: type[Pass]) -> None:
    """Register passes of this project. Passes of other packages are found by their entry points."""
    OWN.extend(passes)


@cache
def passes() -> dict[str, type[Pass]]:
    """Return every pass by its name, those of this project first.

    Example:
        >>> list(passes())[0]
        'smem-insert-sync'
    """
    found = {pass_.name: pass_ for pass_ in OWN}
    for entry in entry_points(group=GROUP):
        try:
            pass_ = entry.load()
            found.setdefault(pass_.name, pass_)
        except Exception as error:
            # An error in another package must not make the passes of this project unusable.
            warnings.warn(f"pass '{entry.name}' cannot be loaded: {error}", stacklevel=2)
    return found


def pass_named(name: str) -> type[Pass]:
    """Return the pass of that name.

    Raises:
        OptionError: if there is none.

    Example:
        >>> pass_named("smem-allocate").description
        'give each tile an offset in shared memory, aligned to its swizzle pattern'
    """
    try:
        return passes()[name]
    except KeyError:
        raise OptionError(f"no pass is named '{name}'; there are {', '.join(passes())}") from None
