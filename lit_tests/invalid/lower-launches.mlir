// RUN: smem-opt %s --smem-lower-launches --split-input-file --verify-diagnostics -o %{empty}

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k() kernel {
      %t = "smem.alloc"() : () -> !smem.tile<tensor<64x64xbf16>, #smem.auto>
      gpu.return
    }
  }
  func.func @host(%n: index) {
    // expected-error@below {{'gpu.launch_func' op launches @kernels::@k, which has a 'smem.alloc'; run smem-to-nvvm before smem-lower-launches}}
    gpu.launch_func @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%a: !llvm.ptr) kernel {
      gpu.return
    }
  }
  func.func @host(%n: index, %x: memref<64x64xbf16>) {
    %a = builtin.unrealized_conversion_cast %x : memref<64x64xbf16> to !llvm.ptr
      {smem.tensor_map = {argument = 0 : i64, box = array<i64: 64, 64>, contiguous = 1 : i64, element = "bf16", swizzle = "128B"}}
    // expected-error@below {{launches @kernels::@k, which is a gpu.func and takes tensor maps; run gpu.module(convert-gpu-to-nvvm) before smem-lower-launches}}
    gpu.launch_func @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%a : !llvm.ptr)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_90a">, "code">]
  func.func @host(%n: index, %x: memref<64x64xbf16>) {
    %a = builtin.unrealized_conversion_cast %x : memref<64x64xbf16> to !llvm.ptr
      {smem.tensor_map = {argument = 0 : i64, box = array<i64: 64, 64>, contiguous = 1 : i64, element = "bf16", swizzle = "128B"}}
    // A launch without tensor maps is left alone.
    gpu.launch_func @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n)
    // expected-error@below {{launches @kernels::@k, which is not in the module as MLIR; run smem-lower-launches before gpu-module-to-binary}}
    gpu.launch_func @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%a : !llvm.ptr)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k() kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
      gpu.return
    }
  }
  func.func @host(%n: index) {
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    // expected-error@below {{launches CTAs of 256 x 1 x 1 threads, but @kernels::@k has known_block_size = 384 x 1 x 1}}
    gpu.launch_func @kernels::@k blocks in (%n, %c1, %c1) threads in (%c256, %c1, %c1)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k() kernel attributes {known_cluster_size = array<i32: 2, 1, 1>} {
      gpu.return
    }
  }
  func.func @host(%n: index) {
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    // expected-error@below {{launches a grid of 3 x ? x 1 CTAs; expected multiples of the clusters of @kernels::@k, 2 x 1 x 1}}
    gpu.launch_func @kernels::@k blocks in (%c3, %n, %c1) threads in (%n, %c1, %c1)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k() kernel attributes {known_cluster_size = array<i32: 2, 1, 1>} {
      gpu.return
    }
  }
  func.func @host(%n: index) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    // expected-error@below {{launches clusters of 4 x 1 x 1, but @kernels::@k has known_cluster_size = 2 x 1 x 1}}
    gpu.launch_func @kernels::@k clusters in (%c4, %c1, %c1) blocks in (%n, %n, %c1) threads in (%n, %c1, %c1)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k() kernel {
      gpu.return
    }
  }
  func.func @host(%n: index) {
    %c1 = arith.constant 1 : index
    // expected-error@below {{launches clusters of a size that is not constant, but @kernels::@k has known_cluster_size = 1 x 1 x 1}}
    gpu.launch_func @kernels::@k clusters in (%n, %c1, %c1) blocks in (%n, %n, %c1) threads in (%n, %c1, %c1)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  func.func private @mgpuTensorMapEncodeTiled()
  gpu.module @kernels {
    llvm.func @k(%a: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
      llvm.return
    }
  }
  func.func @host(%n: index, %x: memref<64x64xbf16>) {
    %a = builtin.unrealized_conversion_cast %x : memref<64x64xbf16> to !llvm.ptr
      {smem.tensor_map = {argument = 0 : i64, box = array<i64: 64, 64>, contiguous = 1 : i64, element = "bf16", swizzle = "128B"}}
    // expected-error@below {{needs the function 'mgpuTensorMapEncodeTiled' of type !llvm.func<void (ptr, i32, i32, ptr, ptr, ptr, ptr, ptr, i32, i32, i32, i32)>, but the module has another symbol of that name}}
    gpu.launch_func @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%a : !llvm.ptr)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @k(%a: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
      llvm.return
    }
  }
  func.func @host(%n: index, %x: memref<64x64xbf16>) {
    // expected-error@below {{'builtin.unrealized_conversion_cast' op has smem.tensor_map = {argument = 0 : i64, box = array<i64: 64>, contiguous = 1 : i64, element = "bf16", swizzle = "128B"}; expected what smem-lower-copies writes}}
    %a = builtin.unrealized_conversion_cast %x : memref<64x64xbf16> to !llvm.ptr
      {smem.tensor_map = {argument = 0 : i64, box = array<i64: 64>, contiguous = 1 : i64, element = "bf16", swizzle = "128B"}}
    gpu.launch_func @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%a : !llvm.ptr)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.func @k(%a: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
      llvm.return
    }
  }
  %n = arith.constant 1 : index
  %x = memref.alloc() : memref<64x64xbf16>
  %a = builtin.unrealized_conversion_cast %x : memref<64x64xbf16> to !llvm.ptr
    {smem.tensor_map = {argument = 0 : i64, box = array<i64: 64, 64>, contiguous = 1 : i64, element = "bf16", swizzle = "128B"}}
  // expected-error@below {{is in no function; expected a func.func or an llvm.func of the host}}
  gpu.launch_func @kernels::@k blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%a : !llvm.ptr)
}
