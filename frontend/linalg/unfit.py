"""Why an op of linalg stays as it is."""


class Unfit(Exception):
    """An op that no kernel computes; the message completes the sentence "stays, because it ..."."""
