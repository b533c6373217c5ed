"""Dask's local schedulers on the graphs of bench/graphs.ts.

    python dask_bench.py ENGINE

Uses the protocol of bench/engineProcess.ts: for each line `TASKS` on stdin, one line of JSON on stdout.
"""

import json
import sys
import time

FAN_IN = 16


def inc(value):
    return value + 1


def tree_graph(leaves):
    graph = {f"inc-{i}": (inc, i) for i in range(leaves)}
    below = list(graph)
    level = 0
    while len(below) > 1:
        here = []
        for start in range(0, len(below), FAN_IN):
            key = f"sum-{level}-{start // FAN_IN}"
            graph[key] = (sum, below[start : start + FAN_IN])
            here.append(key)
        below = here
        level += 1
    return graph, below[0], leaves * (leaves + 1) // 2


def chain_graph(length):
    graph = {f"inc-{i}": (inc, f"inc-{i - 1}" if i else 0) for i in range(length)}
    return graph, f"inc-{length - 1}", length


def timed(get, graph, key, expected, **options):
    start = time.perf_counter()
    result = get(graph, key, **options)
    seconds = time.perf_counter() - start
    if result != expected:
        raise ValueError(f"the result is {result}, and should be {expected}")
    return {"seconds": seconds, "tasks": len(graph)}


def engines():
    import dask
    import dask.multiprocessing
    import dask.threaded
    from dask.diagnostics import CacheProfiler, Profiler, ResourceProfiler

    def profilers(graph, key, expected):
        def off():
            return timed(dask.threaded.get, graph, key, expected, num_workers=2)

        def on():
            with Profiler(), ResourceProfiler(dt=0.25), CacheProfiler():
                return off()

        profilers.on_first = not getattr(profilers, "on_first", False)
        first, second = (on, off) if profilers.on_first else (off, on)
        a, b = first(), second()
        measured, base = (a, b) if profilers.on_first else (b, a)
        return {**measured, "baseSeconds": base["seconds"]}

    return {
        "dask-sync": (tree_graph, lambda *run: timed(dask.get, *run)),
        "dask-threads": (tree_graph, lambda *run: timed(dask.threaded.get, *run, num_workers=2)),
        "dask-processes": (tree_graph, lambda *run: timed(dask.multiprocessing.get, *run, num_workers=2)),
        "dask-chain": (chain_graph, lambda *run: timed(dask.threaded.get, *run, num_workers=2)),
        "dask-profilers": (tree_graph, profilers),
    }


def main():
    make_graph, measure = engines()[sys.argv[1]]
    known = {}
    print("ready", flush=True)
    for line in sys.stdin:
        tasks = int(line)
        if tasks not in known:
            known[tasks] = make_graph(tasks)
        print(json.dumps(measure(*known[tasks])), flush=True)


if __name__ == "__main__":
    main()
