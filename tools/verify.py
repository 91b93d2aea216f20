"""`--verify-diagnostics`: compares diagnostics with the `expected-…` comments of the input.

The forms are mlir-opt's: `// expected-error@+1 {{text}}`, with `error`, `warning`, `remark` or `note`,
an optional `-re` (text between doubled braces within is a regular expression), and a position:
`@above`, `@below`, `@+N`, `@-N`, `@unknown` or none for the line itself.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .diagnostics import Diagnostic

_COMMENT = re.compile(
    r"expected-(?P<severity>error|warning|remark|note)(?P<regex>-re)? *"
    r"(?:@(?P<at>\+\d+|-\d+|above|below|unknown))? *\{\{(?P<text>.*)\}\}\s*$"
)


@dataclass
class Expected:
    """One expectation; `line` is 0 where the position is unknown."""

    severity: str
    line: int
    comment_line: int
    text: str
    regex: bool
    met: bool = False

    def matches(self, diagnostic: Diagnostic) -> bool:
        """Return whether the diagnostic meets the expectation."""
        if (diagnostic.severity, diagnostic.line) != (self.severity, self.line):
            return False
        if not self.regex:
            return self.text in diagnostic.message
        parts = re.split(r"\{\{(.*?)\}\}", self.text)
        pattern = "".join(p if i % 2 else re.escape(p) for i, p in enumerate(parts))
        try:
            return re.search(pattern, diagnostic.message) is not None
        except re.error:
            return False


def expectations(source: str) -> list[Expected]:
    """Return the expectations in a source's comments."""
    lines = source.splitlines()
    found = []
    for number, line in enumerate(lines, 1):
        for match in _COMMENT.finditer(line):
            at = match["at"] or "+0"
            if at == "unknown":
                target = 0
            elif at == "below":
                target = next(
                    (n for n in range(number + 1, len(lines) + 1) if not _is_comment(lines[n - 1])),
                    number + 1,
                )
            elif at == "above":
                target = next(
                    (n for n in range(number - 1, 0, -1) if not _is_comment(lines[n - 1])),
                    number - 1,
                )
            else:
                target = number + int(at)
            found.append(
                Expected(match["severity"], target, number, match["text"], bool(match["regex"]))
            )
    return found


def _is_comment(line: str) -> bool:
    return "expected-" in line and line.strip().startswith("//")


def mismatches(diagnostics: Sequence[Diagnostic], source: str, file: str) -> list[str]:
    """Return the unexpected diagnostics and the expectations that were not met, as messages.

    As in mlir-opt, notes and remarks need no expectation unless the source has one of their severity.
    """
    wanted = expectations(source)
    problems = []
    strict = {e.severity for e in wanted} | {"error", "warning"}
    for diagnostic in diagnostics:
        expected = next((e for e in wanted if not e.met and e.matches(diagnostic)), None)
        if expected:
            expected.met = True
        elif diagnostic.severity in strict:
            problems.append(
                f"{file}:{diagnostic.line}:{diagnostic.column}: error: unexpected "
                f"{diagnostic.severity}: {diagnostic.message}"
            )
    problems += [
        f'{file}:{e.comment_line}: error: expected {e.severity} "{e.text}" was not produced'
        for e in wanted
        if not e.met
    ]
    return problems
