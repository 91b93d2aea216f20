"""What can go wrong when a kernel is launched."""


class LaunchError(Exception):
    """Arguments that a kernel cannot take, or a machine that cannot run it."""
