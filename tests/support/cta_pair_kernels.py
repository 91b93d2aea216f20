"""Kernels in which the two CTAs of a pair multiply together by `tcgen05.mma` of `cta_group::2`."""

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
    Tcgen05Kernel,
    load,
    matrix_of,
    mma,
    tmem_address,
)

CLUSTER = "attributes {known_cluster_size = array<i32: CTAS, 1, 1>}"

PAIR_SYMBOL = "llvm.mlir.global internal @pair_bar() {addr_space = 3 : i32} : !llvm.array<1 x i64>"

#: Makes the mbarriers visible to all threads of the cluster.
CLUSTER_BARRIER = "nvvm.cluster.arrive {aligned}\n    nvvm.cluster.wait {aligned}"

#: The even CTA's commit arrives at the mbarriers of both CTAs.
COMMIT_BOTH = (
    "nvvm.tcgen05.commit %bar, multicast_mask = %both {group = #nvvm.cta_group<cta_2>} "
    ": !llvm.ptr<3>, i16"
)

_ALLOCATION = [
    ("%slot, %ncols :", "%slot, %ncols {group = #nvvm.cta_group<cta_2>} :"),
    ("%base, %ncols :", "%base, %ncols {group = #nvvm.cta_group<cta_2>} :"),
    ("relinquish_alloc_permit", "relinquish_alloc_permit {group = #nvvm.cta_group<cta_2>}"),
]


def with_pair_allocation(text):
    """Return lines with the allocation ops of `cta_group::1` replaced by those of `cta_group::2`."""
    for one, two in _ALLOCATION:
        text = text.replace(one, two)
    return text


PAIR_BEGIN = with_pair_allocation(
    """
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    %cta = arith.index_cast %rank : i32 to index
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %three = arith.constant 3 : i32
    %odd = arith.andi %rank, %one : i32
    %even = arith.cmpi ne, %odd, %one : i32
    %peer = arith.xori %rank, %one : i32
    %lower = arith.minui %rank, %peer : i32
    %both32 = arith.shli %three, %lower : i32
    %both = arith.trunci %both32 : i32 to i16
    %pair_bar = llvm.mlir.addressof @pair_bar : !llvm.ptr<3>
    %peer_bar = nvvm.mapa %pair_bar, %peer : !llvm.ptr<3> -> !llvm.ptr<7>"""
    + BEGIN.replace("%A[%i] : memref<", "%A[%cta, %i] : memref<CTASx")
    .replace(
        "nvvm.mbarrier.init %bar, %count",
        "nvvm.mbarrier.init %pair_bar, %two : !llvm.ptr<3>, i32\n      nvvm.mbarrier.init %bar, %count",
    )
    .replace("scf.for %i", f"{CLUSTER_BARRIER}\n    scf.for %i")
    + "\n    %issues = arith.andi %leader, %even : i1"
)

PAIR_END = with_pair_allocation(END)


def wait_for(name, bar="%bar", state="%state"):
    """Lines that wait for a phase of an mbarrier; `name` is a prefix of their values' names."""
    lines = WAIT.replace("%bar,", f"{bar},").replace("%state :", f"{state} :")
    return lines.replace("%done", f"%{name}done").replace("%again", f"%{name}again")


def pair_barrier(name):
    """Lines by which the leaders of the two CTAs wait for each other."""
    return f"""scf.if %leader {{
      %{name} = nvvm.mbarrier.arrive %pair_bar : !llvm.ptr<3> -> i64
      nvvm.mbarrier.arrive %peer_bar : !llvm.ptr<7> // {name}
      {wait_for(name, "%pair_bar", f"%{name}")}
      {AFTER}
    }}"""


def finish(name):
    """Lines by which all threads of both CTAs wait until the mma are complete."""
    return f"""{ARRIVE.replace("%state", f"%{name}state")}
    {pair_barrier(f"{name}over")}
    scf.if %issues {{ {COMMIT_BOTH} }}
    {wait_for(name, state=f"%{name}state")}
    {AFTER}"""


def issue(name, instructions, kind="f16"):
    """Lines by which the even CTA's leader issues mma; `instructions` as of `mma_kernel`."""
    lines = "".join(mma(f"{name}{i}", kind, *operands) for i, operands in enumerate(instructions))
    return f"scf.if %issues {{{lines}\n    }}".replace("cta_1", "cta_2")


def load_columns(name, width):
    """Return lines that load `width` columns of all lanes, and the number of registers of a thread."""
    places = [(half, column) for half in (0, 16) for column in range(0, width, 8)]
    lines = [load(f"{name}{i}", *place, "16x256b", 4) for i, place in enumerate(places)]
    return "\n    ".join([*lines, WAIT_LOAD]), 4 * len(places)


def store_result(name, registers, first, count):
    """Lines that store `count` loaded registers to the result, from register `first` on."""
    lines = []
    for i in range(count // 4):
        lines.append(f"%{name}o{i} = arith.constant {first + 4 * i} : index")
        lines.append(
            f"vector.store %{name}{i}, %B[%cta, %tid, %{name}o{i}] "
            f": memref<CTASx128x{registers}xi32>, vector<4xi32>"
        )
    return "\n    ".join(lines)


@dataclass(frozen=True)
class PairKernel(Tcgen05Kernel):
    """A kernel of clusters of two CTAs or more, each with its own bytes and registers."""

    begin: str = PAIR_BEGIN
    end: str = PAIR_END
    ctas: int = 2

    def run(self, image=None):
        """Return its faults, and the registers that each CTA stores; `image` is [CTAs, bytes]."""
        shape = self.ctas, BYTES // 4
        data = np.zeros(shape, np.int32) if image is None else image.view(np.int32)
        out = np.zeros((self.ctas, 128, self.registers), np.int32)
        sizes = "x".join(map(str, shape)), "x".join(map(str, out.shape))
        text = kernel(self.text, [f"memref<{s}xi32>" for s in sizes], f"{SYMBOLS}\n{PAIR_SYMBOL}")
        text = text.replace(" kernel {", f" kernel {CLUSTER} {{")
        text = text.replace("CTAS", str(self.ctas))
        return faults_of(text, "k", [data, out], 128, self.ctas), out


def with_early_return(kernel, after, before_return=""):
    """The kernel, in which the odd CTA returns after some lines; first it executes `before_return`."""
    lines = f"""{after}
    cf.cond_br %even, ^stays, ^leaves
  ^leaves:
    {before_return}
    gpu.return
  ^stays:"""
    return replace(kernel.without(after, lines), end=f"{kernel.end}\n    gpu.return")


def pair_kernel(instructions, m, n, kind="f16"):
    """A kernel in which a CTA pair issues some mma, and loads and stores D."""
    width = n if m == 256 else n // 2
    lines, registers = load_columns("r", width)
    body = [
        tmem_address("d", 0),
        pair_barrier("begin"),
        issue("m", instructions, kind),
        finish("end"),
        lines,
        store_result("r", registers, 0, registers),
    ]
    columns = max(32, 1 << (width - 1).bit_length())
    return PairKernel("\n    ".join(body), columns, registers)


def pair_matrix(registers, m, n):
    """D, from the registers of the two CTAs: layouts A and B of the PTX ISA."""
    if m == 256:
        return np.concatenate([matrix_of(of_cta, 128, n) for of_cta in registers])
    cells = [matrix_of(of_cta, 128, n // 2) for of_cta in registers]
    return np.concatenate([np.concatenate([c[:64], c[64:]], 1) for c in cells])
