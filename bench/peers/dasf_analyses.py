"""DASF's three analyses of the event files named on the command line. Prints one line of JSON: seconds."""
import contextlib
import io
import json
import sys
import time

from dasf.profile.analysis import TraceAnalyser
from dasf.profile.profiler import EventProfiler
from dasf.profile.utils import MultiEventDatabase


def main(files):
    start = time.perf_counter()
    analyser = TraceAnalyser(MultiEventDatabase([EventProfiler(file) for file in files]))
    opened = time.perf_counter()
    analyser.per_function_bottleneck()
    analyser.per_task_bottleneck()
    analyser.per_worker_task_balance()
    return {"open": opened - start, "analyses": time.perf_counter() - opened}


with contextlib.redirect_stderr(io.StringIO()):
    seconds = main(sys.argv[1:])
print(json.dumps(seconds))
