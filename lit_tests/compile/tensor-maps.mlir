// A tensor map is a parameter of 128 bytes, passed by value, after the parameters of the matrices; the manifest
// states what the host encodes. A cluster size becomes a directive.

// RUN: smem-compile %s --emit=ptx -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file %t.ptx
// RUN: FileCheck %s --check-prefix=MANIFEST --input-file %t.json

// PTX: .visible .entry fetch(
// PTX: .param .u64 .ptr {{.*}}fetch_param_0
// PTX: .param .align 64 .b8 [[MAP:fetch_param_[0-9]+]][128]
// PTX-NEXT: )
// PTX: .maxntid 128, 1, 1
// PTX: .reqnctapercluster 2, 1, 1
// PTX: mov.b64 [[AT:%rd[0-9]+]], [[MAP]];
// PTX: cvta.param.u64 [[GENERIC:%rd[0-9]+]], [[AT]];
// PTX: prefetch.param.tensormap {{.}}[[AT]]
// PTX: mbarrier.init.shared.b64
// PTX: barrier.cluster.arrive.aligned;
// PTX: mbarrier.expect_tx
// PTX: cp.async.bulk.tensor.2d.shared::cluster.global{{.*}}.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [{{.*}}], {{.}}[[GENERIC]],
// PTX: mapa.shared::cluster
// PTX: mbarrier.arrive{{.*}}shared::cluster

// MANIFEST: "entry": "fetch",
// MANIFEST: "name": "A",
// MANIFEST: "cluster": [
// MANIFEST-NEXT: 2,
// MANIFEST-NEXT: 1,
// MANIFEST-NEXT: 1
// MANIFEST-NEXT: ],
// MANIFEST: "tensor_maps": [
// MANIFEST-NEXT: {
// MANIFEST-NEXT: "argument": "A",
// MANIFEST-NEXT: "box": [
// MANIFEST-NEXT: 32,
// MANIFEST-NEXT: 64
// MANIFEST-NEXT: ],
// MANIFEST-NEXT: "contiguous": 1,
// MANIFEST-NEXT: "element": "bf16",
// MANIFEST-NEXT: "swizzle": "128B"
// MANIFEST-NEXT: }
// MANIFEST-NEXT: ]

!matrix = memref<?x?xbf16, strided<[?, 1]>>
!tile = !smem.tile<tensor<64x64xbf16>, #smem.auto>

gpu.module @kernels {
  gpu.func @fetch(%A: !matrix {smem.name = "A"}) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
    %c0 = arith.constant 0 : index
    %pipeline = "smem.create_pipeline"() {stages = 1 : i32, producers = 1 : i32, consumers = 1 : i32} : () -> !smem.pipeline
    %t = "smem.alloc"() : () -> !tile
    "smem.elect"() ({
      %slot = "smem.producer_acquire"(%pipeline, %c0) : (!smem.pipeline, index) -> index
      "smem.tma_load"(%A, %t, %pipeline, %c0, %c0, %c0) {multicast = "x", cache = "evict_last"} : (!matrix, !tile, !smem.pipeline, index, index, index) -> ()
      "smem.producer_commit"(%pipeline, %c0) : (!smem.pipeline, index) -> ()
    }) {scope = "cta"} : () -> ()
    %ready = "smem.consumer_wait"(%pipeline, %c0) : (!smem.pipeline, index) -> index
    "smem.consumer_release"(%pipeline, %c0) : (!smem.pipeline, index) -> ()
    gpu.return
  }
}
