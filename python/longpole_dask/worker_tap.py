"""The plugin of a worker, which collects data that only the worker has.

The arrival time of a task is sent to the scheduler in the task's metadata, with the message that the task has finished. The
bridge polls transfers, fine performance metrics, samples and warnings about once a second. All times are on the worker's
clock: corrections of distributed are subtracted.
"""

from collections import deque

import dask
import msgpack
from dask.utils import parse_timedelta
from distributed.diagnostics.plugin import WorkerPlugin
from distributed.metrics import time

from .loop_tap import LoopTap
from .tap import LogHandler, boot_id

#: Maximum number of transfers to keep, as in distributed.
MAX_MOVED = 100_000
MAX_LOGS = 1_000
#: Delay of the worker's event loop in seconds from which it is reported.
MIN_DELAY = 0.5


def take(name, dask_worker=None):
    """Returns the data since the last call as msgpack; None if the worker has no such plugin."""
    plugin = dask_worker.plugins.get(name)
    return None if plugin is None else plugin.take()


class WorkerTap(WorkerPlugin):
    def __init__(self, name, client):
        self.name = name
        self.client = client

    def setup(self, worker):
        self.worker = worker
        self.received = {}
        #: Slot of each task that executes, from 0. A worker executes at most as many tasks at a time as it has threads.
        self.slots = {}
        #: [entry of the log, the correction that its times contain, whether it was polled]
        self.incoming = deque(maxlen=MAX_MOVED)
        self.last_incoming = last(worker.transfer_incoming_log)
        self.last_outgoing = last(worker.transfer_outgoing_log)
        self.reported = dict(worker.digests_total)
        self.last_profile = worker.profile_keys_history[-1][0] if worker.profile_keys_history else 0
        self.logs = deque(maxlen=MAX_LOGS)
        self.boot_id = boot_id()
        self.log_handler = LogHandler(self.logs.append)
        self.log_handler.attach()
        self.loop_tap = LoopTap(self.late)
        self.add_present()

    def add_present(self):
        """Sets the metadata of the tasks that run already. Another observation may have set it."""
        delay = self.worker.scheduler_delay
        for ts in self.worker.state.executing:
            known = ts.metadata.setdefault("longpole", [None, delay, [], len(self.slots), None])
            self.slots[ts.key] = known[3]
        for ts in self.worker.state.long_running:
            # When these tasks seceded is unknown.
            ts.metadata.setdefault("longpole", [None, delay, [], 0, 0.0])

    def teardown(self, worker):
        self.loop_tap.stop()
        self.log_handler.detach()
        for ts in worker.state.tasks.values():
            ts.metadata.pop("longpole", None)

    def late(self, now, delay):
        if delay >= MIN_DELAY:
            # Read by src/protocol/eventTopics.ts.
            self.logs.append([now, "blocked", f"The event loop of the worker was blocked for {delay:.3f} s."])

    def transition(self, key, start, finish, **kwargs):
        if finish == "waiting":
            self.received.setdefault(key, time())
        elif finish == "executing":
            self.executing(key)
        elif finish == "long-running":
            self.seceded(key)
        elif start == "flight":
            self.note_incoming()
        elif start in ("executing", "long-running"):
            self.ran(key, finish)
        elif finish in ("memory", "released", "forgotten"):
            self.received.pop(key, None)

    def executing(self, key):
        """Sets the metadata: [arrival, correction that its times will contain, [bytes, correction] of each transfer, slot, time
        at which it seceded]."""
        worker = self.worker
        ts = worker.state.tasks.get(key)
        if ts is None:
            return
        transfers = []
        for startstop in ts.startstops:
            if startstop["action"] == "transfer":
                entry, delay = self.entry_of(startstop["start"], startstop["stop"])
                transfers.append([entry["total"] if entry else 0, delay])
        received = self.received.pop(key, None)
        ts.metadata["longpole"] = [received, worker.scheduler_delay, transfers, self.take_slot(key), None]

    def take_slot(self, key):
        """Returns the lowest slot that no executing task has. Threads are no slots: a task that secedes keeps its thread."""
        present = {ts.key for ts in self.worker.state.executing if ts.key != key}
        self.slots = {other: slot for other, slot in self.slots.items() if other in present}
        taken = set(self.slots.values())
        slot = next(slot for slot in range(len(taken) + 1) if slot not in taken)
        self.slots[key] = slot
        return slot

    def seceded(self, key):
        ts = self.worker.state.tasks.get(key)
        times = ts and ts.metadata.get("longpole")
        if times:
            times[4] = time()

    def ran(self, key, finish):
        """Adjusts the correction of a task. A heartbeat may have changed it before distributed used it, which gives
        impossible times."""
        ts = self.worker.state.tasks.get(key)
        times = ts and ts.metadata.get("longpole")
        compute = [s for s in ts.startstops if s["action"] == "compute"] if times else []
        if compute and ts.start_time:
            start, stop = compute[-1]["start"], compute[-1]["stop"]
            times[1] = min(max(times[1], stop - time()), start - ts.start_time)
        if finish == "error":
            self.failed(key, ts)

    def failed(self, key, ts):
        """Sends the metadata of a failed run as an event to the bridge's client, because a failure message has none."""
        worker = self.worker
        if ts is None:
            return
        message = {
            "longpole": "failed",
            "key": str(key),
            "address": worker.address,
            "thread": worker.threads.get(key) or 0,
            "startstops": [[s["action"], s["start"], s["stop"]] for s in ts.startstops],
            "times": ts.metadata.get("longpole"),
        }
        worker.log_event(self.client, message)

    def entry_of(self, start, stop):
        for entry, delay, _ in reversed(self.incoming):
            if entry["start"] == start and entry["stop"] == stop:
                return entry, delay
            if entry["stop"] < start:
                break
        return None, self.worker.scheduler_delay

    def note_incoming(self):
        """Records new transfers directly after they end, while the present correction is the one in their times."""
        for entry in since(self.worker.transfer_incoming_log, self.last_incoming):
            self.incoming.append([entry, self.worker.scheduler_delay, False])
            self.last_incoming = entry

    def take(self):
        worker = self.worker
        now = time()
        self.note_incoming()
        moved = []
        for one in reversed(self.incoming):
            if one[2]:
                break
            moved.append(moved_row("incoming", one[0], one[1]))
            one[2] = True
        moved.reverse()
        # Later tasks look up the transfers of the last minute.
        while self.incoming and self.incoming[0][0]["stop"] < now - 60:
            self.incoming.popleft()
        for entry in since(worker.transfer_outgoing_log, self.last_outgoing):
            # Dask has corrected start and stop for the offset of the clock, but not middle. The difference is the correction.
            delay = (entry["start"] + entry["stop"]) / 2 - entry["middle"]
            moved.append(moved_row("outgoing", entry, delay))
            self.last_outgoing = entry
        logs = [self.logs.popleft() for _ in range(len(self.logs))]
        batch = [
            "batch",
            worker.address,
            now,
            worker.scheduler_delay,
            self.boot_id,
            [seconds("distributed.worker.profile.interval"), seconds("distributed.worker.profile.cycle")],
            moved,
            self.metrics(),
            self.running(),
            self.profiles(),
            logs,
        ]
        return msgpack.packb([batch], default=str, unicode_errors="replace")

    def metrics(self):
        """Returns [context, span, prefix, activity, unit, increase] for each metric that has changed."""
        rows = []
        reported = self.reported
        for key, value in list(self.worker.digests_total.items()):
            if not isinstance(key, tuple) or len(key) < 3:
                continue
            more = value - reported.get(key, 0)
            if more == 0:
                continue
            reported[key] = value
            context, *rest, unit = key
            span, prefix = "", ""
            if context == "execute" and len(rest) >= 3:
                span, prefix, *rest = rest
            elif context == "p2p" and len(rest) >= 2:
                span, *rest = rest
            activity = ", ".join(str(part) for part in rest)
            rows.append([str(context), str(span or ""), str(prefix), activity, str(unit), float(more)])
        return rows

    def running(self):
        tasks = self.worker.state.tasks
        rows = []
        for key in list(self.worker.active_keys):
            ts = tasks.get(key)
            if ts is not None and ts.start_time:
                rows.append([str(key), ts.start_time])
        return rows

    def profiles(self):
        """Returns [end, prefix, nodes of the tree] of the cycles since the last call."""
        rows = []
        delay = self.worker.scheduler_delay
        newest = self.last_profile
        for when, trees in reversed(self.worker.profile_keys_history):
            if when <= self.last_profile:
                break
            newest = max(newest, when)
            for prefix, tree in trees.items():
                if tree["count"]:
                    rows.append([when - delay, str(prefix), tree_rows(tree)])
        self.last_profile = newest
        rows.reverse()
        return rows


def last(log):
    return log[-1] if log else None


def since(log, entry):
    """Returns the entries of a log after `entry`, oldest first; all if the log no longer has `entry`."""
    new = []
    for one in reversed(log):
        if one is entry:
            break
        new.append(one)
    new.reverse()
    return new


def moved_row(direction, entry, delay):
    return [
        direction,
        str(entry["who"] or ""),
        entry["start"] - delay,
        entry["stop"] - delay,
        entry["total"] or 0,
        entry.get("compressed"),
        [str(key) for key in entry["keys"]],
    ]


def tree_rows(root):
    """Returns [row of the caller or -1, count, function, file, line] for each node, callers first."""
    rows = []
    todo = [(-1, root)]
    while todo:
        parent, node = todo.pop()
        description = node["description"]
        place = len(rows)
        rows.append(
            [
                parent,
                node["count"],
                str(description["name"]),
                str(description["filename"]),
                description["line_number"] or 0,
            ]
        )
        todo.extend((place, child) for child in node["children"].values())
    return rows


def seconds(setting):
    return parse_timedelta(dask.config.get(setting), default="ms")
