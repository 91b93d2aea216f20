"""Names of inputs, and the error for files and arguments."""


class InputError(Exception):
    """A file that cannot be read or written, or an invalid argument."""


def shown_name(name: str) -> str:
    """Return the name of a file in messages and debug information."""
    return "<stdin>" if name == "-" else name
