"""Errors of a launch."""


class LaunchError(Exception):
    """Arguments that a kernel cannot take, or a machine that cannot run it."""
