"""Views of memrefs, against NumPy's slices."""

import numpy as np
import pytest
from emulated import run
from hypothesis import given
from hypothesis import strategies as st

SOURCE = np.arange(120, dtype=np.int32).reshape(4, 5, 6)
TYPE = "memref<4x5x6xi32>"


def gather(view, type_, shape):
    """The elements of %v, which one thread reads one by one."""
    out = np.zeros(shape, np.int32)
    body, indices = view, []
    for index in np.ndindex(*shape):
        names = []
        for i in index:
            if i not in indices:
                body += f"\n%k{i} = arith.constant {i} : index"
                indices.append(i)
            names.append(f"%k{i}")
        where = ", ".join(names)
        tag = "_".join(map(str, index))
        extents = "".join(f"{e}x" for e in shape)
        body += f"\n%e{tag} = memref.load %v[{where}] : {type_}"
        body += f"\nmemref.store %e{tag}, %B[{where}] : memref<{extents}i32>"
    run(body, SOURCE, out, block=1)
    return out


@pytest.mark.parametrize(
    "shape, strides, expected",
    [
        ((2, 3, 2), (30, 6, 1), SOURCE[1:3, 2:5, 4:6]),
    ],
)
def test_subview(shape, strides, expected):
    type_ = f"memref<2x3x2xi32, strided<{list(strides)}, offset: 46>>"
    view = f"%v = memref.subview %A[1, 2, 4] [2, 3, 2] [1, 1, 1] : {TYPE} to {type_}"
    assert (gather(view, type_, shape) == expected).all()


@pytest.mark.parametrize(
    "sizes, shape, strides",
    [
        ((1, 5, 1), (5,), (6,)),
        ((1, 5, 1), (1, 5), (30, 6)),
        ((1, 5, 1), (5, 1), (6, 1)),
        ((4, 1, 6), (4, 6), (30, 1)),
        ((1, 1, 6), (6,), (1,)),
        ((1, 1, 6), (1, 6), (6, 1)),
        ((4, 1, 1), (4, 1), (30, 1)),
        ((1, 1, 1), (), ()),
        ((1, 1, 1), (1,), (1,)),
        ((1, 5, 6), (5, 6), (6, 1)),
        ((1, 5, 6), (1, 5, 6), (30, 6, 1)),
    ],
)
def test_dimensions_of_one_element_may_be_dropped(sizes, shape, strides):
    extents = "".join(f"{e}x" for e in shape)
    type_ = f"memref<{extents}i32, strided<{list(strides)}>>"
    view = f"%v = memref.subview %A[0, 0, 0] {list(sizes)} [1, 1, 1] : {TYPE} to {type_}"
    expected = SOURCE[tuple(slice(s) for s in sizes)].reshape(shape)
    assert (gather(view, type_, shape) == expected).all()


@given(st.data())
def test_random_subviews_of_subviews(data):
    expected, offset, strides = SOURCE, 0, [30, 6, 1]
    view, type_, name = "", TYPE, "%A"
    for level in range(data.draw(st.integers(1, 2))):
        starts, sizes, steps = [], [], []
        for extent in expected.shape:
            start = data.draw(st.integers(0, extent - 1))
            step = data.draw(st.integers(1, 3))
            starts.append(start)
            steps.append(step)
            sizes.append(data.draw(st.integers(1, -(-(extent - start) // step))))
        expected = expected[
            tuple(slice(a, a + n * s, s) for a, n, s in zip(starts, sizes, steps, strict=True))
        ]
        offset += sum(a * s for a, s in zip(starts, strides, strict=True))
        strides = [a * s for a, s in zip(steps, strides, strict=True)]
        new = f"memref<{'x'.join(map(str, sizes))}xi32, strided<{strides}, offset: {offset}>>"
        target = f"%p{level}"
        view += f"\n{target} = memref.subview {name}{starts} {sizes} {steps} : {type_} to {new}"
        name, type_ = target, new
    read = view + f"\n%v = memref.cast {name} : {type_} to {type_}"
    assert (gather(read, type_, expected.shape) == expected).all()


def test_starts_sizes_and_steps_known_at_run_time():
    type_ = "memref<?x?xi32, strided<[?, ?], offset: ?>>"
    view = f"""
    %v = memref.subview %A[%c1, %c2, 0] [%c2, 1, %c3] [%c2, 1, %c2]
        : {TYPE} to {type_}"""
    assert (gather(view, type_, (2, 3)) == SOURCE[1:4:2, 2, ::2]).all()


def test_view_rebuilt_from_its_metadata():
    type_ = "memref<2x3xi32, strided<[?, ?], offset: ?>>"
    view = f"""
    %p = memref.subview %A[1, 2, 3] [2, 3, 1] [1, 1, 1]
        : {TYPE} to memref<2x3xi32, strided<[30, 6], offset: 45>>
    %b, %o, %z:2, %s:2 = memref.extract_strided_metadata %p
        : memref<2x3xi32, strided<[30, 6], offset: 45>> -> memref<i32>, index, index, index, index, index
    %v = memref.reinterpret_cast %b to offset: [%o], sizes: [2, 3], strides: [%s#0, %s#1]
        : memref<i32> to {type_}"""
    assert (gather(view, type_, (2, 3)) == SOURCE[1:3, 2:5, 3]).all()


def test_reinterpret_cast_begins_at_the_base():
    type_ = "memref<3x2xi32, strided<[1, 10], offset: 7>>"
    view = f"""
    %p = memref.subview %A[1, 2, 3] [2, 3, 1] [1, 1, 1]
        : {TYPE} to memref<2x3xi32, strided<[30, 6], offset: 45>>
    %v = memref.reinterpret_cast %p to offset: [7], sizes: [3, 2], strides: [1, 10]
        : memref<2x3xi32, strided<[30, 6], offset: 45>> to {type_}"""
    expected = [[7 + i + 10 * j for j in range(2)] for i in range(3)]
    assert gather(view, type_, (3, 2)).tolist() == expected


def test_cast_changes_nothing():
    type_ = "memref<?x?x?xi32>"
    view = f"%v = memref.cast %A : {TYPE} to {type_}"
    assert (gather(view, type_, (4, 5, 6)) == SOURCE).all()


def test_extents_and_the_pointer_of_a_view():
    out = np.zeros(4, np.uint64)
    body = f"""
    %p = memref.subview %A[1, 2, 3] [%c2, 3, 1] [1, 1, 1]
        : {TYPE} to memref<?x3xi32, strided<[30, 6], offset: 45>>
    %d = memref.dim %p, %c0 : memref<?x3xi32, strided<[30, 6], offset: 45>>
    %e = memref.dim %p, %c1 : memref<?x3xi32, strided<[30, 6], offset: 45>>
    %i = memref.extract_aligned_pointer_as_index %p
        : memref<?x3xi32, strided<[30, 6], offset: 45>> -> index
    %j = memref.extract_aligned_pointer_as_index %A : {TYPE} -> index
    memref.store %d, %B[%c0] : memref<4xindex>
    memref.store %e, %B[%c1] : memref<4xindex>
    memref.store %i, %B[%c2] : memref<4xindex>
    memref.store %j, %B[%c3] : memref<4xindex>"""
    run(body, SOURCE, out, block=1, types=[TYPE, "memref<4xindex>"])
    assert out[:2].tolist() == [2, 3]
    # The aligned pointer is the array's; the view's start is its offset.
    assert out[2] == out[3]
