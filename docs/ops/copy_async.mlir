%tile = "smem.alloc"() : () -> !tile
"smem.copy_async"(%A, %tile) : (!matrix, !tile) -> ()       // cp.async, 16 bytes at a time
"smem.copy_commit"() : () -> ()
"smem.copy_wait"() {pending = 0 : i32} : () -> ()
