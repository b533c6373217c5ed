"""What both taps need: the machine's name for its clock, and the warnings of distributed.

Like them, the module travels to the cluster by value: see bridge.py.
"""

import logging

from distributed.metrics import time

#: Longer texts are cut.
MAX_TEXT = 20_000


def boot_id():
    """The same text on all that share this machine's clock; empty where the system does not say."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return ""


class LogHandler(logging.Handler):
    """Warnings and errors of distributed: [time, level, text]. One record is told of once, also where several plugins share
    a process and its loggers."""

    def __init__(self, tell):
        super().__init__(logging.WARNING)
        self.tell = tell

    def emit(self, record):
        # What tasks throw is told of with the task.
        if getattr(record, "longpole_told", False) or record.getMessage().startswith("Compute Failed"):
            return
        record.longpole_told = True
        self.tell([time(), record.levelname.lower(), f"{record.name}: {record.getMessage()}"[:MAX_TEXT]])

    def attach(self):
        logging.getLogger("distributed").addHandler(self)

    def detach(self):
        logging.getLogger("distributed").removeHandler(self)
