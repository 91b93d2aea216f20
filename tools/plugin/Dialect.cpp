//===- Dialect.cpp - The smem dialect for C++ tools -----------------------===//
//
// Part of mlir-smem, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;

//===----------------------------------------------------------------------===//
// Types and attributes: a name, and parameters that are attributes
//===----------------------------------------------------------------------===//

namespace {

using Term = std::pair<StringAttr, ArrayAttr>;

/// The storage of a type or of an attribute.
template <typename BaseT, typename AllocatorT> struct TermStorage : BaseT {
  using KeyTy = Term;
  explicit TermStorage(const Term &term) : term(term) {}
  bool operator==(const Term &other) const { return term == other; }
  static TermStorage *construct(AllocatorT &allocator, const Term &term) {
    return new (allocator.template allocate<TermStorage>()) TermStorage(term);
  }
  Term term;
};
using TypeTerm = TermStorage<TypeStorage, TypeStorageAllocator>;
using AttributeTerm = TermStorage<AttributeStorage, AttributeStorageAllocator>;

struct SmemType : Type::TypeBase<SmemType, Type, TypeTerm> {
  using Base::Base;
  static constexpr StringLiteral name = "smem.type";
  const Term &getTerm() const { return getImpl()->term; }
};

struct SmemAttr : Attribute::AttrBase<SmemAttr, Attribute, AttributeTerm> {
  using Base::Base;
  static constexpr StringLiteral name = "smem.attribute";
  const Term &getTerm() const { return getImpl()->term; }
};

/// Parses `name` or `name<parameter, ...>`.
FailureOr<Term> parseTerm(DialectAsmParser &parser) {
  StringRef name;
  SmallVector<Attribute> parameters;
  auto parseParameter = [&]() -> ParseResult {
    return parser.parseAttribute(parameters.emplace_back());
  };
  if (parser.parseKeyword(&name) ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalLessGreater,
                                     parseParameter))
    return failure();
  MLIRContext *context = parser.getContext();
  return Term(StringAttr::get(context, name),
              ArrayAttr::get(context, parameters));
}

void printTerm(const Term &term, DialectAsmPrinter &printer) {
  auto [name, parameters] = term;
  printer << name.getValue();
  if (parameters.empty())
    return;
  printer << '<';
  llvm::interleaveComma(parameters, printer, [&](Attribute parameter) {
    printer.printAttribute(parameter);
  });
  printer << '>';
}

} // namespace

MLIR_DECLARE_EXPLICIT_TYPE_ID(SmemType)
MLIR_DEFINE_EXPLICIT_TYPE_ID(SmemType)
MLIR_DECLARE_EXPLICIT_TYPE_ID(SmemAttr)
MLIR_DEFINE_EXPLICIT_TYPE_ID(SmemAttr)

//===----------------------------------------------------------------------===//
// The dialect
//===----------------------------------------------------------------------===//

namespace smem {

SmemDialect::SmemDialect(MLIRContext *context)
    : Dialect(getDialectNamespace(), context, TypeID::get<SmemDialect>()) {
  addTypes<SmemType>();
  addAttributes<SmemAttr>();
  allowUnknownOperations();
}

Type SmemDialect::parseType(DialectAsmParser &parser) const {
  FailureOr<Term> term = parseTerm(parser);
  return succeeded(term) ? SmemType::get(getContext(), *term) : Type();
}

void SmemDialect::printType(Type type, DialectAsmPrinter &printer) const {
  printTerm(cast<SmemType>(type).getTerm(), printer);
}

Attribute SmemDialect::parseAttribute(DialectAsmParser &parser, Type) const {
  FailureOr<Term> term = parseTerm(parser);
  return succeeded(term) ? SmemAttr::get(getContext(), *term) : Attribute();
}

void SmemDialect::printAttribute(Attribute attribute,
                                 DialectAsmPrinter &printer) const {
  printTerm(cast<SmemAttr>(attribute).getTerm(), printer);
}

} // namespace smem

MLIR_DEFINE_EXPLICIT_TYPE_ID(smem::SmemDialect)
