"""Random kernels with plain loops: windows of arrays are copied to tiles and multiplied, in order.

Nothing overlaps in them, and no tile has stages. An input is the body of a kernel, below a line of
extents, of options for the passes that make pipelines of such loops, and of what keeps its loads from
being early.
"""

from random import Random
from typing import Any

#: How many rows, columns and elements of depth a tile has.
_ROWS, _COLUMNS, _DEPTHS = (64, 64, 128), (8, 16, 32, 64), (16, 32, 64)

#: What a loop has beyond loads and a product; most have few.
_FEATURES = (
    *("two products", "scale", "gather", "branch", "guarded load", "tail", "maximum", "fragment"),
    *("transposed", "step", "running index", "reused"),
)

#: How many features a loop has.
_NUMBERS = (0, 0, 1, 1, 2, 3)

#: What keeps loads of a later iteration from being early; a kernel has at most one.
_HINDRANCES = (
    *("read behind the loop", "written twice", "written in parts", "read before", "chased"),
    *("carried start", "written array", "loaded in a branch"),
)


def draw(random: Random) -> str:
    """Draw options, extents of arrays, and the body of a kernel."""
    return _Drawing(random).text()


class _Drawing:
    """A kernel while it is drawn.

    Attributes:
        random: chooses.
        features: what its innermost loop has.
        hindrance: what keeps its loads from being early; None for nothing.
    """

    def __init__(self, random: Random) -> None:
        self.random = random
        self.features = set(random.sample(_FEATURES, random.choice(_NUMBERS)))
        self.hindrance = random.choice(_HINDRANCES) if random.random() < 0.15 else None
        self.rows, self.columns = random.choice(_ROWS), random.choice(_COLUMNS)
        self.depth = random.choice(_DEPTHS)

    def text(self) -> str:
        """Return the input."""
        form = self.random.choice(("product", "product", "column_blocks", "persistent", "chain"))
        body = getattr(self, f"_{form}")()
        options, constants = self._options(), self._constants()
        # Last, so that all else is as it was before there was this option.
        options["overlap"] = self.random.choice((None, None, 0, 1, 2))
        return "\n".join([f"# {options}", *constants, *body]) + "\n"

    def _options(self) -> dict[str, Any]:
        random = self.random
        return {
            "stages": random.choice((0, 0, 2, 3, 4, 5, 7)),
            "copies": random.choice(("auto", "tma", "cp-async")),
            "specialize": random.random() < 0.5,
            "consumers": random.choice((0, 0, 1, 2)),
            "dtype": random.choice(("bf16", "f16")),
            "M": random.choice((64, 128, 130, 192)),
            "N": random.choice((8, 32, 64, 72, 128)),
            "K": random.choice((16, 64, 72, 128, 200, 320)),
            "hindrance": self.hindrance,
        }

    def _constants(self) -> list[str]:
        bounds = (
            "A.shape[1] // bk",
            "sl.cdiv(A.shape[1], bk)",
            "A.shape[1] // bk",
            str(self.random.randint(0, 5)),
            "index(P[5])",
        )
        return [
            f"bm, bn, bk = {self.rows}, {self.columns}, {self.depth}",
            f"steps = {self.random.choice(bounds)}",
        ]

    # -- kernels -----------------------------------------------------------------------------------

    def _product(self) -> list[str]:
        return [
            *self._alloc(),
            "row, column = sl.block_id(1) * bm, sl.block_id(0) * bn",
            *self._loop(),
            *self._epilogue(),
        ]

    def _column_blocks(self) -> list[str]:
        """Blocks of columns one after the other, each with the loop."""
        blocks = self.random.choice(("2", "3", "sl.cdiv(B.shape[1], bn)", "index(P[6])"))
        lines = ["column = j * bn", *self._loop(), *self._epilogue()]
        return [
            *self._alloc(),
            "row, number = sl.block_id(1) * bm, 0",
            f"for j in sl.range({blocks}):",
            *_with_indent(lines),
        ]

    def _persistent(self) -> list[str]:
        """Tiles of C that a block takes in turn."""
        lines = ["row, column = tile // tiles_n * bm, tile % tiles_n * bn"]
        lines += [*self._loop(), *self._epilogue()]
        return [
            *self._alloc(),
            "tiles_n = sl.cdiv(B.shape[1], bn)",
            "number = 0",
            "for tile in sl.range(sl.block_id(0), sl.cdiv(A.shape[0], bm) * tiles_n, sl.grid_dim(0)):",
            *_with_indent(lines),
        ]

    def _chain(self) -> list[str]:
        """A product whose result is the left operand of another one, as in attention."""
        random = self.random
        keys, wide = random.choice((16, 32, 64)), random.choice((8, 16, 32))
        start = "index(P[k]) * keys" if "gather" in self.features else "k * keys"
        arithmetic = [
            "p = bounded(s * 0.5)",
            "p = sl.maximum(bounded(s), 0.0)",
            "p = bounded(s - s.max(axis=1))",
            "p = sl.where(sl.iota(1) + k * keys <= sl.iota(0) + row, bounded(s), 0.0)",
        ]
        product = "o = sl.mma(p.to(A.dtype), v, o)"
        shrink = random.choice(([], ["o = bounded(o)"], ["total = total + p.sum(axis=1)"]))
        body = [
            f"sl.copy(W[sl.ds({start}, keys), 0:bk], kt)",
            f"sl.copy(B[sl.ds({start}, keys), 0:wide], v)",
            "s = sl.mma(q, kt.T)",
            random.choice(arithmetic),
            *random.sample([product, *shrink], 1 + len(shrink)),
        ]
        if random.random() < 0.5:
            body[1], body[2] = body[2], body[1]
        if "branch" in self.features:
            body[3:] = ["if k != 1:", *_with_indent(body[3:])]
        return [
            f"keys, wide, row = {keys}, {wide}, sl.block_id(1) * bm",
            "q, kt = sl.alloc((bm, bk), A.dtype), sl.alloc((keys, bk), A.dtype)",
            "v = sl.alloc((keys, wide), A.dtype)",
            "sl.copy(A[sl.ds(row, bm), 0:bk], q)",
            "o, total = sl.zeros((bm, wide), sl.f32), sl.zeros((bm,), sl.f32, axis=1)",
            "for k in sl.range(steps):",
            *_with_indent(body),
            "sl.store(bounded(o + total), C[sl.ds(row, bm), 0:wide])",
        ]

    # -- parts -------------------------------------------------------------------------------------

    def _alloc(self) -> list[str]:
        b = "(bn, bk)" if "transposed" in self.features else "(bk, bn)"
        lines = [f"a, b = sl.alloc((bm, bk), A.dtype), sl.alloc({b}, A.dtype)"]
        if "two products" in self.features:
            lines.append("b2 = sl.alloc((bk, bn), A.dtype)")
        if self.hindrance in ("read before", "read behind the loop"):
            lines.append("sl.copy(A[0:bm, 0:bk], a)")
        return lines

    def _loop(self) -> list[str]:
        lines = ["acc, acc2 = sl.zeros((bm, bn), sl.f32), sl.zeros((bm, bn), sl.f32)"]
        head = "for k in sl.range(steps):"
        if "step" in self.features:
            # A load in a branch is there in the first iteration, so that no tile is read before.
            guarded = "guarded load" in self.features or self.hindrance == "loaded in a branch"
            start = 0 if guarded else self.random.randint(0, 2)
            head = f"for k in sl.range({start}, steps, 2):"
        carried = "running index" in self.features or self.hindrance == "carried start"
        if carried:
            lines.append("at = 0")
        if self.hindrance == "chased":
            lines.append("at = sl.block_id(0)")
        return [*lines, head, *_with_indent(self._body()), *self._behind_loop()]

    def _body(self) -> list[str]:
        k = "k"
        if "gather" in self.features:
            k = "index(P[k])"
        if "running index" in self.features or self.hindrance in ("chased", "carried start"):
            k = "at"
        depth = f"sl.ds({k} * bk, bk)"
        b = f"W[sl.ds(column, bn), {depth}]" if "transposed" in self.features else None
        b = b or f"B[{depth}, sl.ds(column, bn)]"
        loads = [f"sl.copy(A[sl.ds(row, bm), {depth}], a)", f"sl.copy({b}, b)"]
        operand = "b.T" if "transposed" in self.features else "b"
        products = [f"acc = sl.mma(a, {operand}, acc)"]
        if "two products" in self.features:
            loads.append(f"sl.copy(B[{depth}, sl.ds(column + bn, bn)], b2)")
            products.append("acc2 = sl.mma(a, b2, acc2)")
        self.random.shuffle(loads)
        return self._with_features(loads, products)

    def _with_features(self, loads: list[str], products: list[str]) -> list[str]:
        features = self.features
        if "guarded load" in features:
            loads[-1:] = [f"if k < {self.random.randint(1, 3)}:", *_with_indent(loads[-1:])]
        if self.hindrance == "loaded in a branch":
            loads[:1] = ["if k % 2 == 0:", *_with_indent(loads[:1])]
        if self.hindrance == "written twice":
            loads.append("sl.copy(A[0:bm, sl.ds(k * bk, bk)], a)")
        if self.hindrance == "written in parts":
            loads.append("sl.copy(A[0:64, sl.ds(0, bk)], a[0:64, :])")
        if "scale" in features:
            products = [
                "scale = sl.load(S[sl.ds(row, bm), k], axis=1)",
                f"acc = acc + sl.mma(a, {'b.T' if 'transposed' in features else 'b'}) * scale",
                *products[1:],
            ]
        if "branch" in features:
            condition = self.random.choice(("k % 2 == 0", "P[k] > 0", "k + 1 < steps"))
            products = [f"if {condition}:", *_with_indent(products)]
        if "maximum" in features:
            products.append("acc2 = sl.maximum(acc2, bounded(acc))")
        if "fragment" in features:
            products.append("acc2 = bounded(acc2 + sl.load(E[sl.ds(row, bm), sl.ds(column, bn)]))")
        if "reused" in features:
            products.append("acc2 = bounded(acc2 + sl.load(a, sl.f32)[:, 0:8].max(axis=1))")
        if self.hindrance == "read before":
            products.insert(0, "acc2 = bounded(acc2 + sl.load(a, sl.f32).max(axis=1))")
            loads, products = products[:1], [*loads, *products[1:]]
        if self.hindrance == "written array":
            products.append("A[row, k * bk] = A[row, k * bk + 1]")
        if self.hindrance == "chased":
            products.append("at = index(P[at % 8])")
        elif self.hindrance == "carried start":
            products.append("at = (at + index(P[k])) % 4")
        elif "running index" in features:
            products.append("at = at + 1")
        if "two products" in features and not {"branch", "guarded load"} & features:
            # The second product's own load may come after the first product.
            later = [line for line in loads if line.endswith(", b2)")]
            if self.random.random() < 0.5:
                return [x for x in loads if x not in later] + products[:1] + later + products[1:]
        return loads + products

    def _behind_loop(self) -> list[str]:
        lines = []
        if "tail" in self.features:
            lines += [
                "sl.copy(A[sl.ds(row, bm), 0:bk], a)",
                "acc2 = bounded(acc2 + sl.load(a, sl.f32).max(axis=1))",
            ]
        elif self.hindrance == "read behind the loop":
            lines.append("acc2 = bounded(acc2 + sl.load(a, sl.f32).max(axis=1))")
        return lines

    def _epilogue(self) -> list[str]:
        values = ("acc + acc2", "bounded(acc) + acc2", "acc - acc2 * 2.0", "acc + acc2.max(axis=1)")
        stored = self.random.choice(values)
        target = "C[sl.ds(row, bm), sl.ds(column, bn)]"
        if self.random.random() < 0.25:
            return [
                "out = sl.alloc((bm, bn), sl.f32)",
                f"sl.store({stored}, out)",
                f"sl.store(sl.load(out), {target})",
            ]
        return [f"sl.store({stored}, {target})"]


def _with_indent(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]
