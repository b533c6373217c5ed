# Runs Python samples: one per line of stdin, as a JSON object with its text and the folder of its page. Samples of a folder
# have common names. Answers with a line of JSON: what the sample prints, and its error or null.
import contextlib
import io
import json
import os
import sys
import traceback

names = {}
for line in sys.stdin:
    sample = json.loads(line)
    os.chdir(sample["folder"])
    printed = io.StringIO()
    error = None
    try:
        with contextlib.redirect_stdout(printed):
            exec(sample["text"], names.setdefault(sample["folder"], {"__name__": "__main__"}))
    except Exception:
        error = traceback.format_exc()
    print(json.dumps({"output": printed.getvalue(), "error": error}), flush=True)
