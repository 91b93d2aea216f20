"""Errors at an op."""

from typing import Any


class OpError(Exception):
    """An error at an op; the pass manager's adapter emits it there and the pass fails."""

    def __init__(self, op: Any, message: str) -> None:
        super().__init__(message)
        self.op = op
        self.message = message
