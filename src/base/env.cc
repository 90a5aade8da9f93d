#include "base/env.h"

#include <cstdlib>
#include <string_view>

namespace adit::env {
namespace {

std::optional<std::string> Get(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

}  // namespace

std::optional<std::string> Isa() { return Get("ADIT_ISA"); }
std::optional<std::string> Threads() { return Get("ADIT_THREADS"); }
bool DumbTerminal() { return Get("TERM").value_or("dumb") == "dumb"; }

bool PlainTerminal() { return Get("NO_COLOR").has_value() || Get("TERM") == "dumb"; }

}  // namespace adit::env
