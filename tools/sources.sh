# shellcheck shell=bash
# Sourced by format.sh and tidy.sh.

# Paths, from the top of the repository, of our C++ files that match the given patterns, tracked or new; generated
# tables (folders called data) are left out. Without git, as in an unpacked archive, all files of the source folders.
list_sources() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files --cached --others --exclude-standard -- "$@"
  else
    local pattern names=()
    for pattern in "$@"; do names+=(-o -name "$pattern"); done
    find include src bench tests fuzz -type f \( "${names[@]:1}" \) 2>/dev/null
  fi | grep -v '/data/' | sort -u | while IFS= read -r file; do
    [[ ! -f $file ]] || printf '%s\n' "$file"
  done
}

# The LLVM 14 build of a tool, since other versions format and warn differently; 77 (for ctest: skipped) without it.
require_llvm14() {
  local candidate
  for candidate in "$1-14" "$1"; do
    if "$candidate" --version 2>/dev/null | grep -q 'version 14\.'; then
      echo "$candidate"
      return
    fi
  done
  echo "$1 14 is not installed: scripts/setup dev installs it" >&2
  exit 77
}
