"""Tables for a terminal or for Markdown."""

from collections.abc import Sequence


def table(heading: Sequence[str], lines: Sequence[Sequence[str]], markdown: bool) -> str:
    """Columns of text: the first flush left, the others right; ValueError where a line is short."""
    for line in lines:
        if len(line) != len(heading):
            raise ValueError(f"{len(heading)} columns {list(heading)}, but a line has {list(line)}")
    if markdown:
        rule = "|---" + "|---:" * (len(heading) - 1) + "|"
        rows = [f"| {' | '.join(line)} |" for line in (heading, *lines)]
        return "\n".join([rows[0], rule, *rows[1:]])
    widths = [max(map(len, column)) for column in zip(heading, *lines, strict=True)]
    return "\n".join(
        "  ".join(
            text.rjust(width) if number else text.ljust(width)
            for number, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in (heading, *lines)
    )
