// pass: smem-to-nvvm
!c = !smem.fragment<tensor<56x8xf32>, #smem.accumulator>
func.func private @declared(!c, index)
func.func @defined(%c: !c, %n: index) -> !c {
  %d = func.call @defined(%c, %n) : (!c, index) -> !c
  return %d : !c
}
