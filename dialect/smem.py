"""The dialect class, to which types, attributes and ops are attached."""

from .bindings import ext


class Smem(ext.Dialect, name="smem"):
    """Tiles in GPU shared memory, and ops on them: copies, mma, pipelines."""
