"""Kernels that move tiles by TMA, with data and what they must leave in global memory."""

from dataclasses import dataclass
from math import prod

import ml_dtypes
import numpy as np

#: For each element type of tiles: that of matrices, how NumPy holds it, and tile elements in one of
#: these.
ELEMENTS = {
    "bf16": ("bf16", ml_dtypes.bfloat16, 1),
    "f16": ("f16", np.float16, 1),
    "f32": ("f32", np.float32, 1),
    "tf32": ("f32", np.float32, 1),
    "f8E5M2": ("f8E5M2", ml_dtypes.float8_e5m2, 1),
    "i32": ("i32", np.int32, 1),
    "ui8": ("i8", np.int8, 1),
    "i1": ("i8", np.int8, 8),
    "f4E2M1FN": ("i8", np.int8, 2),
}


@dataclass(frozen=True)
class Case:
    """Blocks move a tile between a matrix and a copy of it.

    With `loads`, each block loads the tile at `at` of A, which lies partly outside, and stores it to
    its own place in D. Without, all threads copy A to the tile, which is then stored to the place `at`
    of D.

    Attributes:
        element: of the tile.
        shape: of the tile, in its elements.
        swizzle, columns: the tile's layout; whether columns are contiguous, in A and D too.
        at: (row, column) in the matrix, in the matrix's elements.
        batch: whether the matrix is the second of three.
        loads: which way is tried.
        cluster: blocks along x and y.
        multicast: along what they load together, if they do.
    """

    element: str
    shape: tuple[int, int] = (64, 64)
    swizzle: str = "128B"
    columns: bool = False
    at: tuple[int, int] = (8, -16)
    batch: bool = False
    loads: bool = True
    cluster: tuple[int, int] = (1, 1)
    multicast: str = ""

    def __str__(self) -> str:
        words = [
            self.element,
            "x".join(map(str, self.shape)),
            self.swizzle,
            "columns" if self.columns else "rows",
            *["batch"] * self.batch,
            "load" if self.loads else "store",
            *[f"cluster-{self.cluster[0]}x{self.cluster[1]}"] * (self.cluster != (1, 1)),
            *[f"along-{self.multicast}"] * bool(self.multicast),
        ]
        return "-".join(words)

    @property
    def matrix(self) -> tuple[int, int]:
        """The tile's shape in elements of the matrix."""
        packed = ELEMENTS[self.element][2]
        extents = list(self.shape)
        extents[0 if self.columns else 1] //= packed
        return extents[0], extents[1]

    @property
    def _copies(self) -> int:
        """Matrices in D, one a block; 0 if it is no more than a matrix."""
        count = prod(self.cluster)
        return count if count > 1 else 0

    def _type(self, leading: int) -> str:
        """A memref of `leading` matrices; 0 for one without a leading dimension."""
        rows, columns = self.matrix
        strides = [1, rows] if self.columns else [columns, 1]
        shape = [rows, columns]
        if leading:
            shape, strides = [leading, *shape], [rows * columns, *strides]
        extents = "x".join(map(str, shape))
        return f"memref<{extents}x{ELEMENTS[self.element][0]}, strided<{strides}>>"

    @property
    def text(self) -> str:
        """The kernel `move`."""
        rows, columns = self.shape
        order = "column-major" if self.columns else "row-major"
        tile = (
            f"!smem.tile<tensor<{rows}x{columns}x{self.element}>, "
            f'#smem.swizzle<"{self.swizzle}", "{order}">>'
        )
        source, target = self._type(3 * self.batch), self._type(self._copies)
        return f"""
!pipeline = !smem.pipeline
!tile = {tile}
!A = {source}
!D = {target}
gpu.module @kernels {{
  gpu.func @move(%A: !A {{smem.name = "A"}}, %D: !D {{smem.name = "D"}})
      kernel attributes {{known_block_size = array<i32: 128, 1, 1>{self._cluster()}}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %row = arith.constant {self.at[0]} : index
    %column = arith.constant {self.at[1]} : index
    %width = arith.constant {self.cluster[0]} : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %above = arith.muli %y, %width : index
    %block = arith.addi %above, %x : index
    %t = "smem.alloc"() : () -> !tile
    {self._load() if self.loads else self._copy()}
    "smem.elect"() ({{
      {self._store()}
      "smem.tma_commit"() : () -> ()
      "smem.tma_wait"() {{pending = 0 : i32}} : () -> ()
    }}) {{scope = "block"}} : () -> ()
    gpu.return
  }}
}}
"""

    def _cluster(self) -> str:
        x, y = self.cluster
        return f", known_cluster_size = array<i32: {x}, {y}, 1>" if (x, y) != (1, 1) else ""

    def _load(self) -> str:
        first = "%c1, " if self.batch else ""
        multicast = f'{{multicast = "{self.multicast}"}}' if self.multicast else ""
        types = ", ".join(["index"] * (3 + self.batch))
        return f"""
    %pipeline = "smem.create_pipeline"() {{stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32}} : () -> !pipeline
    "smem.elect"() ({{
      %slot = "smem.producer_acquire"(%pipeline, %c0) : (!pipeline, index) -> index
      "smem.tma_load"(%A, %t, %pipeline, %c0, {first}%row, %column) {multicast}
        : (!A, !tile, !pipeline, {types}) -> ()
      "smem.producer_commit"(%pipeline, %c0) : (!pipeline, index) -> ()
    }}) {{scope = "block"}} : () -> ()
    %slot = "smem.consumer_wait"(%pipeline, %c0) : (!pipeline, index) -> index"""

    def _copy(self) -> str:
        return """
    "smem.copy"(%A, %t) : (!A, !tile) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier"""

    def _store(self) -> str:
        place = "%c0, %c0" if self.loads else "%row, %column"
        if self._copies:
            place = f"%block, {place}"
        types = ", ".join(["index"] * (place.count(",") + 1))
        return f'"smem.tma_store"(%t, %D, {place}) : (!tile, !D, {types}) -> ()'

    def inputs(self) -> dict[str, np.ndarray]:
        """A, of small integers, which every type holds; D is written over."""
        a = self._zeros(3 * self.batch)
        a[...] = np.random.default_rng(prod(self.shape)).integers(1, 4, a.shape).astype(a.dtype)
        return {"A": a, "D": self._zeros(self._copies)}

    def _zeros(self, leading: int) -> np.ndarray:
        """What `_type` describes."""
        shape = (leading, *self.matrix) if leading else self.matrix
        return np.zeros(shape, ELEMENTS[self.element][1], order="F" if self.columns else "C")

    @property
    def grid(self) -> tuple[int, int]:
        """Blocks of the launch: one cluster."""
        return self.cluster

    def exact(self) -> np.ndarray:
        """D: of what is outside of the matrix, zeros are loaded, and nothing is stored."""
        a = self.inputs()["A"]
        matrix = a[1] if self.batch else a
        found = np.zeros(matrix.shape, matrix.dtype)
        inside, other = [], []
        for at, extent in zip(self.at, matrix.shape, strict=True):
            first, second, size = max(-at, 0), max(at, 0), extent - abs(at)
            inside.append(slice(first, first + size))
            other.append(slice(second, second + size))
        tile, place = tuple(inside), tuple(other)
        if self.loads:
            found[tile] = matrix[place]
        else:
            found[place] = matrix[tile]
        return np.stack([found] * self._copies) if self._copies else found


def _store(element: str, shape: tuple[int, int], swizzle: str, columns: bool) -> Case:
    return Case(element, shape, swizzle, columns, loads=False, at=(16, 5) if columns else (8, 32))


CASES = [
    # What all threads wrote, swizzled, is what TMA reads: all swizzles, both majors, several boxes,
    # every size of an element.
    *(
        _store("bf16", (128, 64), swizzle, columns)
        for swizzle in ("none", "32B", "64B", "128B")
        for columns in (False, True)
    ),
    _store("f16", (264, 128), "128B", False),
    _store("f32", (64, 64), "128B", False),
    _store("tf32", (64, 64), "64B", False),
    _store("f8E5M2", (128, 64), "128B", True),
    _store("ui8", (128, 64), "64B", False),
    _store("i1", (64, 2048), "128B", False),
    _store("i1", (64, 512), "32B", False),
    _store("f4E2M1FN", (64, 512), "128B", False),
    _store("f4E2M1FN", (64, 64), "32B", False),
    # What is loaded, of a matrix in a batch too.
    Case("bf16"),
    Case("bf16", columns=True, at=(-8, 16)),
    Case("bf16", (64, 128), batch=True),
    Case("tf32", (64, 64), "64B", batch=True, columns=False),
    Case("i32", (64, 64), "64B"),
    Case("i1", (64, 2048), at=(-3, 16)),
    Case("f4E2M1FN", (64, 512), at=(-3, 16)),
    # Shared by blocks: across the lines and along them, in rows and columns of the cluster.
    Case("bf16", cluster=(2, 1), multicast="x"),
    Case("bf16", cluster=(1, 4), multicast="y"),
    Case("bf16", (64, 128), cluster=(2, 1), multicast="x"),
    Case("bf16", (64, 128), cluster=(2, 2), multicast="y"),
    Case("f32", (128, 64), cluster=(4, 2), multicast="x", batch=True),
    Case("i1", (64, 2048), cluster=(2, 1), multicast="x", at=(1, -32)),
    Case("ui8", (64, 128), cluster=(2, 4), multicast="y"),
    Case("bf16", cluster=(2, 1)),
]
