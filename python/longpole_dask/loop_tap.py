"""Measures how late the scheduler's event loop is.

The module is sent to the scheduler by value with scheduler_tap.
"""

from distributed.metrics import time
from tornado.ioloop import PeriodicCallback

#: Seconds between two measurements.
TICK = 0.05


class LoopTap:
    def __init__(self):
        self.last_tick = time()
        self.delay = 0.0
        self.ticks = PeriodicCallback(self.tick, 1000 * TICK)
        self.ticks.start()

    def tick(self):
        now = time()
        self.delay = max(self.delay, now - self.last_tick - TICK)
        self.last_tick = now

    def take(self):
        """Returns the present time, and the longest delay since the last call, in seconds."""
        # The present turn of the event loop may be the first one after a long delay.
        self.tick()
        delay, self.delay = self.delay, 0.0
        return self.last_tick, delay

    def stop(self):
        self.ticks.stop()
