//===- Passes.cpp - The passes of mlir-smem for C++ tools -----------------===//
//
// Part of mlir-smem, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Passes.h"
#include "Diagnostics.h"
#include "Dialect.h"
#include "Driver.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Config/llvm-config.h"

using namespace mlir;

namespace {

/// Has smem-opt run a pass on the module and takes over what it made.
class SmemPass : public PassWrapper<SmemPass, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SmemPass)

  explicit SmemPass(const smem::PassInfo &info) : info(info) {
    for (const smem::OptionInfo &each : info.options)
      options.push_back(std::make_unique<Option<std::string>>(
          *this, each.name, llvm::cl::desc(each.description),
          llvm::cl::ValueOptional));
  }
  SmemPass(const SmemPass &other) : SmemPass(other.info) {}

  StringRef getArgument() const override { return info.name; }
  StringRef getDescription() const override { return info.description; }
  StringRef getName() const override { return info.name; }

  /// What the lowering makes, and the dialects around it.
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<smem::SmemDialect, arith::ArithDialect,
                    cf::ControlFlowDialect, gpu::GPUDialect, LLVM::LLVMDialect,
                    math::MathDialect, memref::MemRefDialect, NVVM::NVVMDialect,
                    scf::SCFDialect, vector::VectorDialect>();
  }

  void runOnOperation() override {
    if (failed(replaceModule()))
      signalPassFailure();
  }

private:
  LogicalResult replaceModule();

  /// Returns the location of the first op of smem, else that of the module.
  Location location();

  /// Returns the pipeline for smem-opt, with the options that were given.
  std::string pipeline() const;

  /// Returns the module that smem-opt wrote, or null after an error.
  OwningOpRef<ModuleOp> parse(StringRef program, StringRef output);

  const smem::PassInfo &info;
  std::vector<std::unique_ptr<Option<std::string>>> options;
};

Location SmemPass::location() {
  Location found = getOperation().getLoc();
  getOperation().walk([&](Operation *op) {
    if (op->getName().getDialectNamespace() !=
        smem::SmemDialect::getDialectNamespace())
      return WalkResult::advance();
    found = op->getLoc();
    return WalkResult::interrupt();
  });
  return found;
}

std::string SmemPass::pipeline() const {
  std::string given;
  for (const auto &option : options) {
    if (!option->hasValue())
      continue;
    given += (given.empty() ? "" : " ") + option->getArgStr().str();
    if (!option->getValue().empty())
      given += "=" + option->getValue();
  }
  return "--pass-pipeline=builtin.module(" + info.name + "{" + given + "})";
}

LogicalResult SmemPass::replaceModule() {
  ModuleOp module = getOperation();
  Location where = location();
  auto driver = smem::Driver::get();
  if (!driver)
    return emitError(where, llvm::toString(driver.takeError()));

  // The generic form is the one that changes least from version to version.
  std::string text;
  {
    llvm::raw_string_ostream stream(text);
    module->print(stream,
                  OpPrintingFlags().enableDebugInfo().printGenericOpForm());
  }
  std::string passes = pipeline();
  std::string version = "--host-llvm=" + std::to_string(LLVM_VERSION_MAJOR);
  auto outcome =
      driver->run(text, {passes, "--mlir-print-debuginfo", "--diagnostics=json",
                         "--allow-unregistered-dialect", version});
  if (!outcome)
    return emitError(where, llvm::toString(outcome.takeError()));

  bool explained = smem::emitDiagnostics(*outcome, where);
  if (outcome->code != 0) {
    if (!explained) {
      InFlightDiagnostic error = emitError(where, driver->getProgram());
      error << " failed with exit code " << outcome->code;
      StringRef said = StringRef(outcome->errors).trim();
      if (!said.empty())
        error.attachNote(where) << said;
    }
    return failure();
  }
  OwningOpRef<ModuleOp> made = parse(driver->getProgram(), outcome->output);
  if (!made)
    return failure();
  module.getBodyRegion().takeBody(made->getBodyRegion());
  module->setAttrs((*made)->getAttrDictionary());
  return success();
}

OwningOpRef<ModuleOp> SmemPass::parse(StringRef program, StringRef output) {
  // A parser takes an empty text for an empty module.
  if (!output.contains("\"builtin.module\"")) {
    emitError(location(), program)
        << " wrote no module; SMEM_OPT must be smem-opt of mlir-smem";
    return nullptr;
  }
  std::string why;
  OwningOpRef<ModuleOp> made;
  {
    ScopedDiagnosticHandler handler(&getContext(), [&](Diagnostic &problem) {
      if (why.empty())
        why = problem.str();
    });
    made = parseSourceString<ModuleOp>(output, &getContext());
  }
  if (!made)
    emitError(location(),
              "LLVM " LLVM_VERSION_STRING " of this tool cannot read what ")
        << info.name << " made with another version: " << why;
  return made;
}

} // namespace

std::unique_ptr<Pass> smem::createPass(const PassInfo &info) {
  return std::make_unique<SmemPass>(info);
}
