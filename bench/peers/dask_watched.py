"""Measures the cost of watching a Dask cluster: PYTHON bench/peers/dask_watched.py, after npm run build.

Two worker processes run empty tasks and tasks of 10 ms, in turns with and without `longpole dask record`. Prints the median of
the ratios.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time

from distributed import Client, LocalCluster

CLI = os.path.join(os.path.dirname(__file__), "..", "..", "dist", "cli", "main.js")
PAIRS = 5


def inc(x):
    return x + 1


def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def timed(client, function, values):
    start = time.perf_counter()
    client.gather(client.map(function, values, pure=False))
    return (time.perf_counter() - start) / len(values)


def both(client):
    return timed(client, inc, range(2000)), timed(client, spin, [0.01] * 200)


def main():
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with Client(cluster) as client, tempfile.TemporaryDirectory() as folder:
            timed(client, inc, range(500))
            pairs = []
            for i in range(PAIRS):
                alone = both(client)
                command = ["node", CLI, "dask", "record", cluster.scheduler_address]
                output = ["-o", os.path.join(folder, f"{i}.trace"), "--python", sys.executable]
                watch = subprocess.Popen([*command, *output], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
                watch.stderr.readline()
                pairs.append((alone, both(client)))
                watch.terminate()
                watch.communicate()
            for kind, name in enumerate(("empty tasks", "tasks of 10 ms")):
                alone = statistics.median(one[kind] for one, _ in pairs)
                ratio = statistics.median(other[kind] / one[kind] for one, other in pairs)
                print(f"{name}: {alone * 1e6:.0f} us each, {ratio:.3f} times as long when watched")


if __name__ == "__main__":
    main()
