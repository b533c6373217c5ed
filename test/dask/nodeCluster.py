"""A Dask cluster for tests that run TypeScript on it. Reads commands from stdin and prints answers as lines of JSON.

The argument is a JSON object with `workers`, `threads`, and for LocalCluster `memory`, `resources`, `env` of the workers, and
`pem`, a file with a certificate and its key for TLS.
"""

import asyncio
import contextlib
import json
import os
import sys
import tempfile
import time

import dask
from distributed import Client, LocalCluster, WorkerPlugin
from prepared_python import serve
from workload import cheaply, secured


def left(dask_worker):
    return [name for name in dask_worker.plugins if name.startswith("longpole")]


async def pause(fraction, dask_worker):
    """Sets the fraction of memory at which the worker pauses. Returns when the worker has changed its state."""
    manager = dask_worker.memory_manager
    manager.memory_pause_fraction = fraction
    wanted = "paused" if fraction < 0.01 else "running"
    while dask_worker.status.name != wanted:
        await asyncio.sleep(0.05)


async def block_at_close(seconds, dask_worker):
    """Blocks the event loop of the worker when it begins to close, as a busy machine does."""

    class Blocking(WorkerPlugin):
        def teardown(self, worker):
            time.sleep(seconds)

    await dask_worker.plugin_add(plugin=Blocking(), name="blocking")


def main():
    options = json.loads(sys.argv[1])
    # `resources` becomes an option of each worker, `env` one of its nanny.
    more = {name: options[name] for name in ("env", "resources") if name in options}
    if "pem" in options:
        more |= {"security": secured(options["pem"]), "protocol": "tls"}
    # Nothing reads Dask's profiles of tasks in TypeScript.
    config = {"distributed.worker.profile.enabled": False, **options.get("config", {})}
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        prepared = serve(folder)
        stack.enter_context(cheaply())
        stack.enter_context(dask.config.set(config))
        cluster = stack.enter_context(
            LocalCluster(
                n_workers=options["workers"],
                threads_per_worker=options["threads"],
                memory_limit=options.get("memory", "auto"),
                dashboard_address=None,
                **more,
            )
        )
        client = stack.enter_context(Client(cluster))
        answer({"address": cluster.scheduler_address, "python": prepared})
        for line in sys.stdin:
            command, *arguments = line.split()
            if command == "scale":
                cluster.scale(int(arguments[0]))
                answer(None)
            elif command == "pids":
                answer(client.run(os.getpid))
            elif command == "retire":
                if len(arguments) > 1:
                    client.run(block_at_close, float(arguments[1]), workers=[arguments[0]])
                # Also removes the worker from the LocalCluster, which otherwise starts another one.
                answer(cluster.sync(retire, cluster, arguments[0]))
            elif command == "pause":
                client.run(pause, float(arguments[0]), workers=[arguments[1]])
                answer(None)
            elif command == "restart":
                client.restart()
                answer(None)
            elif command == "left":
                plugins = sum(client.run(left).values(), [])
                keys = client.run_on_scheduler(lambda dask_scheduler: [str(key) for key in dask_scheduler.tasks])
                answer({"plugins": plugins, "keys": keys})


async def retire(cluster, address):
    return list(await cluster.scheduler.retire_workers(workers=[address]))


def answer(value):
    print(json.dumps(value), flush=True)


if __name__ == "__main__":
    main()
