#!/usr/bin/env python3
"""Runs a command while it stops processes and starves threads of the command, to provoke races.

    python3 soak/stress.py [--itself] SEED COMMAND...

Stops random descendants of the command for 0.05 to 3 s (SIGSTOP). Lets random threads of these processes run only on
otherwise idle cores (SCHED_IDLE), for up to 3 s. One endless loop per two cores competes for the cores; SPIN=N sets another
number. With --itself the process of the command is included. The exit status is the command's. Linux only.
Starving needs the right to give threads their cores back (CAP_SYS_NICE). Without it, this script only stops processes.
"""

import ctypes
import os
import random
import signal
import subprocess
import sys
import time

itself = sys.argv[1:2] == ["--itself"]
arguments = sys.argv[2:] if itself else sys.argv[1:]
if len(arguments) < 2:
    sys.exit(__doc__)
choose = random.Random(int(arguments[0]))
spinners = int(os.environ.get("SPIN", max(1, (os.cpu_count() or 2) // 2)))


def end_with_parent():
    """Ends the loop with its parent. A remaining loop would falsify every later measurement."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


loops = [
    subprocess.Popen([sys.executable, "-c", "while True: pass"], preexec_fn=end_with_parent)
    for _ in range(spinners)
]
command = subprocess.Popen(arguments[1:])
known = {command.pid}


def processes():
    """Returns the ids of all descendants of the command, and with --itself the command's own id."""
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as stat:
                parents[int(name)] = int(stat.read().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
    # Process ids mostly ascend from parent to child. A process that is missed now is found the next time.
    for pid, parent in sorted(parents.items()):
        if parent in known:
            known.add(pid)
    known.intersection_update(parents)
    return sorted(pid for pid in known if itself or pid != command.pid)


def send(pid, number):
    try:
        os.kill(pid, number)
    except OSError:
        pass


def starve(pid):
    """Starves a random thread of the process. Returns the thread, or None."""
    try:
        thread = int(choose.choice(os.listdir(f"/proc/{pid}/task")))
        # RESET_ON_FORK: threads that it starts meanwhile must not inherit the policy, because no call would reset it.
        os.sched_setscheduler(thread, os.SCHED_IDLE | os.SCHED_RESET_ON_FORK, os.sched_param(0))
        return thread
    except (OSError, IndexError):
        return None


def may_feed():
    """Returns whether this process may reset the policy of a starved thread."""
    trial = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        os.sched_setscheduler(trial.pid, os.SCHED_IDLE, os.sched_param(0))
        os.sched_setscheduler(trial.pid, os.SCHED_OTHER, os.sched_param(0))
        return True
    except OSError:
        return False
    finally:
        trial.kill()
        trial.wait()


def feed(thread):
    try:
        os.sched_setscheduler(thread, os.SCHED_OTHER, os.sched_param(0))
    except OSError:
        pass


stopped = []
starved = []
starves = may_feed()
# `timeout` ends this script with SIGTERM. Stopped processes must continue then, too.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
try:
    while command.poll() is None:
        now = time.monotonic()
        for until, pid in [entry for entry in stopped if entry[0] <= now]:
            send(pid, signal.SIGCONT)
            stopped.remove((until, pid))
        for until, thread in [entry for entry in starved if entry[0] <= now]:
            feed(thread)
            starved.remove((until, thread))
        candidates = processes()
        if candidates:
            pid = choose.choice(candidates)
            # Mostly short times, because long stops of all processes would only simulate a slow machine.
            length = choose.choice([0.05, 0.1, 0.2, 0.5, 1, 3])
            if not starves or (choose.random() < 0.3 and len(stopped) < 2):
                send(pid, signal.SIGSTOP)
                stopped.append((now + length, pid))
            else:
                thread = starve(pid)
                if thread is not None:
                    starved.append((now + length, thread))
        time.sleep(choose.uniform(0.02, 0.2))
finally:
    for _, pid in stopped:
        send(pid, signal.SIGCONT)
    for loop in loops:
        loop.kill()
    if command.poll() is None:
        command.terminate()
sys.exit(command.returncode if command.returncode is not None and command.returncode >= 0 else 1)
