"""The dialect itself: the class that types, attributes and ops attach to."""

from .bindings import ext


class Smem(ext.Dialect, name="smem"):
    """Tiles in GPU shared memory, and what a kernel does with them."""
