"""The error of a malformed text: what is wrong, at which character, and an example of a correct one."""

from __future__ import annotations

from .modes import LayoutError

#: Decimal digits of a number of 63 bits at most.
_MOST_DIGITS = 19


def number_of(digits: str) -> int | None:
    """Return the number of a string of decimal digits, or None if it does not fit 63 bits."""
    # Python refuses to parse numbers of thousands of digits.
    significant = digits.lstrip("0") or "0"
    if len(significant) > _MOST_DIGITS:
        return None
    number = int(significant)
    return None if number >> 63 else number


class TextError(LayoutError):
    """A notation, shape or number that is malformed.

    Attributes:
        name: the name of the text, for example "layout".
        text: the text.
        index: the index of the first wrong character; `len(text)` if the text ends too early.
        problem: what is wrong there.
        example: a correct text.
    """

    def __init__(self, name: str, text: str, index: int, problem: str, example: str):
        super().__init__(f"malformed {name} '{text}': {problem}")
        self.name, self.text, self.index = name, text, index
        self.problem, self.example = problem, example

    def format_with_caret(self) -> str:
        """Return the message for a terminal: the problem, a caret under the character, and an example."""
        return (
            f"malformed {self.name}: {self.problem}\n"
            f"  {self.text}\n"
            f"  {' ' * self.index}^\n"
            f"  for example {self.example}"
        )
