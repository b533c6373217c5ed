"""Numbers the workers, each once, and makes the rows of those that join, pause and leave.

The module is sent to the scheduler by value with scheduler_tap.
"""

from dask.utils import format_bytes
from distributed.metrics import time

#: Reasons of the end of a worker by distributed's name of the cause. Other causes are reported by this name.
REASONS = {
    "handle-worker-cleanup": "its connection broke",
    "worker-send-comm-fail": "its connection broke",
    "send-all-comm-fail": "its connection broke",
    "check-worker-ttl": "it sent nothing for too long",
    "retire-workers": "it was retired",
    "nanny-close": "its nanny closed it",
}
#: Name of the status in which a worker starts no task.
PAUSED = "paused"


class RosterTap:
    def __init__(self, scheduler, add_row):
        self.scheduler = scheduler
        self.add_row = add_row
        #: Index of each worker by its address.
        self.workers = {}
        self.next_worker = 0
        #: Memory in bytes at which nannies ended workers, by address.
        self.exhausted = {}

    def index(self, ws):
        return -1 if ws is None else self.workers.get(ws.address, -1)

    def leaving(self):
        """Returns the index of the worker that is being removed. Its tasks are released before remove_worker is called."""
        workers = self.scheduler.workers
        return next((index for address, index in self.workers.items() if address not in workers), None)

    def joined(self, address):
        ws = self.scheduler.workers[address]
        index = self.workers[address] = self.next_worker
        self.next_worker += 1
        facts = (address, str(ws.name), ws.host, ws.pid or 0, ws.nthreads, ws.memory_limit or 0, time())
        self.add_row(["worker", index, *facts])
        if ws.status.name == PAUSED:
            self.changed_status(address, {"status": PAUSED})

    def logged(self, topic, msg):
        """Reads an event of Dask about a worker."""
        if not isinstance(msg, dict):
            return
        if topic == "worker-restart-memory":
            self.exhausted[msg.get("worker")] = msg.get("rss") or 0
        if topic in self.workers and msg.get("action") == "worker-status-change":
            self.changed_status(topic, msg)

    def changed_status(self, address, msg):
        """Adds an event if the worker was paused because of its memory, or no longer is."""
        change = "worker-paused" if msg.get("status") == PAUSED else "worker-unpaused"
        if PAUSED in (msg.get("status"), msg.get("prev-status")):
            name = str(self.scheduler.workers[address].name)
            self.add_row(["event", time(), self.workers[address], change, name])

    def left(self, address, stimulus_id):
        index = self.workers.pop(address, None)
        if index is not None:
            cause = stimulus_id.rsplit("-", 1)[0]
            used = self.exhausted.pop(address, None)
            # A finding looks for the beginning of this text, see EXHAUSTED in src/protocol/eventTopics.ts.
            reason = REASONS.get(cause, cause) if used is None else f"its nanny ended it, because it used {format_bytes(used)} of memory"
            self.add_row(["worker-gone", index, time(), reason])
