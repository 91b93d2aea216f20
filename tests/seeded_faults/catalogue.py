"""The faults."""

from dataclasses import dataclass

from mlir_smem.layout import Swizzle
from seeded_faults.edits import (
    Edit,
    both,
    constant,
    descriptor,
    flip,
    modifier,
    only,
    sub,
    without,
)


@dataclass(frozen=True)
class Fault:
    """One fault.

    Attributes:
        name: what is wrong.
        base: the kernel that it is put into.
        edit: puts it in.
        lowered: whether into the lowered kernel, or into the one with `smem` ops.
    """

    name: str
    base: str
    edit: Edit
    lowered: bool


def _lowered(base: str, *faults: tuple[str, Edit]) -> list[Fault]:
    return [Fault(name, base, edit, True) for name, edit in faults]


def _written(base: str, *faults: tuple[str, Edit]) -> list[Fault]:
    return [Fault(name, base, edit, False) for name, edit in faults]


_DESCRIPTORS = [
    *_lowered(
        "plain",
        ("LBO of A doubled", descriptor("A", lbo=lambda d: 2 * d.lbo)),
        ("SBO of A doubled", descriptor("A", sbo=lambda d: 2 * d.sbo)),
        (
            "LBO and SBO of A exchanged",
            descriptor("A", lbo=lambda d: d.sbo, sbo=lambda d: d.lbo),
        ),
        ("LBO of B 16 bytes too small", descriptor("B", lbo=lambda d: d.lbo - 16)),
        ("SBO of B halved", descriptor("B", sbo=lambda d: d.sbo // 2)),
        ("k-step of B left out", constant("c16_i64", 0)),
    ),
    *_lowered(
        "swizzled",
        ("LBO of swizzled N-major B doubled", descriptor("B", lbo=lambda d: 2 * d.lbo)),
        ("SBO of swizzled A halved", descriptor("A", sbo=lambda d: d.sbo // 2)),
        ("swizzle 64B where the tile has 128B", descriptor("A", swizzle=lambda d: Swizzle.B64)),
        ("swizzle 32B where the tile has 64B", descriptor("B", swizzle=lambda d: Swizzle.B32)),
        ("no swizzle where the tile has 128B", descriptor("A", swizzle=lambda d: Swizzle.NONE)),
        ("base offset 1 on an aligned tile", descriptor("A", base_offset=lambda d: 1)),
        ("a bit set that no field has", flip("A", 1 << 46)),
        ("start address not divided by 16", constant("c4_i64", 0)),
        ("start address masked to 8 bits", constant("c16383_i64", 255)),
        ("start address 16 bytes off", flip("B", 1)),
        ("k-step of A doubled", sub(r"(addi %\d+), %c2_i64", r"\1, %c4_i64")),
    ),
    *_lowered("view", ("base offset of a view one bit too high", constant("c49_i64", 50))),
    *_lowered("example", ("stage of B in the wrong place", constant("c2048_i64", 1024))),
]

_INSTRUCTIONS = _lowered(
    "swizzled",
    ("A read as M-major", modifier("A", 2, "row", "col")),
    ("B read as K-major", modifier("B", 2, "row", "col")),
    ("A negated", modifier("A", 1, "one", "neg")),
    ("accumulator thrown away", modifier("D", 1, "one", "zero")),
    ("A and B exchanged", sub(r"(mma_async) (%\d+), (%\d+),", r"\1 \3, \2,")),
)

_ADDRESSES = [
    *_lowered(
        "swizzled",
        ("copy's swizzle left out", sub(r"arith\.xori (%\d+), %\d+", r"arith.ori \1, \1")),
        ("copy swizzled within 64 bytes, not 128", constant("c112_i32", 48)),
        ("copy's swizzle by the wrong rows", constant("c3_i32", 4)),
        (
            "a round of a copy 8 bytes off",
            sub(r"(getelementptr %\d+)\[4096\](.*<3>, i8)", r"\1[4104]\2"),
        ),
        ("a round of a copy in the place of another", sub(r"\[4096\](.*<3>, i8)", r"[2048]\1")),
        ("a copy beyond shared memory", sub(r"\[6144\](.*<3>, i8)", r"[65536]\1")),
        ("a copy from beyond its matrix", sub(r"\[6144\](.*<1>, bf16)", r"[65536]\1")),
        ("two tiles in the same place", sub(r"(getelementptr %1)\[16384\]", r"\1[0]")),
    ),
]

_FRAGMENTS = _lowered(
    "swizzled",
    ("registers 0 and 1 exchanged", sub(r"from_elements (%\d+), (%\d+)", r"from_elements \2, \1")),
    ("registers 2 and 4 exchanged", sub(r"(extractvalue %\d+)\[2\]", r"\1[4]")),
    ("rows of a warp counted by 8", sub(r"(muli %\d+), %c16_i32 ", r"\1, %c8_i32 ")),
    ("columns of a lane counted by 4", sub(r"(muli %\d+), %c2_i32 ", r"\1, %c4_i32 ")),
    ("rows 8 to 15 stored at 0 to 7", sub(r"(getelementptr %\d+)\[1024\](.*, f32)$", r"\1[0]\2")),
)

_SYNCHRONISATION = [
    *_written(
        "example",
        ("smem.fence left out", without('"smem.fence"')),
        ("gpu.barrier left out", without("gpu.barrier")),
        ("smem.copy_wait left out", without('"smem.copy_wait"')),
        ("smem.copy_wait for a step too few", sub(r"(copy_wait.*pending =) 1", r"\1 2")),
        ("smem.copy_commit left out before the loop", without('"smem.copy_commit"')),
        (
            "two stages where four are needed",
            sub(r"%c4 = arith\.constant 4", "%c4 = arith.constant 2"),
        ),
        ("copies into the stage that is read", sub(r"remui %next, %c4", "remui %i, %c4")),
        (
            "copies a step further ahead than the stages allow",
            both(
                sub(r"^( *)%c4 = ", r"\1%c3 = arith.constant 3 : index\n\1%c4 = "),
                sub(r"addi %i, %c2 : index", "addi %i, %c3 : index"),
            ),
        ),
        (
            "smem.wait leaves three mma in flight",
            sub(r"(%running = .*pending =) 1", r"\1 3"),
        ),
        (
            "fence before the copies have arrived",
            both(
                without('"smem.fence"'),
                sub(r'^( *)("smem.copy_wait")', r'\1"smem.fence"() : () -> ()\n\1\2'),
            ),
        ),
        ("fence by one thread only", only('"smem.fence"', "eq", 0)),
        ("barrier by one warpgroup only", only("gpu.barrier", "ult", 128)),
        ("barrier by some threads of a warp", only("gpu.barrier", "ult", 250)),
        ("copies committed by one warpgroup only", only('"smem.copy_commit"', "ult", 128)),
    ),
    *_written(
        "swizzled",
        ("tile overwritten before the mma is waited for", sub(r"(%on = .*pending =) 0", r"\1 1")),
        (
            "no barrier between the wait and the next copy",
            sub(r"^ *gpu\.barrier\n( *scf\.yield)", r"\1"),
        ),
        ("B never copied", without(r'"smem.copy"\(%gb')),
    ),
    *_lowered(
        "swizzled",
        ("wgmma.fence left out", without(r"nvvm\.wgmma\.fence")),
        ("wgmma.commit_group left out", without(r"nvvm\.wgmma\.commit")),
        (
            "last wgmma.wait_group left out, and the one in the loop",
            both(without(r"nvvm\.wgmma\.wait"), sub(r"wgmma\.wait_group\.sync\.aligned 0;", "")),
        ),
        ("smem.fence of another proxy", sub(r"async\.shared(.*), space = .*}", r"async.global\1}")),
    ),
]

_PHASES = _written(
    "pipeline",
    ("wrong phase of the full barrier", sub(r"(parity %full), %parity", r"\1, %one")),
    ("wrong phase of the empty barrier", sub(r"(parity %empty), %before", r"\1, %parity")),
    ("no wait for a full stage", without(r"try_wait\.parity %full")),
    ("no wait for an empty stage", without(r"try_wait\.parity %empty")),
    ("a full stage never announced", without(r"mbarrier\.arrive %full")),
    ("an empty stage never announced", without(r"mbarrier\.arrive %empty")),
    (
        "mbarriers that expect half of the arrivals",
        sub(r"%count = arith\.constant 32", "%count = arith.constant 16"),
    ),
    ("mbarriers used before all threads know them", without(r"gpu\.barrier")),
    ("mbarriers never initialised", without(r"mbarrier\.init")),
)

#: An arrival at the empty mbarriers, before what is read of the stage.
_EARLY = (
    r"\1\n%s0 = arith.cmpi ult, %lane, %blocks : index\nscf.if %s0 {\n"
    r"%p0 = arith.index_cast %lane : index to i32\n"
    r"%r0 = nvvm.mapa %empty, %p0 : !llvm.ptr<3> -> !llvm.ptr<7>\n"
    r"nvvm.mbarrier.arrive %r0 : !llvm.ptr<7>\n}"
)

_BULK_COPIES = _written(
    "TMA",
    ("no wait for a stage that TMA fills", without(r"try_wait\.parity %full")),
    ("wait for another phase of it", sub(r"(parity %full), %parity", r"\1, %one")),
    ("no wait for a stage to be empty before TMA fills it", without(r"try_wait\.parity %empty")),
    ("a stage never given back to TMA", without(r"mbarrier\.arrive %remote")),
    (
        "a stage given back before it is read",
        both(without(r"mbarrier\.arrive %remote"), sub(r"^( *%unit = .*)$", _EARLY)),
    ),
    ("a stage given back before all lanes have read", without(r"bar\.warp\.sync")),
    ("a stage given back without a fence after the reads", without(r"fence\.proxy")),
    (
        "bytes that nobody expects",
        sub(
            r"arrive\.expect_tx %full, %tile_bytes : !llvm.ptr<3>, i32",
            "arrive %full : !llvm.ptr<3>",
        ),
    ),
    ("more bytes expected than come", constant("tile_bytes", 16384)),
    ("fewer bytes expected than come", constant("tile_bytes", 512)),
    ("mbarriers of TMA not known before they are used", sub(r"^.*// known\n", "", 0)),
    ("mbarriers of TMA never initialised", without(r"mbarrier\.init %")),
)

_CLUSTERS = _written(
    "cluster",
    ("peers left out of the multicast mask", constant("everyone", 1)),
    ("a peer in the mask that the cluster has not", constant("everyone", 7)),
    (
        "stages given back to the block itself alone",
        both(
            sub(
                r"^ *%rank = gpu.cluster_block_id x$",
                r"\g<0>\n%mine32 = arith.index_cast %rank : index to i32",
            ),
            sub(r"mapa %empty, %peer", "mapa %empty, %mine32"),
        ),
    ),
    ("one arrival expected where two blocks must agree", constant("consumers", 1)),
    ("blocks leave while others still send", sub(r"^.*// leaves\n", "", 0)),
    ("blocks wait for others before they arrive", sub(r"^.*cluster\.arrive.*// leaves\n", "", 0)),
    ("a share sent to the wrong place", sub(r"addi %slot, %mine", "addi %slot, %c0")),
)

FAULTS: tuple[Fault, ...] = (
    *_DESCRIPTORS,
    *_INSTRUCTIONS,
    *_ADDRESSES,
    *_FRAGMENTS,
    *_SYNCHRONISATION,
    *_PHASES,
    *_BULK_COPIES,
    *_CLUSTERS,
)
