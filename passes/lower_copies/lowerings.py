"""The lowerings of ops; each file of this folder registers its own."""

from ...ir.lowerings import Lowerings

#: Functions of the op (an op view) and the `TensorMaps` of the module, called with the insertion point at
#: the op. The op is erased later.
LOWERINGS = Lowerings()
