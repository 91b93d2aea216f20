// RUN: smem-opt %s --split-input-file --verify-diagnostics

!t = !smem.tile<tensor<192x6xf8E8M0FNU>, #smem.auto>
func.func @row_major(%m: memref<192x6xf8E8M0FNU>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op takes memref<192x6xf8E8M0FNU> for a tile of scale factors, which are stored in blocks; reorder them on the host by layout.tcgen05.blocked and take memref<2x2x32x4x4xf8E8M0FNU>}}
  "smem.copy"(%m, %t) : (memref<192x6xf8E8M0FNU>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<128x4xf8E4M3FN>, #smem.layout<"Swizzle<0,4,3> o ((32,4),4):((16,4),1)">>
func.func @row_major_by_layout(%m: memref<128x4xf8E4M3FN>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op takes memref<128x4xf8E4M3FN> for a tile of scale factors, which are stored in blocks; reorder them on the host by layout.tcgen05.blocked and take memref<1x1x32x4x4xf8E4M3FN>}}
  "smem.copy"(%m, %t) : (memref<128x4xf8E4M3FN>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<128x8xf8E8M0FNU>, #smem.auto>
func.func @count(%m: memref<1x?x32x4x4xf8E8M0FNU>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies memref<1x?x32x4x4xf8E8M0FNU> to a tile of 128x8 scale factors; take a memref.subview of static shape 1x2x32x4x4}}
  "smem.copy"(%m, %t) : (memref<1x?x32x4x4xf8E8M0FNU>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<64x4xf8E8M0FNU>, #smem.auto>
func.func @rows(%m: memref<1x1x32x4x4xf8E8M0FNU>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies memref<1x1x32x4x4xf8E8M0FNU>, which holds blocks of scale factors: factors of 64 rows, no multiple of 128; expected 128 (those of B have N rows, rounded up to 128)}}
  "smem.copy"(%m, %t) : (memref<1x1x32x4x4xf8E8M0FNU>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<128x4xi8>, #smem.auto>
func.func @no_factors(%m: memref<1x1x32x4x4xi8>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies memref<1x1x32x4x4xi8>, which holds blocks of scale factors: no instruction scales by s8; expected a tile of e4m3 (factors of ue4m3) or of ue8m0 (factors of ue8m0)}}
  "smem.copy"(%m, %t) : (memref<1x1x32x4x4xi8>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @element(%m: memref<1x1x32x4x4xf8E4M3FN>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies f8E4M3FN to a tile of f8E8M0FNU; expected f8E8M0FNU or i8}}
  "smem.copy"(%m, %t) : (memref<1x1x32x4x4xf8E4M3FN>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @order(%m: memref<1x1x4x32x4xf8E8M0FNU>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op takes memref<1x1x4x32x4xf8E8M0FNU> for a tile of scale factors, which are stored in blocks; reorder them on the host by layout.tcgen05.blocked and take memref<1x1x32x4x4xf8E8M0FNU>}}
  "smem.copy"(%m, %t) : (memref<1x1x4x32x4xf8E8M0FNU>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @strides(%m: memref<1x1x32x4x4xf8E8M0FNU, strided<[512, 512, 4, 128, 1]>>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies memref<1x1x32x4x4xf8E8M0FNU, strided<[512, 512, 4, 128, 1]>>; the last dimensions of blocks of scale factors are 32x4x4 with strides [16, 4, 1]}}
  "smem.copy"(%m, %t) : (memref<1x1x32x4x4xf8E8M0FNU, strided<[512, 512, 4, 128, 1]>>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @alignment(%m: memref<1x1x32x4x4xf8E8M0FNU, strided<[520, 512, 16, 4, 1]>>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies memref<1x1x32x4x4xf8E8M0FNU, strided<[520, 512, 16, 4, 1]>>: the stride of 520 is not a multiple of 16, the bytes of an access}}
  "smem.copy"(%m, %t) : (memref<1x1x32x4x4xf8E8M0FNU, strided<[520, 512, 16, 4, 1]>>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.swizzle<"none", "column-major">>
func.func @layout(%m: memref<1x1x32x4x4xf8E8M0FNU>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies blocks of scale factors, but the factors are stored as Swizzle<0,4,3> o ((16,8),4):((1,128),16); tcgen05.cp copies blocks of Swizzle<0,4,3> o ((32,4),4):((16,4),1)}}
  "smem.copy"(%m, %t) : (memref<1x1x32x4x4xf8E8M0FNU>, !t) -> ()
  return
}

// -----

!t = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @relayout(%m: memref<1x1x32x4x4xf8E8M0FNU>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op copies blocks of scale factors, which have no permutation and no relayout}}
  "smem.copy"(%m, %t) {relayout} : (memref<1x1x32x4x4xf8E8M0FNU>, !t) -> ()
  return
}

// -----

// Not blocks of scale factors, since the elements are not bytes.
!t = !smem.tile<tensor<128x4xf8E8M0FNU>, #smem.auto>
func.func @element(%m: memref<1x1x32x4x4xindex>, %t: !t) {
  // expected-error@+1 {{'smem.copy' op takes memref<1x1x32x4x4xindex> for a tile of scale factors, which are stored in blocks; reorder them on the host by layout.tcgen05.blocked and take memref<1x1x32x4x4xf8E8M0FNU>}}
  "smem.copy"(%m, %t) : (memref<1x1x32x4x4xindex>, !t) -> ()
  return
}
