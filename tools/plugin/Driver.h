//===- Driver.h - Runs smem-opt ---------------------------------*- C++ -*-===//
//
// Part of mlir-smem, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMEM_DRIVER_H
#define SMEM_DRIVER_H

#include "Server.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <atomic>
#include <memory>
#include <string>

namespace smem {

/// What a run of smem-opt left.
struct Outcome {
  /// The path of the input, which is removed.
  std::string input;
  /// The exit code.
  int code;
  std::string output;
  std::string errors;
};

/// Runs smem-opt on modules: by a server, else as a child process.
class Driver {
public:
  /// Returns the driver of this process, or why there is none.
  static llvm::Expected<Driver &> get();
  ~Driver();

  /// The path of smem-opt.
  llvm::StringRef getProgram() const { return program; }

  /// Runs smem-opt on a module with further arguments.
  llvm::Expected<Outcome> run(llvm::StringRef module,
                              llvm::ArrayRef<llvm::StringRef> options);

private:
  Driver(llvm::StringRef program, llvm::StringRef folder);

  std::string program;
  /// A folder of this process alone, for the files of runs and the socket.
  std::string folder;
  pid_t owner;
  Server server;
  std::atomic<unsigned> runs = 0;
};

} // namespace smem

#endif // SMEM_DRIVER_H
