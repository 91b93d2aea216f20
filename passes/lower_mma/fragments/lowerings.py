"""The lowerings of ops on fragments; each file of this folder registers its own."""

from ....ir.lowerings import Lowerings

#: Functions of a `TypedOp` and the `MmaTarget`, called with the insertion point at the op. They return
#: the value that replaces the result of the op; None for an op without a result.
FRAGMENTS = Lowerings()
