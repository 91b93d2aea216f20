%first = "smem.alloc"() : () -> !tile
%second = "smem.alloc"() : () -> !tile
"smem.copy_async"(%A, %first) : (!matrix, !tile) -> ()
"smem.copy_async"(%B, %second) : (!matrix, !tile) -> ()
"smem.copy_commit"() : () -> ()                             // one group of both copies
"smem.copy_wait"() {pending = 0 : i32} : () -> ()
