"""Counts the tasks that the scheduler takes from a worker for another one.

The module is sent to the scheduler by value with scheduler_tap.
"""

from distributed.metrics import time


class StealTap:
    def __init__(self, scheduler, workers, add_row):
        self.scheduler = scheduler
        #: Index of each worker by its address.
        self.workers = workers
        self.add_row = add_row
        #: Number of stolen tasks and their expected seconds by indices of the two workers, since the last row.
        self.stolen = {}

    def logged(self, msg):
        """Counts a stolen task. Dask logs every step of a steal; the last one is ("confirm", key, state, victim, thief, id)."""
        if not isinstance(msg, (list, tuple)) or len(msg) < 5 or msg[0] != "confirm":
            return
        _, key, _, victim, thief, *_ = msg
        ts = self.scheduler.tasks.get(key)
        if ts is None or victim not in self.workers or thief not in self.workers:
            return
        expected = ts.prefix.duration_average
        sums = self.stolen.setdefault((self.workers[victim], self.workers[thief]), [0, 0.0])
        sums[0] += 1
        sums[1] += expected if expected >= 0 else self.scheduler.UNKNOWN_TASK_DURATION

    def add_rows(self):
        stolen, self.stolen = self.stolen, {}
        for (victim, thief), (tasks, seconds) in stolen.items():
            self.add_row(["stolen", time(), victim, thief, tasks, seconds])
