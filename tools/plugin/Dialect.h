//===- Dialect.h - The smem dialect for C++ tools ---------------*- C++ -*-===//
//
// Part of mlir-smem, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMEM_DIALECT_H
#define SMEM_DIALECT_H

#include "mlir/IR/Dialect.h"

namespace smem {

/// The smem dialect as far as a tool needs it to read, keep and print IR.
///
/// Its ops have the generic form and are not known one by one; a type or an
/// attribute is a name and a list of parameters. smem-opt, which runs the
/// passes, is what verifies them.
class SmemDialect : public mlir::Dialect {
public:
  explicit SmemDialect(mlir::MLIRContext *context);
  static constexpr llvm::StringLiteral getDialectNamespace() {
    return llvm::StringLiteral("smem");
  }

  mlir::Type parseType(mlir::DialectAsmParser &parser) const override;
  void printType(mlir::Type type,
                 mlir::DialectAsmPrinter &printer) const override;
  mlir::Attribute parseAttribute(mlir::DialectAsmParser &parser,
                                 mlir::Type type) const override;
  void printAttribute(mlir::Attribute attribute,
                      mlir::DialectAsmPrinter &printer) const override;
};

} // namespace smem

MLIR_DECLARE_EXPLICIT_TYPE_ID(smem::SmemDialect)

#endif // SMEM_DIALECT_H
