#!/usr/bin/env bash
# Runs clang-tidy as .clang-tidy says over all sources, or over those named. Needs a configured build folder.
# Exits 1 when there is a finding, 77 when clang-tidy 14 is not installed.
#
#   tools/tidy.sh [-p BUILD_FOLDER] [FILE...]      the folder is build/release by default
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source tools/sources.sh

build=build/release
if [[ ${1:-} == -p ]]; then
  build=$2
  shift 2
fi
[[ -f $build/compile_commands.json ]] || {
  echo "tidy: $build has no compile_commands.json; run: cmake --preset release" >&2
  exit 2
}
clang_tidy=$(require_llvm14 clang-tidy)
files=("$@")
if ((${#files[@]} == 0)); then
  # Only what the build compiles: clang-tidy would guess the flags of the rest.
  mapfile -t files < <(list_sources '*.cc' | while IFS= read -r file; do
    if grep -qF "\"file\": \"$PWD/$file\"" "$build/compile_commands.json"; then printf '%s\n' "$file"; fi
  done)
fi
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "$(nproc)" "$clang_tidy" -p "$build" --quiet --extra-arg=-Wno-unknown-warning-option
echo "tidy: ${#files[@]} files"
