"""Programs as kernels, with their inputs and results."""

from dataclasses import replace

import numpy as np

from ..generated.kernels import KernelCase
from .meaning import inputs_of, results_of
from .program import OrderedProgram
from .text import text_of

#: The argument that loops and branches depend on, in the second run of a program.
_OTHER_TRIPS = {0: 2, 1: 0, 2: 0, 3: 1}


def kernels_of(program: OrderedProgram, ordered: bool = False) -> list[KernelCase]:
    """Return a program as a kernel, for several values of its argument.

    Args:
        program: the program.
        ordered: whether its text has every op that orders accesses after each op.
    """
    text = text_of(program, ordered)
    trips = (program.trips, _OTHER_TRIPS[program.trips])
    return [_kernel(replace(program, trips=number), text) for number in trips]


def _kernel(program: OrderedProgram, text: str) -> KernelCase:
    exact = {name: array.astype(np.float64) for name, array in results_of(program).items()}
    if not all(np.isfinite(array).all() for array in exact.values()):
        raise AssertionError("a program writes each tile before it reads it")
    none = np.zeros_like(exact["D"])
    inputs = {**inputs_of(program), "n": program.trips}
    return KernelCase(
        text, "program", inputs, "D", (program.blocks,), exact.pop("D"), none, others=exact
    )
