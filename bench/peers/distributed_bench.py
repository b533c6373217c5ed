"""Dask's LocalCluster on the rows of bench/clusterRows.ts.

    python distributed_bench.py ROW REPEAT

Prints one line of JSON: a list with the measurement of each repetition, in the unit of the row. Graphs are smaller
than ours, because a task costs half a millisecond here and the figures are per task.
"""

import json
import logging
import sys
import time

from dask_bench import chain_graph, inc, tree_graph

LEAVES = 5_000
CHAIN = 500
MAP = 2_000
SINGLES = 100


def per_task(repeat, tasks, run):
    times = []
    for round in range(repeat + 1):
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) / tasks * 1e6)
    return times[1:]


def graph(client, repeat, made):
    dsk, key, expected = made

    def run():
        if client.get(dsk, key) != expected:
            raise ValueError("the result is wrong")

    return per_task(repeat, len(dsk), run)


def mapped(client, repeat):
    def run():
        if len(client.gather(client.map(inc, range(MAP), pure=False))) != MAP:
            raise ValueError("results are missing")

    return per_task(repeat, MAP, run)


def singles(client, repeat):
    medians = []
    for round in range(repeat + 1):
        times = []
        for index in range(SINGLES):
            start = time.perf_counter()
            client.submit(inc, index, pure=False).result()
            times.append((time.perf_counter() - start) * 1e3)
        medians.append(sorted(times)[SINGLES // 2])
    return medians[1:]


ROWS = {
    "threads": (False, lambda client, repeat: graph(client, repeat, tree_graph(LEAVES))),
    "processes": (True, lambda client, repeat: graph(client, repeat, tree_graph(LEAVES))),
    "map": (True, mapped),
    "chain": (True, lambda client, repeat: graph(client, repeat, chain_graph(CHAIN))),
    "submit-threads": (False, singles),
    "submit-processes": (True, singles),
}


def main(row, repeat):
    from distributed import Client, LocalCluster

    logging.getLogger("distributed").setLevel(logging.ERROR)
    processes, measure = ROWS[row]
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=processes, dashboard_address=None
    ) as cluster, Client(cluster) as client:
        print(json.dumps(measure(client, repeat)))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
