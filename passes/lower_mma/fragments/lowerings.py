"""How ops on fragments are lowered: each file of this folder adds those that it is about."""

from ....ir.lowerings import Lowerings

#: Called with a `TypedOp` and the `MmaTarget`, at the op's place. They give the value that takes the
#: place of the op's result; None for an op without one.
FRAGMENTS = Lowerings()
