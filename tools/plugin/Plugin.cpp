//===- Plugin.cpp - Entry points of the plugin ----------------------------===//
//
// Part of mlir-smem, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mlir-opt --load-dialect-plugin=libsmem.so --load-pass-plugin=libsmem.so
//   --pass-pipeline='builtin.module(smem-to-nvvm,gpu.module(cse))' in.mlir
//
//===----------------------------------------------------------------------===//

#include "Dialect.h"
#include "Passes.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"

static void registerPasses() {
  static bool done = false; // a tool may be told twice to load the plugin
  if (std::exchange(done, true))
    return;
  for (const smem::PassInfo &info : smem::getPasses())
    mlir::registerPass([&info] { return smem::createPass(info); });
  smem::registerFlags();
}

static void registerDialect(mlir::DialectRegistry *registry) {
  registry->insert<smem::SmemDialect>();
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "smem", LLVM_VERSION_STRING, registerPasses};
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "smem", LLVM_VERSION_STRING,
          registerDialect};
}
