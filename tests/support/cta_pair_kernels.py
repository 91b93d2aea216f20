"""Kernels in which the two blocks of a cluster multiply together by `tcgen05.mma` of `cta_group::2`."""

from dataclasses import dataclass, replace

import numpy as np
from emulated import faults_of, kernel
from tcgen05_kernels import (
    AFTER,
    ARRIVE,
    BEGIN,
    BYTES,
    END,
    SYMBOLS,
    WAIT,
    WAIT_LOAD,
    TensorKernel,
    at,
    load,
    matrix_of,
    mma,
)

CLUSTER = "attributes {known_cluster_size = array<i32: BLOCKS, 1, 1>}"

MEET_SYMBOL = "llvm.mlir.global internal @meet() {addr_space = 3 : i32} : !llvm.array<1 x i64>"

#: All threads of the cluster know the mbarriers.
CLUSTER_BARRIER = "nvvm.cluster.arrive {aligned}\n    nvvm.cluster.wait {aligned}"

#: The even block's commit arrives in both blocks.
COMMIT_BOTH = (
    "nvvm.tcgen05.commit %bar, multicast_mask = %both {group = #nvvm.cta_group<cta_2>} "
    ": !llvm.ptr<3>, i16"
)

_ALLOCATION = [
    ("%slot, %ncols :", "%slot, %ncols {group = #nvvm.cta_group<cta_2>} :"),
    ("%base, %ncols :", "%base, %ncols {group = #nvvm.cta_group<cta_2>} :"),
    ("relinquish_alloc_permit", "relinquish_alloc_permit {group = #nvvm.cta_group<cta_2>}"),
]


def paired(text):
    """Lines with the allocation of one block made that of a pair."""
    for one, two in _ALLOCATION:
        text = text.replace(one, two)
    return text


PAIR_BEGIN = paired(
    """
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    %block = arith.index_cast %rank : i32 to index
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %three = arith.constant 3 : i32
    %odd = arith.andi %rank, %one : i32
    %even = arith.cmpi ne, %odd, %one : i32
    %peer = arith.xori %rank, %one : i32
    %lower = arith.minui %rank, %peer : i32
    %both32 = arith.shli %three, %lower : i32
    %both = arith.trunci %both32 : i32 to i16
    %meet = llvm.mlir.addressof @meet : !llvm.ptr<3>
    %there = nvvm.mapa %meet, %peer : !llvm.ptr<3> -> !llvm.ptr<7>"""
    + BEGIN.replace("%A[%i] : memref<", "%A[%block, %i] : memref<BLOCKSx")
    .replace(
        "nvvm.mbarrier.init %bar, %count",
        "nvvm.mbarrier.init %meet, %two : !llvm.ptr<3>, i32\n      nvvm.mbarrier.init %bar, %count",
    )
    .replace("scf.for %i", f"{CLUSTER_BARRIER}\n    scf.for %i")
    + "\n    %issues = arith.andi %leader, %even : i1"
)

PAIR_END = paired(END)


def waits(name, bar="%bar", state="%state"):
    """Lines that wait for a phase; values have a name of their own."""
    lines = WAIT.replace("%bar,", f"{bar},").replace("%state :", f"{state} :")
    return lines.replace("%done", f"%{name}done").replace("%again", f"%{name}again")


def meeting(name):
    """Lines by which the leaders of the two blocks wait for each other."""
    return f"""scf.if %leader {{
      %{name} = nvvm.mbarrier.arrive %meet : !llvm.ptr<3> -> i64
      nvvm.mbarrier.arrive %there : !llvm.ptr<7> // {name}
      {waits(name, "%meet", f"%{name}")}
      {AFTER}
    }}"""


def finish(name):
    """Lines by which all threads of both blocks learn that the products are over."""
    return f"""{ARRIVE.replace("%state", f"%{name}state")}
    {meeting(f"{name}over")}
    scf.if %issues {{ {COMMIT_BOTH} }}
    {waits(name, state=f"%{name}state")}
    {AFTER}"""


def multiplied(name, steps, kind="f16"):
    """Lines by which the even block's leader multiplies; steps as of `tensor_kernels.product`."""
    lines = "".join(mma(f"{name}{i}", kind, *step) for i, step in enumerate(steps))
    return f"scf.if %issues {{{lines}\n    }}".replace("cta_1", "cta_2")


def loaded(name, width):
    """Lines that load `width` columns of all lanes, and how many registers that are."""
    places = [(half, column) for half in (0, 16) for column in range(0, width, 8)]
    lines = [load(f"{name}{i}", *place, "16x256b", 4) for i, place in enumerate(places)]
    return "\n    ".join([*lines, WAIT_LOAD]), 4 * len(places)


def written(name, registers, first, count):
    """Lines that write what was loaded to the result, from a register on."""
    lines = []
    for i in range(count // 4):
        lines.append(f"%{name}o{i} = arith.constant {first + 4 * i} : index")
        lines.append(
            f"vector.store %{name}{i}, %B[%block, %tid, %{name}o{i}] "
            f": memref<BLOCKSx128x{registers}xi32>, vector<4xi32>"
        )
    return "\n    ".join(lines)


@dataclass(frozen=True)
class PairKernel(TensorKernel):
    """A kernel of clusters of two blocks or more, each with its bytes and its registers."""

    begin: str = PAIR_BEGIN
    end: str = PAIR_END
    blocks: int = 2

    def run(self, image=None):
        """What it does wrong, and the registers that each block stores; `image` is [blocks, bytes]."""
        shape = self.blocks, BYTES // 4
        data = np.zeros(shape, np.int32) if image is None else image.view(np.int32)
        out = np.zeros((self.blocks, 128, self.registers), np.int32)
        sizes = "x".join(map(str, shape)), "x".join(map(str, out.shape))
        text = kernel(self.text, [f"memref<{s}xi32>" for s in sizes], f"{SYMBOLS}\n{MEET_SYMBOL}")
        text = text.replace(" kernel {", f" kernel {CLUSTER} {{")
        text = text.replace("BLOCKS", str(self.blocks))
        return faults_of(text, "k", [data, out], 128, self.blocks), out


def leaving(kernel, after, what=""):
    """A kernel, in which the odd block, after some lines, does something and returns."""
    lines = f"""{after}
    cf.cond_br %even, ^stays, ^leaves
  ^leaves:
    {what}
    gpu.return
  ^stays:"""
    return replace(kernel.without(after, lines), end=f"{kernel.end}\n    gpu.return")


def pair_product(steps, m, n, kind="f16"):
    """A kernel in which two blocks multiply once, and load D."""
    width = n if m == 256 else n // 2
    lines, registers = loaded("r", width)
    body = [
        at("d", 0),
        meeting("begin"),
        multiplied("m", steps, kind),
        finish("end"),
        lines,
        written("r", registers, 0, registers),
    ]
    columns = max(32, 1 << (width - 1).bit_length())
    return PairKernel("\n    ".join(body), columns, registers)


def pair_matrix(registers, m, n):
    """D of the registers of the two blocks: layouts A and B of the PTX ISA."""
    if m == 256:
        return np.concatenate([matrix_of(of_block, 128, n) for of_block in registers])
    cells = [matrix_of(of_block, 128, n // 2) for of_block in registers]
    return np.concatenate([np.concatenate([c[:64], c[64:]], 1) for c in cells])
