"""The list of faults."""

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
    """A fault in a kernel.

    Attributes:
        name: a description of the fault.
        base: the name of the kernel.
        edit: the edit of the kernel's text.
        lowered: whether the lowered kernel is edited, or the one with `smem` ops.
    """

    name: str
    base: str
    edit: Edit
    lowered: bool


def _in_nvvm(base: str, *faults: tuple[str, Edit]) -> list[Fault]:
    return [Fault(name, base, edit, True) for name, edit in faults]


def _in_smem_ops(base: str, *faults: tuple[str, Edit]) -> list[Fault]:
    return [Fault(name, base, edit, False) for name, edit in faults]


_DESCRIPTORS = [
    *_in_nvvm(
        "plain",
        ("LBO of A doubled", descriptor("A", lbo=lambda d: 2 * d.lbo)),
        ("SBO of A doubled", descriptor("A", sbo=lambda d: 2 * d.sbo)),
        (
            "LBO and SBO of A exchanged",
            descriptor("A", lbo=lambda d: d.sbo, sbo=lambda d: d.lbo),
        ),
        ("LBO of B 16 bytes too small", descriptor("B", lbo=lambda d: d.lbo - 16)),
        ("SBO of B halved", descriptor("B", sbo=lambda d: d.sbo // 2)),
        ("K-block increment of B left out", constant("c16_i64", 0)),
    ),
    *_in_nvvm(
        "swizzled",
        ("LBO of swizzled N-major B doubled", descriptor("B", lbo=lambda d: 2 * d.lbo)),
        ("SBO of swizzled A halved", descriptor("A", sbo=lambda d: d.sbo // 2)),
        ("swizzle 64B where the tile has 128B", descriptor("A", swizzle=lambda d: Swizzle.B64)),
        ("swizzle 32B where the tile has 64B", descriptor("B", swizzle=lambda d: Swizzle.B32)),
        ("no swizzle where the tile has 128B", descriptor("A", swizzle=lambda d: Swizzle.NONE)),
        ("base offset 1 on an aligned tile", descriptor("A", base_offset=lambda d: 1)),
        ("a bit set outside of all fields", flip("A", 1 << 46)),
        ("start address not divided by 16", constant("c4_i64", 0)),
        ("start address masked to 8 bits", constant("c16383_i64", 255)),
        ("start address 16 bytes off", flip("B", 1)),
        ("K-block increment of A doubled", sub(r"(addi %\d+), %c2_i64", r"\1, %c4_i64")),
    ),
    *_in_nvvm("view", ("base offset of a view one bit too high", constant("c49_i64", 50))),
    *_in_nvvm("example", ("wrong stride between stages of B", constant("c2048_i64", 1024))),
]

_INSTRUCTIONS = _in_nvvm(
    "swizzled",
    ("A read as M-major", modifier("A", 2, "row", "col")),
    ("B read as K-major", modifier("B", 2, "row", "col")),
    ("A negated", modifier("A", 1, "one", "neg")),
    ("accumulator not read", modifier("D", 1, "one", "zero")),
    ("A and B exchanged", sub(r"(mma_async) (%\d+), (%\d+),", r"\1 \3, \2,")),
)

_ADDRESSES = [
    *_in_nvvm(
        "swizzled",
        ("copy's swizzle left out", sub(r"arith\.xori (%\d+), %\d+", r"arith.ori \1, \1")),
        ("copy swizzled within 64 bytes, not 128", constant("c112_i32", 48)),
        ("copy's swizzle from the wrong row bits", constant("c3_i32", 4)),
        (
            "a round of a copy 8 bytes off",
            sub(r"(getelementptr %\d+)\[4096\](.*<3>, i8)", r"\1[4104]\2"),
        ),
        ("two rounds of a copy at the same address", sub(r"\[4096\](.*<3>, i8)", r"[2048]\1")),
        ("a copy beyond shared memory", sub(r"\[6144\](.*<3>, i8)", r"[65536]\1")),
        ("a copy from beyond its matrix", sub(r"\[6144\](.*<1>, bf16)", r"[65536]\1")),
        ("two tiles at the same address", sub(r"(getelementptr %1)\[16384\]", r"\1[0]")),
    ),
]

_FRAGMENTS = _in_nvvm(
    "swizzled",
    ("registers 0 and 1 exchanged", sub(r"from_elements (%\d+), (%\d+)", r"from_elements \2, \1")),
    ("registers 2 and 4 exchanged", sub(r"(extractvalue %\d+)\[2\]", r"\1[4]")),
    ("8 rows for each warp instead of 16", sub(r"(muli %\d+), %c16_i32 ", r"\1, %c8_i32 ")),
    ("4 columns for each lane instead of 2", sub(r"(muli %\d+), %c2_i32 ", r"\1, %c4_i32 ")),
    ("rows 8 to 15 stored at 0 to 7", sub(r"(getelementptr %\d+)\[1024\](.*, f32)$", r"\1[0]\2")),
)

_SYNCHRONISATION = [
    *_in_smem_ops(
        "example",
        ("smem.fence left out", without('"smem.fence"')),
        ("gpu.barrier left out", without("gpu.barrier")),
        ("smem.copy_wait left out", without('"smem.copy_wait"')),
        ("smem.copy_wait leaves one more group pending", sub(r"(copy_wait.*pending =) 1", r"\1 2")),
        ("smem.copy_commit left out before the loop", without('"smem.copy_commit"')),
        (
            "two stages where four are needed",
            sub(r"%c4 = arith\.constant 4", "%c4 = arith.constant 2"),
        ),
        ("copies into the stage that is read", sub(r"remui %next, %c4", "remui %i, %c4")),
        (
            "copies one iteration further ahead than the stages allow",
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
        (
            "rows of a warpgroup beyond its tile",
            sub(r"muli %warpgroup, %c64", "muli %warpgroup, %c128"),
        ),
        ("stages that do not begin again", sub(r"remui (%\w+), %c4", r"addi \1, %c0")),
        ("fence by one thread only", only('"smem.fence"', "eq", 0)),
        ("barrier by one warpgroup only", only("gpu.barrier", "ult", 128)),
        ("barrier by some threads of a warp", only("gpu.barrier", "ult", 250)),
        ("copies committed by one warpgroup only", only('"smem.copy_commit"', "ult", 128)),
    ),
    *_in_smem_ops(
        "swizzled",
        ("tile overwritten before the mma is waited for", sub(r"(%on = .*pending =) 0", r"\1 1")),
        (
            "no barrier between the wait and the next copy",
            sub(r"^ *gpu\.barrier\n( *scf\.yield)", r"\1"),
        ),
        ("B never copied", without(r'"smem.copy"\(%gb')),
    ),
    *_in_nvvm(
        "swizzled",
        ("wgmma.fence left out", without(r"nvvm\.wgmma\.fence")),
        ("wgmma.commit_group left out", without(r"nvvm\.wgmma\.commit")),
        (
            "last wgmma.wait_group left out, and the one in the loop",
            both(without(r"nvvm\.wgmma\.wait"), sub(r"wgmma\.wait_group\.sync\.aligned 0;", "")),
        ),
        (
            "smem.fence for global memory",
            sub(r"async\.shared(.*), space = .*}", r"async.global\1}"),
        ),
    ),
]

_PHASES = _in_smem_ops(
    "pipeline",
    ("wrong phase of the full barrier", sub(r"(parity %full), %parity", r"\1, %one")),
    ("wrong phase of the empty barrier", sub(r"(parity %empty), %before", r"\1, %parity")),
    ("no wait for a full stage", without(r"try_wait\.parity %full")),
    ("no wait for an empty stage", without(r"try_wait\.parity %empty")),
    ("no arrival at the full barrier", without(r"mbarrier\.arrive %full")),
    ("no arrival at the empty barrier", without(r"mbarrier\.arrive %empty")),
    (
        "mbarriers that expect half of the arrivals",
        sub(r"%count = arith\.constant 32", "%count = arith.constant 16"),
    ),
    ("no barrier after the mbarriers are initialised", without(r"gpu\.barrier")),
    ("mbarriers never initialised", without(r"mbarrier\.init")),
)

#: An arrival at the empty mbarriers, before the stage is read.
_EARLY = (
    r"\1\n%s0 = arith.cmpi ult, %lane, %blocks : index\nscf.if %s0 {\n"
    r"%p0 = arith.index_cast %lane : index to i32\n"
    r"%r0 = nvvm.mapa %empty, %p0 : !llvm.ptr<3> -> !llvm.ptr<7>\n"
    r"nvvm.mbarrier.arrive %r0 : !llvm.ptr<7>\n}"
)

_BULK_COPIES = _in_smem_ops(
    "TMA",
    ("no wait for a stage that TMA fills", without(r"try_wait\.parity %full")),
    (
        "wait for the wrong phase of a stage that TMA fills",
        sub(r"(parity %full), %parity", r"\1, %one"),
    ),
    ("no wait for a stage to be empty before TMA fills it", without(r"try_wait\.parity %empty")),
    ("a stage never released to TMA", without(r"mbarrier\.arrive %remote")),
    (
        "a stage released before it is read",
        both(without(r"mbarrier\.arrive %remote"), sub(r"^( *%unit = .*)$", _EARLY)),
    ),
    ("a stage released before all lanes have read it", without(r"bar\.warp\.sync")),
    ("a stage released without a fence after the reads", without(r"fence\.proxy")),
    (
        "bytes that the mbarrier does not expect",
        sub(
            r"arrive\.expect_tx %full, %tile_bytes : !llvm.ptr<3>, i32",
            "arrive %full : !llvm.ptr<3>",
        ),
    ),
    ("more bytes expected than copied", constant("tile_bytes", 16384)),
    ("fewer bytes expected than copied", constant("tile_bytes", 512)),
    ("no barrier after the mbarriers of TMA are initialised", sub(r"^.*// known\n", "", 0)),
    ("mbarriers of TMA never initialised", without(r"mbarrier\.init %")),
)

_CLUSTERS = _in_smem_ops(
    "cluster",
    ("peer CTAs left out of the multicast mask", constant("everyone", 1)),
    ("a CTA outside the cluster in the multicast mask", constant("everyone", 7)),
    (
        "stages released only to the CTA itself",
        both(
            sub(
                r"^ *%rank = gpu.cluster_block_id x$",
                r"\g<0>\n%mine32 = arith.index_cast %rank : index to i32",
            ),
            sub(r"mapa %empty, %peer", "mapa %empty, %mine32"),
        ),
    ),
    ("one arrival expected instead of one from each CTA", constant("consumers", 1)),
    ("CTAs return before the copies of others complete", sub(r"^.*// leaves\n", "", 0)),
    (
        "cluster barrier waited for without an arrival",
        sub(r"^.*cluster\.arrive.*// leaves\n", "", 0),
    ),
    (
        "a CTA's part of a tile loaded to the wrong address",
        sub(r"addi %slot, %mine", "addi %slot, %c0"),
    ),
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
