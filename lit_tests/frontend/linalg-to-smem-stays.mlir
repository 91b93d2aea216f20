// RUN: smem-opt %s --linalg-to-smem=f32=tf32 --split-input-file --verify-diagnostics

// What stays for its values, its memory, its types or its precision.

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#product = {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
// The function's first argument is none of the body, whose first argument is %p.
func.func @outer_factor(%s: f32, %a: memref<8x8xf32>, %b: memref<8x8xf32>, %c: memref<8x8xf32>) {
  // expected-remark @+1 {{'linalg.generic' stays as it is: it multiplies by a number from outside of its body}}
  linalg.generic #product ins(%a, %b : memref<8x8xf32>, memref<8x8xf32>) outs(%c : memref<8x8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %3 = arith.mulf %s, %q : f32
    %4 = arith.addf %o, %3 : f32
    linalg.yield %4 : f32 }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#none = affine_map<(m, n, k) -> ()>
#mn = affine_map<(m, n, k) -> (m, n)>
func.func @number(%s: f32, %a: memref<8x8xf32>, %c: memref<8x8xf32>) {
  // expected-remark @+1 {{it has a number of f32 as an operand; a kernel takes arrays}}
  linalg.generic {indexing_maps = [#mk, #none, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %s : memref<8x8xf32>, f32) outs(%c : memref<8x8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %3 = arith.mulf %p, %q : f32
    %4 = arith.addf %o, %3 : f32
    linalg.yield %4 : f32 }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#product = {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
!m = memref<8x8xf32>
func.func private @array() -> !m
memref.global "private" @state : !m
func.func @select(%p: i1, %a: !m, %b: !m, %c: !m) {
  %d = arith.select %p, %c, %a : !m
  // expected-remark @+1 {{it reads the memory that it writes}}
  linalg.generic #product ins(%a, %b : !m, !m) outs(%d : !m) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %3 = arith.mulf %x, %y : f32
    %4 = arith.addf %o, %3 : f32
    linalg.yield %4 : f32 }
  return
}
func.func @branches(%p: i1, %a: !m, %b: !m) {
  %d = scf.if %p -> !m {
    %e = memref.alloc() : !m
    scf.yield %e : !m
  } else {
    %f = memref.cast %b : !m to !m
    scf.yield %f : !m
  }
  // expected-remark @+1 {{it reads the memory that it writes}}
  linalg.generic #product ins(%a, %b : !m, !m) outs(%d : !m) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %3 = arith.mulf %x, %y : f32
    %4 = arith.addf %o, %3 : f32
    linalg.yield %4 : f32 }
  return
}
func.func @call(%a: !m, %b: !m) {
  %d = call @array() : () -> !m
  // expected-remark @+1 {{it reads an argument of the function and writes the result of 'func.call', which may be the same memory}}
  linalg.generic #product ins(%a, %b : !m, !m) outs(%d : !m) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %3 = arith.mulf %x, %y : f32
    %4 = arith.addf %o, %3 : f32
    linalg.yield %4 : f32 }
  return
}
func.func @escaped(%b: !m) {
  %d = memref.alloc() : !m
  %a = call @array() : () -> !m
  // expected-remark @+1 {{it reads the result of 'func.call' and writes the result of 'memref.alloc', which may be the same memory}}
  linalg.generic #product ins(%a, %b : !m, !m) outs(%d : !m) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %3 = arith.mulf %x, %y : f32
    %4 = arith.addf %o, %3 : f32
    linalg.yield %4 : f32 }
  return
}
func.func @global(%b: !m) {
  %a = memref.get_global @state : !m
  %d = memref.get_global @state : !m
  // expected-remark @+1 {{it reads the result of 'memref.get_global' and writes the result of 'memref.get_global', which may be the same memory}}
  linalg.generic #product ins(%a, %b : !m, !m) outs(%d : !m) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %3 = arith.mulf %x, %y : f32
    %4 = arith.addf %o, %3 : f32
    linalg.yield %4 : f32 }
  return
}
func.func @loop(%a: !m, %b: !m, %c: !m, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%d = %c) -> !m {
    // expected-remark @+1 {{it reads an argument of the function and writes an argument of a block, which may be the same memory}}
    linalg.generic #product ins(%a, %b : !m, !m) outs(%d : !m) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %3 = arith.mulf %x, %y : f32
      %4 = arith.addf %o, %3 : f32
      linalg.yield %4 : f32 }
    scf.yield %a : !m
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#product = {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
#columns = affine_map<(i, j) -> (j, i)>
!m = memref<8x8xf32>
func.func @layout(%a: memref<8x8xf32, #columns>, %b: !m, %c: !m) {
  // expected-remark @+1 {{it has an operand of memref<8x8xf32, affine_map<(d0, d1) -> (d1, d0)>>, whose layout is not strided}}
  linalg.generic #product ins(%a, %b : memref<8x8xf32, #columns>, !m) outs(%c : !m) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %3 = arith.mulf %x, %y : f32
    %4 = arith.addf %o, %3 : f32
    linalg.yield %4 : f32 }
  return
}
func.func @space(%a: !m, %b: !m, %c: memref<8x8xf32, 1>) {
  // expected-remark @+1 {{it has an operand of memref<8x8xf32, 1>, in memory space 1 : i64; a kernel takes the default one}}
  linalg.generic #product ins(%a, %b : !m, !m) outs(%c : memref<8x8xf32, 1>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %3 = arith.mulf %x, %y : f32
    %4 = arith.addf %o, %3 : f32
    linalg.yield %4 : f32 }
  return
}
#csr = #sparse_tensor.encoding<{map = (i, j) -> (i : dense, j : compressed)}>
func.func @sparse(%a: tensor<8x8xf32, #csr>, %b: tensor<8x8xf32>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-remark @+1 {{has an operand of tensor<8x8xf32, #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>>, whose encoding may say that not all elements are stored}}
  %d = linalg.generic #product ins(%a, %b : tensor<8x8xf32, #csr>, tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %3 = arith.mulf %x, %y : f32
    %4 = arith.addf %o, %3 : f32
    linalg.yield %4 : f32 } -> tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
!m = memref<8x16xf32>
func.func @highest(%a: memref<8x8xf32>, %b: memref<8x16xf32>, %c: !m) {
  // expected-remark @+1 {{it has smem.precision = "highest", but tensor cores round f32 to tf32}}
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : memref<8x8xf32>, memref<8x16xf32>) outs(%c : !m) attrs = {smem.precision = "highest"} {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %3 = arith.mulf %x, %y : f32
    %4 = arith.addf %o, %3 : f32
    linalg.yield %4 : f32 }
  return
}
func.func @sums(%a: memref<8x16xf8E4M3FN>, %b: memref<16x16xf8E4M3FN>, %c: !m) {
  // expected-remark @+1 {{it has smem.precision = "highest", but tensor cores add products of 8-bit floats with fewer bits than f32 has}}
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : memref<8x16xf8E4M3FN>, memref<16x16xf8E4M3FN>) outs(%c : !m) attrs = {smem.precision = "highest"} {
  ^bb0(%p: f8E4M3FN, %q: f8E4M3FN, %o: f32):
    %x = arith.extf %p : f8E4M3FN to f32
    %y = arith.extf %q : f8E4M3FN to f32
    %3 = arith.mulf %x, %y : f32
    %4 = arith.addf %o, %3 : f32
    linalg.yield %4 : f32 }
  return
}
func.func @unknown(%a: memref<8x8xf32>, %b: memref<8x16xf32>, %c: !m) {
  // expected-remark @+1 {{it has smem.precision = 3 : i64; expected "highest" or "high" or "default"}}
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : memref<8x8xf32>, memref<8x16xf32>) outs(%c : !m) attrs = {smem.precision = 3} {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %3 = arith.mulf %x, %y : f32
    %4 = arith.addf %o, %3 : f32
    linalg.yield %4 : f32 }
  return
}
