# Runs the Python samples of a page with common names: one per line of stdin, as a JSON string. Answers with a line of
# JSON: what the sample prints, and its error or null.
import contextlib
import io
import json
import sys
import traceback

names = {"__name__": "__main__"}
for line in sys.stdin:
    printed = io.StringIO()
    error = None
    try:
        with contextlib.redirect_stdout(printed):
            exec(json.loads(line), names)
    except Exception:
        error = traceback.format_exc()
    print(json.dumps({"output": printed.getvalue(), "error": error}), flush=True)
