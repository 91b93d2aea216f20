"""Values that a loop's body may not change: in containers, and in variables of functions around it."""

from __future__ import annotations

from types import CodeType, FrameType
from typing import Any

from ..errors import TraceError
from ..places import FOLDER
from .variables import CARRIED

#: Containers whose values are watched, and how deep they nest.
_CONTAINERS = (list, dict)
_DEPTH = 3


class Others:
    """What lists and dictionaries hold, and variables of the functions around a loop, before its body.

    The loop does not carry them. A body that changes one would read its first value in each iteration.
    """

    def __init__(self, kernel: CodeType, frame: FrameType, held: dict[str, Any]) -> None:
        self._containers: list[tuple[str, Any, Any, Any]] = []
        for name, value in held.items():
            self._watch(name, value, 0)
        self._outer: list[tuple[FrameType, dict[str, Any]]] = []
        at: FrameType | None = frame
        while at is not None and at.f_code is not kernel:
            at = at.f_back
            if at is not None and not at.f_code.co_filename.startswith(FOLDER):
                self._outer.append((at, _carried(at.f_locals)))

    def _watch(self, name: str, value: Any, depth: int) -> None:
        if not isinstance(value, _CONTAINERS) or depth == _DEPTH:
            return
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(each, CARRIED) and each.scope.open:
                self._containers.append((f"{name}[{key!r}]", value, key, each))
            self._watch(f"{name}[{key!r}]", each, depth + 1)

    def check(self, own: set[str], what: str) -> None:
        """Check that nothing changed.

        Args:
            own: the variables that the loop carries.
            what: the loop, for messages.

        Raises:
            TraceError: if something did.
        """
        for name, container, key, before in self._containers:
            is_list = isinstance(container, list)
            gone = key >= len(container) if is_list else key not in container
            if gone or container[key] is not before:
                raise TraceError(
                    f"{name} changes in {what}, which carries variables alone; bind a new list, for "
                    f"example {name.partition('[')[0]} = [...]"
                )
        for frame, before in self._outer:
            after = frame.f_locals
            for name, value in before.items():
                if name not in own and after.get(name) is not value:
                    raise TraceError(
                        f"{name} changes in {what}, which is in another function than the variable; "
                        "write the for statement in the function of the variable"
                    )


def _carried(held: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in held.items()
        if isinstance(value, CARRIED) and value.scope.open
    }
