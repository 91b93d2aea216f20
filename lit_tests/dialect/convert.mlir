// Every accumulator type to the A fragments that it converts to; an f32 A fragment to tf32.

// RUN: smem-opt %s | smem-opt | FileCheck %s

!f32 = !smem.fragment<tensor<64x256xf32>, #smem.accumulator>
!f16 = !smem.fragment<tensor<64x256xf16>, #smem.accumulator>
!i32 = !smem.fragment<tensor<64x256xi32>, #smem.accumulator>
!loaded = !smem.fragment<tensor<64x8xf32>, #smem.a_fragment>

func.func @convert(%x: !f32, %h: !f16, %i: !i32, %a: !loaded) {
  // CHECK: "smem.convert"(%{{.*}}) : (!smem.fragment<tensor<64x256xf32>, #smem.accumulator>) -> !smem.fragment<tensor<64x256xf16>, #smem.a_fragment>
  %0 = "smem.convert"(%x) : (!f32) -> !smem.fragment<tensor<64x256xf16>, #smem.a_fragment>
  // CHECK: -> !smem.fragment<tensor<64x256xbf16>, #smem.a_fragment>
  %1 = "smem.convert"(%x) : (!f32) -> !smem.fragment<tensor<64x256xbf16>, #smem.a_fragment>
  // CHECK: -> !smem.fragment<tensor<64x256xtf32>, #smem.a_fragment>
  %2 = "smem.convert"(%x) : (!f32) -> !smem.fragment<tensor<64x256xtf32>, #smem.a_fragment>
  // CHECK: -> !smem.fragment<tensor<64x256xf8E4M3FN>, #smem.a_fragment>
  %3 = "smem.convert"(%x) : (!f32) -> !smem.fragment<tensor<64x256xf8E4M3FN>, #smem.a_fragment>
  // CHECK: "smem.convert"(%{{.*}}) : (!smem.fragment<tensor<64x256xf16>, #smem.accumulator>) -> !smem.fragment<tensor<64x256xf8E5M2>, #smem.a_fragment>
  %4 = "smem.convert"(%h) : (!f16) -> !smem.fragment<tensor<64x256xf8E5M2>, #smem.a_fragment>
  // CHECK: "smem.convert"(%{{.*}}) : (!smem.fragment<tensor<64x256xi32>, #smem.accumulator>) -> !smem.fragment<tensor<64x256xi8>, #smem.a_fragment>
  %5 = "smem.convert"(%i) : (!i32) -> !smem.fragment<tensor<64x256xi8>, #smem.a_fragment>
  // CHECK: -> !smem.fragment<tensor<64x256xui8>, #smem.a_fragment>
  %6 = "smem.convert"(%i) : (!i32) -> !smem.fragment<tensor<64x256xui8>, #smem.a_fragment>
  // CHECK: -> !smem.fragment<tensor<64x256xi1>, #smem.a_fragment>
  %7 = "smem.convert"(%i) : (!i32) -> !smem.fragment<tensor<64x256xi1>, #smem.a_fragment>
  // CHECK: "smem.convert"(%{{.*}}) : (!smem.fragment<tensor<64x8xf32>, #smem.a_fragment>) -> !smem.fragment<tensor<64x8xtf32>, #smem.a_fragment>
  %8 = "smem.convert"(%a) : (!loaded) -> !smem.fragment<tensor<64x8xtf32>, #smem.a_fragment>
  return
}
