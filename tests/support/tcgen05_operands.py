"""Operands of `tcgen05.mma`: numbers, their bytes, and shared memory that is filled with them.

Descriptors are encoded, and operands placed, by `layout.tcgen05`, which shares no code with the emulator.
"""

import ml_dtypes
import numpy as np
from tcgen05_kernels import BASE, BYTES

from mlir_smem.layout import Swizzle
from mlir_smem.layout.tcgen05 import Tcgen05Descriptor, tcgen05_addresses

DTYPES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "u8": np.uint8,
    "s8": np.int8,
    "e2m1_p64": ml_dtypes.float4_e2m1fn,
    "e2m3_p32": ml_dtypes.float6_e2m3fn,
    "e3m2_p32": ml_dtypes.float6_e3m2fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
}

#: Of each narrow type the bits of an element, and the elements in 16 bytes; the rest of these is padding.
NARROW = {"e2m1_p64": (4, 16), "e2m3_p32": (6, 16), "e3m2_p32": (6, 16), "e2m1": (4, 32)}


def bytes_of(values, name):
    """The bytes of each row of values; padding is all ones."""
    raw = values.astype(DTYPES[name])
    if name not in NARROW:
        return np.ascontiguousarray(raw).view(np.uint8)
    bits, count = NARROW[name]
    packed = np.zeros((len(raw), raw.shape[1] // count * 16), np.uint8)
    for row, codes in enumerate(raw.view(np.uint8)):
        for unit in range(0, len(codes), count):
            word = (1 << 128) - (1 << bits * count)
            for i, code in enumerate(codes[unit : unit + count]):
                word |= int(code) << bits * i
            start = unit // count * 16
            packed[row, start : start + 16] = np.frombuffer(word.to_bytes(16, "little"), np.uint8)
    return packed


class Operands:
    """An image of shared memory that is filled with one operand after the other."""

    def __init__(self):
        self.image = np.zeros(BYTES, np.uint8)
        self.taken = np.zeros(BYTES, bool)
        self.next = BASE

    def place(self, values, name, major, swizzle):
        """Place values, [m or n, k], behind the last operand; return their descriptor."""
        if name == "tf32" and major == "mn":
            swizzle = Swizzle.B128_ATOM_32B
        rows, size = len(values), np.dtype(DTYPES[name]).itemsize
        raw = bytes_of(values, name)
        start = -(-self.next // 1024) * 1024
        lbo, sbo = _strides(rows, size, major, swizzle)
        descriptor = Tcgen05Descriptor(start, lbo, sbo, 0, swizzle).encode()
        address = tcgen05_addresses(descriptor, name, major, rows)
        indices = (address - BASE)[..., None] + np.arange(size)
        if name == "e2m1":
            indices = indices[:, ::2]
        assert len(np.unique(indices)) == indices.size
        assert not self.taken[indices].any()
        self.image[indices] = raw.reshape(indices.shape)
        self.taken[indices] = True
        self.next = BASE + int(indices.max()) + 1
        return descriptor


def _strides(rows, size, major, swizzle):
    """LBO and SBO, in bytes, of densely stored atoms."""
    atom = swizzle.atom_bytes
    if major == "k":
        return (16, atom) if swizzle is not Swizzle.NONE else (16 * rows, atom)
    along = -(-rows * size // swizzle.width) * atom
    return (along, atom) if swizzle is Swizzle.NONE else (atom, along)


def values(name, rng, shape):
    """Small random integers that a type represents."""
    return rng.integers(0 if name == "u8" else -4, 5, shape)
