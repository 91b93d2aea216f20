"""The dialect class, to which types, attributes and ops are attached."""

from typing import Any

from ..bindings.mlir import bytecode_of, ext, ir


class Smem(ext.Dialect, name="smem"):
    """Tiles in GPU shared memory, and ops on them: copies, mma, pipelines."""

    #: The number of definitions when the IRDL module was emitted, and the module as bytecode.
    _emitted: tuple[int, bytes] = 0, b""

    @classmethod
    def _emit_module(cls) -> Any:
        """Return the IRDL module, which `load` needs in each context.

        Parsing the bytecode halves the time of `load`.
        """
        count = len(cls.types) + len(cls.attributes) + len(cls.operations)
        if cls._emitted[0] == count:
            return ir.Module.parse(cls._emitted[1])
        module = super()._emit_module()
        cls._emitted = count, bytecode_of(module)
        return module
