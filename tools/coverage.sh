#!/usr/bin/env bash
# Runs the tests with the coverage preset and prints line coverage by file of src/ and include/.
#
#   tools/coverage.sh [CTEST ARGUMENT...]      for instance -L fast; the HTML report is build/coverage/report/index.html
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
command -v gcovr >/dev/null || {
  echo "coverage: gcovr is not installed: scripts/setup dev installs it" >&2
  exit 2
}
find build/coverage -name '*.gcda' -delete 2>/dev/null || true
scripts/test --preset coverage --no-setup "$@"
mkdir -p build/coverage/report
gcovr --root . --filter src/ --filter include/ --exclude '.*_test\.cc' --txt --html-details \
  build/coverage/report/index.html build/coverage
