"""Kernels that multiply tiles, lowered by the pass pipeline and then damaged line by line."""

import re
from dataclasses import dataclass, replace

import ml_dtypes
import numpy as np
from emulated import faults_of
from programs import DONE, PRODUCT, A, B, D, fragment, kernel, module, tile

import mlir_smem

TILE_A, TILE_B, FLYING = tile(64, 64), tile(64, 8), fragment(64, 8)

SYNC = """
    "smem.fence"() : () -> ()
    gpu.barrier"""

#: PRODUCT with asynchronous copies.
ASYNC = PRODUCT.replace("smem.copy", "smem.copy_async").replace(
    '"smem.fence"',
    '"smem.copy_commit"() : () -> ()\n'
    '    "smem.copy_wait"() {pending = 0 : i32} : () -> ()\n    "smem.fence"',
)

#: D = A * B + A * B; A's tile is written again after the first mma.
AGAIN = f"""
    %a = "smem.alloc"() : () -> {TILE_A}
    %b = "smem.alloc"() : () -> {TILE_B}
    "smem.copy"(%A, %a) : ({A}, {TILE_A}) -> ()
    "smem.copy"(%B, %b) : ({B}, {TILE_B}) -> ()
    {SYNC}
    %one = "smem.mma"(%a, %b) : ({TILE_A}, {TILE_B}) -> {FLYING}
    %half = "smem.wait"(%one) {{pending = 0 : i32}} : ({FLYING}) -> {DONE}
    gpu.barrier
    "smem.copy"(%A, %a) : ({A}, {TILE_A}) -> () // the second copy
    {SYNC}
    %two = "smem.mma"(%a, %b, %half) : ({TILE_A}, {TILE_B}, {DONE}) -> {FLYING}
    %ready = "smem.wait"(%two) {{pending = 0 : i32}} : ({FLYING}) -> {DONE}
    "smem.store"(%ready, %D) : ({DONE}, {D}) -> ()"""


@dataclass(frozen=True)
class LoweredKernel:
    """A lowered kernel, and the text that it was lowered from."""

    source: str
    text: str

    def without(self, pattern, which=0, into=""):
        """The kernel with match number `which` of a pattern replaced by `into`."""
        matches = list(re.finditer(pattern, self.text))
        match = matches[which]
        return replace(self, text=self.text[: match.start()] + into + self.text[match.end() :])

    def before(self, pattern, lines, which=0):
        """The kernel with lines inserted before match number `which` of a pattern."""
        match = list(re.finditer(pattern, self.text))[which]
        start = self.text.rfind("\n", 0, match.start()) + 1
        return replace(self, text=self.text[:start] + lines + "\n" + self.text[start:])

    def with_descriptor(self, line):
        """The kernel whose first mma takes %bad for A's descriptor; `line` computes %bad from %d."""
        match = re.search(r"mma_async (%\w+)", self.text)
        changed = self.without(r"mma_async %\w+", into="mma_async %bad")
        return changed.before("mma_async", line.replace("%d", match[1]))

    def run(self, block=128):
        """Return its faults, D, and the expected D."""
        rng = np.random.default_rng(0)
        a, b = (rng.integers(-4, 5, s).astype(ml_dtypes.bfloat16) for s in ((64, 64), (64, 8)))
        d = np.zeros((64, 8), np.float32)
        size = int(re.search(r"shared_bytes = (\d+)", self.text)[1])
        faults = faults_of(self.text, "product", [a, b, d], block, 1, size, self.source)
        return faults, d, a.astype(np.float32) @ b.astype(np.float32)

    def faults(self, block=128):
        """Its faults."""
        return self.run(block)[0]

    def only_fault(self, block=128):
        """Its only fault."""
        faults = self.faults(block)
        assert len(faults) == 1, faults
        return faults[0]


def lower_kernel(body):
    """Lower a kernel with a body."""
    source = module(kernel(body))
    return LoweredKernel(source, mlir_smem.compile(source, emit="nvvm").located)
