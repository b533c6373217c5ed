"""Observes clusters with the context managers of `longpole`. Prints a JSON object with the outcome of each part.

The arguments are the address of a cluster, a folder for the files, a PEM file, and a Python for the bridges that need no
certificates. With the argument `killed` instead of the last two, the program prints the id of the process that records,
and kills itself.
"""

import asyncio
import json
import os
import signal
import sys
import time
import urllib.error
import urllib.request
import warnings
from unittest import mock

import longpole
from distributed import Client, LocalCluster
from distributed.security import Security

TASKS = 20
#: Seconds for each step of the start of an observation, also on a machine that is busy.
STEP = 120


def double(x):
    return 2 * x


def work(client, name):
    """Runs TASKS tasks with this prefix."""
    keys = [f"{name}-{i}" for i in range(TASKS)]
    return sum(client.gather(client.map(double, range(TASKS), key=keys)))


def raised(action):
    """Returns the class, the code and the text of the error of a function."""
    try:
        action()
    except Exception as error:
        return {"class": type(error).__name__, "code": getattr(error, "code", None), "text": str(error)}
    return None


def tasks_of(run, name):
    return run.table("tasks", as_="pyarrow")["prefix"].to_pylist().count(name)


def reported(folder):
    """The current Client is used. A forked process keeps the pipe to the command open."""
    with longpole.report(f"{folder}/new/run.html", timeout=STEP) as recording:
        before = recording.summary
        forked = os.fork()
        if forked == 0:
            while True:
                time.sleep(3600)
        work(Client.current(), "reported")
    os.kill(forked, signal.SIGKILL)
    os.waitpid(forked, 0)
    run = recording.open()
    return {"path": recording.path, "before": before, "summary": recording.summary, "tasks": tasks_of(run, "reported")}


def failing(client, folder):
    """The body raises, and the trace has its tasks."""

    def body():
        with longpole.record(f"{folder}/failing.trace", client=client, timeout=STEP):
            work(client, "failing")
            raise KeyError("of the body")

    error = raised(body)
    return {"error": error, "tasks": tasks_of(longpole.open(f"{folder}/failing.trace"), "failing")}


def watched(client):
    """The page is served. Then its process is killed, first in a body without and then in one with an error."""
    with longpole.watch(client, timeout=STEP) as link:
        page = urllib.request.urlopen(link, timeout=60).read().decode()
    try:
        closed = urllib.request.urlopen(link, timeout=60).status
    except urllib.error.URLError:
        closed = True

    def killed(error):
        watch = longpole.watch(client, timeout=STEP)
        with watch:
            watch._child.kill()
            if error is not None:
                raise error

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        won = raised(lambda: killed(KeyError("of the body")))
    return {
        "page": page[:15],
        "closed": closed,
        "killed": raised(lambda: killed(None)),
        "won": won,
        "warnings": [str(one.message) for one in caught],
    }


def refused(client, folder):
    """What cannot be observed."""

    def existing():
        with longpole.record(f"{folder}/failing.trace", client=client):
            pass

    def unreachable():
        with Client(processes=False, n_workers=1, dashboard_address=None) as inside, longpole.watch(inside):
            pass

    def wrong(context):
        with context:
            pass

    return {
        "existing": raised(existing),
        "unreachable": raised(unreachable),
        "client": raised(lambda: wrong(longpole.watch("tcp://127.0.0.1:8786"))),
        "timeout": raised(lambda: longpole.watch(client, timeout=0)),
    }


async def ended_early(folder, pem):
    """An asynchronous Client with certificates as text, of a cluster that ends before the block."""
    text = open(pem, encoding="utf-8").read()
    roles = ("scheduler", "worker", "client")
    files = {f"tls_{role}_{part}": text for role in roles for part in ("cert", "key")}
    security = Security(tls_ca_file=text, require_encryption=True, **files)
    options = {"n_workers": 1, "processes": False, "protocol": "tls://", "dashboard_address": None}
    async with LocalCluster(asynchronous=True, security=security, **options) as cluster:
        async with Client(cluster, asynchronous=True) as client:
            wrong = raised(lambda: longpole.watch(client).__enter__())
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                async with longpole.record(f"{folder}/early.trace", client=client, timeout=STEP) as recording:
                    keys = [f"early-{i}" for i in range(TASKS)]
                    await client.gather(client.map(double, range(TASKS), key=keys))
                    child = recording._child
                    await cluster.close()
                    # The end of the block must not be first.
                    await asyncio.to_thread(child.wait_for, "stderr", "ended early", 120)
    run = await asyncio.to_thread(recording.open)
    return {
        "wrong": wrong,
        "address": cluster.scheduler_address,
        "warnings": [str(one.message) for one in caught if one.category is RuntimeWarning],
        "damage": run.damage,
    }


def killed(client, folder):
    with longpole.record(f"{folder}/killed.trace", client=client, timeout=STEP) as recording:
        work(client, "killed")
        print(recording._child._process.pid, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)


def main():
    address, folder, pem, *prepared = sys.argv[1:]
    if pem == "killed":
        with Client(address) as client:
            killed(client, folder)
    without = raised(lambda: longpole.report(f"{folder}/none.html").__enter__())
    with Client(address) as client, mock.patch.object(sys, "executable", *prepared):
        outcome = {
            "without": without,
            "reported": reported(folder),
            "failing": failing(client, folder),
            "watched": watched(client),
            "refused": refused(client, folder),
        }
    outcome["early"] = asyncio.run(ended_early(folder, pem))
    print(json.dumps(outcome))


if __name__ == "__main__":
    main()
