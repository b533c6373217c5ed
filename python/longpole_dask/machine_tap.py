"""How busy the machine is that the scheduler and all workers share: what tells tasks that compute from tasks without a core.

Travels to the scheduler by value with scheduler_tap. Reads counters of the system, some 20 µs for each process.
"""

import os

import psutil
from dask.system import CPU_COUNT
from distributed.comm import get_address_host

#: Processes of a machine that are read each time; whoever has more has no machine of their own.
MAX_PROCESSES = 256
#: Of the CPU times of the system, what is no work.
IDLE = ("idle", "iowait", "guest", "guest_nice")


class MachineTap:
    def __init__(self):
        self.processes = {}
        self.before = None

    def row(self, scheduler, now):
        """The row of the time since the last one: cores, and how many were busy, with the cluster, with workers; or None."""
        before, self.before = self.before, self.counters(scheduler, now)
        if before is None or self.before is None or now <= before[0]:
            return None
        seconds = now - before[0]
        busy = self.before[1] - before[1]
        # Processes that are new, or have gone, count from the next time on.
        used = {pid: cpu - before[2][pid] for pid, cpu in self.before[2].items() if pid in before[2]}
        own = used.get(os.getpid(), 0.0)
        workers = sum(used.values()) - (0.0 if os.getpid() in self.before[3] else own)
        return ["machine", now, CPU_COUNT, *(max(0.0, x / seconds) for x in (busy, sum(used.values()), workers))]

    def counters(self, scheduler, now):
        """[time, busy seconds of all cores, seconds by process, those of workers]; None: workers are elsewhere."""
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
        """CPU seconds of a process; 0: it has gone."""
        try:
            process = self.processes.get(pid)
            if process is None:
                process = self.processes[pid] = psutil.Process(pid)
            times = process.cpu_times()
            return times.user + times.system
        except psutil.Error:
            self.processes.pop(pid, None)
            return 0.0
