"""The command line of the bridge that runs TypeScript on a cluster. Frames come over the input; it ends when its input does."""

import argparse
import asyncio
import os
import signal
import sys
import threading
import traceback


def main():
    parser = argparse.ArgumentParser(prog="python -m longpole_dask.run")
    parser.add_argument("address", help="of the scheduler, e.g. tcp://127.0.0.1:8786; dask: a new cluster on this machine")
    parser.add_argument("--timeout", type=float, default=10.0, help="seconds for connecting and registering")
    parser.add_argument("--node", default="", help="Node on the workers")
    parser.add_argument("--workers", type=int, default=None, help="of a new cluster")
    parser.add_argument("--threads", type=int, default=None, help="of each worker of a new cluster")
    options = parser.parse_args()
    # Ctrl-C is for the program: when it ends, so does the input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Prints must not come between the frames.
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
    from .run_bridge import FrameOutput, RunBridge, read_frames

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
    # A thread that waits for the input would hold the process up.
    sys.stderr.flush()
    os._exit(code)
