// The compiler around the kernel allocates the memory and knows its layout.
!laid_out = !smem.tile<tensor<64x64xbf16>, #smem.swizzle<"128B", "row-major">>
%memory = memref.get_global @shared : memref<64x64xbf16, #gpu.address_space<workgroup>>
%tile = "smem.view"(%memory) {alignment = 1024 : i64} : (memref<64x64xbf16, #gpu.address_space<workgroup>>) -> !laid_out
"smem.copy"(%A, %tile) : (!matrix, !laid_out) -> ()
