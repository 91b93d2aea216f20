"""The passes by name: those of this project, and those that other packages add."""

from __future__ import annotations

import warnings
from functools import cache
from typing import TYPE_CHECKING

from .base import OptionError, Pass

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: Entry points of this group add passes: each names a subclass of `Pass`.
GROUP = "mlir_smem.passes"

#: This project, among the distributions that have entry points.
DISTRIBUTION = "mlir-smem"

#: The passes of this project, in the order in which they are listed; see `add_own`.
OWN: list[type[Pass]] = []


def add_own(*passes: type[Pass]) -> None:
    """Register passes of this project. Passes of other packages are found by their entry points."""
    OWN.extend(passes)


def passes() -> dict[str, type[Pass]]:
    """Return every pass by its name, those of this project first.

    Example:
        >>> list(passes())[0]
        'smem-insert-sync'
    """
    found = {pass_.name: pass_ for pass_ in OWN}
    for entry in _entries():
        if (pass_ := _loaded(entry)) is not None:
            found.setdefault(pass_.name, pass_)
    return found


def find_pass(name: str) -> type[Pass] | None:
    """Return the pass of that name; None if there is none.

    Entry points of this project have the names of their passes, so those that are not asked for are not
    loaded: `frontend` loads the runtime, which most compilers do not need.
    """
    for pass_ in OWN:
        if pass_.name == name:
            return pass_
    for entry in _entries():
        if entry.name == name or entry.dist is None or entry.dist.name != DISTRIBUTION:
            pass_ = _loaded(entry)
            if pass_ is not None and pass_.name == name:
                return pass_
    return None


@cache
def _entries() -> tuple[EntryPoint, ...]:
    """Return the entry points; to find them, every installed distribution is read."""
    # Few runs get here, and the import takes as long as a small pass.
    from importlib.metadata import entry_points

    return tuple(entry_points(group=GROUP))


@cache
def _loaded(entry: EntryPoint) -> type[Pass] | None:
    """Return the pass of an entry point; None if it cannot be loaded, which is a warning: an error in
    another package must not make the passes of this project unusable."""
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
    if (found := find_pass(name)) is None:
        raise OptionError(f"no pass is named '{name}'; there are {', '.join(passes())}")
    return found
