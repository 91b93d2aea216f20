"""Prints the canonical layouts of the ISA, the element types of A and B with their layouts, or for
tcgen05 the shapes of its kinds, or the scale factors of its kinds."""

import argparse

from ....layout import Arch
from ..arguments import add_arch, arch_of
from ..printing import print_answer

SUMMARY = "the canonical layouts, the element types, tcgen05's kinds and scale factors"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the architecture and the table."""
    add_arch(parser)
    table_group = parser.add_mutually_exclusive_group()
    for name, help_text in (
        ("--types", "the element types, with the major-ness and swizzles of each"),
        ("--kinds", "tcgen05's kinds, with the shapes of their instructions (default: of sm_100)"),
        ("--scales", "the scale factors of the kinds, and their layout (default: of sm_100)"),
    ):
        table_group.add_argument(name, action="store_true", help=help_text)


def run(options: argparse.Namespace) -> int:
    """Print the table."""
    from ....advisor import FormTable, KindTable, ScaleTable, TypeTable

    if options.kinds or options.scales:
        table = KindTable if options.kinds else ScaleTable
        return print_answer(table(arch_of(options, Arch.SM_100)), options.json)
    table = TypeTable if options.types else FormTable
    return print_answer(table(arch_of(options)), options.json)
