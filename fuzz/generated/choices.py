"""Choices by name. The choices are the input; an input with fewer choices is simpler."""

import ast
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeVar

Item = TypeVar("Item")

#: Chooses one of several items, of which the first is the simplest, by the name of the choice.
Choose = Callable[[str, Sequence[Item]], Item]


class RandomChoices:
    """Random choices.

    Attributes:
        text: the choices that are not the first of theirs, one per line.
    """

    def __init__(self, random: Random) -> None:
        self._random, self._choices = random, dict[str, Any]()

    def __call__(self, name: str, items: Sequence[Item]) -> Item:
        item = self._random.choice(items)
        if item == items[0]:
            self._choices.pop(name, None)
        else:
            self._choices[name] = item
        return item

    @property
    def text(self) -> str:
        """The choices, one per line."""
        return "".join(f"{name} = {item!r}\n" for name, item in self._choices.items())


class ReadChoices:
    """The choices of a text; the first item where the text has none of the items."""

    def __init__(self, text: str) -> None:
        lines = (line.partition(" = ") for line in text.splitlines() if line.strip())
        self._choices = {name: ast.literal_eval(item) for name, _, item in lines}

    def __call__(self, name: str, items: Sequence[Item]) -> Item:
        item = self._choices.get(name, items[0])
        return item if item in items else items[0]
