// pass: smem-to-nvvm
func.func @f() {
  "smem.copy_wait"() {pending = 0 : i64} : () -> ()
  return
}
