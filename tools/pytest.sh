#!/usr/bin/env bash
# Runs pytest with its arguments, from the .venv that scripts/setup test makes or else from the system's Python.
# Exits 77 (for ctest: skipped) when neither has pytest.
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
for python in "$top/.venv/bin/python" python3; do
  if "$python" -c 'import pytest' 2>/dev/null; then
    exec "$python" -m pytest -q -p no:cacheprovider "$@"
  fi
done
echo "pytest is not installed: scripts/setup test installs it" >&2
exit 77
