//===- Diagnostics.h - Diagnostics of smem-opt ------------------*- C++ -*-===//
//
// Part of mlir-smem, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMEM_DIAGNOSTICS_H
#define SMEM_DIAGNOSTICS_H

#include "Driver.h"
#include "mlir/IR/Location.h"

namespace smem {

/// Emits what smem-opt printed by --diagnostics=json, each at its location.
/// What has none, or one in the text that was handed over, is emitted at
/// \p otherwise. Returns whether there was an error.
bool emitDiagnostics(const Outcome &outcome, mlir::Location otherwise);

} // namespace smem

#endif // SMEM_DIAGNOSTICS_H
