"""Caches of properties of MLIR types that do not keep contexts alive."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")


def cached_in_context(function: Callable[..., Result]) -> Callable[..., Result]:
    """Cache the results of a function for one MLIR context.

    The context is that of the first argument, which is a type, an attribute or the context itself. A call
    with another context clears the cache.
    """
    context: Any = None
    results: dict[tuple[Any, ...], Result] = {}

    @functools.wraps(function)
    def call(*arguments: Any) -> Result:
        nonlocal context
        if arguments in results:
            return results[arguments]
        argument_context = getattr(arguments[0], "context", arguments[0])
        if argument_context != context:
            context = argument_context
            results.clear()
        results[arguments] = computed = function(*arguments)
        return computed

    return call
