//===- PassList.cpp - The passes that smem-opt lists ----------------------===//
//
// Part of mlir-smem, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Passes.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

/// The output of `smem-opt --list-passes=json`.
static const char listed[] =
#include "PassList.inc"
    ;

static std::string text(const json::Object &object, StringRef key) {
  return object.getString(key).value_or("").str();
}

static std::vector<smem::PassInfo> read() {
  Expected<json::Value> value = json::parse(listed);
  if (!value || !value->getAsArray())
    report_fatal_error("smem: the list of passes is not JSON; build anew");
  std::vector<smem::PassInfo> passes;
  for (const json::Value &each : *value->getAsArray()) {
    const json::Object &pass = *each.getAsObject();
    passes.push_back({text(pass, "name"), text(pass, "description"), {}});
    for (const json::Value &one : *pass.getArray("options")) {
      const json::Object &option = *one.getAsObject();
      passes.back().options.push_back(
          {text(option, "name"), text(option, "description") + " (default: " +
                                     text(option, "default") + ")"});
    }
  }
  return passes;
}

const std::vector<smem::PassInfo> &smem::getPasses() {
  static const std::vector<PassInfo> passes = read();
  return passes;
}
