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

// A place in the user's cache.
std::optional<std::string> InCache(const char* place) {
  if (const auto cache = Get("XDG_CACHE_HOME"); cache) return *cache + "/" + place;
  if (const auto home = Get("HOME"); home) return *home + "/.cache/" + place;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> Isa() { return Get("ADIT_ISA"); }
std::optional<std::string> Threads() { return Get("ADIT_THREADS"); }

std::optional<std::string> ModelFolder() {
  const std::optional<std::string> folder = Get("ADIT_MODELS");
  return folder ? folder : InCache("adit/models");
}

std::optional<std::string> HubEndpoint() { return Get("HF_ENDPOINT"); }
std::optional<std::string> HubToken() { return Get("HF_TOKEN"); }
std::optional<std::string> HubTokenFile() {
  if (const auto path = Get("HF_TOKEN_PATH"); path) return path;
  if (const auto home = Get("HF_HOME"); home) return *home + "/token";
  return InCache("huggingface/token");
}

std::optional<std::string> CertificateFile() { return Get("SSL_CERT_FILE"); }
std::optional<std::string> CertificateFolder() { return Get("SSL_CERT_DIR"); }

std::optional<std::string> ServerUrl() { return Get("ADIT_URL"); }
std::optional<std::string> ServerKey() { return Get("ADIT_API_KEY"); }

bool DumbTerminal() { return Get("TERM").value_or("dumb") == "dumb"; }

bool PlainTerminal() { return Get("NO_COLOR").has_value() || Get("TERM") == "dumb"; }

}  // namespace adit::env
