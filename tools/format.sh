#!/usr/bin/env bash
# Checks that all C++ files are formatted as .clang-format says; --fix formats them.
# Exits 1 when a file differs, 77 when clang-format 14 is not installed.
#
#   tools/format.sh [--fix] [FILE...]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/sources.sh

mode=(--dry-run -Werror --ferror-limit=3)
if [[ ${1:-} == --fix ]]; then
  mode=(-i)
  shift
fi
clang_format=$(require_llvm14 clang-format)
files=("$@")
if ((${#files[@]} == 0)); then
  mapfile -t files < <(list_sources '*.h' '*.cc' '*.cu' '*.cuh')
fi
"$clang_format" --style=file "${mode[@]}" "${files[@]}"
echo "format: ${#files[@]} files"
