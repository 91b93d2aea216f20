//===- Server.h - A client of smem-opt's server -----------------*- C++ -*-===//
//
// Part of mlir-smem, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SMEM_SERVER_H
#define SMEM_SERVER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <mutex>
#include <optional>
#include <string>
#include <sys/types.h>

namespace smem {

/// A server that runs smem-opt without the time to start it: that at
/// $SMEM_OPT_SERVER, or a process of our own, which a first request starts and
/// which ends with this process. See tools/server.py for the protocol.
class Server {
public:
  /// \p program is smem-opt; \p folder is private to this process.
  Server(llvm::StringRef program, llvm::StringRef folder);
  ~Server();

  /// Runs a command with three files as its standard streams; returns its exit
  /// code, or nothing if no server can be had or it gave no answer.
  std::optional<int> run(llvm::ArrayRef<llvm::StringRef> arguments,
                         llvm::ArrayRef<int> streams);

  /// Ends our own server, if there is one.
  void stop();

private:
  /// Connects to the server, which is started if there is none. Returns -1 on
  /// failure.
  int connect();
  int connectTo(llvm::StringRef path);
  bool start();

  std::string program;
  /// The socket of our own server.
  std::string path;
  std::mutex mutex;
  pid_t process = 0;
  /// The process that started it.
  pid_t owner = 0;
  /// Our end of the server's standard input. It closes with this process.
  int lifeline = -1;
  /// Whether our own server did not start; it is not tried again.
  bool broken = false;
};

} // namespace smem

#endif // SMEM_SERVER_H
