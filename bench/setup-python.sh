#!/usr/bin/env bash
# Makes .venv with Dask, the peer of the bench that is not JavaScript. Needs Python >= 3.10 with its venv module.
set -euo pipefail
cd "$(dirname "$0")/.."
python3 -m venv .venv
.venv/bin/python -m pip install --quiet 'dask>=2025.1' psutil
.venv/bin/python -c 'import dask; print("dask", dask.__version__)'
