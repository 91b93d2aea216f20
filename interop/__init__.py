"""Exchange of modules with hosts whose bindings cannot hold a Python dialect."""

from .exchange import ExchangeError
from .modules import lower
from .text import lower_text

__all__ = ["ExchangeError", "lower", "lower_text"]


def __dir__() -> list[str]:
    return __all__
