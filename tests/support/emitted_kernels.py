"""Kernels around the CUDA C++ that `smem-layout choose` prints, and their expected results."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import ml_dtypes
import numpy as np

from mlir_smem.advisor import ChosenOperands, choose_operands, cuda_source

#: For each element type, the C++ and NumPy types that store it.
_MOVED = {
    "f16": ("unsigned short", np.float16),
    "bf16": ("unsigned short", ml_dtypes.bfloat16),
    "tf32": ("float", np.float32),
    "e4m3": ("unsigned char", ml_dtypes.float8_e4m3fn),
    "e5m2": ("unsigned char", ml_dtypes.float8_e5m2),
    "s8": ("unsigned char", np.int8),
    "u8": ("unsigned char", np.uint8),
    "b1": ("unsigned char", np.uint8),
}

#: Range of integers in the inputs of each type.
_NUMBERS = {"s8": (-128, 127), "u8": (0, 255), "b1": (0, 1)}

_KERNEL = """
extern "C" __global__ void __launch_bounds__(128)
product({a_type} const* a, {b_type} const* b, {d_type}* d) {{
  extern __shared__ unsigned char shared[];
  unsigned const first = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  // Align the tiles to their swizzle patterns, wherever shared memory starts.
  unsigned const begin = (first + 1023) / 1024 * 1024;
  unsigned const a_at = begin + {a_stage};
  unsigned const b_at = begin + ({a_bytes} + 1023) / 1024 * 1024 + {b_stage};
  unsigned const thread = threadIdx.x;
  for (unsigned i = thread; i < {m} * ({k} / {packed}); i += 128) {{
    unsigned const row = i / ({k} / {packed}), column = i % ({k} / {packed}) * {packed};
    *reinterpret_cast<{a_type}*>(shared + (a_at - first) + TileA::offset(row, column)) = a[i];
  }}
  for (unsigned i = thread; i < ({k} / {packed}) * {n}; i += 128) {{
    unsigned const row = i / {n} * {packed}, column = i % {n};
    *reinterpret_cast<{b_type}*>(shared + (b_at - first) + TileB::offset(row, column)) = b[i];
  }}
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  for (unsigned m = 0; m < {m}; m += 64) {{
{pieces}
  }}
}}
"""

_PIECE = """
    {{
      {d_type} sums[{count}];
#pragma unroll
      for (int i = 0; i < {count}; ++i) sums[i] = 0;
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (unsigned k = 0; k < {k}; k += TileA::kInstructionK)
        mma_{n}(sums, TileA::descriptor(a_at) + TileA::step(m, k),
                TileB::descriptor(b_at) + TileB::step(k, {begin}));
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
      for (int i = 0; i < {count}; ++i) {{
        unsigned const row = m + thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
        unsigned const column = {begin} + thread % 4 * 2 + i % 2 + i / 4 * 8;
        d[row * {width} + column] = sums[i];
      }}
    }}"""


@dataclass(frozen=True)
class EmittedCase:
    """An MMA of two tiles.

    Attributes:
        a, b: the tiles, as on the command line.
        options: other arguments of `choose_operands`.
    """

    a: str
    b: str
    options: dict[str, Any] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        return "-".join([self.a, self.b, *(f"{k}.{v}" for k, v in self.options.items())])

    @cached_property
    def choice(self) -> ChosenOperands:
        return choose_operands(self.a, self.b, **self.options)

    @property
    def _packing(self) -> int:
        """Elements along K per stored value."""
        return 8 if self.a.endswith("b1") else 1

    @property
    def shared_bytes(self) -> int:
        """Dynamic shared memory, with room to align both tiles."""
        return sum(operand.layout.size_bytes for operand in self.choice.each) + 2 * 1024

    @property
    def source(self) -> str:
        """The emitted code and a kernel `product(A, B, D)` of one warpgroup; all are row-major."""
        mma, a, b = self.choice.mma, self.choice.a, self.choice.b
        assert mma and a and b
        float_, pieces, begin = mma.accumulator.name == "f32", [], 0
        d_type = "float" if float_ else "int"
        for n in mma.pieces:
            pieces.append(
                _PIECE.format(d_type=d_type, count=n // 2, n=n, k=mma.k, begin=begin, width=mma.n)
            )
            begin += n
        kernel = _KERNEL.format(
            a_type=_MOVED[str(a.spec.element)][0],
            b_type=_MOVED[str(b.spec.element)][0],
            d_type=d_type,
            a_stage=a.layout.size_bytes - a.stage_bytes,
            b_stage=b.layout.size_bytes - b.stage_bytes,
            a_bytes=a.layout.size_bytes,
            m=mma.m,
            n=mma.n,
            k=mma.k,
            packed=self._packing,
            pieces="".join(pieces),
        )
        functions = "".join(self._mma(n, float_) for n in sorted(set(mma.pieces)))
        return cuda_source(self.choice, "smem-layout choose ...") + functions + kernel

    def _mma(self, n: int, float_: bool) -> str:
        """Return a function that executes the instruction with a given N."""
        mma = self.choice.mma
        assert mma
        count = n // 2
        registers = ", ".join(f"%{i}" for i in range(count))
        immediates = [1, 1] if float_ else []
        immediates += mma.transposes.values()
        tail = "".join(f", {value}" for value in immediates)
        letter = "f" if float_ else "r"
        sums = ", ".join(f'"+{letter}"(sums[{i}])' for i in range(count))
        return f"""
__device__ __forceinline__ void mma_{n}({"float" if float_ else "int"} (&sums)[{count}],
                                        unsigned long long a, unsigned long long b) {{
  asm volatile("{{\\n.reg .pred p;\\nsetp.ne.b32 p, 1, 0;\\n"
               "{mma.opcode(n)} {{{registers}}}, %{count}, %{count + 1}, p{tail};\\n}}\\n"
               : {sums} : "l"(a), "l"(b));
}}
"""

    def inputs(self) -> tuple[np.ndarray, np.ndarray]:
        """Return A and B, with integers that the types represent exactly."""
        random = np.random.default_rng(7)
        mma, matrices = self.choice.mma, []
        assert mma
        shapes = ((mma.m, mma.k), (mma.k, mma.n))
        for operand, shape in zip(self.choice.each, shapes, strict=True):
            low, high = _NUMBERS.get(str(operand.spec.element), (-4, 4))
            numbers = random.integers(low, high, shape, endpoint=True)
            matrices.append(numbers.astype(_MOVED[str(operand.spec.element)][1]))
        return matrices[0], matrices[1]

    def packed_inputs(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the inputs as the kernel takes them: 8 bits of b1 per byte along K."""
        a, b = self.inputs()
        if self._packing == 1:
            return a, b
        return np.packbits(a, 1, bitorder="little"), np.packbits(b, 0, bitorder="little")

    def expected_product(self) -> np.ndarray:
        """Return A * B, which is exact for every type."""
        a, b = (x.astype(np.float64) for x in self.inputs())
        mma = self.choice.mma
        assert mma
        return (a @ b).astype(np.float32 if mma.accumulator.name == "f32" else np.int32)


def emitted_cases() -> list[EmittedCase]:
    """Return cases: all types; all swizzles and major-ness of A and B; several N pieces; stages."""
    cases = [
        EmittedCase(
            "128x128xbf16",
            "128x192xbf16",
            {"a_major": a_major, "b_major": b_major, "max_swizzle": swizzle},
        )
        for a_major in "km"
        for b_major in "kn"
        for swizzle in (128, 64, 32, 0)
    ]
    k_major = [
        ("128x128xf16", "128x96xf16"),
        ("128x64xtf32", "64x72xtf32"),
        ("64x256xe4m3", "256x256xe4m3"),
        ("64x256xe4m3", "256x64xe5m2"),
        ("64x256xe5m2", "256x8xe4m3"),
        ("128x256xs8", "256x40xs8"),
        ("64x256xu8", "256x96xs8"),
        ("64x256xs8", "256x96xu8"),
        ("128x2048xb1", "2048x40xb1"),
    ]
    cases += [
        EmittedCase(a, b, {"max_swizzle": swizzle})
        for a, b in k_major
        for swizzle in (128, 64, 32, 0)
    ]
    cases += [
        EmittedCase("128x128xbf16", "128x264xbf16", {"b_major": "k"}),
        EmittedCase("64x64xbf16", "64x320xbf16"),
        EmittedCase("128x64xbf16", "64x128xbf16", {"stages": 3}),
        EmittedCase("64x32xtf32", "32x64xtf32", {"a_major": "m", "load_a": "16-byte"}),
    ]
    return cases
