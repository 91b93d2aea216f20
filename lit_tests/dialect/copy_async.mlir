// RUN: smem-opt %s | smem-opt | FileCheck %s

!rows = !smem.tile<tensor<128x64xbf16>, #smem.auto>

func.func @copy_async(%m: memref<128x64xbf16>, %t: !rows) {
  // CHECK: "smem.copy_async"(%{{.*}}, %{{.*}}) : (memref<128x64xbf16>, !smem.tile<tensor<128x64xbf16>, #smem.auto>) -> ()
  "smem.copy_async"(%m, %t) : (memref<128x64xbf16>, !rows) -> ()
  return
}
