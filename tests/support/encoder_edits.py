"""Edits of the descriptor encoders, and kernels whose results depend on each field."""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from mma_cases import Case
from seeded_faults.bases import base

import mlir_smem
from fuzz.generated.blocks import BlockCase
from mlir_smem.emulator import EmulationError, Violations
from mlir_smem.layout.descriptor import mask_of
from mlir_smem.runtime import run_on_cpu

WGMMA, TCGEN05, TCGEN05_LONG = "sm_90a", "sm_100a", "sm_103a"


# -- kernels ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kernel:
    """A kernel that the whole pass pipeline compiles.

    Attributes:
        text: the kernel, with `smem` ops.
        inputs: its arrays by name.
        exact: the exact D.
        bound: the largest error of the result.
        blocks: the number of CTAs in the grid.
        reserved_bytes: an option of the lowering.
    """

    text: str
    inputs: dict[str, np.ndarray]
    exact: np.ndarray
    bound: np.ndarray | float = 0
    blocks: int = 1
    reserved_bytes: int = 0

    def is_right(self, arch: str) -> bool:
        """Whether the emulator computes D and reports nothing."""
        compiled = mlir_smem.compile(
            self.text, arch=arch, emit="nvvm", reserved_bytes=self.reserved_bytes
        )
        try:
            d = run_on_cpu(compiled, "product", self.inputs, ["D"], (self.blocks,))["D"]
        except (EmulationError, Violations):
            return False
        return bool((np.abs(d.astype(np.float64) - self.exact) <= self.bound).all())


def product(*types: str, **options) -> Kernel:
    """A matrix product by one warpgroup; types are those of A, B and D."""
    case = Case(*types, **options)
    inputs = case.inputs()
    return Kernel(case.text, inputs, *case.exact(inputs))


def scaled_product(*types: str, **options) -> Kernel:
    """A block-scaled matrix product; types are those of A, B and the scale factors."""
    case = BlockCase(*types, **options)
    return Kernel(case.text, case.inputs(), case.expected_result(), blocks=case.blocks)


def view() -> Kernel:
    """A product of tiles that begin three 128-byte lines into a swizzle pattern: base offset 3."""
    case = base("view")
    return Kernel(
        case.text, case.inputs, case.exact, case.bound, reserved_bytes=case.reserved_bytes
    )


BF16 = ("bf16", "bf16", "f32")

KERNELS: dict[str, Callable[[], Kernel]] = {
    # Core matrices of 8 rows of 16 bytes: LBO along K, SBO along M or N.
    "K-major": lambda: product(*BF16, a_swizzle="none", b_swizzle="none"),
    "K-major swizzled": lambda: product(*BF16, a_swizzle="128B", b_swizzle="64B"),
    # Several atoms along M and N, and along K: the result depends on both strides.
    "MN-major": lambda: product(
        *BF16, a_swizzle="32B", b_swizzle="64B", a_major="mn", b_major="mn"
    ),
    "view": view,
    "N of 24": lambda: product(*BF16, n=24),
    "A of e5m2": lambda: product("f8E5M2", "f8E4M3FN", "f32"),
    "B of e5m2": lambda: product("f8E4M3FN", "f8E5M2", "f32"),
    "A M-major": lambda: product(*BF16, a_major="mn"),
    "B N-major": lambda: product(*BF16, b_major="mn"),
    "A negated": lambda: product(*BF16, modifier="negate_a"),
    "B negated": lambda: product(*BF16, modifier="negate_b"),
    "saturated": lambda: product("i8", "i8", "i32", modifier="satfinite", start=2**31 - 1),
    "scaled": lambda: scaled_product("f8E4M3FN", "f8E5M2", n=24, k=128),
    # Rows of 384 bytes: instructions read 48 bytes along K, some of them from two chunks.
    "long": lambda: scaled_product("f4E2M1FN", "f4E2M1FN", "f8E8M0FNU", block=32, n=16, k=768),
}


@cache
def kernel_of(name: str) -> Kernel:
    """The kernel of that name."""
    return KERNELS[name]()


@cache
def is_right_unedited(name: str, arch: str) -> bool:
    """Whether a kernel is right without edits. The first call must come before any edit; it is cached."""
    return kernel_of(name).is_right(arch)


# -- edits -----------------------------------------------------------------------------------------


def edit(monkeypatch, home, **constants):
    """Edit constants of a module or a class, and in every module that has imported them.

    This includes the modules of the emulator: one that decoded by the encoder's constants would be
    wrong in the same way and would not notice the edit.
    """
    for name, value in constants.items():
        was = getattr(home, name)
        assert was != value
        modules = [m for n, m in sys.modules.items() if n.startswith("mlir_smem.")]
        for holder in (home, *(m for m in modules if vars(m).get(name) is was)):
            monkeypatch.setattr(holder, name, value)


def check_noticed(monkeypatch, kernel, arch, home, constants):
    """Check that a kernel is right, and wrong after constants are edited."""
    assert is_right_unedited(kernel, arch)
    edit(monkeypatch, home, **constants)
    assert not kernel_of(kernel).is_right(arch)


def drop(monkeypatch, encoder, field):
    """Make an encoder leave a field 0."""
    whole = encoder.encode
    mask = mask_of(field)
    monkeypatch.setattr(encoder, "encode", lambda self: whole(self) & ~mask)


def bit_field(first: int, width: int) -> tuple[int, int]:
    """A field's first bit and width."""
    return first, width
