"""Measures how late the event loop of the scheduler or of a worker is.

The module is sent there by value with scheduler_tap and worker_tap.
"""

from distributed.metrics import time
from tornado.ioloop import PeriodicCallback

#: Seconds between two measurements.
TICK = 0.05


class LoopTap:
    def __init__(self, late=lambda now, delay: None):
        """Calls `late` after each measurement with the time and the delay."""
        self.late = late
        self.last_tick = time()
        self.delay = 0.0
        self.ticks = PeriodicCallback(self.tick, 1000 * TICK)
        self.ticks.start()

    def tick(self):
        now = time()
        delay = now - self.last_tick - TICK
        self.delay = max(self.delay, delay)
        self.last_tick = now
        self.late(now, delay)

    def take(self):
        """Returns the present time, and the longest delay since the last call, in seconds."""
        # The present turn of the event loop may be the first one after a long delay.
        self.tick()
        delay, self.delay = self.delay, 0.0
        return self.last_tick, delay

    def stop(self):
        self.ticks.stop()
