"""A Dask cluster that runs workloads of many kinds and prints what Dask counted.

The arguments are the number of threads of each of the two workers and, for TLS, a PEM file. The program prints the
address of its scheduler and the path of a Python that starts fast, see prepared_python.py. It answers each line of its
input, a command, with one line of JSON. `run` runs `work` and prints the counts of the task stream and the transfer logs.
`left` prints the plugins, handlers and metadata of Longpole. The other commands are `COMMANDS`. The program ends when
its input ends.
"""

import asyncio
import contextlib
import json
import multiprocessing.util
import os
import signal
import sys
import tempfile
import time
from multiprocessing import forkserver, resource_tracker

import dask
import distributed.utils
from dask import delayed
from distributed import Client, Event, LocalCluster, get_task_stream, secede, span, wait
from distributed.core import Status
from distributed.security import Security
from prepared_python import serve


#: Time limits of bridges within which a server must answer. A busy machine may stop any process for seconds.
LONG_LIMITS = {"bridge.WORKER_SECONDS": 20.0, "bridge.LAST_WORDS": 20.0, "refusal.HTTP_ANSWER": 60.0}


def load(i):
    time.sleep(0.01)
    return os.urandom(320_000)


def part(data, j, n):
    return data[j::n]


def join(*parts):
    return len(b"".join(parts))


def step(x):
    time.sleep(0.005)
    return x + 1


def slow(i):
    time.sleep(0.4 if i == 7 else 0.01)
    return i


def fail(x):
    raise ValueError(f"boom {x}")


def flaky(path):
    if not os.path.exists(path):
        open(path, "w").close()
        raise RuntimeError("the first time")
    return 1


def spin(seconds):
    count, end = 0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        count += 1
    return count


def shuffle(n=6):
    loads = [delayed(load)(i) for i in range(n)]
    parts = [[delayed(part)(data, j, n) for j in range(n)] for data in loads]
    dask.compute(*(delayed(join)(*(row[j] for row in parts)) for j in range(n)))


def work(client, folder):
    with span("Alice", "load"):
        shuffle()
    x = delayed(step)(0)
    for _ in range(9):
        x = delayed(step)(x)
    x.compute()
    client.gather(client.map(slow, range(60), pure=False))
    try:
        delayed(step)(delayed(fail)(3)).compute()
    except ValueError:
        pass
    client.submit(flaky, os.path.join(folder, "flaky"), retries=1).result()
    [number] = client.scatter([41])
    client.submit(step, number).result()
    client.gather(client.map(spin, [0.03] * 16, pure=False))
    kept = client.persist([delayed(load)(i) for i in range(2)])
    wait(kept)


def counted(client, records):
    totals = {}
    for record in records:
        for one in record["startstops"]:
            total = totals.setdefault(f"{dask.utils.key_split(record['key'])} {one['action']}", [0, 0.0])
            total[0] += 1
            total[1] += one["stop"] - one["start"]

    def moved(dask_worker):
        logs = (dask_worker.transfer_incoming_log, dask_worker.transfer_outgoing_log)
        return [[len(log), sum(entry["total"] for entry in log)] for log in logs]

    return {"tasks": len(records), "totals": totals, "moved": list(client.run(moved).values())}


def left(client):
    def on_scheduler(dask_scheduler):
        names = [*dask_scheduler.plugins, *dask_scheduler.handlers, *dask_scheduler.worker_plugins]
        return names, sum(1 for ts in dask_scheduler.tasks.values() if ts.metadata and "longpole" in ts.metadata)

    names, metadata = client.run_on_scheduler(on_scheduler)
    for plugins in client.run(lambda dask_worker: list(dask_worker.plugins)).values():
        names = [*names, *plugins]
    return {"names": [name for name in names if "longpole" in name], "metadata": metadata}


def siblings(client):
    """A task fails after one of its six siblings has begun. They end only after the failure, when no task needs their results."""
    # On different workers, so that the failing task has a thread while its siblings wait.
    [first, second] = client.scheduler_info()["workers"]
    with dask.annotate(workers=[first]):
        holders = [delayed(hold)("siblings-begun", "siblings-gate", dask_key_name=f"sibling-{i}") for i in range(6)]
    with dask.annotate(workers=[second]):
        failing = delayed(fail_after)("siblings-begun", dask_key_name="fail-0")
    try:
        delayed(join_all)(*holders, failing).compute()
    except ValueError:
        pass
    Event("siblings-gate").set()
    return {"siblings": len(holders)}


def fail_after(begun):
    Event(begun).wait()
    fail(0)


def nap(seconds):
    time.sleep(seconds)
    return seconds


def join_all(*parts):
    return len(parts)


def shuffled(client):
    """A P2P rechunk. Returns the bytes that its tasks sent, as the workers counted them."""
    import dask.array

    with dask.config.set({"array.rechunk.method": "p2p"}):
        blocks = dask.array.ones((800, 800), chunks=(80, 800)).rechunk((800, 80))
        assert blocks.sum().compute() == 640_000

    def sent(dask_worker):
        return sum(v for k, v in dask_worker.digests_total.items() if k[0] == "p2p" and k[-3:] == P2P_SENT)

    return {"sent": sum(client.run(sent).values())}


P2P_SENT = ("background-comms", "process", "bytes")


def lose(client):
    """Kills a worker whose results are needed later. Returns its address and the number of lost results."""
    kept = client.persist([delayed(nap)(0.2, dask_key_name=f"held-{i}") for i in range(12)])
    wait(kept)
    [address, *_] = client.scheduler_info()["workers"]
    lost = len(client.has_what([address])[address])
    [pid] = client.run(os.getpid, workers=[address]).values()
    os.kill(pid, signal.SIGKILL)
    delayed(join_all)(*kept).compute()
    return {"lost": lost, "address": address}


def exhaust(client):
    """As `lose`, but the nanny has reported that it ends the worker, because its memory is full."""
    [address, *_] = client.scheduler_info()["workers"]
    event = {"worker": address, "pid": 1, "rss": 950_000_000}
    client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.log_event("worker-restart-memory", event))
    return lose(client)


def naps(client):
    """Tasks that only sleep."""
    client.gather(client.map(nap, [0.1] * 40, pure=False))
    return {}


def bursts(client):
    """Submits tasks in a loop, then a graph and scattered data. Returns the scheduler's number of computations."""

    def count(dask_scheduler):
        return len(dask_scheduler.computations)

    before = client.run_on_scheduler(count)
    # No task ends before the scheduler has all of them.
    burst = [client.submit(hold, f"burst-{i}", "bursts-gate", pure=False) for i in range(20)]
    known_at_scheduler(client, burst, True)
    Event("bursts-gate").set()
    client.gather(burst)
    [number] = client.scatter([0.1])
    client.gather(client.map(nap, [0.1] * 4, pure=False))
    client.submit(nap, number, pure=False).result()
    return {"computations": client.run_on_scheduler(count) - before}


def steal(client):
    """Makes the scheduler steal three tasks of a busy worker for the other one. Returns the steals that Dask logged."""
    earlier = len(client.get_events("stealing"))
    victim, thief = client.scheduler_info()["workers"]
    names = {address: str(facts["name"]) for address, facts in client.scheduler_info()["workers"].items()}
    begun, gate = Event("begun"), Event("gate")
    holder = client.submit(hold, "begun", "gate", workers=[victim], pure=False)
    begun.wait()
    waiting = [
        client.submit(nap, 0.001, workers=[victim], allow_other_workers=True, key=f"waiting-{i}") for i in range(3)
    ]

    async def request(dask_scheduler, keys):
        stealing = dask_scheduler.extensions["stealing"]
        ws = dask_scheduler.workers
        for key in keys:
            # The client sends tasks later than functions for the scheduler.
            while (ts := dask_scheduler.tasks.get(key)) is None:
                await asyncio.sleep(0.01)
            if ts.processing_on is ws[victim]:
                stealing.move_task_request(ts, ws[victim], ws[thief])

    client.run_on_scheduler(request, keys=[future.key for future in waiting])
    wait(waiting)
    gate.set()
    wait(holder)
    log = [msg for _, msg in client.get_events("stealing")[earlier:] if msg[0] == "confirm"]
    return {"steals": [[names[victim], names[thief]] for _, _, _, victim, thief, _ in log]}


def hold(begun, gate):
    Event(begun).set()
    Event(gate).wait()


def dropped(client):
    """Tasks that do not run: dependents of a failed task, a task without a worker and its dependent, and cancelled tasks. Two
    dependents of another failed task run later."""
    wait(client.map(step, [client.submit(fail, 1, pure=False)] * 3, pure=False))
    with tempfile.TemporaryDirectory() as folder:
        first = client.submit(flaky, os.path.join(folder, "flaky"), pure=False)
        retried = client.map(step, [first] * 2, pure=False)
        wait(retried)
        client.retry(retried)
        client.gather(retried)

    def limit(dask_scheduler, seconds):
        dask_scheduler.no_workers_timeout = seconds

    client.run_on_scheduler(limit, seconds=0.01)
    wait(client.submit(step, client.submit(step, 1, key="unrunnable", resources={"absent": 1}), pure=False))
    client.run_on_scheduler(limit, seconds=None)
    gate = Event("dropped-gate")
    workers = list(client.scheduler_info()["workers"])
    holders = [client.submit(hold, f"dropped-{w}", "dropped-gate", workers=[w], pure=False) for w in workers]
    for w in workers:
        Event(f"dropped-{w}").wait()
    # If a thread is free nevertheless, it has one of these until the gate opens, so each of them is cancelled.
    waiting = client.map(hold, [f"waiting-{i}" for i in range(8)], ["dropped-gate"] * 8, pure=False)
    known_at_scheduler(client, waiting, True)
    client.cancel(waiting)
    known_at_scheduler(client, waiting, False)
    gate.set()
    client.gather(holders)
    return {"skipped": 5, "cancelled": len(waiting)}


def secedes(client):
    """On each worker, three tasks leave their slots and end only when other tasks have run in these slots."""
    workers = list(client.scheduler_info()["workers"])
    away = [client.submit(secede_and_hold, f"away-{w}-{i}", "home", workers=[w], pure=False) for w in workers for i in range(3)]
    for w in workers:
        for i in range(3):
            Event(f"away-{w}-{i}").wait()
    client.gather([client.submit(nap, 0.05, workers=[w], pure=False) for w in workers for _ in range(4)])
    Event("home").set()
    wait(away)
    return {"away": len(away), "others": 4 * len(workers)}


def secede_and_hold(begun, gate):
    secede()
    hold(begun, gate)


FILLED = []


def fill(client):
    """Both workers run tasks, and eight others wait for them, until the command `drain`."""
    workers = list(client.scheduler_info()["workers"])
    FILLED.extend(client.submit(hold, f"filled-{w}", "filled-gate", workers=[w], pure=False) for w in workers)
    for w in workers:
        Event(f"filled-{w}").wait()
    waiting = client.map(nap, [0.05] * 8, pure=False)
    FILLED.extend(waiting)
    known_at_scheduler(client, waiting, True)
    return {"tasks": len(FILLED)}


def drain(client):
    gate = Event("filled-gate")
    gate.set()
    wait(FILLED)
    gate.clear()
    FILLED.clear()
    return {}


def known_at_scheduler(client, futures, known):
    """Waits until the scheduler knows the tasks, or has forgotten them."""

    async def until(dask_scheduler, keys, known):
        while any((key in dask_scheduler.tasks) != known for key in keys):
            await asyncio.sleep(0.01)

    client.run_on_scheduler(until, keys=[future.key for future in futures], known=known)


def paused(client):
    """A task waits for a paused worker. Returns the address of the worker."""
    [address, *_] = client.scheduler_info()["workers"]

    def become(status, dask_worker):
        # The worker would resume by itself, because its memory is not full.
        dask_worker.memory_manager.memory_pause_fraction = False
        dask_worker.status = Status[status]

    client.run(become, "paused", workers=[address])
    waiting = client.submit(nap, 0.2, workers=[address], pure=False)
    # The client sends tasks later than functions for the workers.
    known_at_scheduler(client, [waiting], True)
    client.run(become, "running", workers=[address])
    wait(waiting)
    return {"address": address}


def addresses(client):
    """Returns the address of a worker."""
    return {"worker": list(client.scheduler_info()["workers"])[0]}


COMMANDS = {
    "addresses": addresses,
    "bursts": bursts,
    "drain": drain,
    "dropped": dropped,
    "exhaust": exhaust,
    "fill": fill,
    "siblings": siblings,
    "shuffled": shuffled,
    "steal": steal,
    "lose": lose,
    "naps": naps,
    "paused": paused,
    "secedes": secedes,
}


def secured(pem):
    """Returns TLS settings. The file is the certificate authority and the certificate and key of every role."""
    roles = ("scheduler", "worker", "client")
    files = {f"tls_{role}_{part}": pem for role in roles for part in ("cert", "key")}
    return Security(tls_ca_file=pem, require_encryption=True, **files)


def cheaply():
    """Configures clusters for little CPU time. Workers fork from a fork of this process, so that distributed is imported once, and
    idle servers measure the delays of their event loops, and workers look at their threads, rarely."""
    fork_server()
    return dask.config.set({
        "distributed.worker.multiprocessing-method": "forkserver",
        "distributed.admin.tick.interval": "500ms",
        "distributed.worker.profile.interval": "50ms",
    })


def fork_server():
    """Starts the server of multiprocessing from which workers fork. It would start as a new Python process."""

    def fork(_path, args, fds):
        pid = os.fork()
        if pid != 0:
            return pid
        # The server ends when this process has closed its end of a pipe, so the server must not have that end.
        for fd in map(int, os.listdir("/proc/self/fd")):
            if fd > 2 and fd not in fds:
                with contextlib.suppress(OSError):
                    os.close(fd)
        try:
            exec(args[-1], {})
        finally:
            os._exit(0)

    resource_tracker.ensure_running()
    spawn, multiprocessing.util.spawnv_passfds = multiprocessing.util.spawnv_passfds, fork
    forkserver.ensure_running()
    multiprocessing.util.spawnv_passfds = spawn
    # Otherwise Dask starts the server anew and imports pandas in it.
    distributed.utils._forkserver_preload_set = True


def main():
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    security = secured(sys.argv[2]) if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        prepared = serve(folder, LONG_LIMITS)
        stack.enter_context(cheaply())
        options = {"n_workers": 2, "threads_per_worker": threads, "dashboard_address": None, "security": security}
        cluster = stack.enter_context(LocalCluster(**options))
        with Client(cluster) as client:
            print(cluster.scheduler_address, prepared, flush=True)
            for line in sys.stdin:
                if line.strip() == "run":
                    with get_task_stream(client=client) as stream:
                        work(client, folder)
                        # The stream is read at the end of the block and must contain the last tasks.
                        time.sleep(0.2)
                    print(json.dumps(counted(client, stream.data)), flush=True)
                elif line.strip() in COMMANDS:
                    # A worker that an earlier command killed is replaced.
                    client.wait_for_workers(2)
                    print(json.dumps(COMMANDS[line.strip()](client)), flush=True)
                else:
                    print(json.dumps(left(client)), flush=True)


if __name__ == "__main__":
    main()
