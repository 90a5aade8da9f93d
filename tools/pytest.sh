#!/usr/bin/env bash
# Runs pytest with its arguments, from the .venv that scripts/setup test makes or else from the system's Python.
# Exits 77 (for ctest: skipped) when neither has pytest, and when a whole file is skipped, for which pytest's own code is 5.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
for python in "$top/.venv/bin/python" python3; do
  if "$python" -c 'import pytest' 2>/dev/null; then
    code=0
    "$python" -m pytest -q -p no:cacheprovider "$@" || code=$?
    ((code != 5)) || code=77
    exit "$code"
  fi
done
echo "pytest is not installed: scripts/setup test installs it" >&2
exit 77
