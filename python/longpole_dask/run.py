"""The command line of the bridge that runs TypeScript on a cluster. It reads frames from its input, and ends with it."""

import argparse
import asyncio
import os
import signal
import sys
import threading
import traceback


def main():
    parser = argparse.ArgumentParser(prog="python -m longpole_dask.run")
    parser.add_argument("address", help="address of the scheduler, e.g. tcp://127.0.0.1:8786; dask for a new local cluster")
    parser.add_argument("--timeout", type=float, default=10.0, help="seconds to connect")
    parser.add_argument("--node", default="", help="Node on the workers")
    parser.add_argument("--workers", type=int, default=None, help="number of workers of a new cluster")
    parser.add_argument("--threads", type=int, default=None, help="number of threads of each worker of a new cluster")
    options = parser.parse_args()
    # The program handles Ctrl-C: its end is also the end of the input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Also SIGTERM, which may reach the whole process group. The workers of a new local cluster do not inherit a handler.
    signal.signal(signal.SIGTERM, lambda *_: None)
    # Prints of other code go to stderr, so that they do not damage the frames.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        print(f"No distributed: {error}", file=sys.stderr)
        return 3
    return asyncio.run(run(options, output))


async def run(options, output):
    from .bridge import Refused
    from .frame_output import FrameOutput
    from .run_bridge import RunBridge, read_frames

    out = FrameOutput(output)
    stop = asyncio.Event()
    local = (options.workers, options.threads)
    bridge = RunBridge(options.address, out, options.timeout, options.node, local)
    loop = asyncio.get_running_loop()
    reader = threading.Thread(target=read_frames, args=(sys.stdin.buffer, loop, bridge, stop), daemon=True)
    reader.start()
    try:
        out.event(type="closed", reason=await bridge.run(stop))
        return 0
    except Refused as error:
        out.event(type="refused", code=error.code, text=str(error))
        return 1
    finally:
        out.close()


if __name__ == "__main__":
    try:
        code = main()
    except Exception:
        traceback.print_exc()
        code = 2
    # The thread that waits for the input must not delay the end of the process.
    sys.stderr.flush()
    os._exit(code)
