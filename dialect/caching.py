"""Caches of what is known of MLIR types, which must not keep contexts alive."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")


def cached_in_context(function: Callable[..., Result]) -> Callable[..., Result]:
    """Remembers results for the arguments of one context: that of the first argument, a type, an
    attribute or the context itself. Results of another context take their place."""
    context: Any = None
    results: dict[tuple[Any, ...], Result] = {}

    @functools.wraps(function)
    def call(*arguments: Any) -> Result:
        nonlocal context
        key = arguments
        if key in results:
            return results[key]
        of = getattr(arguments[0], "context", arguments[0])
        if of != context:
            context = of
            results.clear()
        results[key] = found = function(*arguments)
        return found

    return call
