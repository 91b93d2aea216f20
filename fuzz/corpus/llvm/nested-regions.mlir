// sm_90a ptx
gpu.module @m {
gpu.func @k() kernel {
%t = arith.constant true
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
scf.if %t {
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
}
gpu.return
}
}
