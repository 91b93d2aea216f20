"""What kernels do not take."""


class ProblemError(ValueError):
    """Arguments that no kernel takes; the message has their values."""
