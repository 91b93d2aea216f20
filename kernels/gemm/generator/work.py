"""The work of a GEMM kernel: the numbers from which the model of time predicts its duration."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, gcd, prod
from typing import NamedTuple

from ....layout.instruction import INSTRUCTION_K_BYTES
from ....layout.wgmma import INSTRUCTION_M
from .config import Config
from .problem import Problem, item_bytes

#: Bytes of a line of L2, of its sectors, and of the widest line of a box of TMA.
_LINE, _SECTOR = 128, 32

#: Bytes of an element of a part of a tile: an accumulator.
_PART_BYTES = 4

#: Where rows begin, in bytes; the cost of a load depends on it.
ALIGNMENTS = (128, 64, 32, 16)


class Loads(NamedTuple):
    """The loads of an operand for a K block, by one CTA.

    Attributes:
        lines: lines of boxes, which TMA loads one after the other.
        bytes: of the sectors that they are in.
        boxes: how many.
        requests: how often a CTA loads from the same 128 bytes.
        request_bytes: bytes of each of these loads.
        alignment: the index in `ALIGNMENTS` of the largest that divides the distance of rows.
    """

    lines: float
    bytes: float
    boxes: float
    requests: float
    request_bytes: float
    alignment: int


class Work(NamedTuple):
    """The work of a kernel; of the CTA that has most of it, where CTAs differ.

    Attributes:
        instruction_n: N of an instruction.
        instructions: instructions of a K block, of all consumers.
        stages: K blocks in shared memory.
        blocks: K blocks of a CTA.
        tiles: tiles that a CTA stores.
        waves: tiles or parts of all CTAs, as a multiple of the CTAs.
        busy: the part of the multiprocessors that have a CTA, on average of the time.
        clustered: whether CTAs share loads.
        a_lines, b_lines: lines that a CTA loads for a K block; CTAs that share loads share them out.
        a_bytes, b_bytes: the bytes of these.
        boxes: boxes of a K block.
        a_requests, b_requests: requests for the same 128 bytes in a K block, of all CTAs that load them
            at about the same time.
        a_request_bytes, b_request_bytes: bytes of each of these.
        a_alignment, b_alignment, c_alignment: see `Loads`.
        store_parts: epilogue tiles of a tile, of all consumers.
        store_bytes: bytes that a CTA stores of a tile.
        consumers: how many share out these bytes.
        arrivals: CTAs that add parts through a workspace; 0 without one.
        added: whether CTAs of a cluster add their parts.
        part_bytes: bytes of such a part.
        read_bytes, written_bytes: of the operands and of the results, once each.
    """

    instruction_n: float
    instructions: float
    stages: float
    blocks: float
    tiles: float
    waves: float
    busy: float
    clustered: float
    a_lines: float
    b_lines: float
    a_bytes: float
    b_bytes: float
    boxes: float
    a_requests: float
    b_requests: float
    a_request_bytes: float
    b_request_bytes: float
    a_alignment: float
    b_alignment: float
    c_alignment: float
    store_parts: float
    store_bytes: float
    consumers: float
    arrivals: float
    added: float
    part_bytes: float
    read_bytes: float
    written_bytes: float


def work_of(
    problem: Problem,
    m: int,
    n: int,
    k: int,
    config: Config,
    multiprocessors: int,
    batch: Sequence[int] = (),
) -> Work:
    """Return the work of a GEMM.

    Args:
        problem: element types and major-ness.
        m, n, k: the GEMM's extents.
        config: a configuration that fits.
        multiprocessors: those of the GPU.
        batch: the leading dimensions of the result.
    """
    solved = config.kernel_problem(problem)
    rows, columns = (n, m) if config.exchanged else (m, n)
    tile_m, tile_n, depth = config.tile
    along_m, along_n = config.cluster
    down = ceil(rows / (tile_m * along_m)) * along_m
    across = ceil(columns / (tile_n * along_n)) * along_n
    tiles, k_blocks = prod(batch) * down * across, ceil(k / depth)
    ctas = prod(config.grid(m, n, k, multiprocessors, batch))
    arrivals, added, part_bytes = 0, 0, 0
    if config.cluster_k > 1:
        added, part_bytes = 1, tile_m * config.part_columns(solved) * _PART_BYTES
        blocks, stored, waves = ceil(k_blocks / config.cluster_k), 1, 1.0
        busy = ctas / multiprocessors
    elif config.split_k > 1 and tiles % ctas:
        part_bytes = tile_m * problem.products * tile_n * _PART_BYTES
        arrivals, waves = max(2, ceil(ctas / tiles)), tiles / ctas
        blocks, stored = ceil(waves * k_blocks), ceil(waves)
        busy = ctas / multiprocessors
    else:
        stored = ceil(tiles / ctas)
        blocks, waves = stored * k_blocks, tiles / ctas
        busy = tiles / stored / multiprocessors
    a = _loads(solved.a_major == "k", tile_m, rows, k, depth, item_bytes(solved.a))
    b = _loads(solved.b_major == "k", tile_n, columns, k, depth, item_bytes(solved.b))
    # CTAs that compute tiles at the same time, and in how many rows of tiles.
    at_once = min(tiles, ctas, multiprocessors)
    in_rows = min(down, at_once, max(config.group * along_m, ceil(at_once / across)))
    results = [item_bytes(result) for result in problem.results]
    elements = min(tile_m, rows / down) * min(tile_n, columns / across)
    elements /= config.finishing_ctas if config.cluster_k > 1 else 1
    return Work(
        instruction_n=problem.products * tile_n,
        instructions=tile_m
        // INSTRUCTION_M
        * (depth * item_bytes(solved.a) // INSTRUCTION_K_BYTES),
        stages=config.stages,
        blocks=blocks,
        tiles=stored,
        waves=waves,
        busy=min(1.0, busy),
        clustered=along_m * along_n > 1,
        a_lines=a.lines / along_n,
        b_lines=problem.products * b.lines / along_m,
        a_bytes=a.bytes / along_n,
        b_bytes=problem.products * b.bytes / along_m,
        boxes=a.boxes + problem.products * b.boxes,
        a_requests=a.requests * at_once / in_rows / along_n,
        b_requests=b.requests * in_rows / along_m,
        a_request_bytes=a.request_bytes,
        b_request_bytes=b.request_bytes,
        a_alignment=a.alignment,
        b_alignment=b.alignment,
        c_alignment=_alignment(n * min(results)),
        store_parts=config.consumers * config.finished_columns / config.store_columns,
        store_bytes=elements * sum(results),
        consumers=config.consumers,
        arrivals=arrivals,
        added=added,
        part_bytes=part_bytes,
        read_bytes=_read_bytes(problem, (m, n, k), batch),
        written_bytes=prod(batch) * m * n * sum(results),
    )


def _loads(by_k: bool, tile: int, extent: int, k: int, depth: int, item: int) -> Loads:
    """Return the loads of an operand.

    Args:
        by_k: whether its rows along K are contiguous.
        tile: its rows or columns in a tile.
        extent: its rows or columns.
        k: its extent along K.
        depth: K of a block.
        item: bytes of an element.
    """
    depth, rows = min(depth, k), min(tile, extent)
    if by_k:
        pitch, line = k * item, min(_LINE, depth * item)
        return Loads(
            lines=rows,
            bytes=rows * ceil(line / _SECTOR) * _SECTOR,
            boxes=1,
            requests=max(1, _LINE / pitch),
            request_bytes=line,
            alignment=_alignment(pitch),
        )
    # The width of a box is that of the swizzle, the widest that divides a line of the tile.
    pitch, width = extent * item, gcd(tile * item, _LINE)
    pieces, line = ceil(rows * item / width), min(width, rows * item)
    return Loads(
        lines=depth * pieces,
        bytes=depth * pieces * max(_SECTOR, line),
        boxes=ceil(tile * item / width),
        requests=max(1, _LINE / min(pitch, line)),
        request_bytes=line,
        alignment=_alignment(pitch),
    )


def _alignment(pitch: int) -> int:
    aligned = (place for place, alignment in enumerate(ALIGNMENTS) if pitch % alignment == 0)
    return next(aligned, len(ALIGNMENTS) - 1)


def _read_bytes(problem: Problem, extents: tuple[int, int, int], batch: Sequence[int]) -> int:
    """Return the bytes of the operands."""
    m, n, k = extents
    read = 0
    for name, extent in (("a", m), ("b", n * problem.products)):
        matrices = (e for e, having in zip(batch, problem.batch, strict=True) if name in having)
        read += prod(matrices) * extent * k * item_bytes(problem.a)
    return read
