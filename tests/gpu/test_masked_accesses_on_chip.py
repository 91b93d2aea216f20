"""Nothing outside of an array is read or written on the chip: its memory has other numbers around it."""

import numpy as np
import pytest
from masked_kernels import add_slices, gather, product, relayout

import mlir_smem.language as sl
from mlir_smem.runtime import Buffer

#: Elements in front of an array and behind it; they are NaN, and 16-byte accesses stay aligned.
_AROUND = 1024


class Surrounded:
    """A copy of an array on the GPU, within memory of other numbers.

    Args:
        array: the array, of rows at a distance of `pitch` elements; None for contiguous rows.
    """

    def __init__(self, array, pitch=None):
        from cuda.core import Device

        *rows, columns = array.shape
        pitch = columns if pitch is None else pitch
        count = int(np.prod(rows)) * pitch
        self._bytes = np.full((count + 2 * _AROUND) * array.itemsize, 0xFF, np.uint8)
        host = self._bytes.view(array.dtype)
        window = host[_AROUND : _AROUND + count].reshape(*rows, pitch)[..., :columns]
        window[...] = array
        self._inside = np.zeros(host.shape, bool)
        self._inside[_AROUND : _AROUND + count].reshape(*rows, pitch)[..., :columns] = True
        device = Device()
        device.set_current()
        self._buffer = Buffer(device, host)
        self.shape, self.dtype = array.shape, array.dtype
        pointer = self._buffer.matrix.pointer + _AROUND * array.itemsize
        self.__cuda_array_interface__ = {
            "version": 3,
            "shape": array.shape,
            "strides": window.strides,
            "typestr": array.dtype.str,
            "data": (pointer, False),
        }

    def read(self):
        """Return the array; what is around it is unchanged."""
        host = self._buffer.read()
        around = host[~self._inside].view(np.uint8)
        assert (around == 0xFF).all()
        return host[self._inside].reshape(self.shape)


def round_up(extent, multiple=8):
    return -(-extent // multiple) * multiple


@pytest.mark.parametrize("copies", [(sl.copy, sl.copy_async), (relayout, relayout)])
@pytest.mark.parametrize(
    "m, n, k", [(64, 64, 32), (65, 72, 40), (1, 8, 8), (3, 61, 37), (200, 1, 95)]
)
def test_a_product_of_any_extents(copies, m, n, k):
    random = np.random.default_rng(m + n + k)
    a = random.integers(-3, 4, (m, k)).astype(np.float16)
    b = random.integers(-3, 4, (k, n)).astype(np.float16)
    there = Surrounded(a, round_up(k)), Surrounded(b, round_up(n))
    c = Surrounded(np.zeros((m, n), np.float32))
    product(*copies)(*there, c)
    np.testing.assert_array_equal(c.read(), a.astype(np.float32) @ b.astype(np.float32))


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("m, n", [(64, 32), (1, 1), (65, 33), (130, 63)])
def test_fragments_and_slices_of_any_extents(m, n, dtype):
    random = np.random.default_rng(m + n)
    x, r, c = (random.integers(-9, 10, shape).astype(dtype) for shape in ((m, n), m, n))
    y = Surrounded(np.zeros((m, n), dtype))
    add_slices(Surrounded(x), y, Surrounded(r), Surrounded(c))
    np.testing.assert_array_equal(y.read(), x + r[:, None] + c)


def test_elements_are_0_outside_and_are_not_written():
    x, index = np.arange(1, 38, dtype=np.float32), np.array([33, -1, 36, 37, 2**40, 5])
    y, z = (Surrounded(np.full(n, 99, np.float32)) for n in (9, 7))
    gather[1](Surrounded(x), Surrounded(index), y, z)
    np.testing.assert_array_equal(y.read(), [37, 0, 0, 6, 1, 1, 1, 1, 1])
    np.testing.assert_array_equal(z.read(), [34, 35, 36, 37, 0, 0, 0])
