"""Host programs that launch kernels, as text."""

#: Upstream's passes for the kernels' modules, then ours, then upstream's for the host's functions.
DEVICE = (
    "gpu.module(canonicalize,cse,expand-strided-metadata,lower-affine,convert-scf-to-cf,"
    "convert-gpu-to-nvvm,convert-nvvm-to-llvm,reconcile-unrealized-casts)"
)
HOST = (
    "convert-scf-to-cf,expand-strided-metadata,convert-func-to-llvm,lower-affine,arith-expand,"
    "convert-arith-to-llvm,convert-index-to-llvm,gpu-to-llvm,reconcile-unrealized-casts"
)

STATIC, DYNAMIC = "memref<128x64xbf16>", "memref<?x64xbf16, strided<[?, 1]>>"


def kernels(matrix, name="kernels"):
    """A `gpu.module` with the kernel `copy`, each of whose CTAs copies 64 rows of a matrix by TMA."""
    tile = "!smem.tile<tensor<64x64xbf16>, #smem.auto>"
    stages = "!smem.tile<tensor<1x64x64xbf16>, #smem.auto>"
    load = f"({matrix}, {tile}, !smem.pipeline, index, index, index) -> ()"
    return f"""
  gpu.module @{name} {{
    gpu.func @copy(%x: {matrix}, %y: {matrix}) kernel
        attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
      %c0 = arith.constant 0 : index
      %c64 = arith.constant 64 : index
      %b = gpu.block_id x
      %row = arith.muli %b, %c64 : index
      %t = "smem.alloc"() : () -> {stages}
      %p = "smem.create_pipeline"() {{stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32}}
        : () -> !smem.pipeline
      "smem.elect"() ({{
        %s = "smem.producer_acquire"(%p, %c0) : (!smem.pipeline, index) -> index
        %ts = "smem.stage"(%t, %s) : ({stages}, index) -> {tile}
        "smem.tma_load"(%x, %ts, %p, %c0, %row, %c0) : {load}
        "smem.producer_commit"(%p, %c0) : (!smem.pipeline, index) -> ()
      }}) {{scope = "cta"}} : () -> ()
      %w = "smem.consumer_wait"(%p, %c0) : (!smem.pipeline, index) -> index
      %tw = "smem.stage"(%t, %w) : ({stages}, index) -> {tile}
      "smem.elect"() ({{
        "smem.tma_store"(%tw, %y, %row, %c0) : ({tile}, {matrix}, index, index) -> ()
        "smem.tma_commit"() : () -> ()
        "smem.tma_wait"() {{pending = 0 : i32, read}} : () -> ()
      }}) {{scope = "cta"}} : () -> ()
      gpu.return
    }}
  }}"""


def copying(matrix):
    """A module whose `main` copies a matrix of a type by the kernel `copy`."""
    return f"""module attributes {{gpu.container_module}} {{{kernels(matrix)}
  func.func @main(%x: {matrix}, %y: {matrix}) attributes {{llvm.emit_c_interface}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %m = memref.dim %x, %c0 : {matrix}
    %g = arith.ceildivui %m, %c64 : index
    gpu.launch_func @kernels::@copy blocks in (%g, %c1, %c1) threads in (%c128, %c1, %c1)
      args(%x : {matrix}, %y : {matrix})
    return
  }}
}}
"""
