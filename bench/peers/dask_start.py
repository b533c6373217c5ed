"""The shortest program on Dask's LocalCluster: python dask_start.py WORKERS"""

import sys

from distributed import Client, LocalCluster


def inc(value):
    return value + 1


if __name__ == "__main__":
    with LocalCluster(n_workers=int(sys.argv[1]), threads_per_worker=1, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            print(client.submit(inc, 0).result(), flush=True)
