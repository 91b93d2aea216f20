"""8-bit floats on the CPU: all of them widened, and rounded as ml_dtypes rounds."""

import ml_dtypes
import numpy as np
import pytest

from mlir_smem.frontend import Executable

WIDE = {
    "f32": np.dtype(np.float32),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f16": np.dtype(np.float16),
    "f64": np.dtype(np.float64),
}
NARROW = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2}

CAST = """
  linalg.generic {{indexing_maps = [#all, #all], iterator_types = ["parallel"]}}
      ins(%{source} : memref<?x{of_source}>) outs(%{target} : memref<?x{of_target}>) {{
  ^bb0(%x: {of_source}, %y: {of_target}):
    %z = arith.{op} %x : {of_source} to {of_target}
    linalg.yield %z : {of_target}
  }}
"""


def program(narrow):
    casts = [
        CAST.format(source="bytes", of_source=narrow, target=wide, of_target=wide, op="extf")
        for wide in WIDE
    ]
    casts += [
        CAST.format(
            source=f"{wide}_in", of_source=wide, target=f"{wide}_out", of_target=narrow, op="truncf"
        )
        for wide in ("f32", "bf16", "f16")
    ]
    arguments = ["%bytes: " + f"memref<?x{narrow}>"]
    arguments += [f"%{wide}: memref<?x{wide}>" for wide in WIDE]
    for wide in ("f32", "bf16", "f16"):
        arguments += [f"%{wide}_in: memref<?x{wide}>", f"%{wide}_out: memref<?x{narrow}>"]
    body = "".join(casts)
    return f"#all = affine_map<(d0) -> (d0)>\nfunc.func @f({', '.join(arguments)}) {{{body}  return\n}}"


def numbers():
    """Numbers of all exponents, near all ties of both formats, and special ones."""
    bits = np.random.default_rng(0).integers(0, 2**32, 20_000, dtype=np.uint32)
    ties = np.arange(-4096, 4096) / np.float32(2048)
    scaled = [ties * np.float32(2.0**exponent) for exponent in (-12, -6, -3, 0, 9, 16)]
    special = np.float32([0, -0.0, np.inf, -np.inf, np.nan, 464, 465, 57344, 61439, 61440])
    return np.concatenate([bits.view(np.float32), *scaled, special]).astype(np.float32)


def same(one, other):
    one, other = (array.astype(np.float32) for array in (one, other))
    return np.array_equal(one, other, equal_nan=True) and np.array_equal(
        np.signbit(one), np.signbit(other)
    )


@pytest.mark.parametrize("narrow", NARROW)
def test_conversions(narrow):
    bytes_ = np.arange(256, dtype=np.uint8).view(NARROW[narrow])
    wide = [np.empty(256, dtype) for dtype in WIDE.values()]
    with np.errstate(all="ignore"):
        sources = [numbers().astype(WIDE[name]) for name in ("f32", "bf16", "f16")]
        expected = [source.astype(np.float32).astype(NARROW[narrow]) for source in sources]
    targets = [np.empty(len(source), NARROW[narrow]) for source in sources]
    pairs = [array for pair in zip(sources, targets, strict=True) for array in pair]
    Executable(program(narrow), on="cpu", mixed=True)(bytes_, *wide, *pairs)
    numeric = ~np.isnan(bytes_.astype(np.float32))
    for array in wide:
        assert (
            same(array[numeric], bytes_[numeric]) and np.isnan(array[~numeric].astype(float)).all()
        )
    for target, other in zip(targets, expected, strict=True):
        assert same(target, other)
