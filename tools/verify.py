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
class Expectation:
    """An `expected-…` comment.

    Attributes:
        severity: "error", "warning", "remark" or "note".
        line: the line of the expected diagnostic; 0 for `@unknown`.
        comment_line: the line of the comment.
        text: the text or regular expression.
        regex: whether `text` contains regular expressions.
        is_met: whether a diagnostic has matched.
    """

    severity: str
    line: int
    comment_line: int
    text: str
    regex: bool
    is_met: bool = False

    def matches(self, diagnostic: Diagnostic) -> bool:
        """Whether a diagnostic meets the expectation."""
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


def expectations(source: str) -> list[Expectation]:
    """Return the expectations in a source's comments."""
    lines = source.splitlines()
    expected = []
    for number, line in enumerate(lines, 1):
        for match in _COMMENT.finditer(line):
            position = match["at"] or "+0"
            if position == "unknown":
                target = 0
            elif position == "below":
                target = next(
                    (n for n in range(number + 1, len(lines) + 1) if not _is_comment(lines[n - 1])),
                    number + 1,
                )
            elif position == "above":
                target = next(
                    (n for n in range(number - 1, 0, -1) if not _is_comment(lines[n - 1])),
                    number - 1,
                )
            else:
                target = number + int(position)
            expected.append(
                Expectation(match["severity"], target, number, match["text"], bool(match["regex"]))
            )
    return expected


def _is_comment(line: str) -> bool:
    return "expected-" in line and line.strip().startswith("//")


def mismatches(diagnostics: Sequence[Diagnostic], source: str, file: str) -> list[str]:
    """Return messages for unexpected diagnostics and unmet expectations.

    As in mlir-opt, notes and remarks need no expectation unless the source has one of their severity.
    """
    expected_diagnostics = expectations(source)
    problems = []
    strict = {expectation.severity for expectation in expected_diagnostics} | {"error", "warning"}
    for diagnostic in diagnostics:
        expectation = next(
            (
                expectation
                for expectation in expected_diagnostics
                if not expectation.is_met and expectation.matches(diagnostic)
            ),
            None,
        )
        if expectation:
            expectation.is_met = True
        elif diagnostic.severity in strict:
            problems.append(
                f"{file}:{diagnostic.line}:{diagnostic.column}: error: unexpected "
                f"{diagnostic.severity}: {diagnostic.message}"
            )
    problems += [
        f"{file}:{expectation.comment_line}: error: expected {expectation.severity} "
        f'"{expectation.text}" was not produced'
        for expectation in expected_diagnostics
        if not expectation.is_met
    ]
    return problems
