"""Type aliases for MLIR objects in annotations.

The bindings ship without type stubs and under several package names, so a type checker knows none of
their classes. The aliases document which object is passed.
"""

from typing import Any, TypeAlias

Attribute: TypeAlias = Any
Block: TypeAlias = Any
Context: TypeAlias = Any
Location: TypeAlias = Any
Module: TypeAlias = Any
#: An op view (`AllocOp`, `scf.ForOp`) or a plain `Operation`.
Op: TypeAlias = Any
Region: TypeAlias = Any
Type: TypeAlias = Any
Value: TypeAlias = Any
