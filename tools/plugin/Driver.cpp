//===- Driver.cpp - Runs smem-opt -----------------------------------------===//
//
// Part of mlir-smem, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <mutex>
#include <unistd.h>

using namespace llvm;

namespace {

/// An open file, or its error.
class File {
public:
  File(const Twine &path, int flags) : path(path.str()) {
    descriptor = ::open(this->path.c_str(), flags | O_CLOEXEC, 0600);
  }
  File(const File &) = delete;
  ~File() {
    if (descriptor >= 0)
      ::close(descriptor);
  }
  const std::string path;
  int descriptor;
};

Error fileError(const Twine &path, std::error_code code) {
  return createStringError(code, path + ": " + code.message());
}

std::string contents(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

/// Returns the path of smem-opt: $SMEM_OPT, else that on the PATH.
Expected<std::string> findProgram() {
  const char *named = std::getenv("SMEM_OPT");
  StringRef name = named && *named ? named : "smem-opt";
  auto program = sys::findProgramByName(name);
  if (program && sys::fs::can_execute(*program))
    return *program;
  if (name == "smem-opt")
    return createStringError("smem-opt is not on the PATH; install mlir-smem, "
                             "or set SMEM_OPT to the path of smem-opt");
  return createStringError("SMEM_OPT is '" + name +
                           "', which is no program; set it to the path of "
                           "smem-opt of mlir-smem");
}

} // namespace

namespace smem {

Expected<Driver &> Driver::get() {
  static std::mutex mutex;
  static std::unique_ptr<Driver> driver;
  std::lock_guard<std::mutex> lock(mutex);
  if (driver)
    return *driver;
  auto program = findProgram();
  if (!program)
    return program.takeError();
  SmallString<128> pattern;
  sys::path::system_temp_directory(/*erasedOnReboot=*/true, pattern);
  sys::path::append(pattern, "smem-XXXXXX");
  std::string folder = pattern.str().str();
  if (!::mkdtemp(folder.data())) // for this user alone
    return fileError(folder, std::error_code(errno, std::generic_category()));
  driver.reset(new Driver(*program, folder));
  return *driver;
}

Driver::Driver(StringRef program, StringRef folder)
    : program(program), folder(folder), owner(::getpid()),
      server(program, folder) {}

Driver::~Driver() {
  server.stop();
  if (owner == ::getpid()) // not a fork of it
    sys::fs::remove(folder);
}

Expected<Outcome> Driver::run(StringRef module, ArrayRef<StringRef> options) {
  std::string stem = (folder + "/" + Twine(runs++)).str();
  std::string paths[] = {stem + ".in.mlir", stem + ".out.mlir", stem + ".txt"};
  scope_exit remove([&] {
    for (const std::string &path : paths)
      sys::fs::remove(path);
  });
  std::error_code problem;
  {
    raw_fd_ostream stream(paths[0], problem);
    stream << module;
    stream.close();
    if (stream.has_error())
      problem = stream.error();
    stream.clear_error();
  }
  if (problem)
    return fileError(paths[0], problem);

  SmallVector<StringRef> arguments = {"smem-opt", paths[0]};
  arguments.append(options.begin(), options.end());
  std::optional<int> code;
  {
    int flags = O_WRONLY | O_CREAT | O_TRUNC;
    File input("/dev/null", O_RDONLY), output(paths[1], flags),
        errors(paths[2], flags);
    for (const File *file : {&input, &output, &errors})
      if (file->descriptor < 0)
        return fileError(file->path,
                         std::error_code(errno, std::generic_category()));
    code = server.run(arguments,
                      {input.descriptor, output.descriptor, errors.descriptor});
  }
  if (!code) {
    // A run that aborted the server's fork is repeated here, and aborts alone.
    std::optional<StringRef> redirects[] = {StringRef(), StringRef(paths[1]),
                                            StringRef(paths[2])};
    std::string why;
    bool failed = false;
    code = sys::ExecuteAndWait(program, arguments, std::nullopt, redirects,
                               /*SecondsToWait=*/0, /*MemoryLimit=*/0, &why,
                               &failed);
    if (failed)
      return createStringError(program + ": " + why);
  }
  return Outcome{paths[0], *code, contents(paths[1]), contents(paths[2])};
}

} // namespace smem
