"""Kernels that reduce accumulators, their inputs, and exact results with error bounds."""

from dataclasses import dataclass
from math import ceil, log2

import numpy as np

from mlir_smem.layout.instruction import FLOAT_N, INTEGER_N

M = 64
DTYPES = {"f32": np.float32, "f16": np.float16, "i32": np.int32}

#: The reduction in NumPy by each operation.
REDUCTIONS = {
    "add": np.add.reduce,
    "mul": np.multiply.reduce,
    "maximumf": np.maximum.reduce,
    "maxnumf": np.fmax.reduce,
    "minimumf": np.minimum.reduce,
    "minnumf": np.fmin.reduce,
    "maxsi": np.maximum.reduce,
    "maxui": np.maximum.reduce,
    "minsi": np.minimum.reduce,
    "minui": np.minimum.reduce,
    "and": np.bitwise_and.reduce,
    "or": np.bitwise_or.reduce,
    "xor": np.bitwise_xor.reduce,
}
FLOATS = ("add", "mul", "maximumf", "maxnumf", "minimumf", "minnumf")
INTEGERS = ("add", "mul", "maxsi", "maxui", "minsi", "minui", "and", "or", "xor")

#: The unit roundoff of each type.
_ROUNDOFF = {"f32": 2.0**-24, "f16": 2.0**-11}


@dataclass(frozen=True)
class Reduction:
    """A kernel in which each warpgroup loads an accumulator, and stores what it is reduced to, twice.

    Attributes:
        element: the MLIR element type.
        op: the operation.
        axis: the dimension that is reduced.
        n: columns of each accumulator.
        warpgroups: adjacent warpgroups that reduce together.
        groups: the number of such groups.
        partition: whether they are a partition of the CTA, after one of another warpgroup.
        m: rows of each accumulator.
    """

    element: str
    op: str
    axis: int
    n: int
    warpgroups: int = 1
    groups: int = 1
    partition: bool = False
    m: int = M

    def __str__(self) -> str:
        where = "-in-partition" * self.partition
        return (
            f"{self.element}-{self.op}-axis{self.axis}-{self.m}x{self.n}-"
            f"{self.groups}x{self.warpgroups}{where}"
        )

    @property
    def executing(self) -> int:
        """The number of warpgroups that reduce."""
        return self.warpgroups * self.groups

    @property
    def text(self) -> str:
        """The kernel `reduce(A, O)`: A is (warpgroups, m, n), O is (2, warpgroups, m or n)."""
        m, n, element, count = self.m, self.n, self.element, self.executing
        extent = (m, n)[1 - self.axis]
        body = f"""
          %a_at = memref.subview %A[%wg, 0, 0] [1, {m}, {n}] [1, 1, 1]
              : memref<{count}x{m}x{n}x{element}> to !matrix
          %a = "smem.load"(%a_at) : (!matrix) -> !accumulator
          scf.for %i = %c0 to %c2 step %c1 {{
            %o_at = memref.subview %O[%i, %wg, 0] [1, 1, {extent}] [1, 1, 1]
                : memref<2x{count}x{extent}x{element}> to !vector
            %o = "smem.reduce"(%a) {{op = "{self.op}", axis = {self.axis} : i32,
                warpgroups = {self.warpgroups} : i32}} : (!accumulator) -> !slice
            "smem.store"(%o, %o_at) : (!slice, !vector) -> ()
          }}"""
        if self.partition:
            body = f"""
          "smem.warp_specialize"() ({{
            "smem.partition"() ({{
              %zero = arith.constant 0 : index
            }}) {{warpgroups = 1 : i32}} : () -> ()
            "smem.partition"() ({{
            ^bb0(%wg: index): {body}
            }}) {{warpgroups = {count} : i32}} : () -> ()
          }}) : () -> ()"""
        else:
            body = f"""
          %thread = gpu.thread_id x
          %c128 = arith.constant 128 : index
          %wg = arith.divui %thread, %c128 : index {body}"""
        return f"""
        !matrix = memref<{m}x{n}x{element}, strided<[{n}, 1], offset: ?>>
        !vector = memref<{extent}x{element}, strided<[1], offset: ?>>
        !accumulator = !smem.fragment<tensor<{m}x{n}x{element}>, #smem.accumulator>
        !slice = !smem.fragment<tensor<{extent}x{element}>, #smem.slice<{self.axis}>>
        gpu.module @kernels {{
          gpu.func @reduce(%A: memref<{count}x{m}x{n}x{element}> {{smem.name = "A"}},
                           %O: memref<2x{count}x{extent}x{element}> {{smem.name = "O"}})
              kernel attributes {{
                known_block_size = array<i32: {128 * (count + self.partition)}, 1, 1>
              }} {{
            %c0 = arith.constant 0 : index
            %c1 = arith.constant 1 : index
            %c2 = arith.constant 2 : index {body}
            gpu.return
          }}
        }}"""

    def inputs(self) -> dict[str, np.ndarray]:
        """Random A; floats have values of both signs, and their products stay in range."""
        random = np.random.default_rng(self.n)
        shape = (self.executing, self.m, self.n)
        if self.element == "i32":
            return {"A": random.integers(-(1 << 31), 1 << 31, shape).astype(np.int32)}
        drawn = random.standard_normal(shape)
        if self.op == "mul":
            drawn = np.exp2(drawn / 64) * random.choice([-1, 1], shape)
        return {"A": drawn.astype(DTYPES[self.element])}

    def check(self, output: np.ndarray, inputs: dict[str, np.ndarray]) -> None:
        """Check O: integers, and the least and greatest, exactly; sums and products within the bound.

        A tree of n elements rounds each path at most ceil(log2(n)) times, plus once for each step by
        which n is not a power of two: threads, warps and warpgroups are trees of their own.
        """
        extent = (self.m, self.n)[1 - self.axis]
        a = inputs["A"].reshape(self.groups, self.warpgroups, self.m, self.n)
        # The reduced dimension last, then the warpgroups of a group one after the other.
        a = np.moveaxis(a, (1, 2 + self.axis), (2, 3)).reshape(self.groups, extent, -1)
        unsigned = self.op in ("maxui", "minui")
        a = a.view(np.uint32) if unsigned else a
        exact = a.astype(np.float64) if self.element in _ROUNDOFF else a
        wanted = REDUCTIONS[self.op](exact, axis=-1)
        wanted = np.repeat(wanted, self.warpgroups, axis=0)
        for got in output.view(np.uint32) if unsigned else output:
            if self.op not in ("add", "mul") or self.element == "i32":
                assert np.array_equal(got, wanted.astype(got.dtype), equal_nan=True)
                continue
            roundings = ceil(log2(a.shape[-1])) + 3
            sizes = np.abs(exact)
            size = sizes.sum(axis=-1) if self.op == "add" else sizes.prod(axis=-1)
            if self.op == "mul":
                roundings = a.shape[-1]
            bound = 1.01 * roundings * _ROUNDOFF[self.element] * size
            assert (np.abs(got - wanted) <= np.repeat(bound, self.warpgroups, axis=0)).all()


def _columns(element: str) -> list[int]:
    return list(INTEGER_N if element == "i32" else FLOAT_N)


#: Every N along both axes.
EVERY_N = [
    Reduction(element, op, axis, n)
    for element, op in (("f32", "add"), ("f32", "maximumf"), ("f16", "add"), ("i32", "add"))
    for axis in (0, 1)
    for n in _columns(element)
]
#: Every operation on every type.
EVERY_OPERATION = [
    Reduction(element, op, axis, 48)
    for element in DTYPES
    for op in (INTEGERS if element == "i32" else FLOATS)
    for axis in (0, 1)
]
#: Groups of warpgroups.
ACROSS = [
    Reduction(element, op, axis, 24, warpgroups, groups, partition)
    for element, op in (("f32", "add"), ("f16", "maxnumf"), ("i32", "xor"))
    for axis in (0, 1)
    for warpgroups, groups in ((1, 3), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1), (7, 1))
    for partition in (False, True)
    if warpgroups * groups + partition <= 8
]
#: Accumulators of several blocks of rows.
TALL = [
    Reduction(element, "add", axis, 32, warpgroups, m=m)
    for element in DTYPES
    for axis in (0, 1)
    for m in (128, 192, 256)
    for warpgroups in (1, 2)
]
EVERY = [*EVERY_N, *EVERY_OPERATION, *ACROSS, *TALL]
