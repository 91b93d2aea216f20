//===- Server.cpp - A client of smem-opt's server -------------------------===//
//
// Part of mlir-smem, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Server.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

extern char **environ;

namespace {

/// A server that has not begun to listen after so long does not start.
constexpr int startMilliseconds = 20000;

/// Writes all of a text to a socket; returns whether it did.
bool sendAll(int socket, StringRef text) {
  while (!text.empty()) {
    ssize_t sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent <= 0)
      return false;
    text = text.drop_front(sent);
  }
  return true;
}

/// Sends one byte that carries three open files; returns whether it did.
bool sendStreams(int socket, ArrayRef<int> streams) {
  alignas(cmsghdr) char control[CMSG_SPACE(3 * sizeof(int))] = {};
  char byte = '.';
  iovec data = {&byte, 1};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  cmsghdr *header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(3 * sizeof(int));
  std::memcpy(CMSG_DATA(header), streams.data(), 3 * sizeof(int));
  ssize_t sent;
  do
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent == 1;
}

/// Returns the request that asks for a command in this folder and environment.
std::string request(ArrayRef<StringRef> arguments) {
  json::Array words;
  for (StringRef argument : arguments)
    words.push_back(json::fixUTF8(argument));
  json::Object variables;
  for (char **each = environ; *each; ++each) {
    auto [name, value] = StringRef(*each).split('=');
    variables[json::fixUTF8(name)] = json::fixUTF8(value);
  }
  SmallString<256> folder;
  sys::fs::current_path(folder);
  std::string text;
  raw_string_ostream stream(text);
  stream << json::Value(json::Array{std::move(words), json::fixUTF8(folder),
                                    std::move(variables)});
  return text;
}

} // namespace

namespace smem {

Server::Server(StringRef program, StringRef folder)
    : program(program), path((folder + "/socket").str()) {}

Server::~Server() { stop(); }

std::optional<int> Server::run(ArrayRef<StringRef> arguments,
                               ArrayRef<int> streams) {
  int socket = connect();
  if (socket < 0)
    return std::nullopt;
  scope_exit close([&] { ::close(socket); });
  if (!sendStreams(socket, streams) || !sendAll(socket, request(arguments)))
    return std::nullopt;
  ::shutdown(socket, SHUT_WR);
  unsigned char code;
  ssize_t count;
  do
    count = ::read(socket, &code, 1);
  while (count < 0 && errno == EINTR);
  return count == 1 ? std::optional<int>(code) : std::nullopt;
}

int Server::connect() {
  if (const char *given = std::getenv("SMEM_OPT_SERVER"))
    return connectTo(given);
  std::lock_guard<std::mutex> lock(mutex);
  if (process) {
    int socket = connectTo(path);
    if (socket >= 0)
      return socket;
    stop(); // it was idle, or somebody ended it
  }
  if (!broken && start())
    return connectTo(path);
  broken = true;
  return -1;
}

int Server::connectTo(StringRef where) {
  sockaddr_un address = {};
  if (where.empty() || where.size() >= sizeof(address.sun_path))
    return -1;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, where.data(), where.size());
  int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0)
    return -1;
  if (::connect(socket, reinterpret_cast<sockaddr *>(&address),
                sizeof(address)) == 0)
    return socket;
  ::close(socket);
  return -1;
}

bool Server::start() {
  int input[2], output[2];
  if (::pipe2(input, O_CLOEXEC))
    return false;
  if (::pipe2(output, O_CLOEXEC)) {
    ::close(input[0]);
    ::close(input[1]);
    return false;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input[0], 0);
  posix_spawn_file_actions_adddup2(&actions, output[1], 1);
  // What prevents its start is reported by smem-opt, which then runs itself.
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A session of its own: Ctrl-C ends this process, and by that the server.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  std::string option = "--server=" + path;
  char *arguments[] = {program.data(), option.data(), nullptr};
  bool spawned = posix_spawn(&process, program.c_str(), &actions, &attributes,
                             arguments, environ) == 0;
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  ::close(input[0]);
  ::close(output[1]);
  lifeline = input[1];
  owner = ::getpid();

  // Its first line says that it listens; a process that is no server ends.
  bool listens = false;
  pollfd ready = {output[0], POLLIN, 0};
  if (spawned && ::poll(&ready, 1, startMilliseconds) == 1) {
    char line[16];
    ssize_t count = ::read(output[0], line, sizeof(line));
    listens = count > 0 && StringRef(line, count).starts_with("listening");
  }
  ::close(output[0]);
  if (!spawned)
    process = 0;
  if (!listens)
    stop();
  return listens;
}

void Server::stop() {
  if (lifeline >= 0)
    ::close(lifeline);
  lifeline = -1;
  if (!process)
    return;
  // Not the child of a fork of the process that started it.
  if (owner == ::getpid()) {
    ::kill(process, SIGKILL);
    while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR)
      ;
    ::unlink(path.c_str());
  }
  process = 0;
}

} // namespace smem
