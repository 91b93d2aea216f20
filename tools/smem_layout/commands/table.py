"""Prints the canonical layouts of the ISA, or which of them each type of A and B is read in; of
tcgen05, the shapes of its kinds, or the scale factors that they take."""

import argparse

from ....layout import Arch
from ..arguments import add_arch, arch_of
from ..printed import printed

SUMMARY = "the canonical layouts, the types, tcgen05's kinds and their scale factors"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the architecture, and which table."""
    add_arch(parser)
    which = parser.add_mutually_exclusive_group()
    for name, shows in (
        ("--types", "the types, with the majors and swizzles of each"),
        ("--kinds", "tcgen05's kinds, with the shapes of their instructions (default: of sm_100)"),
        ("--scales", "the scale factors that kinds take, and how they lie (default: of sm_100)"),
    ):
        which.add_argument(name, action="store_true", help=shows)


def run(options: argparse.Namespace) -> int:
    """Prints the table."""
    from ....advisor import FormTable, KindTable, ScaleTable, TypeTable

    if options.kinds or options.scales:
        table = KindTable if options.kinds else ScaleTable
        return printed(table(arch_of(options, Arch.SM_100)), options.json)
    table = TypeTable if options.types else FormTable
    return printed(table(arch_of(options)), options.json)
