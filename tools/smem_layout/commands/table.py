"""Prints the canonical layouts of the ISA, the element types of A and B with their layouts, or for
tcgen05 the shapes of its kinds, or the scale factors of its kinds."""

import argparse

from ....layout import Arch
from ..arguments import add_arch, arch_of
from ..printed import printed

SUMMARY = "the canonical layouts, the element types, tcgen05's kinds and scale factors"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the architecture and the table."""
    add_arch(parser)
    which = parser.add_mutually_exclusive_group()
    for name, shows in (
        ("--types", "the element types, with the major-ness and swizzles of each"),
        ("--kinds", "tcgen05's kinds, with the shapes of their instructions (default: of sm_100)"),
        ("--scales", "the scale factors of the kinds, and their layout (default: of sm_100)"),
    ):
        which.add_argument(name, action="store_true", help=shows)


def run(options: argparse.Namespace) -> int:
    """Print the table."""
    from ....advisor import FormTable, KindTable, ScaleTable, TypeTable

    if options.kinds or options.scales:
        table = KindTable if options.kinds else ScaleTable
        return printed(table(arch_of(options, Arch.SM_100)), options.json)
    table = TypeTable if options.types else FormTable
    return printed(table(arch_of(options)), options.json)
