"""Hand-written kernels that multiply by `wgmma` in inline assembly, and their expected results.

A kernel copies an image of shared memory (B, and A unless it is in registers), loads its other
operands, fences, issues one instruction for each K block, waits, and stores its registers.
"""

from dataclasses import dataclass
from functools import cached_property

import ml_dtypes
import numpy as np
import pytest
from emulated import SHARED, faults, kernel, memref, run

import mlir_smem
from mlir_smem.codegen import CompileError
from mlir_smem.codegen.ptxas import find_ptxas
from mlir_smem.layout import (
    Role,
    Swizzle,
    compress,
    element,
    fragment_a,
    fragment_d,
    instruction_k,
    mma_tiles,
    prune,
    tile_of_atoms,
)
from mlir_smem.layout.wgmma import MN_MAJOR, selector

DTYPES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "s8": np.int8,
    "u8": np.uint8,
    "b1": np.uint8,
}
ACCUMULATORS = {"f32": np.float32, "f16": np.float16, "s32": np.int32}

FENCE = "wgmma.fence.sync.aligned;"

#: The address of static shared memory, the offset of B's tile in it, and its size in bytes. A's and
#: B's tiles are aligned to the pattern of every swizzle.
BASE, B_AT, IMAGE = 0x400, 0x2000, 0x8000


def _has_ptxas():
    try:
        return bool(find_ptxas())
    except CompileError:
        return False


needs_ptxas = pytest.mark.skipif(not _has_ptxas(), reason="ptxas is not installed")


@dataclass(frozen=True)
class WgmmaKernel:
    """A kernel of D = A * B, of 64 rows.

    Attributes:
        a, b, d: PTX names of the element types of A, B and D.
        n: columns.
        scale_d: scale-d of each K block: 0, 1, or "$" for a run-time operand.
        sparse: whether A is sparse.
        in_registers: whether A is in registers.
        m_major, n_major: whether A is M-major, and B N-major.
        a_swizzle, b_swizzle: the swizzles of their tiles.
        signs: 1, or -1 to negate, for A and B.
        satfinite: whether sums saturate.
        start: the accumulator's initial value, "zero" or "poison".
    """

    a: str
    b: str
    d: str
    n: int = 8
    scale_d: tuple = (1, 1)
    sparse: bool = False
    in_registers: bool = False
    m_major: bool = False
    n_major: bool = False
    a_swizzle: Swizzle = Swizzle.B32
    b_swizzle: Swizzle = Swizzle.B32
    signs: tuple[int, int] = (1, 1)
    satfinite: bool = False
    start: str = "zero"

    def __str__(self):
        parts = [self.a, self.b, self.d, f"n{self.n}", self.a_swizzle, self.b_swizzle]
        flags = ("sparse", "in_registers", "m_major", "n_major", "satfinite")
        parts += [flag for flag in flags if getattr(self, flag)]
        return "-".join(map(str, parts))

    @property
    def a_element(self):
        """A's element type."""
        return element(self.a)

    @property
    def k(self):
        """K of one instruction, in elements of the uncompressed matrix."""
        return instruction_k(self.a_element) * (2 if self.sparse else 1)

    @property
    def registers(self):
        """The number of D's registers in a thread, and their type."""
        return self.n // (4 if self.d == "f16" else 2), "f32" if self.d == "f32" else "i32"

    # -- the matrices -----------------------------------------------------------------------------

    @cached_property
    def matrices(self):
        """A, [64, k], and B, [k, n], of small integers."""
        rng = np.random.default_rng(0)
        k = self.k * len(self.scale_d)

        def numbers(name, *shape):
            low, high = {"u8": (0, 5), "b1": (0, 2)}.get(name, (-2, 3))
            return rng.integers(low, high, shape).astype(DTYPES[name])

        a = numbers(self.a, 64, k)
        return prune(a, self.a) if self.sparse else a, numbers(self.b, k, self.n)

    def expected_d(self, scale_d=1):
        """D, for a value of the run-time operand scale-d."""
        a, b = (matrix.astype(np.float64) for matrix in self.matrices)
        d = np.zeros((64, self.n))
        for i, adds in enumerate(self.scale_d):
            k_block = slice(i * self.k, (i + 1) * self.k)
            factor = scale_d if adds == "$" else adds
            d = d * (factor != 0) + self.signs[0] * self.signs[1] * (a[:, k_block] @ b[k_block])
        return d

    # -- the kernel --------------------------------------------------------------------------------

    @cached_property
    def stored_a(self):
        """A as it is stored, and the metadata, [words, 128]."""
        if self.sparse:
            values, words = compress(self.matrices[0], self.a)
            return values, words[0]
        return self.matrices[0], np.zeros((1, 128), np.uint32)

    @cached_property
    def tiles(self):
        """The tiles of A and B, (m/n, k)."""
        shapes = self.stored_a[0].shape, self.matrices[1].T.shape
        majors, swizzles = (self.m_major, self.n_major), (self.a_swizzle, self.b_swizzle)
        return tuple(
            tile_of_atoms(element(name), shape, 0 if mn_major else 1, swizzle)
            for name, shape, mn_major, swizzle in zip(
                (self.a, self.b), shapes, majors, swizzles, strict=True
            )
        )

    def descriptors(self, role):
        """The descriptors of A or B, one for each K block."""
        tile = self.tiles[0 if role is Role.A else 1]
        operand = mma_tiles(role.orient(tile), role, self.sparse)
        first = operand.descriptor(BASE if role is Role.A else BASE + B_AT).encode()
        return [first + step for step in operand.steps[0]]

    def image(self):
        """The initial contents of shared memory, as i32."""
        image = np.zeros(IMAGE, np.uint8)
        matrices = self.stored_a[0], self.matrices[1].T
        for start, tile, matrix in zip((0, B_AT), self.tiles, matrices, strict=True):
            if tile.element.bits == 1:
                bits = matrix << np.arange(matrix.shape[1], dtype=np.uint8) % 8
                np.bitwise_or.at(image, start + tile.offsets(), bits)
            else:
                raw = np.ascontiguousarray(matrix)[..., None].view(np.uint8)
                image[start + tile.offsets()[..., None] + np.arange(raw.shape[2])] = raw
        return image.view(np.int32)

    def a_registers(self):
        """A's registers, [128, 4 for each K block]."""
        fragment, step = fragment_a(self.a_element), instruction_k(self.a_element)
        k_blocks = []
        for i in range(len(self.scale_d)):
            elements = self.stored_a[0][fragment.row, i * step + fragment.column]
            if self.a_element.bits == 1:
                elements = np.packbits(elements, axis=1, bitorder="little")
            k_blocks.append(np.ascontiguousarray(elements).view(np.int32))
        return np.concatenate(k_blocks, axis=1)

    def assembly(self, i):
        """The text of an instruction, and its operands other than D, as (constraint, value)."""
        count = self.registers[0]
        of_a = [("r", f"%a{i}_{r}") for r in range(4)] if self.in_registers else [("l", f"%a{i}")]
        word, selected = selector(self.a, i) if self.sparse else (0, 0)
        operands = [*of_a, ("l", f"%b{i}"), *[("r", f"%meta{word}")] * self.sparse]
        texts = [f"${2 * count + number}" for number in range(len(operands))]
        scale_d = self.scale_d[i]
        if scale_d == "$":
            scale_d, operands = f"${2 * count + len(operands)}", [*operands, ("r", "%scale")]
        if self.in_registers:
            texts[:4] = [f"{{{', '.join(texts[:4])}}}"]
        texts.insert(0, f"{{{', '.join(f'${r}' for r in range(count))}}}")
        texts += [str(selected)] * self.sparse + ["p"]
        if self.a not in ("s8", "u8", "b1"):
            texts += map(str, self.signs)
        if self.a_element in MN_MAJOR:
            texts += [str(int(self.m_major))] * (not self.in_registers) + [str(int(self.n_major))]
        name = f"wgmma.mma_async{'.sp' * self.sparse}.sync.aligned.m64n{self.n}k{self.k}"
        name += f"{'.satfinite' * self.satfinite}.{self.d}.{self.a}.{self.b}"
        name += ".and.popc" * (self.a == "b1")
        lines = [
            "{",
            ".reg .pred p;",
            f"setp.ne.b32 p, {scale_d}, 0;",
            f"{name} {', '.join(texts)};",
        ]
        return r"\0A".join([*lines, "}"]), operands

    def body(self, threads):
        """The kernel's lines. Arguments are the image, A's registers, metadata, scale-d and D."""
        count, type_ = self.registers
        struct, words = structure(type_, count), len(self.stored_a[1])
        d = f"memref<{threads}x{count}x{type_}>"
        shared = f"memref<{IMAGE // 4}xi32, {SHARED}>"
        lines = [
            f"%step = arith.constant {threads} : index",
            f"%words = arith.constant {IMAGE // 4} : index",
            "scf.for %i = %tid to %words step %step {",
            f"  %word = memref.load %A[%i] : memref<{IMAGE // 4}xi32>",
            f"  memref.store %word, %S[%i] : {shared}",
            "}",
            "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>,"
            " space = #nvvm.shared_space<cta>}",
            "gpu.barrier",
            "%lane = arith.remui %tid, %c128 : index",
            f"%scale = memref.load %D[%tid] : memref<{threads}xi32>",
            f"%d0 = llvm.mlir.{self.start} : {struct}",
        ]
        for i in range(max(count, words, 4 * len(self.scale_d))):
            lines.append(f"%i{i} = arith.constant {i} : index")
        for i in range(words):
            lines.append(f"%meta{i} = memref.load %C[%i{i}, %lane] : memref<{words}x128xi32>")
        lines += self.load_a() if self.in_registers else ["nvvm.wgmma.fence.aligned"]
        for i in range(len(self.scale_d)):
            if not self.in_registers:
                lines.append(f"%a{i} = arith.constant {self.descriptors(Role.A)[i]} : i64")
            lines.append(f"%b{i} = arith.constant {self.descriptors(Role.B)[i]} : i64")
            lines += [f"%d{i}_{r} = llvm.extractvalue %d{i}[{r}] : {struct}" for r in range(count)]
            text, operands = self.assembly(i)
            tied = [(str(r), f"%d{i}_{r}") for r in range(count)]
            lines.append(f"%d{i + 1} = {inline(text, type_, count, [*tied, *operands])}")
        lines += ["nvvm.wgmma.commit.group.sync.aligned", "nvvm.wgmma.wait.group.sync.aligned 0"]
        for r in range(count):
            lines += [
                f"%r{r} = llvm.extractvalue %d{len(self.scale_d)}[{r}] : {struct}",
                f"memref.store %r{r}, %E[%tid, %i{r}] : {d}",
            ]
        return "\n".join(lines)

    def load_a(self):
        """Lines that load A's registers and pass them through the fence."""
        count = 4 * len(self.scale_d)
        lines = [
            f"%l{r} = memref.load %B[%lane, %i{r}] : memref<128x{count}xi32>" for r in range(count)
        ]
        tied = [(str(r), f"%l{r}") for r in range(count)]
        lines.append(f"%fenced = {inline(FENCE, 'i32', count, tied)}")
        return lines + [
            f"%a{r // 4}_{r % 4} = llvm.extractvalue %fenced[{r}] : {structure('i32', count)}"
            for r in range(count)
        ]

    # -- running -----------------------------------------------------------------------------------

    def arguments(self, threads, scale_d, metadata):
        """The kernel's arrays."""
        count, type_ = self.registers
        words = self.stored_a[1] if metadata is None else metadata
        scales = np.broadcast_to(np.asarray(scale_d, np.int32), threads).copy()
        d = np.zeros((threads, count), np.float32 if type_ == "f32" else np.int32)
        return self.image(), self.a_registers(), words.view(np.int32), scales, d

    def run(self, threads=128, scale_d=1, edit=(), metadata=None, image=None):
        """D, [64, n], of each warpgroup.

        Args:
            threads: of the CTA; each warpgroup computes the same D.
            scale_d: the run-time operand, one for all threads or one for each.
            edit: pairs (old, new) of replacements in the kernel's text.
            metadata: used instead of A's.
            image: used instead of that of A and B.
        """
        arguments, options = self._launch(threads, scale_d, metadata, image)
        run(apply_edits(self.body(threads), edit), *arguments, **options)
        elements = np.ascontiguousarray(arguments[-1]).view(ACCUMULATORS[self.d])
        fragment, matrices = fragment_d(self.n), []
        for first in range(0, threads, 128):
            matrix = np.zeros((64, self.n), elements.dtype)
            matrix[fragment.row, fragment.column] = elements[first : first + 128]
            matrices.append(matrix.astype(np.float64))
        return np.array(matrices)

    def faults(self, threads=128, scale_d=1, edit=(), metadata=None, image=None):
        """The faults that the emulator reports; arguments are those of `run`."""
        arguments, options = self._launch(threads, scale_d, metadata, image)
        return faults(apply_edits(self.body(threads), edit), *arguments, **options)

    def assemble(self, edit=()):
        """Assemble the kernel by LLVM and ptxas; raises CompileError where they reject it."""
        _, options = self._launch(128, 1, None, None)
        text = kernel(
            apply_edits(self.body(128), edit), options["types"], buffers=options["buffers"]
        )
        mlir_smem.compile(text, emit="cubin")

    def _launch(self, threads, scale_d, metadata, image):
        arguments = list(self.arguments(threads, scale_d, metadata))
        if image is not None:
            arguments[0] = image
        buffers = f"workgroup(%S : memref<{IMAGE // 4}xi32, {SHARED}>)"
        types = [memref(array) for array in arguments]
        return arguments, {"block": threads, "buffers": buffers, "types": types}


def structure(type_, count):
    """The type of a struct of `count` registers."""
    return f"!llvm.struct<({', '.join([type_] * count)})>"


def inline(text, type_, count, operands):
    """Return an op of inline assembly that defines `count` registers.

    Args:
        text: the assembly.
        type_, count: the registers' type and number.
        operands: (constraint, value) of each input; a digit is tied to an output.
    """
    register = {"f32": "=f", "i32": "=r"}[type_]
    constraints = [*[register] * count, *(constraint for constraint, _ in operands)]
    types = {"l": "i64", "r": "i32"}
    return (
        f'llvm.inline_asm has_side_effects "{text}", "{",".join(constraints)}" '
        f"{', '.join(value for _, value in operands)} : "
        f"({', '.join(types.get(c, type_) for c, _ in operands)}) -> {structure(type_, count)}"
    )


def apply_edits(text, edit):
    """Return a text with replacements (old, new); it must contain each `old`."""
    for old, new in edit:
        assert old in text, old
        text = text.replace(old, new)
    return text
