"""Values that disjoint sets of threads write: every thread keeps its own rows."""

from dataclasses import fields

import numpy as np
import pytest

from mlir_smem.emulator.lanes import Lanes
from mlir_smem.emulator.values import POISON, MemRef, RegisterStruct, ThreadValues

THREADS = 8


def lanes(*threads):
    return Lanes(np.isin(np.arange(THREADS), threads))


LOW, HIGH, ODD = lanes(0, 1, 2, 3), lanes(4, 5, 6, 7), lanes(1, 3, 5, 7)
ALL = lanes(*range(THREADS))


def registers(value, count, pending=0, defined=True):
    """Registers of `count` threads, two each."""
    full = np.full(count, pending, np.int32)
    return RegisterStruct(
        np.full((count, 2), value, np.float32), full, full - 1, np.full(2, defined)
    )


@pytest.fixture
def values():
    return ThreadValues(1, THREADS)


def test_write_replaces_the_rows_of_its_threads(values):
    values.write(0, ALL, np.arange(8))
    values.write(0, ODD, np.array([10, 30, 50, 70]))
    assert values.read(0, ALL).tolist() == [0, 10, 2, 30, 4, 50, 6, 70]
    assert values.read(0, LOW).tolist() == [0, 10, 2, 30]
    assert values.read(0, lanes(5)).tolist() == [50]


def test_uniform_row_applies_to_the_threads_of_its_write_only(values):
    values.write(0, ALL, np.array([9]))
    values.write(0, LOW, np.array([1]))
    assert values.read(0, ALL).tolist() == [1] * 4 + [9] * 4
    values.write(0, HIGH, np.array([2]))
    assert values.read(0, ODD).tolist() == [1, 1, 2, 2]


def test_later_writes_do_not_change_what_was_read(values):
    values.write(0, ALL, np.arange(8))
    before = values.read(0, ALL), values.read(0, LOW)
    values.write(0, LOW, np.full(4, 99))
    assert [x.tolist() for x in before] == [list(range(8)), list(range(4))]


def test_row_of_a_single_thread_is_not_uniform(values):
    values.write(0, lanes(3), np.array([5]))
    values.write(0, lanes(6), np.array([7]))
    assert values.read(0, lanes(3, 6)).tolist() == [5, 7]


def test_structs_are_merged_member_by_member(values):
    values.write(0, LOW, (np.array([1]), np.arange(4)))
    values.write(0, HIGH, (np.arange(4), np.array([2])))
    first, second = values.read(0, ALL)
    assert first.tolist() == [1, 1, 1, 1, 0, 1, 2, 3]
    assert second.tolist() == [0, 1, 2, 3, 2, 2, 2, 2]


def test_memrefs_are_merged_field_by_field(values):
    def memref(base):
        return MemRef(*(np.array([base + i]) for i in range(2)), (np.array([3]),), (np.array([1]),))

    values.write(0, LOW, memref(100))
    values.write(0, HIGH, memref(200))
    merged = values.read(0, ALL)
    assert merged.base.tolist() == [100] * 4 + [200] * 4
    assert merged.offset.tolist() == [101] * 4 + [201] * 4
    assert merged.sizes[0].tolist() == [3] * 8
    assert len(fields(merged)) == 4


def test_registers_are_in_flight_for_the_threads_that_issued_the_mma(values):
    values.write(0, LOW, registers(1, 4))
    values.write(0, HIGH, registers(2, 4, pending=3))
    assert values.read(0, ALL).pending.tolist() == [0] * 4 + [3] * 4
    assert values.read(0, LOW).data.tolist() == [[1, 1]] * 4


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_registers_are_poison_only_for_threads_that_did_not_define_them(values, order):
    writes = [(LOW, registers(1, 4)), (HIGH, registers(0, 4, defined=False))]
    for i in order:
        values.write(0, *writes[i])
    merged = values.read(0, LOW)
    assert merged.data.tolist() == [[1, 1]] * 4
    assert merged.defined.all()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_numbers_are_poison_only_for_threads_that_did_not_define_them(values, order):
    writes = [(LOW, np.arange(4)), (HIGH, POISON)]
    for i in order:
        values.write(0, *writes[i])
    assert values.read(0, LOW).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_register_in_flight_is_merged_with_numbers(values, order):
    # One register of an accumulator; only half of the threads have issued an mma with it.
    pair = registers(2, 4, pending=3)
    flying = RegisterStruct(pair.data[:, :1], pair.pending, pair.stamp, pair.defined[:1])
    writes = [(LOW, np.arange(4, dtype=np.float32)), (HIGH, flying)]
    for i in order:
        values.write(0, *writes[i])
    merged = values.read(0, ALL)
    assert merged.data[:, 0].tolist() == [0, 1, 2, 3, 2, 2, 2, 2]
    assert merged.pending.tolist() == [0] * 4 + [3] * 4
