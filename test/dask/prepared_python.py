"""A Python that starts fast: each of its processes is a fork of one that has imported distributed.

The import takes longer than all else that a short bridge does. `serve` forks that process and writes a program that takes
the arguments of `python -m MODULE ARGUMENTS`. The program passes its arguments, environment and streams on, and ends with
the fork. If the program is killed, the fork is killed, too. Variables that Dask reads when it is imported, such as those of
certificates, have no effect.
"""

import importlib
import json
import os
import runpy
import select
import signal
import socket
import sys
import threading

MAX_REQUEST = 1 << 17


def serve(folder, values=None):
    """Returns the path of the program. Call it while this process has only one thread. The server ends with this process.

    `values` has values of constants of the bridge's modules, by `module.CONSTANT`.
    """
    path = os.path.join(folder, "prepared")
    server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server.bind(f"{path}.sock")
    server.listen()
    alive, kept = os.pipe()
    if os.fork() == 0:
        os.close(kept)
        try:
            answer_requests(server, alive, values or {})
        finally:
            os._exit(0)
    server.close()
    os.close(alive)
    with open(path, "w") as file:
        file.write(f"#!/bin/sh\nexec '{sys.executable}' -I -S '{__file__}' '{path}.sock' \"$@\"\n")
    os.chmod(path, 0o755)
    return path


def answer_requests(server, alive, values):
    # This process does not wait for the processes that answer.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while alive not in select.select([server, alive], [], [])[0]:
        connection, _ = server.accept()
        if os.fork() == 0:
            answer(connection, values)
        connection.close()


def answer(connection, values):
    """Runs the module in a fork and sends its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    request, streams, *_ = socket.recv_fds(connection, MAX_REQUEST, 3)
    pid = os.fork()
    if pid == 0:
        run(json.loads(request), streams, values)
    for stream in streams:
        os.close(stream)

    def kill_with_client():
        if connection.recv(1) == b"":
            os.kill(pid, signal.SIGKILL)

    threading.Thread(target=kill_with_client, daemon=True).start()
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    connection.send(str(code).encode())
    os._exit(0)


def run(request, streams, values):
    """Becomes the process `python -m MODULE ARGUMENTS`."""
    code = 1
    try:
        for target, stream in enumerate(streams):
            os.dup2(stream, target)
        os.closerange(3, max(streams) + 1)
        os.environ.clear()
        os.environ.update(request["environment"])
        os.chdir(request["folder"])
        sys.dont_write_bytecode = "-B" in request["arguments"]
        at = request["arguments"].index("-m")
        sys.argv = request["arguments"][at + 1 :]
        sys.path[:0] = os.environ["PYTHONPATH"].split(os.pathsep)
        for name, value in values.items():
            module, constant = name.split(".")
            setattr(importlib.import_module(f"longpole_dask.{module}"), constant, value)
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        code = 0
    finally:
        os._exit(code)


def request_process():
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect(sys.argv[1])
    request = {"arguments": sys.argv[2:], "environment": dict(os.environ), "folder": os.getcwd()}
    socket.send_fds(connection, [json.dumps(request).encode()], [0, 1, 2])
    for stream in range(3):
        os.close(stream)
    code = int(connection.recv(16) or 1)
    if code < 0:
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    request_process()
