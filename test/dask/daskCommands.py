"""Runs Dask's commands, such as `dask worker`, each in a fork of this process, which has imported distributed once.

Reads commands from stdin, one JSON object per line, and answers each with a line of JSON. `start` has the arguments of a
command of Dask, `env` its variables, and `under` the command that runs it in a new process instead of a fork; the answer is
the id of the process. `end` has the id of a process and `signal` the signal that it gets; the answer comes when the process
has ended.
"""

import json
import os
import signal
import sys

from dask.cli import run_cli
from distributed.cli import dask_scheduler, dask_worker  # noqa: F401
from workload import fork_server


def start(arguments, env, under):
    pid = os.fork()
    if pid != 0:
        return pid
    os.environ.update(env)
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(nothing, fd)
    if under:
        os.execvp(under[0], [*under, sys.executable, "-m", "dask", *arguments])
    # A nanny starts its worker from there.
    fork_server()
    sys.argv = ["dask", *arguments]
    run_cli()


def end(pid, name):
    os.kill(pid, signal.Signals[name])
    os.waitpid(pid, 0)


def main():
    while line := sys.stdin.readline():
        command = json.loads(line)
        if "start" in command:
            answer = start(command["start"], command["env"], command["under"])
        else:
            answer = end(command["end"], command["signal"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
