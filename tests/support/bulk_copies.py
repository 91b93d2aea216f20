"""Kernels that copy tiles by TMA, with inputs and expected results."""

from dataclasses import dataclass
from math import prod

import ml_dtypes
import numpy as np

#: For each element type of tiles: the element type of the matrix, its NumPy dtype, and the number of tile
#: elements in a matrix element.
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
    """CTAs copy a tile between matrices A and D.

    With `loads`, each CTA loads the tile at `coordinates` of A, which is partly out of bounds, and stores
    it to its own matrix of D. Without, all threads copy A to the tile, which is then stored there in D.

    Attributes:
        element: the tile's element type.
        shape: the tile's shape, in its elements.
        swizzle: the tile's swizzle.
        columns: whether tile, A and D are column-major.
        coordinates: (row, column) in the matrix, in the matrix's elements.
        batch: whether the matrix is the second of three.
        loads: whether `smem.tma_load` is tested, or `smem.tma_store` alone.
        cluster: CTAs along x and y.
        multicast: the dimension of the cluster along which CTAs share a load, if they do.
    """

    element: str
    shape: tuple[int, int] = (64, 64)
    swizzle: str = "128B"
    columns: bool = False
    coordinates: tuple[int, int] = (8, -16)
    batch: bool = False
    loads: bool = True
    cluster: tuple[int, int] = (1, 1)
    multicast: str = ""

    def __str__(self) -> str:
        parts = [
            self.element,
            "x".join(map(str, self.shape)),
            self.swizzle,
            "columns" if self.columns else "rows",
            *["batch"] * self.batch,
            "load" if self.loads else "store",
            *[f"cluster-{self.cluster[0]}x{self.cluster[1]}"] * (self.cluster != (1, 1)),
            *[f"along-{self.multicast}"] * bool(self.multicast),
        ]
        return "-".join(parts)

    @property
    def matrix(self) -> tuple[int, int]:
        """The tile's shape in elements of the matrix."""
        packed = ELEMENTS[self.element][2]
        extents = list(self.shape)
        extents[0 if self.columns else 1] //= packed
        return extents[0], extents[1]

    @property
    def _copies(self) -> int:
        """The number of matrices in D, one for each CTA; 0 if D is a single matrix."""
        count = prod(self.cluster)
        return count if count > 1 else 0

    def _type(self, leading: int) -> str:
        """The type of a memref of `leading` matrices; without a leading dimension if that is 0."""
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
        majorness = "column-major" if self.columns else "row-major"
        tile = (
            f"!smem.tile<tensor<{rows}x{columns}x{self.element}>, "
            f'#smem.swizzle<"{self.swizzle}", "{majorness}">>'
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
    %row = arith.constant {self.coordinates[0]} : index
    %column = arith.constant {self.coordinates[1]} : index
    %width = arith.constant {self.cluster[0]} : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %above = arith.muli %y, %width : index
    %cta = arith.addi %above, %x : index
    %t = "smem.alloc"() : () -> !tile
    {self._load() if self.loads else self._copy()}
    "smem.elect"() ({{
      {self._store()}
      "smem.tma_commit"() : () -> ()
      "smem.tma_wait"() {{pending = 0 : i32}} : () -> ()
    }}) {{scope = "cta"}} : () -> ()
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
    %pipeline = "smem.create_pipeline"()
      {{stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32}} : () -> !pipeline
    "smem.elect"() ({{
      %slot = "smem.producer_acquire"(%pipeline, %c0) : (!pipeline, index) -> index
      "smem.tma_load"(%A, %t, %pipeline, %c0, {first}%row, %column) {multicast}
        : (!A, !tile, !pipeline, {types}) -> ()
      "smem.producer_commit"(%pipeline, %c0) : (!pipeline, index) -> ()
    }}) {{scope = "cta"}} : () -> ()
    %slot = "smem.consumer_wait"(%pipeline, %c0) : (!pipeline, index) -> index"""

    def _copy(self) -> str:
        return """
    "smem.copy"(%A, %t) : (!A, !tile) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier"""

    def _store(self) -> str:
        place = "%c0, %c0" if self.loads else "%row, %column"
        if self._copies:
            place = f"%cta, {place}"
        types = ", ".join(["index"] * (place.count(",") + 1))
        return f'"smem.tma_store"(%t, %D, {place}) : (!tile, !D, {types}) -> ()'

    def inputs(self) -> dict[str, np.ndarray]:
        """A, of small integers that every type represents; D, which is overwritten."""
        a = self._zeros(3 * self.batch)
        a[...] = np.random.default_rng(prod(self.shape)).integers(1, 4, a.shape).astype(a.dtype)
        return {"A": a, "D": self._zeros(self._copies)}

    def _zeros(self, leading: int) -> np.ndarray:
        """Zeros, in an array of the type of `_type`."""
        shape = (leading, *self.matrix) if leading else self.matrix
        return np.zeros(shape, ELEMENTS[self.element][1], order="F" if self.columns else "C")

    @property
    def grid(self) -> tuple[int, int]:
        """CTAs of the launch: one cluster."""
        return self.cluster

    def exact(self) -> np.ndarray:
        """The expected D. Out-of-bounds elements are loaded as zeros, and are not stored."""
        a = self.inputs()["A"]
        matrix = a[1] if self.batch else a
        d = np.zeros(matrix.shape, matrix.dtype)
        inside, other = [], []
        for coordinate, extent in zip(self.coordinates, matrix.shape, strict=True):
            first, second, size = max(-coordinate, 0), max(coordinate, 0), extent - abs(coordinate)
            inside.append(slice(first, first + size))
            other.append(slice(second, second + size))
        tile, place = tuple(inside), tuple(other)
        if self.loads:
            d[tile] = matrix[place]
        else:
            d[place] = matrix[tile]
        return np.stack([d] * self._copies) if self._copies else d


def _store(element: str, shape: tuple[int, int], swizzle: str, columns: bool) -> Case:
    return Case(
        element, shape, swizzle, columns, loads=False, coordinates=(16, 5) if columns else (8, 32)
    )


CASES = [
    # Stores of what all threads wrote: all swizzles, either majorness, several boxes, every size of an
    # element.
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
    # Loads, also of a matrix in a batch.
    Case("bf16"),
    Case("bf16", columns=True, coordinates=(-8, 16)),
    Case("bf16", (64, 128), batch=True),
    Case("tf32", (64, 64), "64B", batch=True, columns=False),
    Case("i32", (64, 64), "64B"),
    Case("i1", (64, 2048), coordinates=(-3, 16)),
    Case("f4E2M1FN", (64, 512), coordinates=(-3, 16)),
    # Loads that CTAs share: across the lines and along them, along x and y of the cluster.
    Case("bf16", cluster=(2, 1), multicast="x"),
    Case("bf16", cluster=(1, 4), multicast="y"),
    Case("bf16", (64, 128), cluster=(2, 1), multicast="x"),
    Case("bf16", (64, 128), cluster=(2, 2), multicast="y"),
    Case("f32", (128, 64), cluster=(4, 2), multicast="x", batch=True),
    Case("i1", (64, 2048), cluster=(2, 1), multicast="x", coordinates=(1, -32)),
    Case("ui8", (64, 128), cluster=(2, 4), multicast="y"),
    Case("bf16", cluster=(2, 1)),
]
