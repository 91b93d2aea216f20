"""Textual pipelines: `builtin.module(smem-to-nvvm{explain=true},gpu.module(canonicalize,cse))`.

The parser of the bindings does not know passes that are defined in Python, so a pipeline is split here
into its entries; those of upstream are passed to that parser one by one. The text of a manager with
passes of this project is such a pipeline.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .base import OptionError

_NAME = re.compile(r"[\w.-]+")

#: How the bindings print a Python pass that was added without an argument.
_UNNAMED = re.compile(r"unknown<(?P<name>.*)>", re.S)


@dataclass(frozen=True)
class PipelineEntry:
    """One pass of a pipeline.

    Attributes:
        anchors: the ops within `builtin.module` on which it runs, outermost first.
        name: the pass.
        options: the text between its braces.
    """

    anchors: tuple[str, ...]
    name: str
    options: str

    @property
    def upstream(self) -> str:
        """Return the text of the entry for a pass manager of `builtin.module`."""
        text = f"{self.name}{{{self.options}}}" if self.options else self.name
        for anchor in reversed(self.anchors):
            text = f"{anchor}({text})"
        return text


def module_entries(text: str) -> list[PipelineEntry]:
    """Return the entries of a pipeline, in order; a list without an anchor runs on `builtin.module`.

    Raises:
        OptionError: if brackets do not match, or a name is missing.
    """
    entries = nested_entries(text, text)
    outermost = {entry.anchors[:1] for entry in entries}
    if outermost == {("builtin.module",)}:
        return [PipelineEntry(entry.anchors[1:], entry.name, entry.options) for entry in entries]
    if any(anchor == ("builtin.module",) for anchor in outermost):
        raise OptionError(f"pipeline '{text}': builtin.module(...) must hold the whole pipeline")
    return entries


def nested_entries(text: str, pipeline: str) -> list[PipelineEntry]:
    """Return the entries of a part of a pipeline, in order, with all anchors that the part has.

    Raises:
        OptionError: if brackets do not match, or a name is missing.
    """
    return list(_parse(text.strip(), (), pipeline))


def unwrap(text: str) -> tuple[str | None, str]:
    """Return the anchor that holds a whole pipeline, and what it holds; None and the text if none does.

    Raises:
        OptionError: if brackets do not match.
    """
    parts = _split(text.strip(), text)
    head, bracket, _ = parts[0].partition("(")
    brackets = parts[0][len(head) :]
    if (
        len(parts) > 1
        or not bracket
        or not _NAME.fullmatch(head.strip())
        or _end(brackets) < len(brackets)
    ):
        return None, text
    return head.strip(), brackets[1:-1].strip()


def _parse(text: str, anchors: tuple[str, ...], pipeline: str) -> Iterator[PipelineEntry]:
    for member in _split(text, pipeline):
        unnamed = _UNNAMED.fullmatch(member)
        part = unnamed["name"] if unnamed else member
        if unnamed and part.startswith("<"):
            raise OptionError(
                f"pipeline '{pipeline}': {part} is a Python function, which text cannot name"
            )
        head = part[: min((part.index(c) for c in "({" if c in part), default=len(part))].strip()
        brackets = part[len(head) :].strip()
        if not head:
            raise OptionError(f"pipeline '{pipeline}': a pass has no name at '{part or text}'")
        if not _NAME.fullmatch(head):
            raise OptionError(f"pipeline '{pipeline}': '{head}' is not the name of a pass")
        if brackets.startswith("("):
            if _end(brackets) < len(brackets):
                raise OptionError(f"pipeline '{pipeline}': unexpected text after '{head}(...)'")
            if brackets[1:-1].strip():
                yield from _parse(brackets[1:-1], (*anchors, head), pipeline)
        elif brackets and _end(brackets) < len(brackets):
            raise OptionError(f"pipeline '{pipeline}': unexpected text after '{head}{{...}}'")
        else:
            yield PipelineEntry(anchors, head, brackets[1:-1].strip())


def _end(text: str) -> int:
    """Return the position after the bracket that closes the first one; brackets are known to match."""
    depth = 0
    for position, char in enumerate(text, 1):
        depth += (char in "({[<") - (char in ")}]>")
        if depth == 0:
            return position
    return len(text)


def _split(text: str, pipeline: str) -> list[str]:
    """Split a list at the commas outside of brackets."""
    parts, depth, start = [], [], 0
    closing = {")": "(", "}": "{", "]": "[", ">": "<"}
    for position, char in enumerate(text):
        if char in closing.values():
            depth.append(char)
        elif char in closing:
            if not depth or depth.pop() != closing[char]:
                raise OptionError(f"pipeline '{pipeline}': '{char}' closes nothing")
        elif char == "," and not depth:
            parts.append(text[start:position])
            start = position + 1
    if depth:
        raise OptionError(f"pipeline '{pipeline}': '{depth[-1]}' is not closed")
    return [part.strip() for part in (*parts, text[start:])]
