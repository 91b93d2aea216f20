"""Run commands in forks of a process that has imported them: they start in 20 ms instead of 500 ms.

`preloaded.py SOCKET` is that process; it ends when its standard input ends. `preloaded.py SOCKET COMMAND
ARGUMENT...` runs a command in a fork, with its own streams, folder and environment, and returns its exit
code. If no process listens at the socket, it executes the command itself.
"""

import json
import os
import socket
import sys


def serve(path: str) -> None:
    """Listen at a path and fork for each command until standard input ends."""
    import select
    import signal

    from mlir_smem.tools import entry, smem_compile, smem_layout, smem_opt  # noqa: F401

    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    print("listening", flush=True)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no one waits for the forks
    while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
        connection, _ = listener.accept()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            connection.send(bytes([_run(connection, entry)]))
            os._exit(0)
        connection.close()


def _run(connection: socket.socket, entry) -> int:
    """Run the requested command; return its exit code."""
    _, streams, _, _ = socket.recv_fds(connection, 1, 3)
    arguments, folder, environment = json.load(connection.makefile())
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = arguments
    try:
        getattr(entry, arguments[0].replace("-", "_"))()
    except SystemExit as end:
        return end.code
    except Exception:
        sys.excepthook(*sys.exc_info())
        return 1
    finally:
        sys.stdout.flush()


def send(path: str, arguments: list[str]) -> int:
    """Send a command to the process at a path; return its exit code."""
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(path)
        except OSError:
            os.execvp(arguments[0], arguments)
        socket.send_fds(connection, [b"."], [0, 1, 2])
        connection.sendall(json.dumps([arguments, os.getcwd(), dict(os.environ)]).encode())
        connection.shutdown(socket.SHUT_WR)
        answer = connection.recv(1)
        # A fork that dies sends no code; 134 is the exit code of a process that aborts.
        return answer[0] if answer else 134


if __name__ == "__main__":
    if len(sys.argv) == 2:
        serve(sys.argv[1])
    else:
        sys.exit(send(sys.argv[1], sys.argv[2:]))
