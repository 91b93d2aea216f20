//===- Diagnostics.cpp - Diagnostics of smem-opt --------------------------===//
//
// Part of mlir-smem, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnostics.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace {

mlir::Location locationOf(const json::Object &diagnostic,
                          const smem::Outcome &outcome,
                          mlir::Location otherwise) {
  StringRef file = diagnostic.getString("file").value_or("");
  int64_t line = diagnostic.getInteger("line").value_or(0);
  if (file.empty() || file == outcome.input || line <= 0)
    return otherwise;
  return mlir::FileLineColLoc::get(otherwise.getContext(), file, line,
                                   diagnostic.getInteger("column").value_or(0));
}

} // namespace

bool smem::emitDiagnostics(const Outcome &outcome, mlir::Location otherwise) {
  bool failed = false;
  SmallVector<StringRef> lines;
  StringRef(outcome.errors).split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    Expected<json::Value> value = json::parse(line);
    if (!value) { // not of ours: a warning of Python, for example
      consumeError(value.takeError());
      continue;
    }
    const json::Object *diagnostic = value->getAsObject();
    if (!diagnostic)
      continue;
    StringRef severity = diagnostic->getString("severity").value_or("error");
    mlir::Location location = locationOf(*diagnostic, outcome, otherwise);
    failed |= severity == "error";
    // Emitted at the location, not at an op: that would attach the module.
    mlir::InFlightDiagnostic emitted =
        severity == "error"     ? mlir::emitError(location)
        : severity == "warning" ? mlir::emitWarning(location)
                                : mlir::emitRemark(location);
    emitted << diagnostic->getString("message").value_or("");
    if (const json::Array *notes = diagnostic->getArray("notes"))
      for (const json::Value &each : *notes)
        if (const json::Object *note = each.getAsObject())
          emitted.attachNote(locationOf(*note, outcome, otherwise))
              << note->getString("message").value_or("");
  }
  return failed;
}
