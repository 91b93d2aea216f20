"""The passes by name: ours, and those that other packages add."""

import warnings
from functools import cache
from importlib.metadata import entry_points

from ..allocate import Allocate
from ..assign_layouts import AssignLayouts
from ..check_async import CheckAsync
from ..lower_copies import LowerCopies
from ..lower_mma import LowerMma
from ..lower_roles import LowerRoles
from ..materialize_descriptors import MaterializeDescriptors
from ..place_accumulators import PlaceAccumulators
from .base import OptionError, Pass
from .pipelines import SmemToNvvm

#: Entry points of this group add passes: each names a subclass of `Pass`.
GROUP = "mlir_smem.passes"

OWN: tuple[type[Pass], ...] = (
    AssignLayouts,
    PlaceAccumulators,
    Allocate,
    CheckAsync,
    MaterializeDescriptors,
    LowerMma,
    LowerCopies,
    LowerRoles,
    SmemToNvvm,
)


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
