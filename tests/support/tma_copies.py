"""Kernels of one warp that copy boxes of arrays by bulk tensor copies (TMA)."""

import numpy as np
from emulated import faults_of, memref

#: The address of shared memory. The box is stored there, and its mbarrier behind the box.
START = 0x400

WIDTHS = {"none": 0, "32B": 32, "64B": 64, "128B": 128, "128B_ATOM_32B": 128}


def map_type(box, element, swizzle, contiguous, argument=0):
    """The type of an argument that is a tensor map."""
    return (
        f"!llvm.ptr {{smem.tensor_map = {{argument = {argument} : i64, box = array<i64: "
        f'{", ".join(map(str, box))}>, contiguous = {contiguous} : i64, element = "{element}", '
        f'swizzle = "{swizzle}"}}}}'
    )


def kernel(body, arrays, maps, size, attributes=""):
    """A module with a kernel `k` of one warp, which has an mbarrier %bar and `size` bytes at %at."""
    names = [f"%{name}: {memref(a)}" for name, a in zip("ABCDEF", arrays, strict=False)]
    names += [f"%map{number}: {type_}" for number, type_ in enumerate(maps)]
    numbers = "\n".join(f"%i{n} = arith.constant {n} : i32" for n in (0, 1, 32))
    return f"""gpu.module @m {{
  gpu.func @k({", ".join(names)}) kernel {attributes} {{
    {numbers}
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %words = arith.constant {size // 4} : index
    %bytes = arith.constant {size} : i32
    %ticks = arith.constant 1000 : i32
    %tid = gpu.thread_id x
    %first = arith.cmpi eq, %tid, %c0 : index
    %atn = arith.constant {START} : i64
    %at = llvm.inttoptr %atn : i64 to !llvm.ptr<3>
    %to = llvm.addrspacecast %at : !llvm.ptr<3> to !llvm.ptr<7>
    %barn = arith.constant {START + size} : i64
    %bar = llvm.inttoptr %barn : i64 to !llvm.ptr<3>
    scf.if %first {{ nvvm.mbarrier.init %bar, %i1 : !llvm.ptr<3>, i32 }}
    gpu.barrier
    {body}
    gpu.return
  }}
}}
"""


def constants(coordinates):
    """Lines that define the coordinates of a box."""
    return "\n".join(f"%x{d} = arith.constant {c} : i32" for d, c in enumerate(coordinates))


def names_of(coordinates):
    """The names of the coordinates of a box."""
    return ", ".join(f"%x{d}" for d in range(len(coordinates)))


def load(coordinates, map_="%map0", more=""):
    """Lines by which thread 0 loads a box; the contiguous coordinate is the first of `coordinates`."""
    return f"""{constants(coordinates)}
    scf.if %first {{
      nvvm.mbarrier.arrive.expect_tx %bar, %bytes : !llvm.ptr<3>, i32
      nvvm.cp.async.bulk.tensor.shared.cluster.global %to, {map_}, %bar, box[{names_of(coordinates)}]
        : !llvm.ptr<7>, !llvm.ptr
      {more}
    }}"""


WAIT = "nvvm.mbarrier.try_wait.parity %bar, %i0, %ticks : !llvm.ptr<3>, i32, i32"


def dump(name, size):
    """Lines by which all threads copy the shared bytes to an array of i32."""
    return f"""scf.for %w = %c0 to %words step %c32 {{
      %word = arith.addi %w, %tid : index
      %word32 = arith.index_cast %word : index to i32
      %where = llvm.getelementptr %at[%word32] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %value = llvm.load %where : !llvm.ptr<3> -> i32
      memref.store %value, %{name}[%word] : memref<{size // 4}xi32>
    }}"""


def store(coordinates, map_="%map0", end="nvvm.cp.async.bulk.wait_group 0 {read}"):
    """Lines by which thread 0 stores the box."""
    return f"""{constants(coordinates)}
    scf.if %first {{
      nvvm.cp.async.bulk.tensor.global.shared.cta {map_}, %at, box[{names_of(coordinates)}]
        : !llvm.ptr, !llvm.ptr<3>
      nvvm.cp.async.bulk.commit.group
      {end}
    }}"""


FILL = """scf.for %w = %c0 to %words step %c32 {
      %word = arith.addi %w, %tid : index
      %word32 = arith.index_cast %word : index to i32
      %where = llvm.getelementptr %at[%word32] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      llvm.store %word32, %where : i32, !llvm.ptr<3>
    }"""
FENCE = "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}"


def faults_of_copies(body, size=1024, box=(16, 16), swizzle="none", attributes=""):
    """The faults of a kernel that copies boxes of an array of 32x32 f32."""
    array = np.ones((32, 32), np.float32)
    result = np.zeros(size // 4, np.int32)
    text = kernel(body, [array, result], [map_type(box, "f32", swizzle, 1)], size, attributes)
    return faults_of(text, "k", (array, result), shared=size + 8)
