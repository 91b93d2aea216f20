// A pass that fails in a transform script is a failure that the script can silence; a wrong name or option is
// an error of the script.

// RUN: smem-opt %s --split-input-file --verify-diagnostics --transform-interpreter

module attributes {transform.with_named_sequence} {
  gpu.module @kernels {
    gpu.func @kernel() kernel {
      // expected-error@+1 {{'smem.alloc' op has no layout that all its uses accept on sm_90}}
      %t = "smem.alloc"() : () -> !smem.tile<tensor<60x60xbf16>, #smem.auto>
      gpu.return
    }
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %k = transform.structured.match ops{["gpu.module"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error@+1 {{silenceable failure}}
    %l = "smem_transform.apply_registered_pass"(%k) {pass_name = "smem-assign-layouts"} : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// The second alternative is taken: no error is left but that of the pass.
module attributes {transform.with_named_sequence} {
  gpu.module @kernels {
    gpu.func @kernel() kernel {
      // expected-error@+1 {{'smem.alloc' op has no layout that all its uses accept on sm_90}}
      %t = "smem.alloc"() : () -> !smem.tile<tensor<60x60xbf16>, #smem.auto>
      gpu.return
    }
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %k = transform.structured.match ops{["gpu.module"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.alternatives %k : !transform.any_op {
    ^bb0(%scope: !transform.any_op):
      %l = "smem_transform.apply_registered_pass"(%scope) {pass_name = "smem-assign-layouts"} : (!transform.any_op) -> !transform.any_op
    }, {
    ^bb0(%scope: !transform.any_op):
    }
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  gpu.module @kernels {
    gpu.func @kernel() kernel { gpu.return }
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %k = transform.structured.match ops{["gpu.func"]} in %root : (!transform.any_op) -> !transform.any_op
    // expected-error@+2 {{'smem_transform.apply_registered_pass' op has a target 'gpu.func'; expected builtin.module or gpu.module}}
    // expected-error@+1 {{silenceable failure}}
    %l = "smem_transform.apply_registered_pass"(%k) {pass_name = "smem-to-nvvm"} : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.consumed}) {
    // expected-error@+2 {{op is in its target 'builtin.module', which it cannot change}}
    // expected-error@+1 {{silenceable failure}}
    %l = "smem_transform.apply_registered_pass"(%root) {pass_name = "smem-to-nvvm"} : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @unknown_pass(%k: !transform.any_op {transform.consumed}) {
    // expected-error@+1 {{'smem_transform.apply_registered_pass' op no pass is named 'smem-nothing'; there are smem-warp-specialize, smem-pipeline, smem-overlap, smem-insert-sync,}}
    %l = "smem_transform.apply_registered_pass"(%k) {pass_name = "smem-nothing"} : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @unknown_option(%k: !transform.any_op {transform.consumed}) {
    // expected-error@+1 {{op smem-allocate has no option 'speed'; its options: max-bytes, reserved-bytes}}
    %l = "smem_transform.apply_registered_pass"(%k) {pass_name = "smem-allocate", options = {speed = 1 : i64}} : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @wrong_value(%k: !transform.any_op {transform.consumed}) {
    // expected-error@+1 {{op smem-allocate: option max-bytes takes a number from 0, not '[1]'}}
    %l = "smem_transform.apply_registered_pass"(%k) {pass_name = "smem-allocate", options = {max_bytes = [1]}} : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @wrong_options(%k: !transform.any_op {transform.consumed}) {
    // expected-error@+1 {{op has options = 3 : i64; expected a dictionary or text}}
    %l = "smem_transform.apply_registered_pass"(%k) {pass_name = "smem-allocate", options = 3 : i64} : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}
