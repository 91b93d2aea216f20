//===- Passes.h - The passes of mlir-smem for C++ tools ---------*- C++ -*-===//
//
// Part of mlir-smem, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMEM_PASSES_H
#define SMEM_PASSES_H

#include "llvm/ADT/StringRef.h"
#include <memory>
#include <string>
#include <vector>

namespace mlir {
class Pass;
} // namespace mlir

namespace smem {

/// An option of a pass, as smem-opt lists it.
struct OptionInfo {
  std::string name;
  std::string description;
};

/// A pass, as smem-opt lists it.
struct PassInfo {
  std::string name;
  std::string description;
  std::vector<OptionInfo> options;
};

/// Returns the passes that smem-opt had when this library was built.
const std::vector<PassInfo> &getPasses();

/// Creates the pass that has smem-opt run \p info. It outlives the pass.
std::unique_ptr<mlir::Pass> createPass(const PassInfo &info);

/// Adds --NAME and --NAME=OPTIONS to the command line of a tool that has
/// --pass-pipeline: they make that pipeline.
void registerFlags();

} // namespace smem

#endif // SMEM_PASSES_H
