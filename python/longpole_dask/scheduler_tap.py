"""The plugin of the scheduler, which collects rows until the bridge polls them.

The module is sent to the scheduler by value, so Longpole need not be installed there. Rows are lists that begin with a tag,
see src/protocol/daskRows.ts. Times are seconds since the epoch on the scheduler's clock. Each task has a unique number.
"""

import asyncio
import contextlib
import platform
import socket

import dask
import distributed
import msgpack
from distributed.diagnostics.plugin import SchedulerPlugin
from distributed.metrics import time

from .argument_tap import ArgumentTap
from .known_tasks import KnownTasks
from .loop_tap import LoopTap
from .machine_tap import MachineTap
from .roster_tap import RosterTap
from .steal_tap import StealTap
from .tap import LogHandler, add_task, boot_id, failure_text, text_of

MEMORY, ERRED = 0, 1
#: Rows that wait for the bridge above which the plugin removes itself.
MAX_ROWS = 2_000_000
#: Maximum number of events per poll, because a cluster may log many.
MAX_EVENTS = 1_000
MAX_FAILED = 10_000
#: Seconds for which a closing scheduler waits for the last poll of the bridge.
LAST_POLL = 5.0
#: States of a task that no worker has.
WITHOUT_RUN = ("released", "waiting", "queued", "no-worker")
#: Reason of a failure before the task had a worker.
NO_WORKER = "No worker that may run it was there for distributed.scheduler.no-workers-timeout."
#: Topics that are not reported, or are reported by other rows.
QUIET_TOPICS = ("transitions", "scheduler", "worker-get-client")


class SchedulerTap(SchedulerPlugin):
    def __init__(self, name, worker_plugin, client, protocol):
        self.name = name
        self.worker_plugin = worker_plugin
        self.client = client
        self.protocol = protocol

    async def start(self, scheduler):
        self.scheduler = scheduler
        self.rows = []
        self.tasks = KnownTasks(scheduler, self.add_row)
        self.roster = RosterTap(scheduler, self.add_row)
        #: Index of each worker by its address.
        self.workers = self.roster.workers
        self.seen = {}
        self.machine = MachineTap()
        self.events = 0
        self.polled = asyncio.Event()
        #: Reports of workers about failed runs, by key, until the failure itself arrives.
        self.failed = {}
        self.steals = StealTap(scheduler, self.workers, self.add_row)
        self.arguments = ArgumentTap()
        facts = {
            "Scheduler": scheduler.address,
            "Host": socket.gethostname(),
            "Platform": f"{platform.system()} {platform.machine()}",
            "Python": platform.python_version(),
            "dask": dask.__version__,
            "distributed": distributed.__version__,
        }
        self.rows.append(["hello", self.protocol, time(), boot_id(), facts])
        for address in scheduler.workers:
            self.add_worker(scheduler, address)
        self.add_known_tasks()
        # The bridge polls this handler. Client.run_on_scheduler would log an event at every poll.
        scheduler.handlers[self.name] = self.take
        self.log_handler = LogHandler(self.log)
        self.log_handler.attach()
        self.loop_tap = LoopTap()

    def add_row(self, row):
        self.rows.append(row)

    # Existing tasks.

    def add_known_tasks(self):
        """Adds the existing tasks. They have no time of submission, because it was before the observation."""
        now = time()
        known = list(self.scheduler.tasks.values())
        running = [ts for ts in known if ts.state == "processing"]
        others = [ts for ts in known if ts.state != "processing"]
        for ts in running + others:
            self.tasks.number(ts)
        self.tasks.graph(running + others, None, "")
        for ts in running:
            self.rows.append(["sent", self.tasks.ids[ts.key], None, self.roster.index(ts.processing_on)])
        for ts in others:
            if ts.state in ("queued", "no-worker"):
                self.rows.append(["ready", self.tasks.ids[ts.key], now])

    # Hooks of the scheduler.

    def update_graph(self, scheduler, *, client="", tasks=(), stimulus_id="", **kwargs):
        states = (scheduler.tasks.get(key) for key in tasks)
        new = self.tasks.with_dependencies([ts for ts in states if ts is not None])
        # In the order of priority.
        new.sort(key=lambda ts: ts.priority or ())
        self.tasks.add(new, submitted_at(stimulus_id, time()), client)

    def transition(self, key, start, finish, *args, stimulus_id="", **kwargs):
        now = time()
        if len(self.rows) > MAX_ROWS:
            self.detach()
            return
        number = self.tasks.known(key, now)
        if number is None:
            return
        self.tasks.count(start, finish)
        rows = self.rows
        if start == "waiting" and finish in ("processing", "queued", "no-worker"):
            rows.append(["ready", number, now])
        if finish == "processing" and start != "processing":
            rows.append(["sent", number, now, self.roster.index(self.scheduler.tasks[key].processing_on)])
            self.arguments.sent(number, now)
        elif start == "processing":
            self.left_worker(key, number, finish, now, stimulus_id, kwargs)
        elif start in WITHOUT_RUN:
            self.left_without_run(key, number, finish, now, kwargs)
        if finish == "forgotten":
            add_task(self.rows, "forgotten", number)
            self.tasks.forget(key)

    def left_without_run(self, key, number, finish, now, facts):
        if finish == "erred" and facts.get("cause") == key:
            add_task(self.rows, "dropped", number, now, "erred")
            self.failure(key, now, {"exception_text": NO_WORKER})
        elif finish == "erred":
            add_task(self.rows, "dropped", number, now, "skipped")
        elif finish == "released" and not self.is_needed(key):
            add_task(self.rows, "dropped", number, now, "cancelled")

    def is_needed(self, key):
        ts = self.scheduler.tasks[key]
        return bool(ts.waiters or ts.who_wants)

    def left_worker(self, key, number, finish, now, stimulus_id, facts):
        sent = self.arguments.left(number)
        if finish == "memory":
            large = self.arguments.row(self.scheduler.tasks[key], number, sent, facts)
            if large is not None:
                self.rows.append(large)
            self.ended(key, number, MEMORY, now, facts)
        elif finish == "erred" and facts.get("startstops") and facts.get("cause") == key:
            report = self.failed.pop(str(key), {})
            self.ended(key, number, ERRED, now, {**facts, "metadata": {"longpole": report.get("times")}})
            self.failure(key, now, facts)
        elif finish == "erred" and facts.get("cause") == key:
            self.rows.append(["left", number, now, "lost", self.roster.leaving()])
            add_task(self.rows, "dropped", number, now, "erred")
            self.failure(key, now, facts)
        elif finish == "erred":
            # A dependency has failed.
            self.rows.append(["left", number, now, "cancelled"])
            add_task(self.rows, "dropped", number, now, "skipped")
        elif finish == "released":
            why = self.why_released(key, stimulus_id)
            if why != "retried" or not self.failed_run(key, number, now):
                # The task may have been stolen since it was sent.
                worker = self.roster.leaving() if why == "lost" else None
                self.rows.append(["left", number, now, why, worker])

    def why_released(self, key, stimulus_id):
        if not self.is_needed(key):
            # No dependent needs the task, e.g. because another dependency of its dependents has failed.
            return "cancelled"
        if self.roster.leaving() is not None:
            return "lost"
        return "retried" if stimulus_id.startswith("task-erred") else "rescheduled"

    def ended(self, key, number, state, now, facts):
        ts = self.scheduler.tasks[key]
        metadata = facts.get("metadata") or {}
        extra = metadata.get("longpole")
        if ts.metadata is not None:
            ts.metadata.pop("longpole", None)
        startstops = [[s["action"], s["start"], s["stop"]] for s in facts.get("startstops") or ()]
        self.rows.append(
            [
                "ended",
                number,
                now,
                state,
                self.workers.get(facts.get("worker"), -1),
                facts.get("thread") or 0,
                facts.get("nbytes") or 0,
                facts.get("typename") or "",
                startstops,
                extra,
            ]
        )

    def failed_run(self, key, number, now):
        """Adds the row of a failed run that will be retried, from the report of the worker, if any."""
        report = self.failed.pop(str(key), None)
        if report is None or not report["startstops"]:
            return False
        startstops = [dict(zip(("action", "start", "stop"), one)) for one in report["startstops"]]
        facts = {
            "worker": report["address"],
            "thread": report["thread"],
            "startstops": startstops,
            "metadata": {"longpole": report["times"]},
        }
        self.ended(key, number, ERRED, now, facts)
        return True

    def failure(self, key, now, facts):
        ws = self.scheduler.workers.get(facts.get("worker"))
        message = failure_text(self.scheduler.tasks[key], ws, facts)
        self.rows.append(["event", now, self.workers.get(facts.get("worker"), -1), "task-erred", message])

    def add_worker(self, scheduler, worker):
        self.roster.joined(worker)

    def remove_worker(self, scheduler, worker, *, stimulus_id="", **kwargs):
        self.steals.add_rows()
        self.seen.pop(worker, None)
        self.roster.left(worker, stimulus_id)

    def restart(self, scheduler):
        self.rows.append(["event", time(), -1, "restart", "The cluster was restarted."])

    def log_event(self, topic, msg):
        if topic == self.client and isinstance(msg, dict) and msg.get("longpole") == "failed":
            if len(self.failed) >= MAX_FAILED:
                self.failed.clear()
            self.failed[msg["key"]] = msg
            return
        self.roster.logged(topic, msg)
        if topic == "stealing":
            self.steals.logged(msg)
            return
        if topic in QUIET_TOPICS or topic in self.workers or topic in self.scheduler.clients:
            return
        if self.events < MAX_EVENTS:
            self.rows.append(["event", time(), -1, str(topic), text_of(msg)])
        self.events += 1

    def log(self, entry):
        when, level, text = entry
        if self.events < MAX_EVENTS:
            self.rows.append(["event", when, -1, f"log-{level}", text])
        self.events += 1

    # Polls of the bridge, and the end.

    def take(self):
        """Returns the rows since the last call as msgpack, and the addresses of the workers."""
        if self.events > MAX_EVENTS:
            more = f"{self.events - MAX_EVENTS} events were left out, because there were too many."
            self.rows.append(["event", time(), -1, "events-left-out", more])
        self.events = 0
        self.arguments.polled()
        self.polled.set()
        self.steals.add_rows()
        self.beats()
        rows, self.rows = self.rows, []
        return msgpack.packb(rows, default=str, unicode_errors="replace"), list(self.workers)

    def beats(self):
        now, delay = self.loop_tap.take()
        workers = []
        for address, index in self.workers.items():
            ws = self.scheduler.workers.get(address)
            if ws is None:
                continue
            if ws.last_seen != self.seen.get(address) and "memory" in ws.metrics:
                self.seen[address] = ws.last_seen
                self.beat(index, ws)
            workers.append([index, ws.status.name, len(ws.processing), float(getattr(ws, "occupancy", 0) or 0)])
        self.rows.append(["status", now, {k: v for k, v in self.tasks.states.items() if v > 0}, workers])
        machine = self.machine.row(self.scheduler, now)
        self.rows.append(["loop", now, delay] if machine is None else [*machine, delay])

    def beat(self, index, ws):
        metrics, memory = ws.metrics, ws.memory
        figures = {}
        for name, value in metrics.items():
            if isinstance(value, dict) and name in ("host_net_io", "host_disk_io", "host_cpu"):
                for part, number in value.items():
                    figures[f"{name}.{part}"] = float(number)
            elif name in ("num_fds", "gpu_utilization", "gpu_memory_used", "gil_contention"):
                figures[name] = float(value)
        self.rows.append(
            [
                "beat",
                index,
                ws.last_seen,
                float(metrics.get("cpu", 0)),
                float(metrics.get("event_loop_interval", 0)),
                figures,
                memory.process,
                memory.managed,
                memory.spilled,
                len(ws.has_what),
            ]
        )

    async def before_close(self):
        """Waits for the bridge's next poll. Later the scheduler answers no more, and the last rows would be lost."""
        self.polled.clear()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self.polled.wait(), LAST_POLL)
        # The event loop may continue without the scheduler.
        self.loop_tap.stop()

    def remove_client(self, scheduler, client):
        """Removes the plugins when the client of the bridge has gone."""
        if client == self.client:
            self.detach()

    def detach(self):
        self.stop()
        self.scheduler.plugins.pop(self.name, None)
        if self.worker_plugin in self.scheduler.worker_plugins:
            self.leaving = asyncio.ensure_future(self.remove_worker_plugin())

    async def remove_worker_plugin(self):
        try:
            await self.scheduler.unregister_worker_plugin(comm=None, name=self.worker_plugin)
        except (OSError, ValueError):
            # The plugin or its workers have gone already.
            pass

    def stop(self):
        self.polled.set()
        self.loop_tap.stop()
        self.log_handler.detach()
        self.scheduler.handlers.pop(self.name, None)
        self.rows = []
        self.tasks = KnownTasks(self.scheduler, self.add_row)


def submitted_at(stimulus_id, now):
    """Returns the arrival time of a graph, which its id contains. Since then, the scheduler has processed the graph."""
    try:
        time = float(stimulus_id.removeprefix("update-graph-"))
    except ValueError:
        return now
    return time if now - 3600 < time <= now else now
