"""A server that runs commands in forks of a process that has imported them.

`smem-opt --server=SOCKET` is that process. `python server.py SOCKET COMMAND ARGUMENT...` has it run a
command with this process's streams, folder and environment, and returns the exit code. Without a
server at the socket, it executes the command itself. tools/plugin/Server.cpp is another client.

A request is one byte that carries the three standard streams, then a list in JSON: the arguments (the
first is the command's name), the folder, and the environment. The answer is one byte, the exit code; a
command that aborts has no answer.
"""

import json
import os
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress

#: A server ends after so many seconds without a request.
IDLE_SECONDS = 600

#: The commands that a server runs.
COMMANDS = ("smem-opt", "smem-compile", "smem-layout")


class ServerError(Exception):
    """A socket that a server cannot listen at."""


def serve(path: str, idle: float = IDLE_SECONDS) -> None:
    """Listen at a path, and fork for each request.

    The server ends after `idle` seconds without a request. If its standard input is a pipe, it also ends
    when the pipe is closed, with the process that started it; then it also ends its forks if it leads the
    session.

    Args:
        path: the socket; a socket that a dead server has left is replaced.
        idle: seconds without a request after which the server ends.

    Raises:
        ServerError: if the path is taken, or no socket can be made there.
    """
    import select
    import signal
    import stat

    listener = _listener(path)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # the socket is removed
    inode = os.stat(path).st_ino
    kind = os.fstat(0).st_mode
    sources = [listener, 0] if stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) else [listener]
    try:
        # Clients can connect already; they wait for the imports.
        sys.stdout.write("listening\n")
        sys.stdout.flush()
        _import_commands()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no one waits for the forks
        while ready := select.select(sources, [], [], idle)[0]:
            if 0 in ready:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                if os.getsid(0) == os.getpid():
                    os.killpg(0, signal.SIGTERM)
                return
            _fork(listener)
    finally:
        with suppress(FileNotFoundError):
            if os.stat(path).st_ino == inode:
                os.unlink(path)


def _listener(path: str) -> socket.socket:
    """Return a socket that listens at a path, for this user only.

    Raises:
        ServerError: if another server listens, or the socket cannot be bound.
    """
    import stat

    listener = socket.socket(socket.AF_UNIX)
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            if stat.S_ISSOCK(os.stat(path).st_mode):
                os.unlink(path)  # of a server that was killed
        except OSError:
            pass
        else:
            raise ServerError(f"{path}: another server listens there")
    old_umask = os.umask(0o177)
    try:
        listener.bind(path)
        listener.listen(64)
    except OSError as error:
        raise ServerError(f"{path}: {error.strerror or error}") from None
    finally:
        os.umask(old_umask)
    return listener


def _import_commands() -> None:
    """Import the commands; the entry points import them by name, too."""
    from importlib import import_module

    for command in COMMANDS:
        import_module(f".{command.replace('-', '_')}", __package__)


def _fork(listener: socket.socket) -> None:
    """Accept a connection, and serve it in a fork."""
    import signal

    try:
        connection, _ = listener.accept()
    except OSError:  # the client has gone
        return
    with connection:
        try:
            child = os.fork()
        except OSError:  # no more processes: the client runs the command itself
            return
        if child:
            return
        code = 134  # the exit code of a process that aborts
        try:
            for number in (signal.SIGCHLD, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            listener.close()
            code = _run(connection)
            connection.send(bytes([code]))
        finally:
            os._exit(code)


def _run(connection: socket.socket) -> int:
    """Run the requested command; return its exit code."""
    from . import entry

    _, streams, _, _ = socket.recv_fds(connection, 1, 3)
    arguments, folder, environment = json.load(connection.makefile())
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    command = getattr(entry, arguments[0].replace("-", "_"))
    return run_command(command, arguments, environment)


def run_command(
    command: Callable[[], object], arguments: list[str], environment: Mapping[str, str]
) -> int:
    """Run a command in this process; return its exit code.

    Args:
        command: the command's function, which reads `sys.argv`.
        arguments: the new `sys.argv`.
        environment: the new environment.
    """
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = arguments
    try:
        command()
    except SystemExit as system_exit:
        if isinstance(system_exit.code, str):
            print(system_exit.code, file=sys.stderr)
        return (
            system_exit.code
            if isinstance(system_exit.code, int)
            else 0
            if system_exit.code is None
            else 1
        )
    except Exception:
        import traceback

        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
    return 0


def send(path: str, arguments: list[str]) -> int:
    """Run a command by the server at a path; return the exit code."""
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(path)
        except OSError:
            os.execvp(arguments[0], arguments)
        socket.send_fds(connection, [b"."], [0, 1, 2])
        connection.sendall(json.dumps([arguments, os.getcwd(), dict(os.environ)]).encode())
        connection.shutdown(socket.SHUT_WR)
        answer = connection.recv(1)
        return answer[0] if answer else 134


if __name__ == "__main__":
    sys.exit(send(sys.argv[1], sys.argv[2:]))
