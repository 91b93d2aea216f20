"""The dialect class, to which types, attributes and ops are attached."""

from io import BytesIO
from typing import Any

from .bindings import ext, ir


class Smem(ext.Dialect, name="smem"):
    """Tiles in GPU shared memory, and ops on them: copies, mma, pipelines."""

    #: How many definitions there were, and their IRDL module as bytecode.
    _emitted: tuple[int, bytes] = 0, b""

    @classmethod
    def _emit_module(cls) -> Any:
        """Return the IRDL module, which `load` needs in each context; half of its time went into it."""
        count = len(cls.types) + len(cls.attributes) + len(cls.operations)
        if cls._emitted[0] == count:
            return ir.Module.parse(cls._emitted[1])
        module = super()._emit_module()
        bytecode = BytesIO()
        module.operation.write_bytecode(bytecode)
        cls._emitted = count, bytecode.getvalue()
        return module
