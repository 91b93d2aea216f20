// pass: smem-to-nvvm
func.func @f() {
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
  return
}
