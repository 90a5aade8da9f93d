# shellcheck shell=bash
# Sourced by the scripts beside it, with bash.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '==> %s\n' "$*"; }

fail() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# The comment that follows a script's first line, without its marks: what --help prints.
print_help() { sed -n '2,/^[^#]/ { s/^# \{0,1\}//p }' "$0"; }

# How many compilers may run at once: one for each core, but no more than memory has room for at 1.5 GB each.
num_jobs() {
  local cores available_kb by_memory
  cores=$(nproc)
  available_kb=$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo 2>/dev/null || true)
  by_memory=$((${available_kb:-99999999} / 1500000))
  ((by_memory >= 1)) || by_memory=1
  echo $((cores < by_memory ? cores : by_memory))
}
