// Each thread stores 8 elements of a row at the place that the tile's layout gives them.
%memory = memref.get_global @shared : memref<64x64xbf16, #gpu.address_space<workgroup>>
%tile = "smem.view"(%memory) : (memref<64x64xbf16, #gpu.address_space<workgroup>>) -> !tile
%flat = memref.collapse_shape %memory [[0, 1]]
    : memref<64x64xbf16, #gpu.address_space<workgroup>> into memref<4096xbf16, #gpu.address_space<workgroup>>
%c0 = arith.constant 0 : index
%c64 = arith.constant 64 : index
%row = gpu.thread_id x
%in = arith.cmpi ult, %row, %c64 : index
scf.if %in {
  %at = "smem.offset"(%tile, %row, %c0) {vector = array<i64: 1, 8>} : (!tile, index, index) -> index
  %x = vector.load %A[%row, %c0] : !matrix, vector<8xbf16>
  vector.store %x, %flat[%at] : memref<4096xbf16, #gpu.address_space<workgroup>>, vector<8xbf16>
}
