"""The command line of the bridge. The bridge reads its input only to detect the end, at which it ends, too."""

import argparse
import asyncio
import os
import signal
import struct
import sys
import threading


def main():
    parser = argparse.ArgumentParser(prog="python -m longpole_dask")
    parser.add_argument("address", help="address of the scheduler, e.g. tcp://127.0.0.1:8786")
    parser.add_argument("--timeout", type=float, default=10.0, help="seconds to connect and to register each plugin")
    parser.add_argument("--interval", type=float, default=0.25, help="seconds between two polls of the scheduler")
    options = parser.parse_args()
    # The parent process handles Ctrl-C and the end of the terminal: it closes the input, and then the bridge removes its
    # plugins.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    # The same is true of SIGTERM, which may reach the whole process group, e.g. from `timeout`.
    signal.signal(signal.SIGTERM, lambda *_: None)
    # Prints of other code go to stderr, so that they do not damage the frames.
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
        # Pending connection attempts would delay the end.
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
        # The event loop has ended already.
        pass


def failure_without_msgpack(code, text):
    """Returns a frame with one row of short texts."""

    def string(value):
        data = value.encode()[:60000]
        return b"\xda" + struct.pack(">H", len(data)) + data

    payload = b"\x91\x93" + string("refused") + string(code) + string(text)
    return struct.pack(">I", len(payload)) + payload


if __name__ == "__main__":
    # The thread that waits for the input must not delay the end of the process.
    code = main()
    sys.stdout.flush()
    os._exit(code)
