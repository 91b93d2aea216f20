// RUN: smem-opt %s --smem-lower-copies | FileCheck %s

// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
"smem.fence"() : () -> ()
