"""Measures the load of a machine that the scheduler and all workers share, to detect tasks that wait for a core.

The module is sent to the scheduler by value with scheduler_tap. It reads counters of the system, about 20 µs per process.
"""

import os

import psutil
from dask.system import CPU_COUNT
from distributed.comm import get_address_host

#: Maximum number of processes to read. A cluster with more processes rarely runs on one machine.
MAX_PROCESSES = 256
#: CPU times of the system that are not work.
IDLE = ("idle", "iowait", "guest", "guest_nice")


class MachineTap:
    def __init__(self):
        self.processes = {}
        self.before = None

    def row(self, scheduler, now):
        """Returns a row, or None: cores, and how many were busy since the last row in total, by the cluster, by workers."""
        before, self.before = self.before, self.counters(scheduler, now)
        if before is None or self.before is None or now <= before[0]:
            return None
        seconds = now - before[0]
        busy = self.before[1] - before[1]
        # New processes count from the next row on.
        used = {pid: cpu - before[2][pid] for pid, cpu in self.before[2].items() if pid in before[2]}
        own = used.get(os.getpid(), 0.0)
        workers = sum(used.values()) - (0.0 if os.getpid() in self.before[3] else own)
        return ["machine", now, CPU_COUNT, *(max(0.0, x / seconds) for x in (busy, sum(used.values()), workers))]

    def counters(self, scheduler, now):
        """Returns [time, busy seconds of all cores, seconds by pid, pids of workers]; None if a worker is elsewhere."""
        try:
            host = get_address_host(scheduler.address)
            workers = scheduler.workers.values()
            if not workers or len(workers) >= MAX_PROCESSES or any(ws.host != host for ws in workers):
                return None
            times = psutil.cpu_times()._asdict()
            busy = sum(seconds for name, seconds in times.items() if name not in IDLE)
            pids = {ws.pid for ws in workers if ws.pid}
            return [now, busy, {pid: self.seconds(pid) for pid in {os.getpid(), *pids}}, pids]
        except (psutil.Error, OSError, ValueError):
            return None

    def seconds(self, pid):
        """Returns the CPU seconds of a process; 0 if it has ended."""
        try:
            process = self.processes.get(pid)
            if process is None:
                process = self.processes[pid] = psutil.Process(pid)
            times = process.cpu_times()
            return times.user + times.system
        except psutil.Error:
            self.processes.pop(pid, None)
            return 0.0
