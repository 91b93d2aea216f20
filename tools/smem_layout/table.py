"""Prints the canonical layouts of the ISA."""

import argparse

from .printed import printed_json

SUMMARY = "the eight canonical layouts"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds none."""


def run(options: argparse.Namespace) -> int:
    """Prints the table."""
    from ...assistant import forms
    from ...assistant.columns import columns

    rows = [row.data() for row in forms()]
    if options.json:
        return printed_json(rows)
    heads = ("major", "swizzle", "layout", "LBO", "SBO", "field", "alignment", "tensor map")
    keys = (
        "major",
        "swizzle",
        "layout",
        "lbo",
        "sbo",
        "descriptor_mode",
        "alignment",
        "tensor_map",
    )
    print(columns(heads, [[str(row[key]) for key in keys] for row in rows]))
    print("\nT is 16 bytes in elements; LBO and SBO are byte offsets. Alignment in bytes.")
    return 0
