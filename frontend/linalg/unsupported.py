"""The error for an op of linalg that stays as it is."""


class Unsupported(Exception):
    """An op that no kernel computes; the message completes the sentence "stays, because it ..."."""
