// What `smem_transform.to_kernel` refuses: by its verifier what is no configuration, and by a failure that a
// script can silence what does not fit.

// RUN: smem-opt %s --split-input-file --verify-diagnostics --transform-interpreter

module attributes {transform.with_named_sequence} {
  func.func @exp(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
    // expected-remark@+1 {{'linalg.exp' has no kernel by this configuration: it is no contraction}}
    %c = linalg.exp ins(%a : tensor<64x64xf32>) outs(%a : tensor<64x64xf32>) -> tensor<64x64xf32>
    return %c : tensor<64x64xf32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %c = transform.structured.match ops{["linalg.exp"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error@+1 {{silenceable failure}}
    "smem_transform.to_kernel"(%c) {tile = [128, 64, 64]} : (!transform.any_op) -> ()
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @unknown(%c: !transform.any_op {transform.readonly}) {
    // expected-error@+1 {{'smem_transform.to_kernel' op has a configuration with 'tiles'; expected tile, stages, cluster, consumers, group, store_columns, store_buffers, split_k, exchanged, cluster_k}}
    "smem_transform.to_kernel"(%c) {tiles = [128, 64, 64]} : (!transform.any_op) -> ()
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @too_few(%c: !transform.any_op {transform.readonly}) {
    // expected-error@+1 {{op has a configuration with tile = [128, 64]; expected 3 integers, for example [128, 256, 64]}}
    "smem_transform.to_kernel"(%c) {tile = [128, 64]} : (!transform.any_op) -> ()
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @no_integers(%c: !transform.any_op {transform.readonly}) {
    // expected-error@+1 {{op has a configuration with cluster = [1.000000e+00, "x"]; expected 2 integers, for example [1, 1]}}
    "smem_transform.to_kernel"(%c) {cluster = [1.0, "x"]} : (!transform.any_op) -> ()
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @no_integer(%c: !transform.any_op {transform.readonly}) {
    // expected-error@+1 {{op has a configuration with stages = true; expected an integer}}
    "smem_transform.to_kernel"(%c) {stages = true} : (!transform.any_op) -> ()
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @no_bool(%c: !transform.any_op {transform.readonly}) {
    // expected-error@+1 {{op has a configuration with exchanged = 1 : i64; expected true or false}}
    "smem_transform.to_kernel"(%c) {exchanged = 1 : i64} : (!transform.any_op) -> ()
    transform.yield
  }
}

// -----

// A payload op that does not fit: none gets the configuration.
module attributes {transform.with_named_sequence} {
  func.func @two(%a: tensor<64x64xbf16>, %b: tensor<64x64xi16>, %c: tensor<64x64xf32>, %d: tensor<64x64xi32>) -> (tensor<64x64xf32>, tensor<64x64xi32>) {
    %e = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %a : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%c : tensor<64x64xf32>) {
    ^bb0(%p: bf16, %q: bf16, %o: f32):
      %x = arith.extf %p : bf16 to f32
      %y = arith.extf %q : bf16 to f32
      %z = arith.mulf %x, %y : f32
      %t = arith.addf %o, %z : f32
      linalg.yield %t : f32
    } -> tensor<64x64xf32>
    // expected-remark@+1 {{it multiplies elements of i16, which tensor cores do not}}
    %f = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%b, %b : tensor<64x64xi16>, tensor<64x64xi16>) outs(%d : tensor<64x64xi32>) {
    ^bb0(%p: i16, %q: i16, %o: i32):
      %x = arith.extsi %p : i16 to i32
      %y = arith.extsi %q : i16 to i32
      %z = arith.muli %x, %y : i32
      %t = arith.addi %o, %z : i32
      linalg.yield %t : i32
    } -> tensor<64x64xi32>
    return %e, %f : tensor<64x64xf32>, tensor<64x64xi32>
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %c = transform.structured.match ops{["linalg.generic"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error@+1 {{silenceable failure}}
    "smem_transform.to_kernel"(%c) {tile = [128, 64, 64], store_columns = 64 : i64} : (!transform.any_op) -> ()
    transform.yield
  }
}
