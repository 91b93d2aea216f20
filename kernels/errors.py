"""What kernels do not take."""


class ProblemError(ValueError):
    """Arguments that no kernel takes; the message has their values."""


class ConfigError(ValueError):
    """A configuration that does not fit; the message has the arithmetic."""
