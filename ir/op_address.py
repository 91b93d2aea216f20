"""The identity of an op: its address in memory, which stays when its operands and attributes change.

The bindings hash an op by its structure, which changes with each of them, and make a new object for each
use of an op.
"""

import ctypes
from dataclasses import dataclass
from typing import Self

from ..bindings.irtypes import Op

_name_of = ctypes.pythonapi.PyCapsule_GetName
_name_of.restype, _name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
_pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
_pointer_of.restype, _pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


def op_address(op: Op) -> int:
    """Return the address of an op. Once the op is erased, another one may have it."""
    capsule = op.operation._CAPIPtr
    address: int = _pointer_of(capsule, _name_of(capsule))
    return address


@dataclass(frozen=True, eq=False)
class OpIdentity:
    """An op as a key: it stays equal when the operands and attributes of the op change.

    Attributes:
        op: the op.
        address: its address in memory.
    """

    op: Op
    address: int

    @classmethod
    def of(cls, op: Op) -> Self:
        """Return the identity of an op."""
        return cls(op, op_address(op))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpIdentity) and self.address == other.address

    def __hash__(self) -> int:
        return hash(self.address)
