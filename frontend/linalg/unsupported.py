"""The errors for ops of linalg that stay as they are."""


class Unsupported(Exception):
    """An op that no kernel computes; the message completes the sentence "stays, because it ..."."""


class NoContraction(Unsupported):
    """An op that multiplies no matrices, such as an element-wise one."""
