"""The modules to mutate: those of the lit tests and the examples, and random kernels."""

import re
from functools import cache
from random import Random

from ..frame.fuzzer import ROOT
from ..generated.blocks import BlockCase
from ..generated.choices import RandomChoices
from ..generated.gemms import GemmCase
from ..generated.pipelines import PipelineCase

#: Longer modules take more time than they are worth.
_LONGEST = 8000

_SEPARATOR = re.compile(r"^// -----.*$", re.MULTILINE)
_COMMENT = re.compile(r"^\s*//.*\n|\s*// .*$", re.MULTILINE)


@cache
def seeds() -> tuple[str, ...]:
    """The modules without comments, shortest first."""
    files = [*ROOT.glob("lit_tests/**/*.mlir"), *ROOT.glob("examples/*.mlir")]
    parts = {
        _COMMENT.sub("", part).strip() + "\n"
        for file in files
        for part in _SEPARATOR.split(file.read_text(errors="replace"))
    }
    for number in range(8):
        choose = RandomChoices(Random(number))
        parts |= {generator.draw(choose).text for generator in (GemmCase, PipelineCase, BlockCase)}
    return tuple(sorted((p for p in parts if 10 < len(p) <= _LONGEST), key=lambda p: (len(p), p)))


def draw_seed(random: Random) -> str:
    """Draw a module; short ones more often, since they take less time."""
    modules = seeds()
    return modules[int(random.random() ** 1.5 * len(modules))]


@cache
def lines() -> tuple[str, ...]:
    """The lines of all modules."""
    return tuple(sorted({line for text in seeds() for line in text.splitlines() if line.strip()}))


@cache
def pool(pattern: str) -> tuple[str, ...]:
    """All distinct matches of a pattern in all modules."""
    return tuple(sorted({match for text in seeds() for match in re.findall(pattern, text)}))
