//===- Flags.cpp - Passes as flags of the command line --------------------===//
//
// Part of mlir-smem, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace llvm;

// A tool makes a flag of each registered pass before it parses its command
// line, and loads plugins while it parses, so it has none for theirs. A plugin
// can add options of its own meanwhile. These set --pass-pipeline, to all of
// their passes so far.

namespace {

constexpr StringLiteral pipelineOption("pass-pipeline");

/// The passes that our flags have named so far, as a pipeline's text.
std::string passes;

[[noreturn]] void refuse(StringRef pass) {
  errs() << "smem: --" << pass << " and --" << pipelineOption
         << " cannot be combined; put it into the pipeline\n";
  std::exit(1);
}

/// The option of mlir::PassPipelineCLParser.
cl::opt<std::string> *getPipelineOption() {
  auto &known = cl::getRegisteredOptions();
  auto found = known.find(pipelineOption);
  return found == known.end()
             ? nullptr
             : static_cast<cl::opt<std::string> *>(found->second);
}

void addToPipeline(StringRef pass, StringRef options) {
  cl::opt<std::string> &pipeline = *getPipelineOption();
  if (passes.empty() && pipeline.getNumOccurrences())
    refuse(pass);
  // Only the first counts as an occurrence; the others replace its value.
  bool again = !passes.empty();
  passes += (again ? "," : "") + pass.str();
  if (!options.empty())
    passes += "{" + options.str() + "}";
  if (pipeline.addOccurrence(0, pipelineOption,
                             "builtin.module(" + passes + ")", again))
    std::exit(1);
}

/// Refuses a pipeline of the user's after flags of ours, which it would
/// replace.
void checkPipeline(const std::string &text) {
  if (!passes.empty() && text != "builtin.module(" + passes + ")")
    refuse(StringRef(passes).take_until(
        [](char c) { return c == ',' || c == '{'; }));
}

} // namespace

void smem::registerFlags() {
  cl::opt<std::string> *pipeline = getPipelineOption();
  if (!pipeline)
    return;
  pipeline->setCallback(checkPipeline);
  auto &known = cl::getRegisteredOptions();
  static std::vector<std::unique_ptr<cl::opt<std::string>>> flags;
  for (const PassInfo &info : getPasses()) {
    if (known.count(info.name))
      continue;
    // --help has them in the list of passes.
    flags.push_back(std::make_unique<cl::opt<std::string>>(
        StringRef(info.name), cl::desc(info.description), cl::ValueOptional,
        cl::ZeroOrMore, cl::Hidden,
        cl::callback([&info](const std::string &options) {
          addToPipeline(info.name, options);
        })));
  }
}
