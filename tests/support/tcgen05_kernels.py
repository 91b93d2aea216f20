"""Kernels that multiply by `tcgen05.mma`, written around a few lines that tests leave out or change."""

from dataclasses import dataclass, replace

import numpy as np
from emulated import faults_of, kernel

#: Where a kernel's operands lie in shared memory, and how many bytes they have.
BASE, BYTES = 0x400, 64 * 1024

SYMBOLS = "\n".join(
    f"llvm.mlir.global internal @{name}() {{addr_space = 3 : i32{alignment}}} : !llvm.array<{type_}>"
    for name, type_, alignment in (
        ("data", f"{BYTES} x i8", ", alignment = 1024 : i64"),
        ("slot", "1 x i32", ""),
        ("bar", "1 x i64", ""),
    )
)

ALLOC = "nvvm.tcgen05.alloc %slot, %ncols : !llvm.ptr<3>, i32"
DEALLOC = "nvvm.tcgen05.dealloc %base, %ncols : !llvm.ptr<6>, i32"
PROXY_FENCE = (
    "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}"
)
COMMIT = "nvvm.tcgen05.commit %bar : !llvm.ptr<3>"
BEFORE = "nvvm.tcgen05.fence #nvvm.tcgen05_fence<before>"
AFTER = "nvvm.tcgen05.fence #nvvm.tcgen05_fence<after>"
WAIT_LOAD = "nvvm.tcgen05.wait #nvvm.tcgen05_wait<load>"
WAIT_STORE = "nvvm.tcgen05.wait #nvvm.tcgen05_wait<store>"

#: 128 threads arrive, and one commit; all wait for the phase.
ARRIVE = "%state = nvvm.mbarrier.arrive %bar : !llvm.ptr<3> -> i64"
WAIT = """scf.while : () -> () {
      %done = nvvm.mbarrier.try_wait %bar, %state : !llvm.ptr<3>, i64 -> i1
      %again = arith.xori %done, %true : i1
      scf.condition(%again)
    } do {
      scf.yield
    }"""

#: What every kernel does before: allocate, make the mbarrier, fill shared memory.
BEGIN = f"""
    %slot = llvm.mlir.addressof @slot : !llvm.ptr<3>
    %bar = llvm.mlir.addressof @bar : !llvm.ptr<3>
    %data = llvm.mlir.addressof @data : !llvm.ptr<3>
    %ncols = arith.constant COLUMNS : i32
    %count = arith.constant 129 : i32
    %words = arith.constant {BYTES // 4} : index
    %true = arith.constant true
    %zero = arith.constant 0 : i32
    %five = arith.constant 5 : i32
    %sixteen = arith.constant 16 : i32
    %warp = arith.shrui %t32, %five : i32
    %first = arith.cmpi eq, %warp, %zero : i32
    %leader = arith.cmpi eq, %t32, %zero : i32
    scf.if %first {{
      {ALLOC}
      nvvm.tcgen05.relinquish_alloc_permit
    }}
    scf.if %leader {{
      nvvm.mbarrier.init %bar, %count : !llvm.ptr<3>, i32
    }}
    scf.for %i = %tid to %words step %c128 {{
      %word = memref.load %A[%i] : memref<{BYTES // 4}xi32>
      %at = arith.index_cast %i : index to i32
      %p = llvm.getelementptr %data[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      llvm.store %word, %p : i32, !llvm.ptr<3>
    }}
    {PROXY_FENCE}
    gpu.barrier // filled
    %address = llvm.load %slot : !llvm.ptr<3> -> i32
    %base = llvm.inttoptr %address : i32 to !llvm.ptr<6>
    %quarter = arith.shli %warp, %five : i32"""

END = f"""
    gpu.barrier // before the end
    scf.if %first {{
      {DEALLOC}
    }}"""


#: Shared memory is written again.
REFILL = """scf.for %j = %tid to %words step %c128 {
      %jw = memref.load %A[%j] : memref<WORDSxi32>
      %j32 = arith.index_cast %j : index to i32
      %jp = llvm.getelementptr %data[%j32] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      llvm.store %jw, %jp : i32, !llvm.ptr<3>
    }""".replace("WORDS", str(BYTES // 4))


def at(name, lane, column=0, quarter=False):
    """Lines that make an address of tensor memory, from the allocation's on."""
    lines = [f"%{name}l = arith.constant {lane} : i32"]
    if quarter:
        lines.append(f"%{name}q = arith.addi %{name}l, %quarter : i32")
    lines += [
        f"%{name}s = arith.shli %{name}{'q' if quarter else 'l'}, %sixteen : i32",
        f"%{name}c = arith.constant {column} : i32",
        f"%{name}o = arith.ori %{name}s, %{name}c : i32",
        f"%{name}a = arith.ori %address, %{name}o : i32",
        f"%{name} = llvm.inttoptr %{name}a : i32 to !llvm.ptr<6>",
    ]
    return "\n    ".join(lines)


def mma(name, kind, a, b, descriptor, adds):
    """Lines of an mma into %d; the descriptors are numbers."""
    return f"""
      %{name}a = arith.constant {_signed(a, 64)} : i64
      %{name}b = arith.constant {_signed(b, 64)} : i64
      %{name}i = arith.constant {_signed(descriptor, 32)} : i32
      %{name}e = arith.constant {"true" if adds else "false"}
      nvvm.tcgen05.mma %d, %{name}a, %{name}b, %{name}i, %{name}e {{
        kind = #nvvm.tcgen05_mma_kind<{kind}>, ctaGroup = #nvvm.cta_group<cta_1>
      }} : (!llvm.ptr<6>, i64, i64, i32, i1)"""


def scaled_mma(name, kind, block, operands, descriptor, adds, factors):
    """Lines of an mma into %d that scales blocks.

    Args:
        name: a prefix of names.
        kind, block: the instruction's, and how many elements share a factor.
        operands: the descriptors of A and B.
        descriptor: the instruction's.
        adds: whether it adds to D.
        factors: the columns of A's and of B's scale factors.
    """
    plain = mma(name, kind, *operands, descriptor, adds)
    before, _ = plain.split("nvvm.tcgen05.mma ")
    addresses = (at(f"{name}{side}", 0, column) for side, column in zip("fg", factors, strict=True))
    return f"""{before}
      {" ".join(addresses)}
      nvvm.tcgen05.mma.block_scale %d, %{name}a, %{name}b, %{name}i, %{name}e, %{name}f, %{name}g {{
        kind = #nvvm.tcgen05_mma_kind<{kind}>, ctaGroup = #nvvm.cta_group<cta_1>,
        blockScale = #nvvm.tcgen05_mma_block_scale<block{block}>
      }} : (!llvm.ptr<6>, i64, i64, i32, i1, !llvm.ptr<6>, !llvm.ptr<6>)"""


def cp(name, to, descriptor):
    """Lines of a cp of shape 32x128b to an address; the descriptor is a number."""
    return f"""
      %{name} = arith.constant {_signed(descriptor, 64)} : i64
      nvvm.tcgen05.cp %{to}, %{name} {{
        shape = #nvvm.tcgen05_cp_shape<shape_32x128b>,
        multicast = #nvvm.tcgen05_cp_multicast<warpx4>
      }}"""


def _signed(value, bits):
    return value - (1 << bits) if value >> bits - 1 else value


def transfer(shape, registers):
    """The attribute, and the type, of a load or store."""
    return f"{{shape = #nvvm.tcgen05_ldst_shape<shape_{shape}>}} : vector<{registers}xi32>"


def load(name, lane, column, shape, registers):
    """Lines that make each warp load from its quarter."""
    address = at(f"{name}d", lane, column, quarter=True)
    return f"{address}\n    %{name} = nvvm.tcgen05.ld %{name}d {transfer(shape, registers)}"


def store(name, value, lane, column, shape, registers):
    """Lines that make each warp store to its quarter."""
    address = at(f"{name}d", lane, column, quarter=True)
    return f"{address}\n    nvvm.tcgen05.st %{name}d, %{value} {transfer(shape, registers)}"


@dataclass(frozen=True)
class TensorKernel:
    """A kernel of 128 threads: an array of bytes goes to shared memory, registers come out.

    Attributes:
        body: what it does between allocation and deallocation.
        columns: that it allocates.
        registers: of each thread, in its result.
    """

    body: str
    columns: int = 32
    registers: int = 4
    begin: str = BEGIN
    end: str = END

    @property
    def text(self):
        """The kernel's lines."""
        begin = self.begin.replace("COLUMNS", str(self.columns))
        return f"{begin}\n{self.body}\n{self.end}"

    def without(self, line, into="", which=0):
        """The kernel with one piece of its text replaced, by nothing if nothing is said."""
        for part in ("begin", "body", "end"):
            pieces = getattr(self, part).split(line)
            if which < len(pieces) - 1:
                changed = line.join(pieces[: which + 1]) + into + line.join(pieces[which + 1 :])
                return replace(self, **{part: changed})
            which -= len(pieces) - 1
        raise AssertionError(line)

    def run(self, image=None, attributes="", grid=1):
        """What it does wrong, and the registers that it stores."""
        data = np.zeros(BYTES // 4, np.int32) if image is None else image.view(np.int32)
        out = np.zeros((128, self.registers), np.int32)
        types = [f"memref<{BYTES // 4}xi32>", f"memref<128x{self.registers}xi32>"]
        text = kernel(self.text, types, SYMBOLS).replace(" kernel {", f" kernel {attributes} {{")
        return faults_of(text, "k", [data, out], 128, grid), out

    def only_fault(self):
        """The one thing that it does wrong."""
        found, _ = self.run()
        assert len(found) == 1, found
        return found[0]


def product(kind, steps, m, n, lane=0, start=None, lines=None, columns=None):
    """A kernel that multiplies, and loads D.

    Args:
        kind: of the instructions.
        steps: for each, the descriptors of A and B and its own, and whether it adds to D.
        m, n: the shape of D.
        lane: of D.
        start: what all cells of D hold before, if anything.
        lines: that multiply, if not those of the steps.
        columns: that it allocates, if not those of D.
    """
    multiply = lines or "".join(mma(f"m{i}", kind, *step) for i, step in enumerate(steps))
    halves = (0, 16) if m == 128 else (lane,)
    loads = [(half, column) for half in halves for column in range(0, n, 8)]
    lines = [at("d", lane)]
    if start is not None:
        lines.append(f"%start = arith.constant dense<{start}> : vector<4xi32>")
        lines += [store(f"s{i}", "start", *at_, "16x256b", 4) for i, at_ in enumerate(loads)]
        lines += [WAIT_STORE, BEFORE, "gpu.barrier // stored", AFTER]
    lines.append(f"scf.if %leader {{{multiply}\n      {COMMIT}\n    }}")
    lines += [ARRIVE, WAIT, AFTER]
    lines += [load(f"r{i}", *where, "16x256b", 4) for i, where in enumerate(loads)]
    lines.append(WAIT_LOAD)
    for i in range(len(loads)):
        lines.append(f"%o{i} = arith.constant {4 * i} : index")
        lines.append(
            f"vector.store %r{i}, %B[%tid, %o{i}] : memref<128x{4 * len(loads)}xi32>, vector<4xi32>"
        )
    columns = max(32, 1 << ((columns or n) - 1).bit_length())
    return TensorKernel("\n    ".join(lines), columns, 4 * len(loads))


def matrix_of(registers, m, n):
    """D of the registers that a product gives."""
    thread, half, column, i = np.mgrid[:128, : m // 64, : n // 8, :4]
    row = thread // 32 * (m // 4) + half * 16 + thread % 32 // 4 + i // 2 * 8
    found = np.zeros((m, n), registers.dtype)
    found[row, column * 8 + thread % 4 * 2 + i % 2] = registers.reshape(row.shape)
    return found
