#ifndef ADIT_BASE_ENV_H_
#define ADIT_BASE_ENV_H_

#include <optional>
#include <string>

namespace adit {

// The environment variables that adit reads; nothing else calls getenv. Absent and empty are the same.
namespace env {

// ADIT_ISA: the kernel set to use: auto, ref, avx2, avx512.
std::optional<std::string> Isa();

// ADIT_THREADS: number of kernel threads.
std::optional<std::string> Threads();

// TERM is "dumb" or not set: the terminal's cursor cannot be moved.
bool DumbTerminal();

// NO_COLOR and TERM=dumb: no control sequences on the terminal.
bool PlainTerminal();

}  // namespace env
}  // namespace adit

#endif  // ADIT_BASE_ENV_H_
