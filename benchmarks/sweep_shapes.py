"""The shapes of the sweep: random ones, and families that people call. None of them is a test shape."""

from math import exp, log
from random import Random

Shape = tuple[int, int, int]

#: Extents are multiples of 8 between these, so that rows of every type are whole for TMA.
LEAST, MOST, MULTIPLE = 8, 16384, 8

#: Shapes of reported results. The sweep does not contain them, so that no model is fitted to them.
HELD_OUT: frozenset[Shape] = frozenset(
    {
        *((1, 4096, 4096), (16, 4096, 4096), (64, 4096, 4096), (64, 14336, 4096)),
        *((128, 8192, 8192), (256, 6144, 4096), (512, 512, 512), (512, 4096, 11008)),
        *((1024, 1024, 1024), (1000, 1000, 1000), (128, 128, 16384), (256, 256, 8192)),
        *((4096, 4096, 64), (2048, 6144, 2048), (3000, 5000, 1200), (4096, 28672, 4096)),
        *((8192, 3584, 18944), (65536, 256, 256), (2048, 2048, 2048), (4096, 4096, 4096)),
        *((8192, 8192, 8192), (4096, 14336, 4096), (8192, 8192, 1024), (16384, 4096, 4096)),
    }
)

_ROWS = (1, 2, 4, 8, 24, 48, 96, 192, 384, 768, 1536, 3072)
#: (N, K) of layers of language models.
_LAYERS = ((5120, 5120), (6144, 4096), (3584, 18944), (28672, 8192), (4096, 11008))
_SQUARES = (256, 384, 640, 768, 1280, 1536, 2560, 3072, 5120, 6144, 10240)
_DEEP = tuple((side, side, k) for side in (64, 192, 320) for k in (4096, 12288, 16384))
_SHALLOW = tuple((side, side, k) for side in (3072, 6144) for k in (32, 128, 256, 512))
_TALL = tuple((32768, n, k) for n in (128, 384) for k in (128, 512))


def families() -> list[Shape]:
    """Few rows by layers of language models, squares, deep, shallow and tall products."""
    few = [(m, n, k) for m in _ROWS for n, k in _LAYERS]
    squares = [(side, side, side) for side in _SQUARES]
    return [s for s in (*few, *squares, *_DEEP, *_SHALLOW, *_TALL) if s not in HELD_OUT]


def random_shapes(count: int, seed: int) -> list[Shape]:
    """Different shapes, each extent uniform in its logarithm."""
    random = Random(seed)
    drawn: dict[Shape, None] = {}
    while len(drawn) < count:
        m, n, k = (_extent(random) for _ in range(3))
        if (m, n, k) not in HELD_OUT:
            drawn[m, n, k] = None
    return list(drawn)


def shapes(count: int, seed: int) -> list[Shape]:
    """Every shape of the sweep in a random order, so that a part of the sweep is a sample of all."""
    all_shapes = list(dict.fromkeys([*families(), *random_shapes(count, seed)]))
    return Random(seed + 1).sample(all_shapes, len(all_shapes))


def _extent(random: Random) -> int:
    extent = exp(random.uniform(log(LEAST), log(MOST)))
    return min(MOST, max(LEAST, MULTIPLE * round(extent / MULTIPLE)))
