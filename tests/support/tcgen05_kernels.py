"""Kernels that multiply by `tcgen05.mma`; tests remove or change single lines of them."""

from dataclasses import dataclass, replace

import numpy as np
from emulated import faults_of, kernel

#: The address of a kernel's operands in shared memory, and their size in bytes.
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

#: A phase takes the arrivals of 128 threads and of one commit; all threads wait for it.
ARRIVE = "%state = nvvm.mbarrier.arrive %bar : !llvm.ptr<3> -> i64"
WAIT = """scf.while : () -> () {
      %done = nvvm.mbarrier.try_wait %bar, %state : !llvm.ptr<3>, i64 -> i1
      %again = arith.xori %done, %true : i1
      scf.condition(%again)
    } do {
      scf.yield
    }"""

#: The beginning of every kernel: allocate tensor memory, initialise the mbarrier, fill shared memory.
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


#: Lines by which all threads write shared memory again.
REFILL = """scf.for %j = %tid to %words step %c128 {
      %jw = memref.load %A[%j] : memref<WORDSxi32>
      %j32 = arith.index_cast %j : index to i32
      %jp = llvm.getelementptr %data[%j32] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      llvm.store %jw, %jp : i32, !llvm.ptr<3>
    }""".replace("WORDS", str(BYTES // 4))


def tmem_address(name, lane, column=0, quarter=False):
    """Lines that compute an address of tensor memory, relative to that of the allocation."""
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
      %{name}a = arith.constant {_to_signed(a, 64)} : i64
      %{name}b = arith.constant {_to_signed(b, 64)} : i64
      %{name}i = arith.constant {_to_signed(descriptor, 32)} : i32
      %{name}e = arith.constant {"true" if adds else "false"}
      nvvm.tcgen05.mma %d, %{name}a, %{name}b, %{name}i, %{name}e {{
        kind = #nvvm.tcgen05_mma_kind<{kind}>, ctaGroup = #nvvm.cta_group<cta_1>
      }} : (!llvm.ptr<6>, i64, i64, i32, i1)"""


def scaled_mma(name, kind, block, operands, descriptor, adds, factors):
    """Lines of a block-scaled mma into %d.

    Args:
        name: a prefix of the values' names.
        kind: the instruction's.
        block: the number of elements that share a scale factor.
        operands: the descriptors of A and B.
        descriptor: the instruction descriptor.
        adds: whether it adds to D.
        factors: the columns of A's and of B's scale factors.
    """
    plain = mma(name, kind, *operands, descriptor, adds)
    before, _ = plain.split("nvvm.tcgen05.mma ")
    addresses = (
        tmem_address(f"{name}{side}", 0, column) for side, column in zip("fg", factors, strict=True)
    )
    return f"""{before}
      {" ".join(addresses)}
      nvvm.tcgen05.mma.block_scale %d, %{name}a, %{name}b, %{name}i, %{name}e, %{name}f, %{name}g {{
        kind = #nvvm.tcgen05_mma_kind<{kind}>, ctaGroup = #nvvm.cta_group<cta_1>,
        blockScale = #nvvm.tcgen05_mma_block_scale<block{block}>
      }} : (!llvm.ptr<6>, i64, i64, i32, i1, !llvm.ptr<6>, !llvm.ptr<6>)"""


def cp(name, to, descriptor):
    """Lines of a cp of shape 32x128b to an address; the descriptor is a number."""
    return f"""
      %{name} = arith.constant {_to_signed(descriptor, 64)} : i64
      nvvm.tcgen05.cp %{to}, %{name} {{
        shape = #nvvm.tcgen05_cp_shape<shape_32x128b>,
        multicast = #nvvm.tcgen05_cp_multicast<warpx4>
      }}"""


def _to_signed(value, bits):
    return value - (1 << bits) if value >> bits - 1 else value


def transfer(shape, registers):
    """The shape attribute and the type of a load or store."""
    return f"{{shape = #nvvm.tcgen05_ldst_shape<shape_{shape}>}} : vector<{registers}xi32>"


def load(name, lane, column, shape, registers):
    """Lines by which each warp loads from its quarter of the lanes."""
    address = tmem_address(f"{name}d", lane, column, quarter=True)
    return f"{address}\n    %{name} = nvvm.tcgen05.ld %{name}d {transfer(shape, registers)}"


def store(name, value, lane, column, shape, registers):
    """Lines by which each warp stores to its quarter of the lanes."""
    address = tmem_address(f"{name}d", lane, column, quarter=True)
    return f"{address}\n    nvvm.tcgen05.st %{name}d, %{value} {transfer(shape, registers)}"


@dataclass(frozen=True)
class Tcgen05Kernel:
    """A kernel of 128 threads that copies an array to shared memory and stores registers to another.

    Attributes:
        body: its lines between allocation and deallocation.
        columns: the number of columns that it allocates.
        registers: the number of registers that each thread stores.
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
        """The kernel with occurrence number `which` of a piece of its text replaced by `into`."""
        for section in ("begin", "body", "end"):
            pieces = getattr(self, section).split(line)
            if which < len(pieces) - 1:
                changed = line.join(pieces[: which + 1]) + into + line.join(pieces[which + 1 :])
                return replace(self, **{section: changed})
            which -= len(pieces) - 1
        raise AssertionError(line)

    def run(self, image=None, attributes="", grid=1):
        """Return its faults, and the registers that it stores, [128, registers]."""
        data = np.zeros(BYTES // 4, np.int32) if image is None else image.view(np.int32)
        out = np.zeros((128, self.registers), np.int32)
        types = [f"memref<{BYTES // 4}xi32>", f"memref<128x{self.registers}xi32>"]
        text = kernel(self.text, types, SYMBOLS).replace(" kernel {", f" kernel {attributes} {{")
        return faults_of(text, "k", [data, out], 128, grid), out

    def only_fault(self):
        """Its only fault."""
        faults, _ = self.run()
        assert len(faults) == 1, faults
        return faults[0]


def mma_kernel(kind, instructions, m, n, lane=0, start=None, lines=None, columns=None):
    """A kernel that issues mma, and loads and stores D.

    Args:
        kind: the instructions'.
        instructions: for each, the descriptors of A and B, the instruction descriptor, and whether it
            adds to D.
        m, n: the shape of D.
        lane: the first lane of D.
        start: the initial value of each register of D, if any.
        lines: lines that issue mma, instead of `instructions`.
        columns: the number of columns that it uses, if more than those of D.
    """
    multiply = lines or "".join(
        mma(f"m{i}", kind, *operands) for i, operands in enumerate(instructions)
    )
    halves = (0, 16) if m == 128 else (lane,)
    loads = [(half, column) for half in halves for column in range(0, n, 8)]
    lines = [tmem_address("d", lane)]
    if start is not None:
        lines.append(f"%start = arith.constant dense<{start}> : vector<4xi32>")
        lines += [store(f"s{i}", "start", *place, "16x256b", 4) for i, place in enumerate(loads)]
        lines += [WAIT_STORE, BEFORE, "gpu.barrier // stored", AFTER]
    lines.append(f"scf.if %leader {{{multiply}\n      {COMMIT}\n    }}")
    lines += [ARRIVE, WAIT, AFTER]
    lines += [load(f"r{i}", *place, "16x256b", 4) for i, place in enumerate(loads)]
    lines.append(WAIT_LOAD)
    for i in range(len(loads)):
        lines.append(f"%o{i} = arith.constant {4 * i} : index")
        lines.append(
            f"vector.store %r{i}, %B[%tid, %o{i}] : memref<128x{4 * len(loads)}xi32>, vector<4xi32>"
        )
    columns = max(32, 1 << ((columns or n) - 1).bit_length())
    return Tcgen05Kernel("\n    ".join(lines), columns, 4 * len(loads))


def matrix_of(registers, m, n):
    """D, from the registers that a kernel of `mma_kernel` stores."""
    thread, half, column, i = np.mgrid[:128, : m // 64, : n // 8, :4]
    row = thread // 32 * (m // 4) + half * 16 + thread % 32 // 4 + i // 2 * 8
    matrix = np.zeros((m, n), registers.dtype)
    matrix[row, column * 8 + thread % 4 * 2 + i % 2] = registers.reshape(row.shape)
    return matrix
