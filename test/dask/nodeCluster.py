"""A Dask cluster for tests that run TypeScript on it. Reads commands from stdin and prints answers as lines of JSON."""

import json
import os
import sys

from distributed import Client, LocalCluster


def left(dask_worker):
    return [name for name in dask_worker.plugins if name.startswith("longpole")]


def main():
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster) as client:
        answer({"address": cluster.scheduler_address})
        for line in sys.stdin:
            command, *arguments = line.split()
            if command == "scale":
                cluster.scale(int(arguments[0]))
                answer(None)
            elif command == "pids":
                answer(client.run(os.getpid))
            elif command == "left":
                plugins = sum(client.run(left).values(), [])
                keys = client.run_on_scheduler(lambda dask_scheduler: [str(key) for key in dask_scheduler.tasks])
                answer({"plugins": plugins, "keys": keys})


def answer(value):
    print(json.dumps(value), flush=True)


if __name__ == "__main__":
    main()
