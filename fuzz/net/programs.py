"""The programs of the net: each follows from a seed and its index."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from random import Random

from mlir_smem.language import TraceError

from ..generated import order_text
from ..generated.blocks import BlockCase
from ..generated.choices import RandomChoices
from ..generated.kernels import KernelCase
from ..generated.order_kernels import language_kernels
from ..generated.pipelines import PipelineCase
from ..ordered.draw import draw as draw_ordered
from ..ordered.kernels import kernels_of
from ..programs import gemm_of
from .text import EDITS, add_synchronization, apply_edit
from .turns import turns_kernel

#: Generators, as often as they are drawn.
GENERATORS = ("gemm", "pipeline", "pipeline", "blocks", "language", "statements", "turns")

#: Pairs of a generator and an edit; every block of as many indices has each pair once.
#: Kernels of turns have nothing that can be thinned.
STRATA = tuple(
    (generator, edit)
    for generator in GENERATORS
    for edit in EDITS
    if (generator, edit) != ("turns", "thinned")
)

#: Products of M, N and K up to which a program is small enough for eight runs.
_MOST_PRODUCTS = 1 << 19

#: Kernels that are drawn until one fits, at most.
_MOST_DRAWN = 10_000

#: Warpgroups, tiles and K steps of a pipeline, multiplied, at most.
_MOST_STEPS = 4


@dataclass(frozen=True)
class NetProgram:
    """A program of the net.

    Attributes:
        index: its number.
        generator: what drew it, one of `GENERATORS`.
        edit: how it was edited, one of `EDITS`.
        kernels: the same text with the inputs of several runs.
    """

    index: int
    generator: str
    edit: str
    kernels: tuple[KernelCase, ...]

    @property
    def text(self) -> str:
        """The module."""
        return self.kernels[0].text

    @property
    def digest(self) -> str:
        """Six hexadecimal digits of a hash of the text: another program has others."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:6]


def program(index: int, seed: int = 0) -> NetProgram:
    """Draw the program of an index.

    Raises:
        LookupError: if no kernel is found that fits and can have the edit.
    """
    block, place = divmod(index, len(STRATA))
    generator, edit = _shuffle_strata(seed, block)[place]
    random = Random(f"net {seed}/{index}")
    for _ in range(_MOST_DRAWN):
        kernels = _DRAWN[generator](random)
        text = apply_edit(kernels[0].text, edit, random) if kernels else None
        if text is not None:
            kernels = tuple(replace(kernel, text=text) for kernel in kernels)
            return NetProgram(index, generator, edit, kernels)
    raise LookupError(f"none of {_MOST_DRAWN} kernels of {generator} can have the edit '{edit}'")


@cache
def _shuffle_strata(seed: int, block: int) -> tuple[tuple[str, str], ...]:
    return tuple(Random(f"strata {seed}/{block}").sample(STRATA, len(STRATA)))


def _gemm(random: Random) -> Sequence[KernelCase]:
    choose = RandomChoices(random)
    drawn = gemm_of(choose)
    arch = choose("arch", ("sm_90a", "sm_90a", "sm_100a", "sm_103a"))
    rows, columns = drawn.m * drawn.warpgroups, drawn.n * drawn.ctas
    small = rows * columns * drawn.k * drawn.chunks <= _MOST_PRODUCTS
    return [drawn.kernel(arch)] if small and drawn.fits_on(arch) else []


def _pipeline(random: Random) -> Sequence[KernelCase]:
    drawn = PipelineCase.draw(RandomChoices(random))
    x, y = drawn.ctas
    small = x * y * drawn.tiles * drawn.steps * drawn.consumers <= _MOST_STEPS
    return [drawn.kernel()] if small and drawn.fits else []


def _blocks(random: Random) -> Sequence[KernelCase]:
    drawn = BlockCase.draw(RandomChoices(random))
    small = drawn.m * drawn.columns * drawn.k <= 2 * _MOST_PRODUCTS
    return [drawn.kernel()] if small and drawn.fits else []


def _language(random: Random) -> Sequence[KernelCase]:
    try:
        kernels = language_kernels(order_text.draw(random))
    except TraceError:
        return []
    return [replace(kernel, text=add_synchronization(kernel.text)) for kernel in kernels]


def _statements(random: Random) -> Sequence[KernelCase]:
    return kernels_of(draw_ordered(RandomChoices(random)), ordered=True)


_DRAWN = {
    "gemm": _gemm,
    "pipeline": _pipeline,
    "blocks": _blocks,
    "language": _language,
    "statements": _statements,
    "turns": lambda random: [turns_kernel(random)],
}
