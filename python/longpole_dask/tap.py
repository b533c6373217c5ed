"""Shared parts of the plugins: the identity of a machine's clock, and the warnings of distributed.

Like the plugins, the module is sent to the cluster by value, see bridge.py.
"""

import json
import logging

from distributed.metrics import time

#: Characters to which texts are cut.
MAX_TEXT = 20_000


def boot_id():
    """Returns an id that all processes with this machine's clock share; empty if the system has none."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read().strip()
    except OSError:
        return ""


class LogHandler(logging.Handler):
    """Collects warnings and errors of distributed as [time, level, text]. If several plugins share a process, one of them
    collects each record."""

    def __init__(self, add_entry):
        super().__init__(logging.WARNING)
        self.add_entry = add_entry

    def emit(self, record):
        # Errors of tasks are reported with the task.
        if getattr(record, "longpole_reported", False) or record.getMessage().startswith("Compute Failed"):
            return
        record.longpole_reported = True
        self.add_entry([time(), record.levelname.lower(), f"{record.name}: {record.getMessage()}"[:MAX_TEXT]])

    def attach(self):
        logging.getLogger("distributed").addHandler(self)

    def detach(self):
        logging.getLogger("distributed").removeHandler(self)


def text_of(msg):
    if isinstance(msg, str):
        return msg[:MAX_TEXT]
    if isinstance(msg, dict) and "function" in msg:
        # Omits the pickled function.
        msg = {name: value for name, value in msg.items() if name != "function"}
    try:
        return json.dumps(msg, default=repr)[:MAX_TEXT]
    except (TypeError, ValueError):
        return repr(msg)[:MAX_TEXT]


def add_task(rows, tag, number, *facts):
    """Adds a task to the last row if the row has the same tag and facts, except the first one, its time; else adds a row."""
    last = rows[-1] if rows else [""]
    if last[0] == tag and last[3:] == list(facts[1:]):
        last[1].append(number)
    else:
        rows.append([tag, [number], *facts])


def failure_text(ts, ws, facts):
    """The event of a failed task. It begins as that of a Longpole cluster, which the views read."""
    text = facts.get("exception_text") or "KilledWorker"
    where = facts.get("traceback_text") or ""
    prefix = "" if ts.prefix is None else ts.prefix.name
    worker = "unknown" if ws is None else ws.name
    return f"Task '{ts.key}' (function {prefix}, worker {worker}) failed. {text}\n{where}"[:MAX_TEXT]
