"""Passes that change a copy of a function on trial."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...bindings.diagnostics import remark
from ...bindings.irtypes import Location, Module, Op
from ...ir.errors import OpError
from ...ir.kernel import functions_of
from ..driver.base import Pass, option
from .rewriting import copy_of, loops_of, prove, reason_of


@dataclass(frozen=True)
class LoopPass(Pass):
    """A pass of loops in program order, before `smem-insert-sync`, as its result is.

    A function stays as it was if it cannot be changed, or if `smem-insert-sync` cannot put the result in
    order.
    """

    takes_program_order = True

    unproven: str = option(
        "refuse", "whether results may have an order that is not known", choices=("refuse", "allow")
    )
    explain: bool = option(False, "print what was moved, and what was not, as remarks")

    def change_loops(self, module: Module, change: Callable[[Op, int], Op]) -> None:
        """Change the loops of functions, from the last one to the first: those that are made come before
        the next one.

        Args:
            module: the module.
            change: takes a function, and the position of a loop in it; returns what takes its place.
        """
        for function in functions_of(module):
            for position in reversed(range(len(loops_of(function)))):
                function = change(function, position)  # noqa: PLW2901

    def attempt(self, function: Op, change: Callable[[Op], str]) -> tuple[Op, str]:
        """Change a copy of a function; return what takes the function's place, and what was done.

        Args:
            function: the function.
            change: changes the copy; returns what was done.

        Raises:
            OpError: if it cannot be changed, or proven: the function is as it was.
        """
        changed = copy_of(function)
        try:
            done = change(changed)
            if self.unproven == "refuse":
                prove(changed)
        except OpError as error:
            # Its op is gone with the copy.
            reason = error.message if error.op == changed else reason_of(error)
            changed.erase()
            raise OpError(function, reason) from None
        function.erase()
        return changed, done

    def remark(self, location: Location, message: str, always: bool = False) -> None:
        """Print a remark if the pass explains, or always."""
        if always or self.explain:
            remark(location, message)
