"""The command line of the bridge. It takes no commands while it runs: it ends when its input does."""

import argparse
import asyncio
import os
import signal
import struct
import sys
import threading


def main():
    parser = argparse.ArgumentParser(prog="python -m longpole_dask")
    parser.add_argument("address", help="of the scheduler, e.g. tcp://127.0.0.1:8786")
    parser.add_argument("--timeout", type=float, default=10.0, help="seconds for connecting and registering")
    parser.add_argument("--interval", type=float, default=0.25, help="seconds between two looks at the scheduler")
    options = parser.parse_args()
    # Ctrl-C is for whoever started this: the input ends, and then the plugins are taken off.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What anybody prints must not come between the frames.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    try:
        import distributed  # noqa: F401
        import msgpack  # noqa: F401
    except ImportError as error:
        output.write(failure_without_msgpack("distributed", str(error)))
        output.flush()
        return 1
    return asyncio.run(run(options, output))


async def run(options, output):
    from .bridge import Bridge, Refused
    from .frames import Broken, FrameWriter

    out = FrameWriter(output)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    threading.Thread(target=wait_for_end, args=(loop, stop), daemon=True).start()
    try:
        reason = await Bridge(options.address, out, options.timeout, options.interval).run(stop)
        out.rows([["closed", reason]])
        return 0
    except Refused as error:
        out.rows([["refused", error.code, str(error)]])
        # What still tries to connect would hold up the end.
        os._exit(1)
    except Broken:
        return 0


def wait_for_end(loop, stop):
    try:
        while sys.stdin.buffer.read(4096):
            pass
    except (OSError, ValueError):
        pass
    try:
        loop.call_soon_threadsafe(stop.set)
    except RuntimeError:
        # It has ended already.
        pass


def failure_without_msgpack(code, text):
    """A frame with one row of short texts."""

    def string(value):
        data = value.encode()[:60000]
        return b"\xda" + struct.pack(">H", len(data)) + data

    payload = b"\x91\x93" + string("refused") + string(code) + string(text)
    return struct.pack(">I", len(payload)) + payload


if __name__ == "__main__":
    # Threads that wait for their input do not hold the process up.
    code = main()
    sys.stdout.flush()
    os._exit(code)
