"""A Dask cluster of two workers for bench/dask.ts, and the rows of that bench in Python.

Prints the address of the scheduler and those of the workers as a line of JSON. For each line `ROW SIZE` on stdin, runs the row
and prints its seconds.
"""

import json
import logging
import sys
import time

import numpy
from dask_bench import inc, tree_graph
from distributed import Client, LocalCluster, wait

NAP_SECONDS = 0.1


def nap(index):
    time.sleep(NAP_SECONDS)
    return index


def mapped(client, workers, size):
    start = time.perf_counter()
    results = client.gather(client.map(inc, range(size), pure=False))
    return time.perf_counter() - start, results[-1] == size


def graph(client, workers, size):
    dsk, key, expected = tree_graph(size)
    start = time.perf_counter()
    result = client.get(dsk, key)
    return time.perf_counter() - start, result == expected


def naps(client, workers, size):
    start = time.perf_counter()
    results = client.gather(client.map(nap, range(size), pure=False))
    return time.perf_counter() - start, results[-1] == size - 1


def transfer(client, workers, size):
    here, there = workers
    array = client.submit(numpy.ones, size // 8, workers=[here], pure=False)
    wait(array)
    start = time.perf_counter()
    result = client.submit(len, array, workers=[there], pure=False).result()
    return time.perf_counter() - start, result == size // 8


ROWS = {"map": mapped, "graph": graph, "naps": naps, "transfer": transfer}


def main():
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL)
    with cluster, Client(cluster) as client:
        workers = list(client.scheduler_info(n_workers=-1)["workers"])
        print(json.dumps({"address": cluster.scheduler_address, "workers": workers}), flush=True)
        for line in sys.stdin:
            row, size = line.split()
            seconds, is_right = ROWS[row](client, workers, int(size))
            if not is_right:
                raise ValueError(f"the result of {row} is wrong")
            print(seconds, flush=True)


if __name__ == "__main__":
    main()
