%first = "smem.alloc"() : () -> !tile
%second = "smem.alloc"() : () -> !tile
"smem.copy_async"(%A, %first) : (!matrix, !tile) -> ()
"smem.copy_commit"() : () -> ()
"smem.copy_async"(%B, %second) : (!matrix, !tile) -> ()
"smem.copy_commit"() : () -> ()
"smem.copy_wait"() {pending = 1 : i32} : () -> ()           // the first copy is complete
"smem.copy_wait"() {pending = 0 : i32} : () -> ()           // the second one, too
