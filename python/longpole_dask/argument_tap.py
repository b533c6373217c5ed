"""Finds tasks with large arguments: those that took long to arrive at their workers.

The module is sent to the scheduler by value with scheduler_tap.
"""

from dask.sizeof import sizeof

#: Seconds from sending a task to its arrival from which its arguments may be large.
LATE = 0.05
#: Smallest size of arguments that is reported, bytes.
MIN_ARGUMENTS = 100_000
#: Maximum number of tasks per poll whose arguments are measured, which takes some 50 µs each.
MAX_MEASURED = 50


class ArgumentTap:
    def __init__(self):
        #: When each task was sent to its worker, by number.
        self.times = {}
        self.measured = 0

    def sent(self, number, now):
        self.times[number] = now

    def left(self, number):
        """The task is no longer on a worker. Returns when it was sent, if known."""
        return self.times.pop(number, None)

    def row(self, ts, number, sent, facts):
        """Returns the row of a task with a result whose arguments are large, or None."""
        received = ((facts.get("metadata") or {}).get("longpole") or [None])[0]
        if None in (received, sent) or received - sent < LATE or self.measured >= MAX_MEASURED:
            return None
        self.measured += 1
        try:
            nbytes = sizeof(ts.run_spec)
        except Exception:
            # The size of an object may be any code.
            return None
        return ["arguments", number, nbytes] if nbytes >= MIN_ARGUMENTS else None

    def polled(self):
        self.measured = 0
