"""What can go wrong between NVVM and a cubin."""


class CompileError(Exception):
    """A module that cannot be compiled; the message says why and what would do."""
