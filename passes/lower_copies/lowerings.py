"""How ops are lowered: each file of this folder adds those that it is about."""

from ...ir.lowerings import Lowerings

#: Called with the op (a view) and the `TensorMaps` of the module, at the op's place. The op is erased
#: later.
LOWERINGS = Lowerings()
