// pass: smem-check-async
func.func @rows(%a: i64, %b: i64) attributes {known_block_size = array<ui8: 128, 1, 1>} {
  return
}
