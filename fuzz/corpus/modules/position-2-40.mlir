"builtin.module"() ({
  "func.func"() <{function_type = (f32) -> (), sym_name = "value"}> ({
  ^bb0(%arg1: f32):
    %0 = "arith.constant"() <{value = -0.000000e+00 : f32}> : () -> f32
    %1 = "llvm.mlir.poison"() : () -> !llvm.struct<(f32, f32, f32, f32)>
    %2 = "llvm.insertvalue"(%1, %0) <{position = array<i64: 1099511627776>}> : (!llvm.struct<(f32, f32, f32, f32)>, f32) -> !llvm.struct<(f32, f32, f32, f32)>
  }) : () -> ()
}) : () -> ()
